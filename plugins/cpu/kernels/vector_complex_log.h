// Logarithms of vectors of complex numbers.
#pragma once

#include "vector_complex_parts.h"

namespace Atoll::kernels::vector_math {

// a + p + q with three times the digits of the largest, as most may cancel.
template <class V> inline DoubleWord<V> sum_of_three(V a, DoubleWord<V> p, DoubleWord<V> q) {
    const DoubleWord<V> first = sum_of(a, p.head), second = sum_of(first.head, q.head);
    const DoubleWord<V> tails = sum_of(p.tail, q.tail), lost = sum_of(first.tail, second.tail);
    const DoubleWord<V> rest = sum_of(tails.head, lost.head), all = sum_of(second.head, rest.head);
    return {all.head, all.tail + (tails.tail + lost.tail + rest.tail)};
}

// The logarithm of a sum of squares: of `square`, or of 1 + `excess` where that is near 1.
template <template <class> class Base, class V>
inline DoubleWord<V> logarithm_of_squares(DoubleWord<V> square, DoubleWord<V> excess) {
    const auto near = (square.head > 0.5) & (square.head < 2.0);
    const DoubleWord<V> above = ordered_sum(all<V>(1), excess.head);
    return logarithm_of_sum<Base>(near ? above.head : square.head,
                                  near ? above.tail + excess.tail : square.tail);
}
template <class V> inline V half_of(DoubleWord<V> x) { return (x.head + x.tail) * 0.5; }

// The modulus' square, and the same less 1.
struct SquaredModulus {
    DoubleWord<ComplexV> square, excess;
    ComplexMask outside;
};
template <bool narrow> inline SquaredModulus squared_modulus(ComplexV x, ComplexV y) {
    using V = ComplexV;
    const V large = larger(absolute(x), absolute(y)), small = smaller(absolute(x), absolute(y));
    if constexpr (narrow) {
        const V first = large * large, second = small * small;
        return {{first + second, V{}}, {(first - 1.0) + second, V{}}, unusual_parts<true>(x, y)};
    } else {
        using N = DoubleWord<V>;
        const N first = product<N>(large, large), second = product<N>(small, small);
        const N square = first + second, excess = sum_of_three(all<V>(-1), first, second);
        const auto lost = (absolute(excess.head) < 0x1p-90) & (square.head > 0.5) & (small != 0.0);
        return {square, excess,
                unusual<false>(x, 0x1p-400, 0x1p500) | unusual<false>(y, 0x1p-400, 0x1p500) |
                    (large == 0.0) | lost};
    }
}
template <bool narrow, template <class> class Base>
inline ComplexResult logarithm_of(ComplexV x, ComplexV y) {
    constexpr Split<double> factor = Base<double>::factor;
    const SquaredModulus modulus = squared_modulus<narrow>(x, y);
    const ComplexV size = half_of(logarithm_of_squares<Base>(modulus.square, modulus.excess));
    const ComplexV angle = arctangent(y, x);
    return {with_special(modulus.square.head, size),
            factor.head == 1 ? angle : multiply_add(angle, factor.head, angle * factor.tail),
            modulus.outside};
}

template <> struct OfComplex<functor::log> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Natural>(x, y);
    }
};
template <> struct OfComplex<functor::log2> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Binary>(x, y);
    }
};
template <> struct OfComplex<functor::log10> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Decimal>(x, y);
    }
};

template <> struct OfComplex<functor::log1p> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using V = ComplexV;
        using N = DoubleWord<V>;
        const N shifted = sum_of(all<V>(1), x);
        // |1 + z|^2 - 1 = 2 x + x^2 + y^2
        if constexpr (narrow) {
            const N most = sum_of(x * 2.0, y * y), excess = sum_of(most.head, x * x);
            const V square = shifted.head * shifted.head + y * y;
            const DoubleWord<V> words = logarithm_of_squares<Natural, V>(
                {square, V{}}, {excess.head + (excess.tail + most.tail), V{}});
            return {with_special(square, half_of(words)), arctangent(y, shifted.head),
                    unusual_parts<true>(x, y)};
        } else {
            const N p = product<N>(x, x), q = product<N>(y, y);
            const N excess = sum_of_three(x * 2.0, p, q);
            const N square = shifted * shifted + q;
            const auto lost = (square.head > 0.5) & (square.head < 2.0) &
                              (absolute(excess.head) < q.head * 0x1p-80);
            return {half_of(logarithm_of_squares<Natural>(square, excess)),
                    arctangent(widened<N>(y), shifted),
                    unusual_parts<false>(x, y) | (square.head == 0.0) | lost};
        }
    }
};

} // namespace Atoll::kernels::vector_math
