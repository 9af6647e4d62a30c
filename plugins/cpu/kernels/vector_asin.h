// The inverse sine and cosine.
//
// Note [Inverse sine]
// Up to 1/2, asin(x) is x and a polynomial's rest; beyond, pi / 2 - 2 asin(s) with
// s = sqrt((1 - x) / 2), which is at most 1/2, too. What the root has lost is (s^2 - (1 - x) / 2)
// times -1 / (2 s), for which few digits are enough. The results are sums of a multiple of pi / 2,
// of s or x, and of a small rest.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// The angle head + rest of an argument's size or, if it is above 1/2, of s.
template <class V> struct HalfAngle {
    decltype(V{} < V{}) near;
    V head, rest;
};
template <class V> inline HalfAngle<V> half_angle(V x) {
    using T = Element<V>;
    const V size = absolute(x);
    const auto near = size <= T(0.5);
    const V z = near ? x * x : multiply_add(size, T(-0.5), T(0.5));
    const V root = square_root(z);
    // By half of the exponent, to 3.5%.
    constexpr auto half_inverse =
        static_cast<Element<Integers<V>>>(sizeof(T) == 4 ? 0x5eb759df : 0x5fd6eb50c7b537a9);
    const V estimate = from_bits<V>(half_inverse - (bits(z) >> 1)); // of 1 / (2 root)
    const V lost = near ? V{} : cancelling_subtract(root, root, z) * estimate;
    const V s = near ? size : root;
    return {near, s, multiply_add(s * z, polynomial(z, ConstantsOf<V>::asin_tail), lost)};
}

struct Asin {
    template <class V> static V of(V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        const auto [near, head, rest] = half_angle(x);
        const V base = near ? V{} : all<V>(C::quarter[0]);
        const V base_tail = near ? V{} : all<V>(C::quarter[1]);
        const V factor = near ? all<V>(T(1)) : all<V>(T(-2));
        const V part = head * factor, sum = base + part;
        return with_sign(sum + (((base - sum) + part) + multiply_add(rest, factor, base_tail)), x);
    }
};

struct Acos {
    template <class V> static V of(V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        const auto [near, head, rest] = half_angle(x);
        // Quarter turns: 1, or 0 or 2 by the sign.
        const V ends = x < T(0) ? all<V>(T(2)) : V{};
        const V quarters = near ? all<V>(T(1)) : ends;
        const V base = quarters * C::quarter[0];
        const V size = near ? all<V>(T(-1)) : all<V>(T(2));
        const V factor = flipped(size, bits(x));
        const V part = head * factor, sum = base + part;
        const V tail = multiply_add(quarters, C::quarter[1], ((base - sum) + part));
        return sum + multiply_add(rest, factor, tail);
    }
};

} // namespace Atoll::kernels::vector_math
