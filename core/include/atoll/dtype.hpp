// Element types: the 16 dtypes, their properties, and promotion. The rules are NumPy's (NEP 50 for
// scalars), extended to bfloat16 and complex32; see promote().
#pragma once

#include "atoll/abi/base.h"

#include <complex>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace Atoll {

enum class DType : std::uint8_t {
    none = 0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) identifier = id,
#include "atoll/lists/dtypes.inc"
};

// Short names: Atoll::float32 is DType::float32.
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    inline constexpr DType identifier = DType::identifier;
#include "atoll/lists/dtypes.inc"

enum class Kind : std::uint8_t {
    none = 0,
    bool_ = ATOLL_DTYPE_KIND_BOOL,
    signed_ = ATOLL_DTYPE_KIND_SIGNED,
    unsigned_ = ATOLL_DTYPE_KIND_UNSIGNED,
    float_ = ATOLL_DTYPE_KIND_FLOAT,
    brain = ATOLL_DTYPE_KIND_BRAIN,
    complex = ATOLL_DTYPE_KIND_COMPLEX,
};

struct DTypeInfo {
    std::string_view name;
    std::string_view alias; // the Ocean paper's name, or empty
    std::uint8_t size;      // bytes per element
    std::uint8_t alignment; // bytes
    Kind kind;
    DType part; // dtype of one part of a complex number; itself otherwise
};

namespace detail {
inline constexpr DTypeInfo dtype_infos[ATOLL_DTYPE_COUNT] = {
    {"none", "", 0, 1, Kind::none, DType::none},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    {name,                                                                                         \
     alias,                                                                                        \
     size,                                                                                         \
     ATOLL_DTYPE_KIND_##KIND == ATOLL_DTYPE_KIND_COMPLEX ? (size) / 2 : (size),                    \
     Kind{ATOLL_DTYPE_KIND_##KIND},                                                                \
     DType{ATOLL_DTYPE_##PART}},
#include "atoll/lists/dtypes.inc"
};
} // namespace detail

constexpr const DTypeInfo &info(DType dtype) {
    return detail::dtype_infos[static_cast<std::uint8_t>(dtype)];
}
constexpr std::string_view name(DType dtype) { return info(dtype).name; }
constexpr std::int64_t size_of(DType dtype) { return info(dtype).size; }
constexpr bool is_complex(DType dtype) { return info(dtype).kind == Kind::complex; }
constexpr bool is_real_float(DType dtype) {
    return info(dtype).kind == Kind::float_ || info(dtype).kind == Kind::brain;
}
constexpr bool is_floating(DType dtype) { return is_real_float(dtype) || is_complex(dtype); }
constexpr bool is_integer(DType dtype) {
    return info(dtype).kind == Kind::signed_ || info(dtype).kind == Kind::unsigned_;
}

// The dtype with a canonical name or alias; throws Error (not_found) that lists the names.
DType dtype_from_name(std::string_view name);

// The common dtype of two tensors. Symmetric; tested against NumPy where NumPy has both dtypes.
constexpr DType promote(DType a, DType b);

// The dtype of a C++ element type.
template <class T> constexpr DType dtype_of() {
    if constexpr (std::same_as<T, bool>)
        return DType::bool_;
    else if constexpr (std::integral<T>) {
        constexpr bool is_signed = std::signed_integral<T>;
        switch (sizeof(T)) {
        case 1: return is_signed ? DType::int8 : DType::uint8;
        case 2: return is_signed ? DType::int16 : DType::uint16;
        case 4: return is_signed ? DType::int32 : DType::uint32;
        default: return is_signed ? DType::int64 : DType::uint64;
        }
    } else if constexpr (std::same_as<T, float>)
        return DType::float32;
    else if constexpr (std::same_as<T, double>)
        return DType::float64;
    else if constexpr (std::same_as<T, std::complex<float>>)
        return DType::complex64;
    else if constexpr (std::same_as<T, std::complex<double>>)
        return DType::complex128;
    else
        static_assert(!sizeof(T), "no dtype holds this C++ type");
}

namespace detail {

constexpr DType signed_of_size(int size) {
    return size == 1 ? int8 : size == 2 ? int16 : size == 4 ? int32 : int64;
}
constexpr DType complex_of_part(DType part) {
    return part == float64 ? complex128 : part == float32 ? complex64 : complex32;
}

// The smallest float at least as large as `real_float` whose significand can represent the integer
// (or bool).
constexpr DType float_holding(DType real_float, DType integer) {
    const int bytes = info(integer).kind == Kind::bool_ ? 1 : info(integer).size;
    const DType needed = bytes == 1 ? real_float : bytes == 2 ? float32 : float64;
    return info(needed).size > info(real_float).size ? needed : real_float;
}

constexpr DType promote_parts(DType a, DType b) {
    const DTypeInfo &ia = info(a), &ib = info(b);
    if (a == b) return a;
    if (ia.kind == Kind::bool_) return b;
    if (ib.kind == Kind::bool_) return a;
    const bool float_a = is_real_float(a), float_b = is_real_float(b);
    if (float_a && float_b) {
        if (ia.size == ib.size) return float32; // float16 with bfloat16
        return ia.size > ib.size ? a : b;
    }
    if (float_a) return float_holding(a, b);
    if (float_b) return float_holding(b, a);
    if (ia.kind == ib.kind) return ia.size > ib.size ? a : b;
    const DType s = ia.kind == Kind::signed_ ? a : b, u = ia.kind == Kind::signed_ ? b : a;
    if (info(s).size > info(u).size) return s;
    if (info(u).size == 8) return float64;
    return signed_of_size(info(u).size * 2);
}

constexpr DType compute_promotion(DType a, DType b) {
    if (!is_complex(a) && !is_complex(b)) return promote_parts(a, b);
    if (a == b) return a;
    // bool and integers promote with the part as with a real float.
    return complex_of_part(promote_parts(info(a).part, info(b).part));
}

struct PromotionTable {
    DType cell[ATOLL_DTYPE_COUNT][ATOLL_DTYPE_COUNT] = {};
    constexpr PromotionTable() {
        for (int a = 1; a < ATOLL_DTYPE_COUNT; ++a)
            for (int b = 1; b < ATOLL_DTYPE_COUNT; ++b)
                cell[a][b] = compute_promotion(static_cast<DType>(a), static_cast<DType>(b));
    }
};
inline constexpr PromotionTable promotion_table;

} // namespace detail

constexpr DType promote(DType a, DType b) {
    return detail::promotion_table.cell[static_cast<int>(a)][static_cast<int>(b)];
}

} // namespace Atoll
