// Inverse hyperbolic functions.
//
// Note [Inverse hyperbolic functions]
// They are logarithms of a sum y + lost: y is x + sqrt(x^2 +- 1), or (1 + x) / (1 - x). Near 1,
// where the logarithm is small, its interval has c = 1: y - 1 is exact, and with what y has lost
// all digits are there.
#pragma once

#include "vector_log.h"

namespace Atoll::kernels::vector_math {

// log(x + sqrt(x^2 + one)) of what is not negative.
template <int one, class V> inline V log_of_root(V x) {
    using T = Element<V>;
    const V square = x * x, square_lost = product_error(x, x, square);
    V sum = square + T(one), lost;
    if constexpr (one > 0) {
        lost = (at_most(T(1), square) - (sum - at_least(T(1), square))) + square_lost;
    } else {
        // Near 1 it is the lost part of the square that counts.
        const V near = sum;
        lost = ((square - near) - T(1)) + square_lost;
        sum = near + lost;
        lost = (near - sum) + lost;
    }
    const V root = square_root(sum);
    const V inverse = T(0.5) / (one > 0 ? root : at_least(std::numeric_limits<T>::min(), root));
    const V root_lost = (cancelling_subtract(root, root, sum) + lost) * inverse;
    const V y = x + root, rest = one > 0 ? (root - y) + x : (x - y) + root;
    // From `large` on it is log(2 x), which may overflow: by x / 2.
    const auto large = x > (sizeof(T) == 4 ? T(0x1p15) : T(0x1p30));
    return log_of_sum(large ? x * T(0.5) : y, large ? V{} : rest + root_lost,
                      large ? all<V>(T(2)) : V{});
}

struct Asinh {
    template <class V> static V of(V x) {
        using T = Element<V>;
        return or_tiny(x, sizeof(T) == 4 ? T(0x1p-12) : T(0x1p-26),
                       with_sign(log_of_root<1>(absolute(x)), x));
    }
};

struct Acosh {
    template <class V> static V of(V x) {
        using T = Element<V>;
        return x < T(1) ? all<V>(std::numeric_limits<T>::quiet_NaN()) : log_of_root<-1>(x);
    }
};

// log(1 + q) / 2 with q = 2 x / (1 - x).
struct Atanh {
    template <class V> static V of(V x) {
        using T = Element<V>;
        const V size = absolute(x), twice = size + size;
        const V below = T(1) - size, below_lost = (T(1) - below) - size;
        const V inverse = T(1) / below, q = twice * inverse;
        const V q_lost =
            multiply_subtract(q, below_lost, cancelling_subtract(q, below, twice)) * inverse;
        const V y = q + T(1), rest = at_most(T(1), q) - (y - at_least(T(1), q));
        const V result = log_of_sum(y, rest + q_lost) * T(0.5);
        return or_tiny(x, sizeof(T) == 4 ? T(0x1p-13) : T(0x1p-27), with_sign(result, x));
    }
};

} // namespace Atoll::kernels::vector_math
