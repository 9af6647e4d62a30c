// The square root of doubles by the multipliers, where they are faster than the divider.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

#if defined(__AVX512F__)
// Correctly rounded, as the instruction. From an estimate of 1 / sqrt(x) with 14 bits Goldschmidt's
// method makes `half`, 1 / (2 sqrt(x)), with 27 bits and `root` with nearly all; what is left of x
// then corrects the root, with an error below 2^-25 of the correction. So the root is right if
// corrections that are larger and smaller by 2^-20 round alike. Where they do not, and for numbers
// that are not ordinary, the instruction is asked.
struct SquareRoot {
    static Vector<double> of(Vector<double> x) {
        using V = Vector<double>;
        // GCC warns of the form without a mask.
        const V estimate = _mm512_maskz_rsqrt14_pd(every<V>, x);
        V root = x * estimate, half = estimate * 0.5;
        const V error = multiply_subtract(root, half, all<V>(0.5));
        root = multiply_add(root, error, root);
        half = multiply_add(half, error, half);
        root = multiply_add(multiply_subtract(root, root, x), half, root);
        const V correction = multiply_subtract(root, root, x) * half;
        const V more = multiply_add(correction, all<V>(1 + 0x1p-20), root),
                less = multiply_add(correction, all<V>(1 - 0x1p-20), root);
        const auto certain = (x > 0x1p-900) & (more == less);
        if (!all_of(certain)) [[unlikely]]
            return _mm512_maskz_sqrt_pd(every<V>, x);
        return more;
    }
};
#endif

} // namespace Atoll::kernels::vector_math
