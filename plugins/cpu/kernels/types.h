// The element types that kernels compute in, and facts about dtypes.
#pragma once

#include "atoll_kernels.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

// No iteration depends on another one: an output is either the very same elements as an input or
// apart from it. `restrict` would deny the first case.
#if defined(__clang__)
#define ATOLL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ATOLL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace Atoll::kernels {

// Elements of a block that is converted: a few blocks of the widest dtype stay in the L1 cache.
inline constexpr std::int64_t block_size = 512;

// A byte that is true when it is not zero; `bool` itself would make other bytes undefined.
enum class Bool : std::uint8_t {};

template <class T> struct Complex { T re, im; };

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<Complex<T>> = true;
template <class T> inline constexpr bool is_bool = std::is_same_v<T, Bool>;
template <class T> inline constexpr bool is_float = std::is_floating_point_v<T>;

template <class T> struct PartOf { using type = T; };
template <class T> struct PartOf<Complex<T>> { using type = T; };
template <class T> using Part = typename PartOf<T>::type;

// Signed and unsigned arithmetic that wraps gives the same bits, so it is compiled once.
template <class T, bool = std::is_integral_v<T>> struct WrappingOf { using type = T; };
template <class T> struct WrappingOf<T, true> { using type = std::make_unsigned_t<T>; };
template <class T> using Wrapping = typename WrappingOf<T>::type;

// What each dtype is computed in, named by the dtype's identifier in the list.
namespace wide {
using bool_ = Bool;
using int8 = std::int8_t;
using int16 = std::int16_t;
using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using float16 = float;
using bfloat16 = float;
using float32 = float;
using float64 = double;
using complex32 = Complex<float>;
using complex64 = Complex<float>;
using complex128 = Complex<double>;
} // namespace wide

inline constexpr std::uint8_t sizes[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) size,
#include "atoll/lists/dtypes.inc"
};
inline constexpr std::uint8_t kinds[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_KIND_##KIND,
#include "atoll/lists/dtypes.inc"
};
inline constexpr std::uint8_t parts[ATOLL_DTYPE_COUNT] = {
    0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_##PART,
#include "atoll/lists/dtypes.inc"
};

// Bytes per part, which is the natural alignment.
constexpr std::uint32_t alignment_of(std::uint32_t dtype) { return sizes[parts[dtype]]; }

// The dtype that `dtype` is computed in: floats of fewer than 4 bytes widen, the others stay.
constexpr std::uint32_t widened(std::uint32_t dtype) {
    if (kinds[dtype] < ATOLL_DTYPE_KIND_FLOAT || alignment_of(dtype) >= 4) return dtype;
    return kinds[dtype] == ATOLL_DTYPE_KIND_COMPLEX ? ATOLL_DTYPE_COMPLEX64 : ATOLL_DTYPE_FLOAT32;
}

// [function][compute dtype]: the dtype of the result.
using ResultDtypes = std::array<std::array<std::uint8_t, ATOLL_DTYPE_COUNT>, ATOLL_FN_COUNT>;
extern const ResultDtypes result_dtypes;

inline std::uint32_t result_of(std::uint32_t function, std::uint32_t dtype) {
    return result_dtypes[function][dtype];
}

template <class T> T load(const char *p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

} // namespace Atoll::kernels
