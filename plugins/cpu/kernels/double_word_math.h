// Logarithms, angles, sines and exponentials of numbers with twice the digits of a double.
//
// Note [Long functions]
// Each is good to 2^-72 of the result: for sums of them that lose 2^-18 to
// cancellation. The first terms of each series, as many as count, are sums of two doubles; the rest
// is a polynomial of doubles.
#pragma once

#include "double_word.h"

namespace Atoll::kernels::vector_math {

// c[first] + x c[first + step] + ..., of which the first `Long` terms have twice the digits.
template <std::size_t Long, std::size_t First, std::size_t Step, class V, std::size_t N>
inline DoubleWord<V> long_polynomial(DoubleWord<V> x, const Split<Element<V>> (&c)[N]) {
    if constexpr (Long == 0) {
        constexpr std::size_t count = (N - First + Step - 1) / Step;
        Element<V> heads[count];
        for (std::size_t k = 0; k < count; ++k) heads[k] = c[First + k * Step].head;
        return {polynomial(x.head, heads), V{}};
    } else {
        const DoubleWord<V> rest = x * long_polynomial<Long - 1, First + Step, Step>(x, c);
        const DoubleWord<V> sum = ordered_sum(all<V>(c[First].head), rest.head);
        return {sum.head, sum.tail + (rest.tail + c[First].tail)};
    }
}

// x (1 + square / 3 + square^2 / 5 + ...)
template <class V> inline DoubleWord<V> odd_series(DoubleWord<V> x, DoubleWord<V> square) {
    return x + x * (square * long_polynomial<1, 1, 1>(square, ConstantsOf<V>::inverse_odds));
}

// The logarithm of `x`, which is 1 + `excess` where it is between 0.7 and 1.41.
template <class V> inline DoubleWord<V> long_logarithm(DoubleWord<V> x, DoubleWord<V> excess) {
    using C = ConstantsOf<V>;
    constexpr auto twice = (2 * static_cast<Element<Integers<V>>>(bias<V>)) << fraction_bits<V>;
    const Decomposed<V> parts = decompose(x.head);
    const V scale = from_bits<V>(twice - parts.exponent); // 2^-k
    const auto numbers = of_interval<Natural>(parts);
    const DoubleWord<V> less =
        choose(parts.k == 0.0, excess, ordered_sum(parts.m - 1.0, x.tail * scale));
    // r = c m - 1 = (c - 1) + c (m - 1)
    const V c = numbers.inverse, near = c * less.head;
    const DoubleWord<V> main = sum_of(c - 1.0, near);
    const DoubleWord<V> r = ordered_sum(
        main.head, multiply_add(c, less.tail, product_error(c, less.head, near)) + main.tail);
    // log(1 + r) = 2 s (1 + s^2 / 3 + ...) with s = r / (2 + r)
    const DoubleWord<V> s = r / (r + widened<DoubleWord<V>>(all<V>(2)));
    const DoubleWord<V> small = odd_series(s, s * s) * 2.0;
    const DoubleWord<V> large{multiply_add(parts.k, C::ln_2_short.head, numbers.head),
                              multiply_add(parts.k, C::ln_2_short.tail, numbers.tail)};
    return large + small;
}

// The angle of x + iy. The tangent of what it is more than atan(i / 16) is
// (y - x i / 16) / (x + y i / 16).
template <class V> inline DoubleWord<V> long_angle(V x, V y) {
    using C = ConstantsOf<V>;
    using N = DoubleWord<V>;
    const V width = absolute(x), height = absolute(y);
    const auto steep = height > width, left = (SignedIntegers<V>)bits(x) < 0;
    const V smaller = steep ? width : height, larger = steep ? height : width;
    const V shifted = at_most(15.0, smaller / larger * 16.0) + rounder<V>;
    const V tangent = (shifted - rounder<V>)*0.0625;
    const N q = (widened<N>(smaller) - product<N>(tangent, larger)) /
                (widened<N>(larger) + product<N>(tangent, smaller));
    const N part = N{lookup<V>(C::sixteenth_angles, bits(shifted)),
                     lookup<V>(C::sixteenth_angles_lost, bits(shifted))} +
                   odd_series(q, -(q * q));
    V eighths = steep ? all<V>(2) : V{};
    eighths = left ? 4.0 - eighths : eighths;
    const N base{eighths * C::eighth.head, eighths * C::eighth.tail};
    const N angle = base + choose(steep ^ left, -part, part);
    return flipped(angle, bits(y));
}

// sin(y) and cos(y).
struct LongTurn : Circular {
    // Of angles below Circular::limit.
    template <class V> static Pair<DoubleWord<V>> of(V y) {
        const auto t = turned(absolute(y));
        const auto [sine, cosine] = of_reduced(t.turns, ordered_sum(t.r, t.lost));
        return {flipped(sine, bits(y)), cosine};
    }
    // Of turns pi / 2 + r.
    template <class V> static Pair<DoubleWord<V>> of_reduced(Integers<V> turns, DoubleWord<V> r) {
        using C = ConstantsOf<V>;
        using N = DoubleWord<V>;
        const N minus = -(r * r);
        const N sine = r + r * (minus * long_polynomial<3, 3, 2>(minus, C::inverse_factorials));
        const N cosine =
            widened<N>(all<V>(1)) + minus * long_polynomial<4, 2, 2>(minus, C::inverse_factorials);
        const auto odd = (turns & 1) != 0;
        return {flipped(choose(odd, cosine, sine), turns << 62),
                flipped(choose(odd, sine, cosine), (turns + 1) << 62)};
    }
};

// e^x and e^x - 1 of x whose power is a normal number.
template <class V> inline Pair<DoubleWord<V>> long_exponentials(V x) {
    using N = DoubleWord<V>;
    const Exponent<V> parts = BaseE::reduce(x);
    const V power = power_of_two(parts.n());
    const N r = ordered_sum(parts.r, parts.lost);
    const N less = r + r * r * long_polynomial<5, 2, 1>(r, ConstantsOf<V>::inverse_factorials);
    const N above{power * less.head, power * less.tail};
    return {widened<N>(power) + above, sum_of(power, all<V>(-1)) + above};
}

} // namespace Atoll::kernels::vector_math
