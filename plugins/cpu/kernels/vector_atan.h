// The inverse tangent.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// atan(c) + atan(z) with z = (x - c) / (1 + c x), where c belongs to one of sixteen intervals, by
// the first digits of scale x + 1/2; in the first one c is 0, and in the last one, from 6.55 on,
// infinite: there it is pi / 2 - atan(1 / x). z loses two roundings. It is largest, half of the
// result, where the second interval begins: the scale puts that to where the last place has just
// doubled.
struct Atan {
    template <class V> static V of(V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        const V size = absolute(x), place = multiply_add(at_most(T(7.5), size), T(0.992), T(0.5));
        const Integers<V> index = bits(place) >> (fraction_bits<V> - 2);
        const V c = lookup<V>(C::atan_centers, index), head = lookup<V>(C::atan_values, index);
        const auto far = place >= T(7);
        const V above = far ? all<V>(T(-1)) : size - c;
        const V below = far ? size : multiply_add(size, c, T(1));
        const V tail = far ? all<V>(C::quarter[1]) : V{};
        const V z = above / below, square = z * z;
        const V sum = head + z, lost = (head - sum) + z;
        const V rest = multiply_add(square * z, polynomial(square, C::atan_tail), tail);
        return with_sign(sum + (lost + rest), x);
    }
};

} // namespace Atoll::kernels::vector_math
