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
// Of x >= 0 and d >= 2, with 2^(l - 1) < d <= 2^l and m the least integer with m d >= 2^(b - 1 +
// l), the quotient is that of x m and 2^(b - 1 + l), as long as x <= 2^(b - 1): m d is too large by
// less than 2^l, thus x m / 2^(b - 1 + l) by less than 1 / d. Below zero, the number below x / d is
// that of ~x, turned over. For any x < 2^b, m takes b + 1 bits, of which 2^b times x is added
// apart. Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994.
template <class F, class T> class DivisionByNumber {
public:
    explicit DivisionByNumber(T number)
        : divisor(static_cast<U>(number)), shift(63 - __builtin_clzll(divisor - 1ULL)) {
        const Twice top = Twice{1} << shift;
        factor = static_cast<U>(half_range ? ((top << bits) - 1) / divisor + 1
                                           : ((2 * top - divisor) << bits) / divisor + 1);
    }

    T of(T x) const {
        const U dividend = static_cast<U>(x), quotient = quotient_of(dividend);
        return static_cast<T>(
            is_quotient<F> ? quotient : dividend - static_cast<U>(Twice{quotient} * divisor));
    }
#if defined(__AVX2__)
    // Integers of 64 bits by vectors, of four at least.
    using V = Vector<std::uint64_t>;
    V of(V x) const {
        const V quotient = quotient_of(x);
        return is_quotient<F> ? quotient : x - quotient * divisor;
    }
#endif

private:
    // Bytes are multiplied as 16 bits, for want of an instruction.
    using U = std::conditional_t<sizeof(T) == 1, std::uint16_t, std::make_unsigned_t<T>>;
    __extension__ using Long = unsigned __int128;
    using Twice =
        std::conditional_t<sizeof(U) == 8, Long,
                           std::conditional_t<sizeof(U) == 4, std::uint64_t, std::uint32_t>>;
    template <class W> using Signed =
        std::conditional_t<sizeof(W) == sizeof(U), std::make_signed_t<U>, Vector<std::int64_t>>;
    static constexpr int bits = 8 * sizeof(U);
    static constexpr bool half_range = std::is_signed_v<T> || sizeof(T) == 1;

    U high_product(U x) const { return static_cast<U>(Twice{x} * factor >> bits); }
    // Of a number or a vector.
    template <class W> W quotient_of(W x) const {
        if constexpr (!half_range) {
            const W high = high_product(x);
            return (W)((W)(high + ((W)(x - high) >> 1)) >> shift);
        } else {
            const W sign = std::is_signed_v<T> ? (W)((Signed<W>)x >> (bits - 1)) : W{};
            const W less = rounds_down<F> ? W{} : sign, size = (W)((x ^ sign) - less);
            return (W)(((W)(high_product(size) >> shift) ^ sign) - less);
        }
    }
#if defined(__AVX2__)
    V high_product(V x) const {
        const V f = V{} + factor, middle = low_product(x >> 32, f) + (low_product(x, f) >> 32),
                other = low_product(x, f >> 32) + (middle & 0xffffffff);
        return low_product(x >> 32, f >> 32) + (middle >> 32) + (other >> 32);
    }
    // Of the lower halves.
    static V low_product(V a, V b) {
#if defined(__AVX512F__)
        return (V)_mm512_maskz_mul_epu32(vector_math::every<V>, (__m512i)a, (__m512i)b);
#else
        return (V)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
    }
#endif

    U divisor, factor;
    int shift;
};

template <class F, class T>
void integer_division_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    constexpr std::int64_t few = 16;
    const T number = strides[2] == 0 && n >= few ? *at<const T>(data[2]) : T(0);
    if (number < 2) {
        if constexpr (sizeof(T) < 8) return division_loop<F, T>(n, data, strides);
        return binary_loop<F, T>(n, data, strides);
    }
    const DivisionByNumber<F, T> division(number);
    const std::int64_t to_next = strides[0], from_next = strides[1];
    char *to = data[0], *from = data[1];
    if (to_next == sizeof(T) && from_next == sizeof(T)) {
        T *const t = at<T>(to);
        const T *const f = at<const T>(from);
        std::int64_t k = 0;
#if defined(__AVX2__)
        if constexpr (sizeof(T) == 8)
            for (; k + lanes<T> <= n; k += lanes<T>)
                store_vector(t + k, division.of(load_vector<Vector<std::uint64_t>>(f + k)));
#endif
        ATOLL_INDEPENDENT
        for (; k < n; ++k) t[k] = division.of(f[k]);
        return;
    }
    for (std::int64_t k = 0; k < n; ++k, to += to_next, from += from_next)
        *at<T>(to) = division.of(*at<const T>(from));
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
