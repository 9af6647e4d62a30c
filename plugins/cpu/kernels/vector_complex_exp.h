// Exponentials, circular and hyperbolic functions of vectors of complex numbers.
#pragma once

#include "double_word_math.h"
#include "vector_complex_parts.h"

namespace Atoll::kernels::vector_math {

template <> struct OfComplex<functor::exp> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const ComplexV inside = at_most(700.0, at_least(-700.0, x)),
                       size = real<functor::exp>(inside);
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {size * cos, size * sin,
                (narrow ? unusual<true>(x) : inside != x) | unusual_angle<narrow>(y)};
    }
};

// base^z, where `size` is base^x.
template <bool narrow, class F>
inline ComplexResult power_of(ComplexV x, ComplexV y, double most, Split<double> log_base) {
    using N = DoubleWord<ComplexV>;
    const ComplexV inside = at_most(most, at_least(-most, x)), size = real<F>(inside);
    // The angle with twice the digits: a large one keeps its own.
    const ComplexV angle = y * log_base.head;
    const ComplexV rest = multiply_add(y, log_base.tail, product_error(y, log_base.head, angle));
    const auto [sin, cos] = Turn<N>::of(angle);
    const ComplexV s = sin.head + multiply_add(rest, cos.head, sin.tail);
    const ComplexV c = cos.head + multiply_subtract(rest, sin.head, cos.tail);
    const auto lost = smaller(absolute(s), absolute(c)) < absolute(angle) * 0x1p-46;
    return {size * c, y == 0.0 ? y : size * s,
            (narrow ? unusual<true>(x) : inside != x) | unusual_angle<narrow>(y) | lost};
}
template <> struct OfComplex<functor::exp2> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return power_of<narrow, functor::exp2>(x, y, 1000, Constants<double>::ln_2);
    }
};
template <> struct OfComplex<functor::exp10> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return power_of<narrow, functor::exp10>(x, y, 300, Constants<double>::ln_10);
    }
};

// e^x and e^x - 1
inline Pair<DoubleWord<ComplexV>> exponentials(ComplexV x) {
    using V = ComplexV;
    const Exponent<V> parts = BaseE::reduce(x);
    const V r = parts.r, power = power_of_two(parts.n());
    const V square_lost = product_error(r, r, r * r);
    const V lost = multiply_add(square_lost, 0.5, parts.lost);
    const V tail = exponential_tail(r, lost, ConstantsOf<V>::expm1_tail);
    const DoubleWord<V> above = ordered_sum(power * r, power * tail);
    return {widened<DoubleWord<V>>(power) + above, sum_of(power, all<V>(-1)) + above};
}
// e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y), which may cancel; and how much of the larger term
// is left. `less` is e^x - 1.
struct Difference {
    ComplexV value, kept;
};
inline Difference difference_of_one(DoubleWord<ComplexV> less, DoubleWord<ComplexV> sin,
                                    DoubleWord<ComplexV> cos) {
    using N = DoubleWord<ComplexV>;
    const N one = widened<N>(all<ComplexV>(1)), first = less * cos;
    const N second = choose(cos.head > 0.0, sin * sin / (one + cos), one - cos);
    const ComplexV value = head(first - second);
    return {value, absolute(value) / larger(absolute(first.head), second.head)};
}
template <> struct OfComplex<functor::expm1> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using V = ComplexV;
        using N = DoubleWord<V>;
        // e^x must not be too large for exact products.
        const V inside = at_most(narrow ? 300.0 : 600.0, at_least(-500.0, x));
        const auto [sin, cos] = Turn<N>::of(y);
        const auto [power, less] = exponentials(inside);
        const Difference plain = difference_of_one(less, sin, cos);
        V real = plain.value;
        auto lost = plain.kept < (narrow ? 0x1p-18 : 0.25);
        const V im = with_sign(absolute(head(power * sin)), sin.head);
        ComplexMask outside = unusual<narrow>(x) | unusual_angle<narrow>(y);
        if constexpr (!narrow) {
            outside |= (inside != x) | ((absolute(im) < 0x1p-900) & (y != 0.0));
            if (any(lost & ~outside & (y != 0.0))) {
                const auto [long_sin, long_cos] = LongTurn::of(y);
                const Difference more =
                    difference_of_one(long_exponentials(inside).second, long_sin, long_cos);
                real = lost ? more.value : real;
                lost &= more.kept < 0x1p-18;
            }
        }
        real = y == 0.0 ? less.head : real;
        return {(x == 0.0) & (y == 0.0) ? x : real, y == 0.0 ? y : im,
                outside | (lost & (y != 0.0))};
    }
};

template <bool narrow> inline ComplexMask unusual_hyperbolic(ComplexV x, ComplexV y) {
    return unusual<narrow>(x, 0x1p-400, 500) | unusual_angle<narrow>(y);
}
template <> struct OfComplex<functor::sinh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto [sinh, cosh] = hyperbolic<ComplexV>(at_most(500.0, absolute(x)));
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {with_sign(sinh, x) * cos, cosh * sin, unusual_hyperbolic<narrow>(x, y)};
    }
};
template <> struct OfComplex<functor::cosh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto [sinh, cosh] = hyperbolic<ComplexV>(at_most(500.0, absolute(x)));
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {cosh * cos, with_sign(sinh, x) * sin, unusual_hyperbolic<narrow>(x, y)};
    }
};
template <> struct OfComplex<functor::sin> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::sinh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};
template <> struct OfComplex<functor::cos> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::cosh>::of<narrow>(y, x);
        return {turned.re, -turned.im, turned.outside};
    }
};

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
template <> struct OfComplex<functor::tanh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        constexpr double most = narrow ? 150 : 300;
        // Beyond, the float nearest to a part is 1 or 0.
        const ComplexV size = narrow ? at_most(most, absolute(x)) : absolute(x);
        const auto [sinh, cosh] = hyperbolic<N>(size);
        const auto [sin, cos] = Turn<N>::of(y);
        const N divisor = sinh * sinh + cos * cos;
        const ComplexV re = head(sinh * cosh / divisor), im = head(sin * cos / divisor);
        return {with_sign(absolute(re), x), y == 0.0 ? y : im,
                unusual<narrow>(x, 0x1p-400, most) | unusual_angle<narrow>(y)};
    }
};
template <> struct OfComplex<functor::tan> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::tanh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};

} // namespace Atoll::kernels::vector_math
