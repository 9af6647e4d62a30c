// The length of a vector of two numbers.
//
// Note [Lengths]
// s = x^2 + y^2 and its root h are rounded. What the squares, the sum and h^2 have lost is exact by
// fused operations and, times 1 / (2 h), corrects h. The correction is about one last place at
// most, so that a guess of 1 / h from the digits of s, to 4%, is enough.
#pragma once

#include "vector_sqrt.h"

namespace Atoll::kernels::vector_math {

// Squares must not overflow, nor what they lose be subnormal; zeros have nothing to lose. Infinity
// beside NaN is infinite.
template <class X> inline auto loses_squares(X x, X y, Number<X> most, Number<X> least) {
    const X a = magnitude(x), b = magnitude(y);
    return (a > most) | (b > most) | ((a < least) & (b < least) & (a + b != Number<X>(0)));
}

struct Hypot {
    template <class X> static auto outside(X x, X y) {
        return loses_squares(x, y, 0x1p500, 0x1p-450);
    }

    template <class V> static V of(V x, V y) {
        const V a = absolute(x), b = absolute(y);
        const auto exchanged = a < b;
        const V large = exchanged ? b : a, small = exchanged ? a : b;
        const V first = large * large, second = small * small, sum = first + second;
        const V root = square_root(sum);
        const V lost = product_error(large, large, first) + product_error(small, small, second) +
                       ((first - sum) + second);
        const V missing = cancelling_subtract(root, root, sum) + lost;
        const V inverse = from_bits<V>(0x5FE6EB50C7B537A9 - (bits(sum) >> 1));
        return multiply_add(missing, inverse * 0.5, root);
    }
};

#if defined(__AVX512F__)
// Of floats: 1 / (2 h) comes from an estimate with 14 bits by one step of Newton's method, so that
// the correction leaves little more than the last rounding.
struct HypotOfFloats {
    template <class X> static auto outside(X x, X y) {
        return loses_squares(x, y, 0x1p60F, 0x1p-40F);
    }
    static Vector<float> of(Vector<float> x, Vector<float> y) {
        using V = Vector<float>;
        const V a = absolute(x), b = absolute(y);
        const auto exchanged = a < b;
        const V large = exchanged ? b : a, small = exchanged ? a : b;
        const V first = large * large, sum = fma(small, small, first);
        const V lost = product_error(large, large, first) + fma(small, small, first - sum);
        // Of zero it is zero, too.
        const V estimate =
            _mm512_maskz_rsqrt14_ps(_mm512_test_epi32_mask((__m512i)sum, (__m512i)sum), sum);
        const auto [root, half] = roots(sum, estimate);
        return multiply_add(cancelling_subtract(root, root, sum) + lost, half, root);
    }
};
#endif

} // namespace Atoll::kernels::vector_math
