// Sine, cosine and tangent.
//
// Note [Quarter turns]
// x = n pi / 2 + r with n whole and |r| <= pi / 4. pi / 2 is a sum of three numbers; n times the
// first leaves x without an error, and what the other steps lose goes into `lost`. Beyond `limit`
// that is not enough. The second one of float64 has 28 digits, down to 2^-81: then n times it, and
// what it leaves, are multiples of 2^-81 below 2^-30, so that their difference is exact. float32
// has too few digits for that.
#pragma once

#include "vector_operations.h"

#include <cmath>

namespace Atoll::kernels::vector_math {

struct Circular {
    template <class T> static constexpr T limit = sizeof(T) == 4 ? T(0x1p15) : T(0x1p24);
    template <class X> static auto outside(X x) { return magnitude(x) >= limit<Number<X>>; }

protected:
    template <class V> struct Sum { V head, tail; };
    template <class V> struct Turned {
        Integers<V> turns; // the last digits of n
        V r, lost;
        V square = r * r;

        Sum<V> sine() const {
            using C = ConstantsOf<V>;
            return {r, multiply_add(square * r, polynomial(square, C::sin_tail), lost)};
        }
        Sum<V> cosine() const { // 1 - r^2 / 2 + ... - r lost
            using T = Element<V>;
            const V half = square * T(0.5), head = T(1) - half;
            const V rest = multiply_subtract(r, lost, (T(1) - head) - half);
            return {head, multiply_add(square * square,
                                       polynomial(square, ConstantsOf<V>::cos_tail), rest)};
        }
    };
    template <class V> static Turned<V> turned(V x) {
        using C = ConstantsOf<V>;
        const V shifted = multiply_add(x, C::quarters, rounder<V>), n = shifted - rounder<V>;
        if constexpr (sizeof(Element<V>) == 8) {
            const V near = short_cancelling_subtract(all<V>(C::quarter[0]), n, x);
            const V r = multiply_subtract(n, C::quarter[1], near);
            return {
                bits(shifted), r,
                multiply_subtract(n, C::quarter[2], multiply_subtract(n, C::quarter[1], near - r))};
        } else {
            const V near = cancelling_subtract(n, all<V>(C::quarter[0]), x);
            const V less = n * C::quarter[1];
            // `near` may be the smaller one.
            const V r = near - less, back = near - r;
            const V lost = (near - (r + back)) + (back - less);
            return {
                bits(shifted), r,
                multiply_subtract(n, C::quarter[2], lost - product_error(n, C::quarter[1], less))};
        }
    }
};

// sin(x + quarters pi / 2)
template <int quarters> struct Sine : Circular {
    template <class V> static V of(V x) {
        const auto t = turned(absolute(x));
        const Integers<V> turns = t.turns + quarters;
        const auto sine = t.sine(), cosine = t.cosine();
        const auto odd = (turns & 1) != 0;
        const V result = (odd ? cosine.head : sine.head) + (odd ? cosine.tail : sine.tail);
        // Half turns change the sign, as that of x does the sine's.
        const Integers<V> half_turns = turns << (8 * sizeof(Element<V>) - 2);
        const Integers<V> sign = quarters ? half_turns : half_turns ^ bits(x);
        return flipped(result, sign);
    }
};

struct Tangent : Circular {
    template <class V> static V of(V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        const auto t = turned(absolute(x));
        // r + r^3 / 3 + r^5 p(r^2); what r lost counts by the slope, which is 1 to 2.
        const V r = t.r, cube = t.square * r, first = cube * T(1.0 / 3), head = r + first;
        const V cube_lost =
            multiply_add(product_error(r, r, t.square), r, product_error(t.square, r, cube));
        const V first_lost = product_error(cube, T(1.0 / 3), first);
        const V r_lost = multiply_add(t.square * T(1.5), t.lost, t.lost);
        const V lost_before = multiply_add(cube_lost, T(1.0 / 3), first_lost + r_lost);
        const V tail = multiply_add(cube * t.square, polynomial(t.square, C::tan_tail),
                                    ((r - head) + first) + lost_before);
        const V tangent = head + tail, lost = (head - tangent) + tail;
        // -1 / tan(r) if the number of quarter turns is odd.
        const V inverse = T(-1) / tangent;
        const V rest = multiply_add(inverse, lost, cancelling_add(inverse, tangent, T(1)));
        const V result = (t.turns & 1) != 0 ? multiply_add(inverse, rest, inverse) : tangent;
        return flipped(result, bits(x));
    }
};

} // namespace Atoll::kernels::vector_math
