// Square roots and directions of vectors of complex numbers.
#pragma once

#include "vector_complex_parts.h"

namespace Atoll::kernels::vector_math {

template <> struct OfComplex<functor::sign> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const N size = square_root(product<N>(x, x) + product<N>(y, y));
        const auto zero = head(size) == 0.0;
        const ComplexV re = head(widened<N>(x) / size), im = head(widened<N>(y) / size);
        return {zero ? ComplexV{} : with_sign(absolute(re), x),
                zero ? ComplexV{} : with_sign(absolute(im), y), unusual_parts<narrow>(x, y)};
    }
};

template <> struct OfComplex<functor::sqrt> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const ComplexV a = absolute(x), b = absolute(y);
        const N size = square_root(product<N>(a, a) + product<N>(b, b));
        const N root = square_root((widened<N>(a) + size) * 0.5);
        const ComplexV large = head(root), quotient = head(widened<N>(b) / (root * 2.0));
        const ComplexV small = large == 0.0 ? ComplexV{} : quotient;
        const auto right = x >= 0.0;
        return {right ? large : small, with_sign(right ? small : large, y),
                unusual_parts<narrow>(x, y)};
    }
};

} // namespace Atoll::kernels::vector_math
