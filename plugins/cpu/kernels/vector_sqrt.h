// The square root of doubles by the multipliers, where they are faster than the divider.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

#if defined(__AVX512F__)
// Correctly rounded, as the instruction: the estimate of 1 / sqrt(x), of 14 bits, is doubled twice;
// what is left of x then corrects the root with a relative error below 2^-50. So the root is right
// if a correction that is larger or smaller by 2^-45 rounds alike; of all others, and of what is
// not an ordinary number, the instruction is asked.
struct SquareRoot {
    static Vector<double> of(Vector<double> x) {
        using V = Vector<double>;
        constexpr double more = 0.5 * (1 + 0x1p-45), less = 0.5 * (1 - 0x1p-45);
        V y = _mm512_maskz_rsqrt14_pd(every<V>, x); // GCC warns of the form without a mask
        const V half = x * 0.5;
        y = fma(y, fnma(half * y, y, all<V>(0.5)), y);
        y = fma(y, fnma(half * y, y, all<V>(0.5)), y);
        const V near = x * y, rest = fnma(near, near, x);
        const V root = fma(rest, y * more, near);
        const auto ordinary = (x > 0x1p-900) & (root == fma(rest, y * less, near));
        if (any(~ordinary)) [[unlikely]]
            return _mm512_maskz_sqrt_pd(every<V>, x);
        return root;
    }
};
#endif

} // namespace Atoll::kernels::vector_math
