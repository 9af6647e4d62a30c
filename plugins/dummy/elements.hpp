// How elements of each dtype are stored and which C++ type their arithmetic is done in.
#pragma once

#include "atoll/core_functions.hpp"
#include "atoll/operand.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace Dummy {

// 16-bit floats are computed in float and rounded when they are stored.
template <std::uint32_t dtype> struct Element {
    using Type = Atoll::sdk::Type<dtype>;
    using Value = Atoll::sdk::Value<Type>;
    static Value load(const char *at) {
        if constexpr (std::is_same_v<Type, bool>) {
            return *at != 0;
        } else {
            Type element;
            std::memcpy(static_cast<void *>(&element), at, sizeof element);
            return element;
        }
    }
    static void store(char *at, Value value) {
        const Type element(value);
        std::memcpy(at, &element, sizeof element);
    }
};

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

// The exponent of the larger part; 0 for zero.
inline int exponent_of(std::complex<long double> a) {
    const long double size = std::max(std::fabs(a.real()), std::fabs(a.imag()));
    return size == 0 ? 0 : std::ilogb(size);
}

template <class V> V over(V a, V b) {
    if constexpr (is_complex<V>) {
        using Part = typename V::value_type;
        if (b == V{}) { // the parts over a positive zero: infinities, as for reals
            const Part zero = std::abs(b.real());
            return {a.real() / zero, a.imag() / zero};
        }
        std::complex<long double> x(a), y(b);
        const auto finite = [](auto z) {
            return std::isfinite(z.real()) && std::isfinite(z.imag());
        };
        // Near 1 by powers of two, so that no product leaves the range.
        const int up = finite(x) ? exponent_of(x) : 0, down = finite(y) ? exponent_of(y) : 0;
        x = {std::scalbn(x.real(), -up), std::scalbn(x.imag(), -up)};
        y = {std::scalbn(y.real(), -down), std::scalbn(y.imag(), -down)};
        std::complex<long double> quotient;
        // Smith's method says what becomes of zeros and infinities.
        if (std::fabs(y.real()) >= std::fabs(y.imag())) {
            const long double ratio = y.imag() / y.real(), scale = y.real() + y.imag() * ratio;
            quotient = {(x.real() + x.imag() * ratio) / scale,
                        (x.imag() - x.real() * ratio) / scale};
        } else {
            const long double ratio = y.real() / y.imag(), scale = y.real() * ratio + y.imag();
            quotient = {(x.real() * ratio + x.imag()) / scale,
                        (x.imag() * ratio - x.real()) / scale};
        }
        return {static_cast<Part>(std::scalbn(quotient.real(), up - down)),
                static_cast<Part>(std::scalbn(quotient.imag(), up - down))};
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
    return Element<Atoll::sdk::dtype_of<V>>::load(
        reinterpret_cast<const char *>(scalar.value.bytes));
}

} // namespace Dummy
