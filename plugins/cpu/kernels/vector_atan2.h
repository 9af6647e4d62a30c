// The angle of a point.
//
// Note [Angles]
// The smaller coordinate over the larger one is the tangent of an angle of at most pi / 4. Where
// it is above 1/2 the tangent of what is left of pi / 4 is taken instead, which is
// (smaller - larger) / (smaller + larger). So |q| <= 1/2, whose arctangent is a polynomial; the
// result is that of a multiple of pi / 4, more or less. The multiple's first part has few digits.
//
// One division, 1 / divisor, gives q with an error of some last places; what q times the divisor
// leaves, which a fused operation has exactly, gives the rest of the tangent. For that both
// coordinates are scaled: by a large power of two, or where that may overflow, a little down, which
// loses digits only of a quotient that rounds to zero.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

struct Atan2 {
    template <class X> static auto outside(X y, X x) {
        constexpr auto infinite = std::numeric_limits<Number<X>>::infinity();
        return (magnitude(y) == infinite) | (magnitude(x) == infinite);
    }

    template <class V> static V of(V y, V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        constexpr bool single = sizeof(T) == 4;
        constexpr T large = static_cast<T>(single ? 0x1p52 : 0x1p110);
        constexpr T up = static_cast<T>(single ? 0x1p73 : 0x1p910), down = static_cast<T>(0x1p-4);
        constexpr T least = static_cast<T>(single ? 0x1p-80 : 0x1p-170); // below all but zero
        const V width = absolute(x), height = absolute(y);
        const auto steep = height > width, left = (SignedIntegers<V>)bits(x) < 0;
        V smaller = steep ? width : height, larger = steep ? height : width;
        const V scale = larger < large ? all<V>(up) : all<V>(down);
        smaller *= scale;
        larger *= scale;

        const auto beyond = smaller > T(0.5) * larger;
        const V more = beyond ? smaller : V{};
        const V divisor = larger + more, divisor_lost = more - (divisor - larger);
        const V dividend = smaller - (beyond ? larger : V{});
        const V inverse = T(1) / at_least(least, divisor);
        const V q = dividend * inverse;
        const V rest =
            multiply_subtract(q, divisor_lost, cancelling_subtract(q, divisor, dividend)) * inverse;
        const V square = q * q;
        const V slope = multiply_add(square, T(-0.8), T(0.99)); // 1 / (1 + q^2), to 1%
        const V lost =
            multiply_add(q * square, polynomial(square, C::half_atan_tail), rest * slope);

        V eighths = beyond ? all<V>(1) : V{};
        eighths = steep ? T(2) - eighths : eighths;
        eighths = left ? T(4) - eighths : eighths;
        const Integers<V> sign = (Integers<V>)(steep ^ left) & sign_bit<V>;
        const V part = from_bits<V>(bits(q) ^ sign), part_lost = from_bits<V>(bits(lost) ^ sign);
        const V base = eighths * C::eighth.head, head = base + part;
        const V tail = (part - (head - base)) + multiply_add(eighths, C::eighth.tail, part_lost);
        return with_sign(head + tail, y);
    }
};

} // namespace Atoll::kernels::vector_math
