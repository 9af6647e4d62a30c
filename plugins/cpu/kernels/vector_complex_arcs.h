// Inverse circular and hyperbolic functions of vectors of complex numbers.
#pragma once

#include "vector_complex_parts.h"

namespace Atoll::kernels::vector_math {

// 1 - |z|^2, exactly where it is small.
template <class N> inline N one_less_square(ComplexV x, ComplexV y) {
    const ComplexV large = larger(x, y), small = smaller(x, y);
    return (1.0 - product<N>(large, large)) - product<N>(small, small);
}

// |Re|: log1p(4 x / ((1 - x)^2 + y^2)) / 4; |Im|: the angle of 1 - |z|^2 + 2iy, halved.
template <> struct OfComplex<functor::atanh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const ComplexV a = absolute(x), b = absolute(y);
        const N gap = 1.0 - widened<N>(a);
        const N square = gap * gap + product<N>(b, b);
        const N ratio = widened<N>(a * 4.0) / square;
        ComplexMask outside = unusual_parts<narrow>(x, y);
        if constexpr (!narrow)
            outside |= (head(square) == 0.0) | ((head(ratio) < 0x1p-900) & (a != 0.0));
        const ComplexV angle = arctangent(widened<N>(b * 2.0), one_less_square<N>(a, b));
        return {with_sign(log_above_one(ratio) * 0.25, x), with_sign(angle * 0.5, y), outside};
    }
};
template <> struct OfComplex<functor::atan> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::atanh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};

struct Arcs {
    ComplexV sine, cosine, area;
    ComplexMask outside;
};

// With m = |1 - z^2|, g = 1 - |z|^2 and h = Re(1 - z^2), m^2 = g^2 + 4 y^2 = h^2 + 4 x^2 y^2:
// tan(Re asin z) = x / Re sqrt(1 - z^2), where the root is sqrt((m + h) / 2);
// cosh(2 Im asin z) = 1 + u with u = m - g, and then e^(2 Im) = 1 + u + sqrt(u (u + 2)).
// Sums of unlike signs are replaced: m - g = 4 y^2 / (m + g), (m + h) (m - h) = 4 x^2 y^2.
template <bool narrow> inline Arcs arcs(ComplexV x, ComplexV y) {
    using V = ComplexV;
    using N = PartOfComplex<narrow>;
    const V a = absolute(x), b = absolute(y);
    const N xx = product<N>(a, a), yy = product<N>(b, b);
    const N g = one_less_square<N>(a, b), h = (1.0 - xx) + yy;
    const N m = square_root(g * g + yy * 4.0);
    const auto inner = head(g) >= 0.0, right = head(h) >= 0.0;
    const N g_sum = m + choose(inner, g, -g), h_sum = m + choose(right, h, -h);
    const auto at_one = head(m) == 0.0;
    const N u = choose(at_one, N{}, choose(inner, (yy * 4.0) / g_sum, g_sum));
    const N power = u + square_root(u * u + u * 2.0);
    const N root = square_root(h_sum * 0.5);
    const N width = choose(right, root, product<N>(a, b) / root);
    return {arctangent(widened<N>(a), width), arctangent(width, widened<N>(x)),
            log_above_one(power) * 0.5,
            unusual_parts<narrow>(x, y) | (narrow ? ComplexMask{} : at_one)};
}

template <> struct OfComplex<functor::asin> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {with_sign(all.sine, x), with_sign(all.area, y), all.outside};
    }
};
template <> struct OfComplex<functor::acos> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {all.cosine, with_sign(all.area, -y), all.outside};
    }
};
template <> struct OfComplex<functor::asinh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(y, x);
        return {with_sign(all.area, x), with_sign(all.sine, y), all.outside};
    }
};
template <> struct OfComplex<functor::acosh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {all.area, with_sign(all.cosine, y), all.outside};
    }
};

} // namespace Atoll::kernels::vector_math
