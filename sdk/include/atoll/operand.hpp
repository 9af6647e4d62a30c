// Typed operands: the C++ type of each dtype, views of a call's operands, loops over elements.
//
//   void add(State &, atoll_call &call) {
//       sdk::with_type<ATOLL_DOMAIN_REAL_FLOATS>(call.dtype, [&]<class T>(std::type_identity<T>) {
//           sdk::elementwise<T, T, T>(call, [](auto a, auto b) { return a + b; });
//       });
//   }
//
// For kernels that can dereference the operands. Strides are arbitrary, including zero and negative
// ones. Elements must be aligned and native, which they are unless a plugin declares otherwise
// (ATOLL_CAP_UNALIGNED, ATOLL_CAP_SWAPPED).
#pragma once

#include "atoll/dtype_facts.hpp"
#include "atoll/plugin.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace Atoll::sdk {

// ---- The C++ types of the dtypes ----------------------------------------------------------------

// 16-bit floats in their storage format. Arithmetic uses float.
struct Float16 {
    std::uint16_t bits;
    Float16() = default;
    Float16(float value) : bits(atoll_float_to_half(value)) {}
    static Float16 rounded(double value) { // once
        Float16 half;
        half.bits = atoll_double_to_half(value);
        return half;
    }
    operator float() const { return atoll_half_to_float(bits); }
};
struct BFloat16 {
    std::uint16_t bits;
    BFloat16() = default;
    BFloat16(float value) : bits(atoll_float_to_bfloat(value)) {}
    static BFloat16 rounded(double value) {
        BFloat16 half;
        half.bits = atoll_double_to_bfloat(value);
        return half;
    }
    operator float() const { return atoll_bfloat_to_float(bits); }
};
struct Complex32 {
    Float16 real, imag;
    Complex32() = default;
    Complex32(std::complex<float> value) : real(value.real()), imag(value.imag()) {}
    operator std::complex<float>() const { return {real, imag}; }
};

namespace detail {
template <std::uint32_t dtype> struct ElementOf;
template <> struct ElementOf<ATOLL_DTYPE_BOOL> : std::type_identity<bool> {};
template <> struct ElementOf<ATOLL_DTYPE_INT8> : std::type_identity<std::int8_t> {};
template <> struct ElementOf<ATOLL_DTYPE_INT16> : std::type_identity<std::int16_t> {};
template <> struct ElementOf<ATOLL_DTYPE_INT32> : std::type_identity<std::int32_t> {};
template <> struct ElementOf<ATOLL_DTYPE_INT64> : std::type_identity<std::int64_t> {};
template <> struct ElementOf<ATOLL_DTYPE_UINT8> : std::type_identity<std::uint8_t> {};
template <> struct ElementOf<ATOLL_DTYPE_UINT16> : std::type_identity<std::uint16_t> {};
template <> struct ElementOf<ATOLL_DTYPE_UINT32> : std::type_identity<std::uint32_t> {};
template <> struct ElementOf<ATOLL_DTYPE_UINT64> : std::type_identity<std::uint64_t> {};
template <> struct ElementOf<ATOLL_DTYPE_FLOAT16> : std::type_identity<Float16> {};
template <> struct ElementOf<ATOLL_DTYPE_BFLOAT16> : std::type_identity<BFloat16> {};
template <> struct ElementOf<ATOLL_DTYPE_FLOAT32> : std::type_identity<float> {};
template <> struct ElementOf<ATOLL_DTYPE_FLOAT64> : std::type_identity<double> {};
template <> struct ElementOf<ATOLL_DTYPE_COMPLEX32> : std::type_identity<Complex32> {};
template <> struct ElementOf<ATOLL_DTYPE_COMPLEX64> : std::type_identity<std::complex<float>> {};
template <> struct ElementOf<ATOLL_DTYPE_COMPLEX128> : std::type_identity<std::complex<double>> {};

template <class T> constexpr std::uint32_t find_dtype() {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    static_assert(sizeof(typename ElementOf<id>::type) == size);                                   \
    if (std::is_same_v<T, typename ElementOf<id>::type>) return id;
#include "atoll/lists/dtypes.inc"
    return ATOLL_DTYPE_NONE;
}

template <class T> struct ValueOf : std::type_identity<T> {};
template <> struct ValueOf<Float16> : std::type_identity<float> {};
template <> struct ValueOf<BFloat16> : std::type_identity<float> {};
template <> struct ValueOf<Complex32> : std::type_identity<std::complex<float>> {};
} // namespace detail

// The type in which elements of a dtype are stored, and the dtype of a type (ATOLL_DTYPE_NONE for
// other types).
template <std::uint32_t dtype> using Type = typename detail::ElementOf<dtype>::type;
template <class T>
inline constexpr std::uint32_t dtype_of = detail::find_dtype<std::remove_const_t<T>>();
// The type for arithmetic on elements of type T.
template <class T> using Value = typename detail::ValueOf<std::remove_const_t<T>>::type;

