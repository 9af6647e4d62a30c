// Powers of doubles.
//
// Note [Powers of doubles]
// As in Note [Powers], with a logarithm that is good to 2^-66 of it. x = 2^k m, and of 32 intervals
// of m each has a c, about 1 / m, with so few digits that r = c m - 1 is exact. log2(x) is
// k - log2(c) + log2(1 + r); of the last one's series the first two terms are sums of two numbers.
// |r| < 0.02, and r^2 < 2^-11.8 of the result, so that from the third term on a double is enough.
#pragma once

#include "vector_pow.h"
#include "vector_rows.h"

namespace Atoll::kernels::vector_math {

// Of a positive normal number times 2^more.
template <class V, class... More> inline DoubleWord<V> log2_words(V x, More... more) {
    using C = ConstantsOf<V>;
    const Decomposed<V> parts = decompose<5>(x);
    const auto [inverse, log2_head, log2_tail] =
        Columns<V, C::pow_inverses, C::pow_heads, C::pow_tails>::at(parts.template interval<5>());
    const V r = short_cancelling_add(parts.m, inverse, -1.0);
    return log2_words_of((parts.k + ... + more) + log2_head, log2_tail, r, C::pow_rest);
}

struct OrdinaryPowOfDoubles {
    template <class V> static OrdinaryPower<V> of(V x, V y) {
        return ordinary_power(x, y, log2_words(x), 1021.0);
    }
};

struct PowOfAllDoubles {
    template <class V> static V of(V x, V y) {
        const V size = absolute(x);
        const auto small = size < std::numeric_limits<double>::min();
        const auto [near_head, near_tail] =
            log2_words(small ? size * 0x1p54 : size, small ? all<V>(-54) : V{});
        V head = size < infinity<V> ? near_head : size;
        head = size == 0.0 ? all<V>(-infinity<V>) : head;
        const V times = limited_exponent(y), product = times * head;
        const V inside = at_most(1100.0, at_least(-1100.0, product));
        const V lost = multiply_add(times, near_tail, product_error(times, head, product));
        return power_with_special(x, y, exp2_of_sum<false>(inside, inside == product ? lost : V{}));
    }
};

using PowOfDoubles = PowOfBlocks<OrdinaryPowOfDoubles, PowOfAllDoubles>;

} // namespace Atoll::kernels::vector_math
