// What functions of vectors of complex numbers are made of.
//
// Note [Complex vectors]
// Each part is computed by a formula of numbers of type N. For complex floats N is a vector of
// doubles: products of two parts are exact, and what is lost otherwise is rounded away. For complex
// doubles N is DoubleWord, with twice the digits. Real functions get the head, and their result is
// corrected for the tail; so each part is good to 3 ULP.
// `outside` tells which elements are not covered: those that are not finite or of unusual size,
// and those where the formula loses too many digits. The loop asks complex_math.h about them.
// All levels with FMA give the same bits.
#pragma once

#include "double_word.h"
#include "functors/elementary.h"
#include "vector_math.h"

namespace Atoll::kernels::vector_math {

using ComplexV = Vector<double>; // the real or the imaginary parts of several numbers
using ComplexMask = decltype(ComplexV{} < ComplexV{});
struct ComplexResult {
    ComplexV re, im;
    ComplexMask outside;
};

template <bool narrow> using PartOfComplex =
    std::conditional_t<narrow, ComplexV, DoubleWord<ComplexV>>;

inline ComplexV larger(ComplexV a, ComplexV b) { return a > b ? a : b; }
inline ComplexV smaller(ComplexV a, ComplexV b) { return a > b ? b : a; }

// Not a finite float; not zero and so small or large that powers, or their tails, leave the range.
template <bool narrow>
inline ComplexMask unusual(ComplexV x, double least = 0x1p-400, double most = 0x1p240) {
    const ComplexV size = absolute(x);
    if constexpr (narrow) return ~(size < infinity<ComplexV>);
    return ~((size == 0.0) | ((size >= least) & (size <= most)));
}
template <bool narrow> inline ComplexMask unusual_parts(ComplexV x, ComplexV y) {
    return unusual<narrow>(x) | unusual<narrow>(y);
}
// Angles that are not reduced, or so small that products vanish.
template <bool narrow> inline ComplexMask unusual_angle(ComplexV y) {
    return unusual<narrow>(y, 0x1p-400, Circular::limit<double>) |
           ~(absolute(y) < Circular::limit<double>);
}

// sin(y), cos(y)
template <class N> struct Turn : Circular {
    static Pair<N> of(ComplexV y) {
        const auto t = turned(absolute(y));
        auto sine = t.sine(), cosine = t.cosine();
        if constexpr (!std::is_same_v<N, ComplexV>) { // what r^2 has lost counts in the tails
            const ComplexV square_lost = product_error(t.r, t.r, t.square);
            sine.tail = multiply_add(square_lost * t.r, -1 / 6.0, sine.tail);
            cosine.tail = multiply_add(square_lost, -0.5, cosine.tail);
        }
        const auto odd = (t.turns & 1) != 0;
        const auto part = [&](auto first, auto second, Integers<ComplexV> sign) {
            const ComplexV a = odd ? second.head : first.head, b = odd ? second.tail : first.tail;
            if constexpr (std::is_same_v<N, ComplexV>)
                return flipped(a + b, sign);
            else
                return flipped(ordered_sum(a, b), sign);
        };
        return {part(sine, cosine, (t.turns << 62) ^ bits(y)),
                part(cosine, sine, (t.turns + 1) << 62)};
    }
};

// sinh(x) and cosh(x) of x from 0 to 500, as SinhCosh computes them.
template <class N> inline Pair<N> hyperbolic(ComplexV x) {
    using V = ComplexV;
    const Exponent<V> parts = BaseE::reduce(x);
    const V n = parts.n(), r = parts.r, square = r * r;
    const V even = square * polynomial(square, ConstantsOf<V>::cosh_tail);
    const V odd =
        multiply_add(square * r, polynomial(square, ConstantsOf<V>::sinh_tail), parts.lost);
    const V plus = power_of_two(n - 1.0), minus = power_of_two(-1.0 - n);
    const V sum = plus + minus, difference = plus - minus;
    const V sum_lost = (plus - sum) + minus, difference_lost = (plus - difference) - minus;
    const auto of = [&](V a, V b, V lost) { // a cosh(r) + b sinh(r)
        const auto [main, main_lost] = multiply_add_words(b, r, a);
        const V rest = multiply_add(a, even, multiply_add(b, odd, main_lost + lost));
        if constexpr (std::is_same_v<N, V>)
            return main + rest;
        else
            return ordered_sum(main, rest);
    };
    return {of(difference, sum, difference_lost), of(sum, difference, sum_lost)};
}

// Of vectors: their limits are those of `outside`.
template <class F> ComplexV real(ComplexV x) { return Of<F, double>::type::of(x); }

// The function of a functor, as OfComplex<F>::of<narrow>(); those without have no `Vectors`.
template <class F> struct OfComplex {};
struct HasVectors {
    using Vectors = ComplexV;
};

} // namespace Atoll::kernels::vector_math
