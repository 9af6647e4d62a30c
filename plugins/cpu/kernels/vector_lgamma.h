// The logarithm of the gamma function.
#pragma once

#include "vector_pieces.h"
#include "vector_pow.h"

namespace Atoll::kernels::vector_math {

// log(gamma(x)) / ((x - 1) (x - 2)) for x from 1 to 16.
template <class T> struct LogGammaPieces {
    using C = Constants<T>;
    static constexpr int shift = 0, digits = 2;
    static constexpr auto &centers = C::lgamma_centers, &values = C::lgamma_values;
    static constexpr auto &coefficients = C::lgamma_coefficients;
};

// In double: by intervals, which know the zeros at 1 and 2; below 1 by gamma(x) = gamma(x + 1) / x,
// from 16 on by Stirling's series.
struct LogGamma {
    // There are zeros at which all digits would be lost.
    template <class X> static auto outside(X x) { return x < Number<X>(-2); }
    template <class V> static V of(V x) {
        return in_double([](auto wide) { return of_doubles(wide); }, x);
    }

private:
    template <class V> static V of_doubles(V x) {
        using C = ConstantsOf<V>;
        const auto below_one = x < 1.0, below_zero = x < 0.0, below = x < -1.0;
        V divisor = below_zero ? x * (x + 1.0) : x;
        divisor = below ? divisor * (x + 2.0) : divisor;
        const V log = log2_of_floats(absolute(divisor)) * C::ln_2.head;
        V inside = below_one ? x + 1.0 : x;
        inside = below_zero ? x + 2.0 : inside;
        inside = at_most(15.9999999, below ? x + 3.0 : inside);
        const auto piece = piece_of<LogGammaPieces>(inside);
        const V d = inside - piece.center;
        const V near = (inside - 1.0) * (inside - 2.0) *
                       multiply_add(d, polynomial(d, piece.coefficients), piece.value);
        // The sum makes the zero at 1 positive.
        const V near_result = near + (below_one ? -log : V{});

        constexpr double half_log_2_pi = 0x1.d67f1c864beb5p-1;
        constexpr double series[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260};
        const V inverse = 1.0 / x;
        const V rest = multiply_add(inverse, polynomial(inverse * inverse, series), half_log_2_pi);
        const V far_result = multiply_add(x - 0.5, log - 1.0, rest - 0.5);
        return x < 16.0 ? near_result : far_result;
    }
};

// As LogGammaPieces, from 1/2 to 8.
template <class T> struct LongLogGammaPieces {
    using C = Constants<T>;
    static constexpr int shift = 0, digits = 2;
    static constexpr auto &centers = C::log_gamma_centers, &values = C::log_gamma_values;
    static constexpr auto &coefficients = C::log_gamma_coefficients;
};

// Of doubles: the same intervals down to 1/2, Stirling's formula from 8 on.
struct LogGammaOfDoubles {
    // Below 0 there are zeros at which all digits would be lost.
    template <class X> static auto outside(X x) {
        return (x < std::numeric_limits<double>::min()) | (x > 0x1p1000);
    }
    template <class V> static V of(V x) {
        const auto low = x < 0.5, far = x >= 8.0;
        const DoubleWord<V> log = logarithm_of_sum<Natural>(x, V{});
        // (y - 1) (y - 2) g(y) with y = x or, if x is low, x + 1.
        const V y = at_most(0x1.fffffffffffffp2, low ? x + 1.0 : x);
        const auto piece = piece_of<LongLogGammaPieces>(y);
        const V d = at_most(0x1.fffffffffffffp2, x) - (low ? piece.center - 1.0 : piece.center);
        const V p = polynomial(d, piece.coefficients);
        const V g = multiply_add(d, p, piece.value), g_lost = multiply_add(d, p, piece.value - g);
        const V first = low ? x : x - 1.0, second = first - 1.0;
        const V second_lost = first - (second + 1.0);
        const V product = first * second;
        const V product_lost =
            multiply_add(first, second_lost, product_error(first, second, product));
        const V main = product * g;
        const V rest = multiply_add(product, g_lost,
                                    multiply_add(product_lost, g, product_error(product, g, main)));
        const V less = low ? log.head : V{}, less_lost = low ? log.tail : V{};
        const V near_head = main - less;
        const V near_tail = rest - less_lost - ((near_head + less) - main);

        // x (log(x) - 1) - (log(x) - 1) / 2 + ...
        constexpr double constant = 0x1.acfe390c97d69p-2; // (log(2 pi) - 1) / 2
        const V slope = log.head - 1.0, inverse = 1.0 / x;
        const V far_head = x * slope;
        const V series = multiply_add(
            inverse, polynomial(inverse * inverse, ConstantsOf<V>::stirling), constant);
        const V far_tail = multiply_add(x, log.tail, product_error(x, slope, far_head)) +
                           multiply_add(slope + log.tail, -0.5, series);
        return far ? far_head + far_tail : near_head + near_tail;
    }
};

} // namespace Atoll::kernels::vector_math
