// The gamma function.
//
// Note [Gamma function]
// From 1 on it is 2^((s - 1/2) (log2(s) - log2(e)) + constant + rest(s)), by Stirling's formula,
// whose rest is small: below 16 it is a polynomial of an interval, and beyond one in 1 / s^2. The
// exponent must be good to 2^-57, so that it is a sum, as in Note [Powers of doubles]. Below 1 it
// is gamma(x + 1) / x, and of negative numbers -pi / (x sin(pi x) gamma(x)).
#pragma once

#include "vector_circular.h"
#include "vector_pieces.h"
#include "vector_pow_double.h"

#include <numbers>

namespace Atoll::kernels::vector_math {

// What Stirling's formula for log2(gamma(x)) leaves, for x from 1 to 16.
template <class T> struct GammaPieces {
    using C = Constants<T>;
    static constexpr int shift = 0, digits = 2;
    static constexpr auto &centers = C::gamma_rest_centers, &values = C::gamma_rest_values;
    static constexpr auto &coefficients = C::gamma_rest_coefficients;
};

// |sin(pi x)| as a sum that is good to 2^-58, of what is not negative.
template <class V> struct SineOfHalfTurns : Circular {
    V head, tail;

    explicit SineOfHalfTurns(V x) : nearest(round_even(x)), rest(x - nearest) {
        using C = ConstantsOf<V>;
        constexpr double pi = 2 * C::quarter[0], pi_lost = 2 * C::quarter[1];
        const V size = absolute(rest);
        const auto beyond = size > 0.25;
        const V part = beyond ? 0.5 - size : size, r = part * pi;
        const Turned<V> turned{{}, r, multiply_add(part, pi_lost, product_error(part, pi, r))};
        const auto cosine = turned.cosine();
        // What the square has lost counts, and r^3 must be good to more than a double's digits.
        constexpr double cubic = C::sin_tail[0];
        const V square = turned.square, square_lost = product_error(r, r, square),
                cube = square * r;
        const V cube_lost = multiply_add(square_lost, r, product_error(square, r, cube)),
                first = cube * cubic;
        const V first_lost = multiply_add(cube_lost, cubic, product_error(cube, cubic, first));
        const DoubleWord<V> start = ordered_sum(r, first);
        const V r_lost = multiply_add(turned.lost * square, -0.5, turned.lost); // times the cosine
        const V sine_tail = multiply_add(square * cube, polynomial_from<1>(square, C::sin_tail),
                                         start.tail + (first_lost + r_lost));
        const DoubleWord<V> sum =
            ordered_sum(beyond ? cosine.head : start.head,
                        beyond ? multiply_add(square_lost, -0.5, cosine.tail) : sine_tail);
        head = sum.head;
        tail = sum.tail;
    }
    // `size` with the sign of -1 / sin(pi x); NaN for whole numbers.
    V with_sign_of_inverse(V size) const {
        const V half = nearest * 0.5;
        const auto odd = (Integers<V>)(round_even(half) != half) << 63;
        const V result = rest == 0.0 ? all<V>(std::numeric_limits<double>::quiet_NaN()) : size;
        return flipped(result, ~(bits(rest) ^ odd));
    }

private:
    V nearest, rest;
};

struct GammaOfDoubles {
    template <class V> static V of(V x) {
        const V size = absolute(x);
        const auto negative = x <= -0x1p-60, low = size < 1.0;
        const V s = at_most(200.0, low ? size + 1.0 : size);
        const auto octaves = logarithm(s, low ? size - (s - 1.0) : V{});
        const V head = multiply_add(octaves.power, octaves.rest, octaves.power);
        const V tail = multiply_add(octaves.power, octaves.rest, octaves.power - head);

        V result = octaves.template scaled_by_octaves<false>(head);
        const V octave = octaves.whole();
        if (any(low)) {
            const V power = power_of_two(at_most(1.0, octave)), inverse = 1.0 / x;
            const V whole = head * power, quotient = whole * inverse;
            const V rest = (cancelling_subtract(quotient, x, whole) + tail * power) * inverse;
            result = low ? (absolute(inverse) < infinity<V> ? quotient + rest : quotient) : result;
        }
        if (any(negative))
            result = negative ? reflected(size, low ? all<V>(1) : s, {head, tail}, octave) : result;
        return result;
    }

private:
    // Of gamma(s + s_lost), to base 2.
    template <class V> static Octaves<V> logarithm(V s, V s_lost) {
        using C = ConstantsOf<V>;
        const DoubleWord<V> log = log2_words(s), slope = sum_of(log.head, all<V>(-C::log2_e.head));
        const V slope_lost = slope.tail + (log.tail - C::log2_e.tail);
        const V times = s - 0.5, main = times * slope.head;
        const auto piece = piece_of<GammaPieces>(at_most(0x1.fffffffffffffp3, s));
        const V d = s - piece.center;
        V rest = multiply_add(d, polynomial(d, piece.coefficients), piece.value);
        const auto far = s >= 16.0;
        if (any(far)) {
            const V inverse = 1.0 / s;
            const V series = inverse * C::log2_e.head * polynomial(inverse * inverse, C::stirling);
            rest = far ? series : rest;
        }
        constexpr double constant = -0x1.518061254a0d8p-6; // log2(2 pi / e) / 2 - 10 / 16
        // s_lost counts by the slope of the logarithm, which is about s - 1.577 from 1 to 2.
        rest = multiply_add(s_lost, (s - 1.577) * C::log2_e.head, rest + constant);
        return octaves_of<10>(
            main, multiply_add(times, slope_lost, product_error(times, slope.head, main)) + rest);
    }
    // -pi / (sin(pi x) times gamma 2^octave)
    template <class V> static V reflected(V x, V times, DoubleWord<V> gamma, V octave) {
        using C = ConstantsOf<V>;
        const SineOfHalfTurns<V> sine(x);
        const V product = sine.head * times;
        const V product_lost =
            multiply_add(sine.tail, times, product_error(sine.head, times, product));
        const V divisor = product * gamma.head;
        const V divisor_lost = multiply_add(
            product, gamma.tail,
            multiply_add(product_lost, gamma.head, product_error(product, gamma.head, divisor)));
        constexpr double pi = 2 * C::quarter[0], pi_lost = 2 * C::quarter[1];
        const V inverse = 1.0 / divisor, quotient = inverse * pi;
        const V rest = cancelling_subtract(quotient, divisor, all<V>(pi)) +
                       multiply_subtract(quotient, divisor_lost, all<V>(pi_lost));
        return sine.with_sign_of_inverse(scaled(multiply_add(rest, inverse, quotient), -octave));
    }
};

// In double, which needs no sums; of all floats.
struct GammaOfFloats {
    template <class V> static V of(V x) {
        return in_double([](auto wide) { return of_doubles(wide); }, x);
    }

private:
    template <class V> static V of_doubles(V x) {
        using C = ConstantsOf<V>;
        constexpr double constant = 0x1.3573fcf6d5af9p-1; // log2(2 pi / e) / 2
        const V size = absolute(x);
        const auto low = size < 1.0;
        const V s = at_most(60.0, low ? size + 1.0 : size);
        const Decomposed<V> parts = decompose(s);
        const auto numbers = of_interval<Binary>(parts);
        const V log = logarithm<Binary>(parts.k, numbers,
                                        short_cancelling_add(parts.m, numbers.inverse, -1.0));
        const auto piece = piece_of<GammaPieces>(at_most(0x1.fffffffffffffp3, s));
        V coefficients[8];
        for (std::size_t k = 0; k < std::size(coefficients); ++k)
            coefficients[k] = piece.coefficients[k];
        const V d = s - piece.center;
        V rest = multiply_add(d, polynomial(d, coefficients), piece.value);
        const auto far = s >= 16.0;
        if (any(far)) {
            const V inverse = 1.0 / s;
            const V series =
                multiply_add(inverse * inverse, C::log2_e.head / -360, all<V>(C::log2_e.head / 12));
            rest = far ? inverse * series : rest;
        }
        const V exponent = multiply_add(s - 0.5, log - C::log2_e.head, rest + constant);
        const V shifted = exponent + rounder<V>;
        V gamma = polynomial(exponent - (shifted - rounder<V>), C::exp2_short);
        gamma = from_bits<V>(bits(gamma) + (bits(shifted) << fraction_bits<V>));

        const auto negative = x <= -0x1p-60;
        V result = gamma;
        if (any(low)) result = low ? gamma / x : result;
        if (any(negative)) {
            const SineOfHalfTurns<V> sine(size);
            const V divisor = (sine.head + sine.tail) * (low ? gamma : gamma * s);
            result = negative ? sine.with_sign_of_inverse(std::numbers::pi / divisor) : result;
        }
        return result;
    }
};

} // namespace Atoll::kernels::vector_math
