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
    const V first = r * C::log2_e.head;
    const V first_lost = multiply_add(r, C::log2_e.tail, product_error(r, C::log2_e.head, first));
    const V half = r * -0.5, second = first * half,
            second_lost = product_error(first, half, second);
    V lost = multiply_add(second, r * polynomial(r, C::pow_rest),
                          multiply_add(first_lost, half, first_lost) + second_lost);
    const V small = first + second;
    lost += (first - small) + second;
    const V large = (parts.k + ... + more) + log2_head, head = large + small;
    return {head, lost + (((large - head) + small) + log2_tail)};
}

struct OrdinaryPowOfDoubles {
    template <class V> static OrdinaryPower<V> of(V x, V y) {
        const auto [head, tail] = log2_words(x);
        const V times = limited_exponent(y), product = times * head;
        const V lost = multiply_add(times, tail, product_error(times, head, product));
        return {exp2_of_sum<true>(product, lost), outside_power(x, y, product, 1021.0)};
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
