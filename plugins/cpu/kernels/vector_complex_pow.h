// Powers of vectors of complex numbers.
#pragma once

#include "double_word_math.h"
#include "vector_complex_log.h"
#include "vector_complex_sqrt.h"

namespace Atoll::kernels::vector_math {

template <class N> inline Pair<N> complex_product(Pair<N> a, Pair<N> b) {
    return {a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
}
// The power by squaring, for whole n up to 127; other n give anything. The error of each part is
// about |n| 2^-100 of the larger one.
inline Pair<DoubleWord<ComplexV>> whole_power(ComplexV x, ComplexV y, ComplexV n) {
    using V = ComplexV;
    using N = DoubleWord<V>;
    Integers<V> left = bits(absolute(n) + rounder<V>) & 127;
    Pair<N> base{widened<N>(x), widened<N>(y)}, power{widened<N>(all<V>(1)), N{}};
    for (; any(left != 0); left >>= 1) {
        const Pair<N> more = complex_product(power, base);
        const auto odd = (left & 1) != 0;
        power = {choose(odd, more.first, power.first), choose(odd, more.second, power.second)};
        base = complex_product(base, base);
    }
    const N square = power.first * power.first + power.second * power.second;
    const auto positive = n > 0.0;
    return {choose(positive, power.first, power.first / square),
            choose(positive, power.second, -power.second / square)};
}

// (u + iv) (log_size + i angle): the real part, the sine and cosine of the imaginary part, and the
// sizes of the terms that each part is the sum of.
template <class N> struct Product {
    N exponent;
    ComplexV sin, cos, exponents, turns;
};
template <class N> inline Product<N> product_of(N u, N v, N log_size, N angle) {
    const N first = u * log_size, second = v * angle, third = u * angle, fourth = v * log_size;
    const N turn = third + fourth;
    const auto [sin, cos] = Turn<N>::of(head(turn));
    const ComplexV s = head(sin) + multiply_add(head(cos), tail(turn), tail(sin));
    const ComplexV zero = head(u) * head(angle) + head(v) * head(log_size); // sums of two lose -0
    return {first - second, head(turn) == 0.0 ? zero : s,
            head(cos) + multiply_subtract(head(sin), tail(turn), tail(cos)),
            absolute(head(first)) + absolute(head(second)),
            absolute(head(third)) + absolute(head(fourth))};
}

// e^(b log(a)) with a = x + iy and b = u + iv.
template <> struct OfComplex<functor::pow> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y, ComplexV u, ComplexV v) {
        using V = ComplexV;
        const auto whole = (v == 0.0) & (round_even(u) == u);
        ComplexResult result = general<narrow>(x, y, u, v, whole);
        if constexpr (!narrow) {
            // Whole powers are products and halves are square roots: exact where they can be.
            const V times = absolute(u);
            const auto product = whole & (times <= 100.0);
            if (any(product)) {
                const auto [re, im] = whole_power(x, y, u);
                const V a = absolute(re.head), b = absolute(im.head), size = larger(a, b);
                const auto exact = (y == 0.0) | (smaller(a, b) > size * times * 0x1p-44);
                const auto in_range = (size > 0x1p-700) & (size < 0x1p700);
                const ComplexMask outside =
                    unusual<false>(x) | unusual<false>(y) | (x == 0.0) | ~exact | ~in_range;
                result = {product ? re.head : result.re, product ? im.head : result.im,
                          product ? outside : result.outside};
            }
            const auto half = (v == 0.0) & (u == 0.5);
            if (any(half)) {
                const ComplexResult root = OfComplex<functor::sqrt>::of<false>(x, y);
                result = {half ? root.re : result.re, half ? root.im : result.im,
                          half ? root.outside : result.outside};
            }
        }
        // Powers of real numbers are real.
        const auto flips = whole & (x < 0.0) & (round_even(u * 0.5) == u * 0.5);
        const auto real = (y == 0.0) & (v == 0.0) & ((x > 0.0) | whole);
        const V zero = flipped(y, bits(u) ^ (Integers<V>)flips);
        const auto none = (u == 0.0) & (v == 0.0);
        return {none ? all<V>(1) : result.re,
                none   ? V{}
                : real ? zero
                       : result.im,
                ~none & result.outside};
    }

private:
    template <bool narrow> static ComplexResult general(ComplexV x, ComplexV y, ComplexV u,
                                                        ComplexV v, ComplexMask whole) {
        using V = ComplexV;
        using N = PartOfComplex<narrow>;
        N log_size, angle;
        const SquaredModulus modulus = squared_modulus<narrow>(x, y);
        if constexpr (narrow) {
            log_size = half_of(logarithm_of_squares<Natural>(modulus.square, modulus.excess));
            angle = arctangent(y, x);
        } else {
            log_size = long_logarithm(modulus.square, modulus.excess) * 0.5;
            angle = long_angle(x, y);
        }
        const auto [exponent, s, c, exponents, turns] =
            product_of(widened<N>(u), widened<N>(v), log_size, angle);
        const V inside = at_most(700.0, at_least(-700.0, head(exponent)));
        const V near_size = real<functor::exp>(inside),
                size = multiply_add(near_size, tail(exponent), near_size);
        // Whole powers of real numbers.
        const auto real_whole = (y == 0.0) & whole;
        const auto odd = round_even(u * 0.5) != u * 0.5;
        const V cos = real_whole ? ((x < 0.0) & odd ? all<V>(-1) : all<V>(1)) : c;
        // What the terms may be wrong by is what the exponent and the angle may be wrong by.
        constexpr double times = narrow ? 0x1p14 : 0x1p18;
        const auto kept = (exponents <= times) &
                          (real_whole | (turns <= smaller(absolute(s), absolute(c)) * times));
        ComplexMask outside = modulus.outside | unusual<narrow>(u) | unusual<narrow>(v) | ~kept |
                              (modulus.square.head == 0.0);
        if constexpr (!narrow) outside |= inside != head(exponent);
        return {size * cos, size * s, outside};
    }
};

} // namespace Atoll::kernels::vector_math
