// How elements of each dtype are stored and which C++ type their arithmetic is done in.
#pragma once

#include "atoll/core_functions.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace Dummy {

template <class T> struct Plain {
    using Value = T;
    static Value load(const char *at) {
        Value value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    static void store(char *at, Value value) { std::memcpy(at, &value, sizeof value); }
};

template <std::uint32_t dtype> struct Element;
template <> struct Element<ATOLL_DTYPE_BOOL> {
    using Value = bool;
    static Value load(const char *at) { return *at != 0; }
    static void store(char *at, Value value) { *at = value; }
};
template <> struct Element<ATOLL_DTYPE_INT8> : Plain<std::int8_t> {};
template <> struct Element<ATOLL_DTYPE_INT16> : Plain<std::int16_t> {};
template <> struct Element<ATOLL_DTYPE_INT32> : Plain<std::int32_t> {};
template <> struct Element<ATOLL_DTYPE_INT64> : Plain<std::int64_t> {};
template <> struct Element<ATOLL_DTYPE_UINT8> : Plain<std::uint8_t> {};
template <> struct Element<ATOLL_DTYPE_UINT16> : Plain<std::uint16_t> {};
template <> struct Element<ATOLL_DTYPE_UINT32> : Plain<std::uint32_t> {};
template <> struct Element<ATOLL_DTYPE_UINT64> : Plain<std::uint64_t> {};
// 16-bit floats: computed in float, rounded when they are stored.
template <> struct Element<ATOLL_DTYPE_FLOAT16> {
    using Value = float;
    static Value load(const char *at) {
        return atoll_half_to_float(Plain<std::uint16_t>::load(at));
    }
    static void store(char *at, Value value) {
        Plain<std::uint16_t>::store(at, atoll_float_to_half(value));
    }
};
template <> struct Element<ATOLL_DTYPE_BFLOAT16> {
    using Value = float;
    static Value load(const char *at) {
        return atoll_bfloat_to_float(Plain<std::uint16_t>::load(at));
    }
    static void store(char *at, Value value) {
        Plain<std::uint16_t>::store(at, atoll_float_to_bfloat(value));
    }
};
template <> struct Element<ATOLL_DTYPE_FLOAT32> : Plain<float> {};
template <> struct Element<ATOLL_DTYPE_FLOAT64> : Plain<double> {};
template <> struct Element<ATOLL_DTYPE_COMPLEX32> {
    using Part = Element<ATOLL_DTYPE_FLOAT16>;
    using Value = std::complex<float>;
    static Value load(const char *at) { return {Part::load(at), Part::load(at + 2)}; }
    static void store(char *at, Value value) {
        Part::store(at, value.real());
        Part::store(at + 2, value.imag());
    }
};
template <> struct Element<ATOLL_DTYPE_COMPLEX64> : Plain<std::complex<float>> {};
template <> struct Element<ATOLL_DTYPE_COMPLEX128> : Plain<std::complex<double>> {};

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<std::complex<T>> = true;

constexpr std::uint32_t result_dtype(int function, std::uint32_t dtype) {
    return function < 0 ? dtype : Atoll::sdk::core_functions[function].result_dtype(dtype);
}

// body(Element of `dtype`, Element of the result that `function` gives for it, or of `dtype`).
template <atoll_dtype_set domain, int function = -1, class Body>
void with_dtype(std::uint32_t dtype, const Body &body) {
    switch (dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        if constexpr ((domain & ATOLL_DTYPE_BIT(id)) != 0)                                         \
            return body(Element<id>{}, Element<result_dtype(function, id)>{});                     \
        break;
#include "atoll/lists/dtypes.inc"
    }
    throw Atoll::sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                            std::string("no kernel for ") + Atoll::sdk::dtype_name(dtype));
}

// Arithmetic. Integers wrap: modulo 2^64 and then modulo the type's size is modulo the type's size.
// Complex is spelled out: the operators of std::complex treat infinities by Annex G.

template <class V> V plus(V a, V b) {
    if constexpr (std::is_same_v<V, bool>)
        return a || b;
    else if constexpr (std::is_integral_v<V>)
        return static_cast<V>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
        return a + b;
}

template <class V> V minus(V a, V b) {
    if constexpr (std::is_integral_v<V>)
        return static_cast<V>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    else
        return a - b;
}

template <class V> V times(V a, V b) {
    if constexpr (std::is_same_v<V, bool>)
        return a && b;
    else if constexpr (std::is_integral_v<V>)
        return static_cast<V>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else if constexpr (is_complex<V>)
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    else
        return a * b;
}

template <class V> V over(V a, V b) {
    if constexpr (is_complex<V>) {
        if (b == V{}) { // the parts over a positive zero: infinities, as for reals
            const auto zero = std::abs(b.real());
            return {a.real() / zero, a.imag() / zero};
        }
        // Smith's method: dividing by the larger part first keeps the squares from overflowing.
        if (std::abs(b.real()) >= std::abs(b.imag())) {
            const auto ratio = b.imag() / b.real(), scale = b.real() + b.imag() * ratio;
            return {(a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale};
        }
        const auto ratio = b.real() / b.imag(), scale = b.real() * ratio + b.imag();
        return {(a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale};
    } else {
        return a / b;
    }
}

template <class V> V conjugate(V a) {
    if constexpr (is_complex<V>)
        return {a.real(), -a.imag()};
    else
        return a;
}

// The modulus in the part's type; the smallest integer wraps.
template <class V> auto modulus(V a) {
    if constexpr (is_complex<V>)
        return static_cast<typename V::value_type>(
            std::hypot(static_cast<long double>(a.real()), static_cast<long double>(a.imag())));
    else if constexpr (std::is_floating_point_v<V>)
        return std::fabs(a);
    else if constexpr (std::is_signed_v<V>)
        return a < 0 ? minus(V{0}, a) : a;
    else
        return a;
}

template <class V> bool nonzero(V a) { return a != V{}; } // true for NaN

template <class V> bool is_nan(V a) { return a != a; } // complex: either part

template <class V> bool is_inf(V a) { // complex: either part
    if constexpr (is_complex<V>)
        return std::isinf(a.real()) || std::isinf(a.imag());
    else if constexpr (std::is_floating_point_v<V>)
        return std::isinf(a);
    else
        return false;
}

template <class V> bool is_finite(V a) { return !is_nan(a) && !is_inf(a); }

// An attribute of a call, which is in the type that the arithmetic is done in.
template <class V> V number(const atoll_scalar &scalar) {
    const char *bytes = reinterpret_cast<const char *>(scalar.value.bytes);
    if constexpr (std::is_same_v<V, bool>)
        return *bytes != 0;
    else
        return Plain<V>::load(bytes);
}

} // namespace Dummy
