// Loops over integers: quotients, remainders and powers by vectors.
#pragma once

#include "functors/elementary.h"
#include "functors/integer.h"
#include "test_loops.h"
#include "vector_operations.h"

#include <algorithm>

namespace Atoll::kernels {

template <class T> inline constexpr bool is_integer = std::is_integral_v<T>;

template <class F> inline constexpr bool is_quotient =
    std::is_same_v<F, functor::trunc_divide> || std::is_same_v<F, functor::floor_divide>;
template <class F> inline constexpr bool rounds_down =
    std::is_same_v<F, functor::floor_divide> || std::is_same_v<F, functor::remainder>;
template <class F, class T>
inline constexpr bool is_integer_division = is_integer<T> &&
                                            (is_quotient<F> || std::is_same_v<F, functor::fmod> ||
                                             std::is_same_v<F, functor::remainder>);

// Integers of another width, step by step: GCC makes nothing good of several at once.
template <class To, class V> auto resized(V v) {
    using From = vector_math::Element<V>;
    constexpr int count = sizeof(V) / sizeof(From);
    if constexpr (sizeof(To) == sizeof(From)) {
        return v;
    } else {
        using Half = std::conditional_t<sizeof(From) == 4, std::uint16_t, std::uint8_t>;
        using Twice =
            std::conditional_t<std::is_signed_v<From>,
                               std::conditional_t<sizeof(From) == 1, std::int16_t, std::int32_t>,
                               std::conditional_t<sizeof(From) == 1, std::uint16_t, std::uint32_t>>;
        using Next = std::conditional_t<(sizeof(To) > sizeof(From)), Twice,
                                        std::conditional_t<sizeof(From) == 8, std::uint32_t, Half>>;
        return resized<To>(__builtin_convertvector(v, VectorN<Next, count>));
    }
}

// Note [Division in floats]
// No processor divides vectors of integers. Those of up to 16 bits are floats, and those of 32 bits
// doubles, in which a rounded quotient lies between the same two integers as the quotient itself:
// this is off an integer by 1 / |a| of its size at least, which is more than rounding takes from it
// or adds to it. The rest, a - quotient b, is exact.
template <class F, class T>
void division_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using namespace vector_math;
    using W = std::conditional_t<sizeof(T) < 4, float, double>;
    using V = Vector<W>;
    constexpr std::int64_t size = sizeof(T), count = lanes<W>;
    if (n < count || strides[0] != size || !dense_or_same<T>(strides[1]) ||
        !dense_or_same<T>(strides[2]))
        return binary_loop<F, T>(n, data, strides);
    const Inputs<T> a(data[1], strides[1]), b(data[2], strides[2]);
    const auto widened = [](const T *x) {
        const auto integers = load_vector<VectorN<T, count>>(x);
        if constexpr (sizeof(T) < 4)
            return __builtin_convertvector((SignedIntegers<V>)resized<std::int32_t>(integers), V);
        else
            return __builtin_convertvector(integers, V);
    };
    std::int64_t k = 0;
    for (; k + count <= n; k += count) {
        const V x = widened(a.from(k)), divisor = widened(b.from(k));
        const auto is_zero = divisor == 0;
        const V y = is_zero ? V{} + 1 : divisor;
        V exact = x / y;
        if constexpr (!rounds_down<F>) exact = absolute(exact);
        V quotient = (exact + rounder<V>)-rounder<V>; // the nearest one
        quotient = quotient > exact ? quotient - 1 : quotient;
        if constexpr (!rounds_down<F>) quotient = with_sign(quotient, x / y);
        const V result = is_quotient<F> ? (is_zero ? V{} : quotient) : x - quotient * y;
        // The last bits of a sum with `rounder` are those of the integer.
        store_vector(data[0] + k * size, resized<T>(bits(result + rounder<V>)));
    }
    if (k == n) return;
    char *const rest[] = {data[0] + k * size, data[1] + k * strides[1], data[2] + k * strides[2]};
    binary_loop<F, T>(n - k, rest, strides);
}

