// The square root by the multipliers, where they are faster than the divider.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// sqrt(x) and half of 1 / sqrt(x), from an estimate of the latter by a step of Goldschmidt's
// method, which doubles the digits.
template <class V> struct Roots { V root, half; };
template <class V> inline Roots<V> roots(V x, V estimate) {
    const V root = x * estimate, half = estimate * Element<V>(0.5);
    const V error = multiply_subtract(root, half, all<V>(0.5));
    return {multiply_add(root, error, root), multiply_add(half, error, half)};
}

#if defined(__AVX512F__)
// Correctly rounded, as the instruction. From an estimate of 1 / sqrt(x) with 14 bits Goldschmidt's
// method makes `half`, 1 / (2 sqrt(x)), with 27 bits or nearly all that floats have, and `root`
// with nearly all, for doubles by another step; what is left of x then corrects the root, with an
// error below 2^-21 of the correction. So the root is right if corrections that are larger and
// smaller by 2^-20 round alike. Where they do not, and for numbers that are not ordinary, the
// instruction is asked.
struct SquareRoot {
    template <class V> static V of(V x) {
        using T = Element<V>;
        auto [root, half] = roots(x, reciprocal_estimate(x));
        if constexpr (sizeof(T) == 8)
            root = multiply_add(multiply_subtract(root, root, x), half, root);
        const V correction = multiply_subtract(root, root, x) * half;
        const V more = multiply_add(correction, all<V>(T(1 + 0x1p-20)), root),
                less = multiply_add(correction, all<V>(T(1 - 0x1p-20)), root);
        return are_certain(x, more, less) ? more : square_root(x);
    }

private:
    // By masks: GCC makes vectors of comparisons first. It warns of the estimates without a mask.
    static bool are_certain(Vector<double> x, Vector<double> more, Vector<double> less) {
        const __mmask8 alike = _mm512_cmp_pd_mask(more, less, _CMP_EQ_OQ);
        return _mm512_mask_cmp_pd_mask(alike, x, _mm512_set1_pd(0x1p-900), _CMP_GT_OQ) == 0xff;
    }
    static bool are_certain(Vector<float> x, Vector<float> more, Vector<float> less) {
        const __mmask16 alike = _mm512_cmp_ps_mask(more, less, _CMP_EQ_OQ);
        return _mm512_mask_cmp_ps_mask(alike, x, _mm512_set1_ps(0x1p-90F), _CMP_GT_OQ) == 0xffff;
    }
    static Vector<double> reciprocal_estimate(Vector<double> x) {
        return _mm512_maskz_rsqrt14_pd(every<Vector<double>>, x);
    }
    static Vector<float> reciprocal_estimate(Vector<float> x) {
        return _mm512_maskz_rsqrt14_ps(every<Vector<float>>, x);
    }
};
#endif

} // namespace Atoll::kernels::vector_math
