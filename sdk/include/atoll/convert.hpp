// Conversions between dtypes as the core defines them, and a complete `copy` based on them.
//
//   void copy(State &, atoll_call &call) { sdk::copy(call); }
//   … sdk::declare<copy>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, sdk::copy_caps) …
//
// For devices whose memory host code may dereference.
#pragma once

#include "atoll/operand.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace Atoll::sdk {

namespace detail {
template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<std::complex<T>> = true;

// Converts an integer to double with round to odd, so that rounding the result again is equivalent
// to rounding once.
template <class Int> double odd_double(Int value) {
    if constexpr (sizeof value < 8) {
        return static_cast<double>(value);
    } else {
        bool negative = false;
        if constexpr (std::is_signed_v<Int>) negative = value < 0;
        std::uint64_t magnitude = static_cast<std::uint64_t>(value);
        if (negative) magnitude = 0 - magnitude;
        if (magnitude >> 53) // more bits than a double has: combine the last 11 into one
            magnitude = (magnitude & ~0x7ffull) | (magnitude & 0x7ff ? 0x800 : 0);
        return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    }
}

// Converts one real number to a real dtype.
template <class Out, class Real> Out convert_real(Real value) {
    if constexpr (std::is_same_v<Out, bool>) {
        return value != 0;
    } else if constexpr (requires { Out::rounded(0.0); }) {
        if constexpr (std::is_integral_v<Real>)
            return Out::rounded(odd_double(value));
        else
            return Out::rounded(value);
    } else if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<Real>) {
        using Limits = std::numeric_limits<Out>;
        if (value != value) return 0;
        if (value >= std::ldexp(Real(1), Limits::digits)) return Limits::max();
        if (value <= static_cast<Real>(Limits::min())) return Limits::min();
        return static_cast<Out>(value);
    } else {
        return static_cast<Out>(value);
    }
}
} // namespace detail

// Converts one element to another dtype. Integers wrap; floats to integers are truncated and
// saturate, and NaN gives 0; everything else is rounded once, to nearest, ties to even. Complex to
// real keeps the real part. To bool: whether the value is non-zero.
template <class Out, class In> Out convert(const In &in) {
    using detail::convert_real;
    const auto value = static_cast<Value<In>>(in);
    if constexpr (std::is_same_v<Out, In>) {
        return in;
    } else if constexpr (detail::is_complex<Value<In>>) {
        if constexpr (std::is_same_v<Out, bool>) {
            return value.real() != 0 || value.imag() != 0;
        } else if constexpr (std::is_same_v<Out, Complex32>) {
            Complex32 out;
            out.real = convert_real<Float16>(value.real());
            out.imag = convert_real<Float16>(value.imag());
            return out;
        } else if constexpr (detail::is_complex<Out>) {
            return Out(value);
        } else {
            return convert_real<Out>(value.real());
        }
    } else if constexpr (std::is_same_v<Out, Complex32>) {
        Complex32 out;
        out.real = convert_real<Float16>(value);
        out.imag = Float16(0);
        return out;
    } else if constexpr (detail::is_complex<Out>) {
        return convert_real<typename Out::value_type>(value);
    } else {
        return convert_real<Out>(value);
    }
}

namespace detail {
// Elements at any address, in either byte order.
template <class T> void swap_parts(T &value) {
    constexpr auto part =
        static_cast<std::size_t>(dtype_size(dtype_facts[dtype_of<T>].part)); // bytes
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (std::size_t at = 0; at < sizeof value; at += part)
        std::reverse(bytes + at, bytes + at + part);
    std::memcpy(static_cast<void *>(&value), bytes, sizeof value);
}
template <class T> T load(const char *at, bool swapped) {
    if constexpr (std::is_same_v<T, bool>) {
        return *at != 0;
    } else {
        T value;
        std::memcpy(static_cast<void *>(&value), at, sizeof value);
        if (swapped) swap_parts(value);
        return value;
    }
}
template <class T> void store(char *at, T value, bool swapped) {
    if (swapped) swap_parts(value);
    std::memcpy(at, &value, sizeof value);
}

// Copies over the first `axes` axes, the first one fastest.
template <class Out, class In>
void copy(const atoll_call &call, std::uint32_t axes, char *out, const char *in) {
    const atoll_operand &to = call.operands[0], &from = call.operands[1];
    if (axes == 0)
        return store(out, convert<Out>(load<In>(in, from.flags & ATOLL_OPERAND_SWAPPED)),
                     to.flags & ATOLL_OPERAND_SWAPPED);
    const std::uint32_t axis = axes - 1;
    for (std::int64_t i = 0; i < call.shape[axis]; ++i)
        copy<Out, In>(call, axis, out + i * to.strides[axis], in + i * from.strides[axis]);
}
} // namespace detail

// An operand of any dtype, byte order and alignment whose elements are read as T, for the inputs of
// functions that are declared with ATOLL_CAP_MIXED_INPUTS, _SWAPPED or _UNALIGNED.
template <class T> class Converted {
public:
    Converted(const atoll_call &call, std::size_t index) : operand_(call.operands[index]) {
        with_type<ATOLL_DOMAIN_ALL>(operand_.dtype, [&]<class In>(std::type_identity<In>) {
            load_ = [](const char *at, bool swapped) {
                return convert<T>(detail::load<In>(at, swapped));
            };
        });
    }
    // The element at an index along the first axes of the iteration space: a(i, j).
    template <class... Index> T operator()(Index... index) const {
        const std::int64_t *stride = operand_.strides;
        std::int64_t offset = 0; // bytes
        ((offset += static_cast<std::int64_t>(index) * *stride++), ...);
        return load_(static_cast<const char *>(operand_.data) + offset,
                     operand_.flags & ATOLL_OPERAND_SWAPPED);
    }

private:
    const atoll_operand &operand_;
    T (*load_)(const char *at, bool swapped) = nullptr;
};

// The capabilities of `copy` below: it accepts everything.
inline constexpr std::uint32_t copy_caps =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES | ATOLL_CAP_UNALIGNED |
    ATOLL_CAP_SWAPPED | ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS;

// Implements core's `copy` for any strides, alignment, byte order and dtypes. Simple rather than
// fast.
inline void copy(const atoll_call &call) {
    const atoll_operand &to = call.operands[0], &from = call.operands[1];
    with_type<ATOLL_DOMAIN_ALL>(to.dtype, [&]<class Out>(std::type_identity<Out>) {
        with_type<ATOLL_DOMAIN_ALL>(from.dtype, [&]<class In>(std::type_identity<In>) {
            detail::copy<Out, In>(call, call.rank, static_cast<char *>(to.data),
                                  static_cast<const char *>(from.data));
        });
    });
}

} // namespace Atoll::sdk