// Note [Division by a number]
// Of x >= 0 and d >= 2, with 2^(l - 1) < d <= 2^l and m the least integer with m d >= 2^(63 + l),
// the quotient is that of x m and 2^(63 + l), as long as x <= 2^63: m d is too large by less than
// 2^l, thus x m / 2^(63 + l) by less than 1 / d. Unsigned numbers above 2^63 are divided one by
// one. Below zero, the number below x / d is that of ~x, turned over. Granlund and Montgomery,
// "Division by Invariant Integers using Multiplication", 1994.
template <class F, class T>
void division_by_number_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using U = std::uint64_t;
    __extension__ using Twice = unsigned __int128;
    static_assert(sizeof(T) == sizeof(U));
    constexpr std::int64_t few = 16;
    const T number = strides[2] == 0 && n >= few ? *at<const T>(data[2]) : T(0);
    if (number < 2) return binary_loop<F, T>(n, data, strides);
    const U divisor = static_cast<U>(number);
    const int shift = 63 - __builtin_clzll(divisor - 1);
    const U factor = static_cast<U>(((Twice{1} << (64 + shift)) - 1) / divisor + 1);
    const auto of_size = [&](U size) {
        return static_cast<U>(Twice{size} * factor >> 64) >> shift;
    };
    const auto quotient_of = [&](T x) {
        const U bits = static_cast<U>(x);
        if constexpr (std::is_unsigned_v<T>) return x >> 63 ? x / number : of_size(bits);
        const U sign = static_cast<U>(x >> 63), less = rounds_down<F> ? 0 : sign;
        return static_cast<T>((of_size((bits ^ sign) - less) ^ sign) - less);
    };
    const std::int64_t to_next = strides[0], from_next = strides[1];
    char *to = data[0], *from = data[1];
    for (std::int64_t k = 0; k < n; ++k, to += to_next, from += from_next) {
        const T x = *at<const T>(from), quotient = quotient_of(x);
        *at<T>(to) = is_quotient<F>
                         ? quotient
                         : static_cast<T>(static_cast<U>(x) - static_cast<U>(quotient) * divisor);
    }
}

// n integers that are `from_next` and `to_next` bytes apart; loops over dense ones vectorise.
template <class To, class From> void move_integers(std::int64_t n, char *to, std::int64_t to_next,
                                                   const char *from, std::int64_t from_next) {
    if (to_next == sizeof(To) && from_next == sizeof(From)) {
        To *const t = reinterpret_cast<To *>(to);
        const From *const f = reinterpret_cast<const From *>(from);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) t[k] = static_cast<To>(f[k]);
        return;
    }
    for (std::int64_t k = 0; k < n; ++k)
        *reinterpret_cast<To *>(to + k * to_next) =
            static_cast<To>(*reinterpret_cast<const From *>(from + k * from_next));
}

// Powers of a block by squaring and multiplying, as functor::pow does: the same modulo 2^bits. In
// `Wide`, vectors of which are multiplied.
template <class T> class IntegerPowers {
public:
    static constexpr std::int64_t block = 128;

    // `bases` are overwritten.
    void raise(std::int64_t n, T exponent) {
        if (exponent <= 0) {
            std::fill_n(power, n, Wide(exponent == 0));
            return;
        }
        U digits = static_cast<U>(exponent);
        for (; !(digits & 1); digits >>= 1) square(n);
        std::copy_n(base, n, power);
        while (digits >>= 1) {
            square(n);
            for (std::int64_t k = 0; digits & 1 && k < n; ++k)
                power[k] = static_cast<Wide>(power[k] * base[k]);
        }
    }
    // A digit of all exponents after the other.
    void raise(std::int64_t n, const T *exponents) {
        alignas(64) U left[block];
        U digits = 0;
        for (std::int64_t k = 0; k < n; ++k) {
            power[k] = exponents[k] >= 0;
            left[k] = static_cast<U>(exponents[k] > 0 ? exponents[k] : 0);
            digits |= left[k];
        }
        for (; digits; digits >>= 1) {
            for (std::int64_t k = 0; k < n; ++k) {
                power[k] = static_cast<Wide>(power[k] * (left[k] & 1 ? base[k] : Wide(1)));
                left[k] >>= 1;
            }
            square(n);
        }
    }

    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<sizeof(T) == 1, std::uint16_t, U>;
    alignas(64) Wide base[block];
    alignas(64) Wide power[block];

private:
    void square(std::int64_t n) {
        for (std::int64_t k = 0; k < n; ++k) base[k] = static_cast<Wide>(base[k] * base[k]);
    }
};

template <class T>
void integer_pow_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using Powers = IntegerPowers<T>;
    using Wide = typename Powers::Wide;
    constexpr std::int64_t block = Powers::block, few = 8;
    if (n < few) return binary_loop<functor::pow, T>(n, data, strides);
    Powers powers;
    alignas(64) T exponents[block];
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t count = std::min(block, n - begin);
        const auto at = [&](int k) { return data[k] + begin * strides[k]; };
        move_integers<Wide, T>(count, reinterpret_cast<char *>(powers.base), sizeof(Wide), at(1),
                               strides[1]);
        if (strides[2] == 0) {
            powers.raise(count, *reinterpret_cast<const T *>(data[2]));
        } else {
            move_integers<T, T>(count, reinterpret_cast<char *>(exponents), sizeof(T), at(2),
                                strides[2]);
            powers.raise(count, exponents);
        }
        move_integers<T, Wide>(count, at(0), strides[0], reinterpret_cast<char *>(powers.power),
                               sizeof(Wide));
    }
}

} // namespace Atoll::kernels