// Calls body(std::type_identity<T>) with the type of `dtype`. Throws Error (not_supported) if
// `dtype` is not in `domain` (ATOLL_DTYPE_BITs).
template <atoll_dtype_set domain, class Body>
void with_type(std::uint32_t dtype, const Body &body) {
    switch (dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        if constexpr ((domain & ATOLL_DTYPE_BIT(id)) != 0)                                         \
            return body(std::type_identity<Type<id>>());                                           \
        break;
#include "atoll/lists/dtypes.inc"
    }
    throw Error(ATOLL_STATUS_NOT_SUPPORTED, std::string("no kernel for ") + dtype_name(dtype));
}

// ---- Operands -----------------------------------------------------------------------------------

// One operand of a call, as elements of T. The constructor checks that its dtype is that of T.
template <class T> class Operand {
public:
    Operand(const atoll_call &call, std::size_t index) : call_(call), operand_(nullptr) {
        if (index < call.operand_count) operand_ = &call.operands[index];
        if (!operand_ || operand_->dtype != dtype_of<T>)
            throw Error(ATOLL_STATUS_INTERNAL,
                        "operand " + std::to_string(index) + " is " +
                            (operand_ ? dtype_name(operand_->dtype) : "not there") +
                            ", the kernel wants " + dtype_name(dtype_of<T>));
    }

    // The element at index (0, 0, …).
    T *data() const { return static_cast<T *>(operand_->data); }
    // The stride in bytes along an axis of the iteration space.
    std::int64_t stride(std::size_t axis) const { return operand_->strides[axis]; }
    // The element at an index along the first axes of the iteration space: out(i, j).
    template <class... Index> T &operator()(Index... index) const {
        const std::int64_t *stride = operand_->strides;
        std::int64_t offset = 0; // bytes
        ((offset += static_cast<std::int64_t>(index) * *stride++), ...);
        return at(offset);
    }
    // All elements of a dense operand of rank 0 or 1. Every operand of an element-wise function
    // that declares no capabilities is such an operand.
    std::span<T> span() const {
        if (call_.rank > 1 || (call_.rank == 1 && operand_->strides[0] != sizeof(T)))
            throw Error(ATOLL_STATUS_INTERNAL, "the kernel wants a dense vector");
        return {data(), call_.rank ? static_cast<std::size_t>(call_.shape[0]) : 1};
    }

private:
    T &at(std::int64_t offset) const {
        using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
        return *reinterpret_cast<T *>(static_cast<Byte *>(operand_->data) + offset);
    }

    const atoll_call &call_;
    const atoll_operand *operand_;
};

// ---- Loops --------------------------------------------------------------------------------------

namespace detail {
template <class... T, class Body, std::size_t... I>
void for_each(const atoll_call &call, const Body &body, std::index_sequence<I...>) {
    // First, because this checks that the operands exist.
    std::array<char *, sizeof...(T)> at{reinterpret_cast<char *>(
        const_cast<std::remove_const_t<T> *>(Operand<T>(call, I).data()))...};
    const std::array<const std::int64_t *, sizeof...(T)> strides{call.operands[I].strides...};
    for (std::uint32_t axis = 0; axis < call.rank; ++axis)
        if (call.shape[axis] == 0) return;
    if (call.rank == 0) return body(*reinterpret_cast<T *>(at[I])...);

    const std::int64_t count = call.shape[0];
    const bool dense = ((strides[I][0] == sizeof(T)) && ...);
    std::array<std::int64_t, ATOLL_MAX_RANK> index{};
    for (;;) {
        if (dense) // a separate loop, so that the compiler can vectorise it
            for (std::int64_t i = 0; i < count; ++i) body(reinterpret_cast<T *>(at[I])[i]...);
        else
            for (std::int64_t i = 0; i < count; ++i)
                body(*reinterpret_cast<T *>(at[I] + i * strides[I][0])...);
        std::uint32_t axis = 1;
        for (; axis < call.rank; ++axis) {
            if (++index[axis] < call.shape[axis]) {
                ((at[I] += strides[I][axis]), ...);
                break;
            }
            index[axis] = 0;
            ((at[I] -= (call.shape[axis] - 1) * strides[I][axis]), ...);
        }
        if (axis == call.rank) return;
    }
}
} // namespace detail

// Calls body(T &...) for every index of the iteration space, the first axis fastest. T has one type
// per operand, const for inputs:
// for_each<float, const float>(call, [](float &out, float in) { … }).
template <class... T, class Body> void for_each(const atoll_call &call, const Body &body) {
    detail::for_each<T...>(call, body, std::index_sequence_for<T...>());
}

// The same for one operand: for_each_of<const float>(call, 2, [](float in) { … }).
template <class T, class Body>
void for_each_of(const atoll_call &call, std::size_t operand, const Body &body) {
    Operand<T>(call, operand); // checks that it exists
    atoll_call one = call;
    one.operands += operand;
    one.operand_count = 1;
    for_each<T>(one, body);
}

// Computes out = function(in…) for every element. `function` receives and returns values of the
// type for arithmetic (float for float16). The result is converted as by static_cast.
template <class Out, class... In, class Function>
void elementwise(const atoll_call &call, const Function &function) {
    for_each<Out, const In...>(call, [&](Out &out, const In &...in) {
        out = static_cast<Out>(function(static_cast<Value<In>>(in)...));
    });
}

} // namespace Atoll::sdk
