// The square root of doubles by the multipliers, where they are faster than the divider.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

#if defined(__AVX512F__)
// Correctly rounded, as the instruction: two steps of Newton's method make 28 and then all bits of
// the 14 of an estimate of 1 / sqrt(x); what is left of x then corrects the root, with an error
// below 2^-50 of the correction. So the root is right if corrections that are larger and smaller by
// 2^-45 round alike. Where they do not, and for numbers that are not ordinary, the instruction is
// asked.
struct SquareRoot {
    static Vector<double> of(Vector<double> x) {
        using V = Vector<double>;
        constexpr double more = 0.5 * (1 + 0x1p-45), less = 0.5 * (1 - 0x1p-45);
        V y = _mm512_maskz_rsqrt14_pd(every<V>, x); // GCC warns of the form without a mask
        const V half = x * 0.5;
        y = multiply_add(y, multiply_subtract(half * y, y, all<V>(0.5)), y);
        y = multiply_add(y, multiply_subtract(half * y, y, all<V>(0.5)), y);
        const V near = x * y, rest = multiply_subtract(near, near, x);
        const V root = multiply_add(rest, y * more, near);
        const auto certain = (x > 0x1p-900) & (root == multiply_add(rest, y * less, near));
        if (!all_of(certain)) [[unlikely]]
            return _mm512_maskz_sqrt_pd(every<V>, x);
        return root;
    }
};
#endif

} // namespace Atoll::kernels::vector_math
