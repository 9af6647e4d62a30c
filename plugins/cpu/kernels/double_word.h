// Numbers with twice the digits of a double, as vectors; and the same operations on plain vectors,
// so that one formula serves both.
#pragma once

#include "vector_atan2.h"
#include "vector_log.h"

namespace Atoll::kernels::vector_math {

template <class N> struct Pair { N first, second; };

// The heads are the rounded sums. Sums lose what is below 2^-104 of the larger term, products and
// quotients what is below 2^-102 of the result.

// a b as a number of type N.
template <class N, class V> inline N product(V a, V b) {
    if constexpr (std::is_same_v<N, V>)
        return a * b;
    else
        return exact_product(a, b);
}
// A plain number as one of type N; and back.
template <class N, class V> inline N widened(V x) {
    if constexpr (std::is_same_v<N, V>)
        return x;
    else
        return {x, V{}};
}
template <class V> inline V head(V x) { return x; }
template <class V> inline V head(DoubleWord<V> x) { return x.head; }
template <class V> inline V tail(V) { return V{}; }
template <class V> inline V tail(DoubleWord<V> x) { return x.tail; }

template <class V> inline DoubleWord<V> operator-(DoubleWord<V> a) { return {-a.head, -a.tail}; }
template <class V> inline DoubleWord<V> operator+(DoubleWord<V> a, DoubleWord<V> b) {
    const DoubleWord<V> heads = sum_of(a.head, b.head);
    return ordered_sum(heads.head, heads.tail + (a.tail + b.tail));
}
template <class V> inline DoubleWord<V> operator-(DoubleWord<V> a, DoubleWord<V> b) {
    return a + -b;
}
template <class V> inline DoubleWord<V> operator-(double a, DoubleWord<V> b) {
    return widened<DoubleWord<V>>(all<V>(a)) - b;
}
template <class V> inline DoubleWord<V> operator*(DoubleWord<V> a, DoubleWord<V> b) {
    const DoubleWord<V> heads = exact_product(a.head, b.head);
    return ordered_sum(heads.head, heads.tail + multiply_add(a.head, b.tail, a.tail * b.head));
}
// By a power of 2.
template <class V> inline DoubleWord<V> operator*(DoubleWord<V> a, double power) {
    return {a.head * power, a.tail * power};
}
template <class V> inline DoubleWord<V> operator/(DoubleWord<V> a, DoubleWord<V> b) {
    const V inverse = 1.0 / b.head, quotient = a.head * inverse;
    const V rest =
        cancelling_subtract(quotient, b.head, a.head) + multiply_subtract(quotient, b.tail, a.tail);
    return ordered_sum(quotient, rest * inverse);
}

template <class V> inline DoubleWord<V> square_root(DoubleWord<V> x) {
    const V root = square_root(x.head), rest = cancelling_subtract(root, root, x.head) + x.tail;
    return ordered_sum(root, root == 0.0 ? V{} : rest / (root * 2.0));
}

template <class V> inline DoubleWord<V> flipped(DoubleWord<V> x, Integers<V> sign) {
    return {flipped(x.head, sign), flipped(x.tail, sign)};
}
template <class M, class V> inline V choose(M mask, V a, V b) { return mask ? a : b; }
template <class M, class V> inline DoubleWord<V> choose(M mask, DoubleWord<V> a, DoubleWord<V> b) {
    return {mask ? a.head : b.head, mask ? a.tail : b.tail};
}

// log(1 + x) for x from -1/2 on.
template <class N> inline auto log_above_one(N x) {
    const auto sum = sum_of(all<decltype(head(x))>(1), head(x));
    const auto words = logarithm_of_sum<Natural>(sum.head, sum.tail + tail(x));
    return with_special(sum.head, words.head + words.tail);
}

// The angle of x + iy, with its first derivative if there are tails.
template <class V> inline V arctangent(V y, V x) { return Atan2::of(y, x); }
template <class V> inline V arctangent(DoubleWord<V> y, DoubleWord<V> x) {
    const V turn = multiply_add(x.head, y.tail, -(y.head * x.tail)),
            angle = arctangent(y.head, x.head);
    return turn == 0.0 ? angle : angle + turn / multiply_add(x.head, x.head, y.head * y.head);
}

} // namespace Atoll::kernels::vector_math
