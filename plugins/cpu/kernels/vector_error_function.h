// The error function of doubles, and the complementary one.
//
// Note [Error functions]
// x + 2 from 2 on, by its first digits, falls into at most sixteen intervals, of which each has a
// polynomial: of erf itself, and of e^(x^2) erfc(x), which varies little. All that is added to the
// latter's value at the interval's center is small, and both factors of erfc are sums, so that
// their product loses little more than its last rounding.
#pragma once

#include "vector_exp.h"
#include "vector_pieces.h"

namespace Atoll::kernels::vector_math {

// See pieces() in tools/make_math_constants.py.
template <class T> struct ErfPieces {
    using C = Constants<T>;
    static constexpr int shift = 2, digits = 3;
    static constexpr auto &centers = C::erf_centers, &values = C::erf_values;
    static constexpr auto &coefficients = C::erf_coefficients;
};
template <class T> struct ErfcPieces {
    using C = Constants<T>;
    static constexpr int shift = 2, digits = 2;
    static constexpr auto &centers = C::erfc_centers, &values = C::erfc_values;
    static constexpr auto &coefficients = C::erfc_coefficients;
};

struct Erf {
    template <class V> static V of(V x) {
        using T = Element<V>;
        const V size = at_most(T(5.9999), absolute(x)); // from 5.93 on it rounds to 1
        const auto piece = piece_of<ErfPieces>(size);
        // The first interval's polynomial is of (erf x - x) / x.
        const V base = size + T(2) < T(2.25) ? size : piece.value;
        const V d = size - piece.center;
        const V p = precise_polynomial(d, piece.coefficients);
        V sum = fma(d, p, base);
        // Halves of what is that small vanish.
        if constexpr (!has_fma) sum = size < T(0x1p-900) ? multiply_add(d, p, base) : sum;
        return with_sign(sum, x);
    }
};

struct Erfc {
    template <class V> static V of(V x) {
        using T = Element<V>;
        constexpr bool single = sizeof(T) == 4;
        // From here on it rounds to 0.
        const V size = at_most(single ? T(10.5) : T(27.5), absolute(x));
        const V square = size * size, square_lost = product_error(size, size, square);
        const Exponent<V> parts = BaseE::reduce(-square);
        const V n = parts.n(), r = parts.r - square_lost;
        const V r_lost = ((parts.r - r) - square_lost) + parts.lost;
        const V tail = exponential_tail(r, r_lost, ConstantsOf<V>::exp_tail);
        const V sum = r + T(1), rest = (T(1) - sum) + r + tail;
        const V power = sum + rest, power_lost = (sum - power) + rest;

        const auto piece = piece_of<ErfcPieces>(size);
        const V d = size - piece.center, p = precise_polynomial(d, piece.coefficients);
        const auto [factor, factor_lost] = multiply_add_words(d, p, piece.value);

        const V product = power * factor;
        const V lost = product_error(power, factor, product) +
                       multiply_add(power, factor_lost, power_lost * factor);
        // 2 - what is that of -x.
        const V scale = power_of_two(at_least(single ? T(-120) : T(-1000), n));
        const V less = scale * product, difference = T(2) - less;
        const V difference_lost = ((T(2) - difference) - less) - scale * lost;
        return x < T(0) ? difference + difference_lost : scaled(product + lost, n);
    }
};

} // namespace Atoll::kernels::vector_math
