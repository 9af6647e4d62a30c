// Products and sums of them, rounded once or as sums of two numbers.
//
// Note [Fused operations]
// multiply_add() and multiply_subtract() round the product where there is no FMA: for polynomials,
// for small terms beside large ones, and for products that are exact anyway. Where a product's own
// rounding counts, these ask for no more than is needed, as the product's halves take time. With
// FMA all of them are the same instruction.
#pragma once

#include "vector_types.h"

namespace Atoll::kernels::vector_math {

using kernels::multiply_add;
using kernels::multiply_subtract;

// x as a sum of two numbers with at most half of its digits.
template <class V> inline DoubleWord<V> halves_of(V x) {
    constexpr int digits = (fraction_bits<V> + 2) / 2; // of the second one and its sign
    constexpr auto unit = Element<Integers<V>>(1) << digits;
    const V high = from_bits<V>((bits(x) + unit / 2) & ~(unit - 1));
    return {high, x - high};
}
// a b as a sum, exactly if a, b and the product are below a quarter of the largest number and the
// tail is not subnormal: where there is no FMA by halves (T. J. Dekker, "A floating-point technique
// for extending the available precision", 1971).
template <class V> inline DoubleWord<V> exact_product(V a, V b) {
    const V product = a * b;
    if constexpr (has_fma) {
        return {product, multiply_add(a, b, -product)};
    } else {
        const auto [high_a, low_a] = halves_of(a);
        const auto [high_b, low_b] = halves_of(b);
        return {product,
                ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b};
    }
}

// What `product`, the rounded a b, has lost.
template <class V> inline V product_error(V a, V b, V product) {
    if constexpr (has_fma)
        return multiply_add(a, b, -product);
    else
        return exact_product(a, b).tail;
}
// a b + c and c - a b, where the rounded product and c are nearly opposite or nearly alike, so that
// their sum or difference is exact.
template <class V> inline V cancelling_add(V a, V b, V c) {
    if constexpr (has_fma) {
        return multiply_add(a, b, c);
    } else {
        const DoubleWord<V> product = exact_product(a, b);
        return (product.head + c) + product.tail;
    }
}
template <class V> inline V cancelling_subtract(V a, V b, V c) {
    if constexpr (has_fma) {
        return multiply_subtract(a, b, c);
    } else {
        const DoubleWord<V> product = exact_product(a, b);
        return (c - product.head) - product.tail;
    }
}
// The same, where b has so few digits, half of all, that its products with the halves of a are
// exact.
template <class V> inline V short_cancelling_add(V a, V b, V c) {
    if constexpr (has_fma) {
        return multiply_add(a, b, c);
    } else {
        const auto [high, low] = halves_of(a);
        return (high * b + c) + low * b;
    }
}
template <class V> inline V short_cancelling_subtract(V a, V b, V c) {
    if constexpr (has_fma)
        return multiply_subtract(a, b, c);
    else
        return short_cancelling_add(a, -b, c);
}
// a b + c as a sum, where c is 0 or not the smaller one.
template <class V> inline DoubleWord<V> multiply_add_words(V a, V b, V c) {
    if constexpr (has_fma) {
        const V sum = multiply_add(a, b, c);
        return {sum, multiply_add(a, b, c - sum)};
    } else {
        const DoubleWord<V> product = exact_product(a, b);
        const V sum = product.head + c;
        return {sum, ((c - sum) + product.head) + product.tail};
    }
}
// a b + c, rounded once; where there is no FMA with an error of hardly more than that.
template <class V> inline V fma(V a, V b, V c) {
    if constexpr (has_fma) {
        return multiply_add(a, b, c);
    } else {
        const DoubleWord<V> product = exact_product(a, b);
        const V sum = product.head + c, part = sum - product.head;
        const V rest = (product.head - (sum - part)) + (c - part) + product.tail;
        return rest == Element<V>(0) ? sum : sum + rest; // -0 stays
    }
}

// The same with a number for some of the vectors.
template <class V> inline V multiply_add(V a, V b, Element<V> c) {
    return multiply_add(a, b, all<V>(c));
}
template <class V> inline V multiply_add(V a, Element<V> b, V c) {
    return multiply_add(a, all<V>(b), c);
}
template <class V> inline V multiply_add(V a, Element<V> b, Element<V> c) {
    return multiply_add(a, all<V>(b), all<V>(c));
}
template <class V> inline V multiply_subtract(V a, Element<V> b, V c) {
    return multiply_subtract(a, all<V>(b), c);
}
template <class V> inline V product_error(V a, Element<V> b, V product) {
    return product_error(a, all<V>(b), product);
}
template <class V> inline V cancelling_add(V a, V b, Element<V> c) {
    return cancelling_add(a, b, all<V>(c));
}
template <class V> inline V short_cancelling_add(V a, V b, Element<V> c) {
    return short_cancelling_add(a, b, all<V>(c));
}

} // namespace Atoll::kernels::vector_math
