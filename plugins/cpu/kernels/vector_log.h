// Logarithms.
//
// Note [Logarithms]
// x = 2^k m with m in [0.70, 1.41); of sixteen intervals of m, each has a number c, about 1 / m, of
// whose logarithm so few digits matter that k log(2) - log(c) is exact. What is left is the
// logarithm of c m = 1 + r with |r| < 0.043. r is exact for floats, and for doubles in the interval
// around 1, where c is 1: near their zero the functions keep all digits.
#pragma once

#include "vector_rows.h"

#include <array>

namespace Atoll::kernels::vector_math {

template <class V> struct Decomposed {
    V k, m;
    Integers<V> shifted;  // so that the interval's number follows the exponent
    Integers<V> exponent; // biased, in place

    template <int digits = 4> Integers<V> interval() const {
        return shifted >> (fraction_bits<V> - digits);
    }
};
// Of a positive normal number, by 2^digits intervals; 1 is inside one of them.
template <int digits = 4, class V> inline Decomposed<V> decompose(V x) {
    using Whole = Integers<V>;
    using Bits = Element<Whole>;
    constexpr Bits unit = Bits(1) << (fraction_bits<V> - digits);
    constexpr Bits shift = (digits == 4 ? 19 : 37) * (unit / 2);
    constexpr Bits fraction = (Bits(1) << fraction_bits<V>)-1;
#if defined(__AVX512F__)
    constexpr Bits unbiased = static_cast<Bits>(bias<V>) << fraction_bits<V>;
    const Whole shifted = bits(x) + (shift - unbiased);
    using Signed = Vector<std::make_signed_t<Bits>>;
    const V k = __builtin_convertvector((Signed)shifted >> fraction_bits<V>, V);
#else
    constexpr Bits unbiased = 0;
    constexpr auto to_number = static_cast<Element<V>>(Bits(1) << fraction_bits<V>);
    const Whole shifted = bits(x) + shift;
    // The exponent becomes a number as the last digits of 2^fraction_bits.
    const Whole exponent = shifted >> fraction_bits<V>;
    const V k = from_bits<V>(exponent | std::bit_cast<Bits>(to_number)) - (to_number + bias<V>);
#endif
    const Whole m = (shifted & fraction) + (one_bits<V> - shift);
    return {k, from_bits<V>(m), shifted, (shifted & ~fraction) + unbiased};
}

// The result for what is not positive and finite; subnormal numbers are not for here.
template <class V> inline V with_special(V x, V result) {
    using T = Element<V>;
#if defined(__AVX512F__)
    // A digit for each kind of number, from the last on: quiet NaN, signalling NaN, zero, one,
    // -inf, inf, negative, positive. 0 keeps the result, 1 takes x, 2 x as quiet NaN, 3 is NaN, 4
    // -inf.
    if constexpr (sizeof(T) == 8)
        return _mm512_fixupimm_pd(result, x, _mm512_set1_epi64(0x03130422), 0);
    else
        return _mm512_fixupimm_ps(result, x, _mm512_set1_epi32(0x03130422), 0);
#else
    result = x > T(0) ? result : all<V>(std::numeric_limits<T>::quiet_NaN());
    result = x == T(0) ? all<V>(-infinity<V>) : result;
    return x < infinity<V> ? result : x;
#endif
}

// The logarithms of e and of 2, the latter with a head of few digits; -log(c) as a sum.
template <class T> struct Natural {
    static constexpr Split<T> factor = {1, 0}, two = Constants<T>::ln_2_short;
    static constexpr auto &heads = Constants<T>::ln_heads, &tails = Constants<T>::ln_tails;
    static constexpr auto &tail = Constants<T>::ln_tail;
};
template <class T> struct Binary {
    static constexpr Split<T> factor = Constants<T>::log2_e, two = {1, 0};
    static constexpr auto &heads = Constants<T>::log2_heads, &tails = Constants<T>::log2_tails;
    static constexpr auto &tail = Constants<T>::log2_tail;
};
template <class T> struct Decimal {
    static constexpr Split<T> factor = Constants<T>::log10_e, two = Constants<T>::log10_2_short;
    static constexpr auto &heads = Constants<T>::log10_heads, &tails = Constants<T>::log10_tails;
    static constexpr auto &tail = Constants<T>::log10_tail;
};

// What belongs to the interval of m: c, and -log(c) as a sum.
template <class V> struct OfInterval { V inverse, head, tail; };
template <template <class> class Base, class V>
inline OfInterval<V> of_interval(const Decomposed<V> &x) {
    using T = Element<V>;
    return {lookup<V>(Constants<T>::inverses, x.interval()),
            lookup<V>(Base<T>::heads, x.interval()), lookup<V>(Base<T>::tails, x.interval())};
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// Of doubles, by their places in bytes among rows of numbers.
template <template <class> class Base> struct Rows {
    using V = Vector<double>;

    static Integers<V> place(Integers<V> shifted) {
        return shifted >> (fraction_bits<V> - 4 - row_bits) & (15 << row_bits);
    }
    template <class Places> static OfInterval<V> at(const Places &places) {
        const auto at = [&](int lane, int k) {
            return reinterpret_cast<const double *>(
                reinterpret_cast<const char *>(&numbers[static_cast<std::size_t>(k)]) +
                places[lane]);
        };
        const auto fetch = [&](int k) {
            return two_columns(at(0, k), at(1, k), at(2, k), at(3, k));
        };
        const auto [inverse, head] = fetch(0);
        return {inverse, head, fetch(2)[0]};
    }

private:
    static constexpr int row_bits = 5; // a row has 2^5 bytes
    alignas(32) static constexpr auto numbers = [] {
        std::array<double, 64> all{};
        for (std::size_t i = 0; i < 16; ++i) {
            all[4 * i] = Constants<double>::inverses[i];
            all[4 * i + 1] = Base<double>::heads[i];
            all[4 * i + 2] = Base<double>::tails[i];
        }
        return all;
    }();
};
template <template <class> class Base>
inline OfInterval<Vector<double>> of_interval(const Decomposed<Vector<double>> &x) {
    return Rows<Base>::at(Rows<Base>::place(x.shifted));
}
#endif

// The logarithm of 2^k / c (1 + r), and of what r has lost if that is given, as a sum whose tail is
// good to 2^-58 of the head.
template <template <class> class Base, class V, class... Lost>
inline DoubleWord<V> logarithm_words(V k, const OfInterval<V> &numbers, V r, Lost... r_lost) {
    using T = Element<V>;
    constexpr Split<T> factor = Base<T>::factor, two = Base<T>::two;
    const V large = multiply_add(k, two.head, numbers.head);
    const V first = factor.head == 1 ? r : r * factor.head, sum = large + first;
    V lost = (((large - sum) + first) + ... + r_lost);
    if constexpr (factor.head != 1)
        lost += multiply_add(r, factor.tail, product_error(r, factor.head, first));
    if constexpr (two.tail != 0) lost = multiply_add(k, two.tail, lost);
    lost += numbers.tail;
    return {sum, multiply_add(r * r, polynomial(r, Base<T>::tail), lost)};
}
template <template <class> class Base, class V, class... Lost>
inline V logarithm(V k, const OfInterval<V> &numbers, V r, Lost... r_lost) {
    const DoubleWord<V> words = logarithm_words<Base>(k, numbers, r, r_lost...);
    return words.head + words.tail;
}

template <template <class> class Base> struct Logarithm {
    template <class X> static auto outside(X x) { // subnormal
        return (x > Number<X>(0)) & (x < std::numeric_limits<Number<X>>::min());
    }
    template <class V> static V of(V x) { return with_special(x, of_ordinary(x)); }
    // Of what is normal and finite.
    template <class V> static V of_ordinary(V x) {
        const Decomposed<V> parts = decompose(x);
        return from_parts(parts, of_interval<Base>(parts));
    }
#if defined(__AVX2__) && !defined(__AVX512F__)
    // What of_ordinary() looks up, as whole numbers that can be computed ahead: the processor then
    // has the registers to work on more vectors at once (on Zen 1 a fifth less time).
    // Constrained, as clang would take a vector of floats for one of doubles.
    template <class V>
    requires(sizeof(Element<V>) == sizeof(double)) static auto place(V x) {
        return Rows<Base>::place(decompose(x).shifted);
    }
    static Vector<double> of_ordinary(Vector<double> x, const std::uint64_t *places) {
        return from_parts(decompose(x), Rows<Base>::at(places));
    }
#endif
#if !defined(__AVX512F__)
    template <class V> static auto ordinary(V x) {
        using T = Element<V>;
        using Signed = Vector<std::make_signed_t<Element<Integers<V>>>>;
        constexpr auto least = std::bit_cast<Element<Integers<V>>>(std::numeric_limits<T>::min()),
                       end = std::bit_cast<Element<Integers<V>>>(infinity<V>);
        // One comparison of signed integers, from the least one on.
        return (Signed)(bits(x) - least + sign_bit<V>) <
               (Signed)(Integers<V>{} + (end - least + sign_bit<V>));
    }
#endif

private:
    template <class V>
    static V from_parts(const Decomposed<V> &parts, const OfInterval<V> &numbers) {
        return logarithm<Base>(parts.k, numbers,
                               short_cancelling_add(parts.m, numbers.inverse, Element<V>(-1)));
    }
};

// The logarithm of (sum + lost) 2^twos, for sums from 2^-digits to far below the end of the range,
// so that 2^-k is normal. `lost` is scaled as the sum is, and added to r.
template <template <class> class Base, class V, class... Twos>
inline DoubleWord<V> logarithm_of_sum(V sum, V lost, Twos... twos) {
    using T = Element<V>;
    constexpr auto twice = (2 * static_cast<Element<Integers<V>>>(bias<V>)) << fraction_bits<V>;
    constexpr Split<T> factor = Base<T>::factor;
    const Decomposed<V> parts = decompose(sum);
    const V scale = from_bits<V>(twice - parts.exponent); // 2^-k
    const auto numbers = of_interval<Base>(parts);
    const V c = numbers.inverse;
    const V r = short_cancelling_add(parts.m, c, T(-1)), rest = lost * scale * c;
    V more = multiply_subtract(rest, r, rest); // rest / (1 + r)
    if constexpr (factor.head != 1) more *= factor.head;
    return logarithm_words<Base>((parts.k + ... + twos), numbers, r, more);
}
// The same as a number; other sums have the result that log has.
template <class V, class... Twos> inline V log_of_sum(V sum, V lost, Twos... twos) {
    const DoubleWord<V> words = logarithm_of_sum<Natural>(sum, lost, twos...);
    return with_special(sum, words.head + words.tail);
}

// log(1 + x).
struct Log1p {
    template <class X> static auto outside(X x) {
        return x > Number<X>(sizeof(Number<X>) == 4 ? 0x1p100 : 0x1p1000);
    }
    template <class V> static V of(V x) {
        using T = Element<V>;
        const V sum = x + T(1), large = at_least(T(1), x), small = at_most(T(1), x);
        return or_tiny(x, sizeof(T) == 4 ? T(0x1p-25) : T(0x1p-54),
                       log_of_sum(sum, small - (sum - large)));
    }
};

} // namespace Atoll::kernels::vector_math
