// Division with remainder.
//
// Note [Quotients]
// Of x >= 0 and y > 0, let n = trunc(x / y) exactly and q = trunc of the rounded x / y. Rounding
// moves no number past a whole one that is a float itself. So while x / y is below `limit`, q is n
// or, where x / y was rounded up to a whole number, n + 1.
//   q = n: x - q y is the remainder, which is a float for every pair of floats.
//   q = n + 1: x / y is so near to q that |x - q y| <= y / 2. This is a multiple of the last place
//   of x or of y, whichever is less, and not above either of them: a float as well. Adding y gives
//   the remainder.
// So one fused operation gives the remainder without an error or, where it is negative, the
// remainder less y. Without FMA the product q y is a sum: with q whole, it and its halves'
// products are multiples of y's last place, so that nothing vanishes however small y is, and x less
// the rounded product is exact, as they are less than a factor of 2 apart. Whether x / y is below a
// power of two shows without the division: y times that is exact or infinite. Other elements are
// outside, among them all by zero and those of infinite x; NaN goes through.
//
// The results are those of the functors, bit for bit.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// Up to `limit` all whole numbers are floats.
struct Quotients {
    template <class T> static constexpr T limit = 2 / std::numeric_limits<T>::epsilon();
    template <class X> static auto outside(X a, X b) {
        using T = Number<X>;
        const X x = magnitude(a), y = magnitude(b);
        if constexpr (has_fma) {
            return x >= y * limit<T>;
        } else {
            constexpr T most = std::numeric_limits<T>::max() / 4; // of an exact product
            return (x >= y * limit<T>) | (x > most) | (y > most);
        }
    }

protected:
    // See Note [Quotients].
    template <class V> struct Division {
        V x, y, quotient = truncated(x / y);
        // By infinity, x itself.
        V rest = y == infinity<V> ? x : cancelling_subtract(quotient, y, x);

        Division(V a, V b) : x(absolute(a)), y(absolute(b)) {}
    };
};

// The remainder with the sign of a.
struct Fmod : Quotients {
    template <class V> static V of(V a, V b) {
        const Division<V> division(a, b);
        const V rest = division.rest;
        return with_sign(absolute(rest < Element<V>(0) ? rest + division.y : rest), a);
    }
};

// The remainder with the sign of b. Where signs differ that is y less the remainder of x / y, so
// that it is a positive rest that needs y, a negative one not.
struct Remainder : Quotients {
    template <class V> static V of(V a, V b) {
        const Division<V> division(a, b);
        const V rest = flipped(division.rest, bits(a) ^ bits(b));
        return with_sign(absolute(rest < Element<V>(0) ? rest + division.y : rest), b);
    }
};

// The whole number below the quotient: n or, where signs differ and there is a remainder, n + 1 in
// size.
struct FloorDivide : Quotients {
    template <class V> static V of(V a, V b) {
        using T = Element<V>;
        const Division<V> division(a, b);
        const V q = division.quotient, rest = division.rest;
        const Integers<V> signs = (bits(a) ^ bits(b)) & sign_bit<V>;
        const V down = rest < T(0) ? q - T(1) : q, up = rest > T(0) ? q + T(1) : q;
        return from_bits<V>(bits(signs != 0 ? up : down) | signs);
    }
};

} // namespace Atoll::kernels::vector_math
