// Complex functions, one element at a time: the C library's where they are good.
//
// Note [Complex accuracy]
// Double results are good to 4 ULP in each part, and complex floats, which go through double, to
// little more than 0.5. Most elements go through the vectors of vector_complex.h, and the functions
// here serve the others: see Note [Complex vectors]. So these are rare, and care for what is not
// finite, huge, tiny, or a small difference of large terms; all of it in double, or sums of two
// doubles. The C library's functions are kept where they measure below 3.5 ULP, and for values that
// are not finite: Annex G of C99. Where pow and expm1 lose more than 2^-18 to cancellation float128
// (113 bits, slow) is used, which is good to 4 ULP until 2^-58 is lost. Not good in each part are
// quotients, and exp2, exp10 and pow with angles beyond 2^50: modulus only.
#include "complex_scalar.h"
#include "vector_complex_exp.h"
#include "vector_complex_log.h"

#include <iterator>
#include <utility>

namespace Atoll::kernels::complex_math {

using vector_math::Constants;

// glibc has these (the first ones since 2.26), but C++ headers do not always show them.
extern "C" {
Quad expm1f128(Quad) noexcept;
Quad sinf128(Quad) noexcept;
Quad cosf128(Quad) noexcept;
_Complex double clog10(_Complex double) noexcept;
}

Z wide_quotient(Z a, Z b) {
    if (b.re == 0 && b.im == 0) // the parts over a positive zero: infinities, as for reals
        return {a.re / std::fabs(b.re), a.im / std::fabs(b.re)};
    if (finite(a) && finite(b)) {
        const int up = a.re == 0 && a.im == 0 ? 0 : exponent_of(a), down = exponent_of(b);
        const Z x = scaled(a, -up), y = scaled(b, -down);
        const Z plain = plain_quotient<false>(x.re, x.im, y.re, y.im); // has the signs of zeros
        const N square = wide_product(y.re, y.re) + wide_product(y.im, y.im);
        const N re = (wide_product(x.re, y.re) + wide_product(x.im, y.im)) / square;
        const N im = (wide_product(x.im, y.re) - wide_product(x.re, y.im)) / square;
        return scaled(
            {re.head[0] == 0 ? plain.re : re.head[0], im.head[0] == 0 ? plain.im : im.head[0]},
            up - down);
    }
    // Smith's method, of which nothing matters but what is infinite, zero or NaN, and the signs.
    const Z x{unit(a.re), unit(a.im)}, y{unit(b.re), unit(b.im)};
    if (std::fabs(y.re) >= std::fabs(y.im)) {
        const double ratio = y.im / y.re, scale = y.re + y.im * ratio;
        return {(x.re + x.im * ratio) / scale, (x.im - x.re * ratio) / scale};
    }
    const double ratio = y.re / y.im, scale = y.re * ratio + y.im;
    return {(x.re * ratio + x.im) / scale, (x.im * ratio - x.re) / scale};
}

Z sign(Z z) {
    const bool re_infinite = std::isinf(z.re), im_infinite = std::isinf(z.im);
    if (re_infinite != im_infinite && z.re == z.re && z.im == z.im)
        return {std::copysign(re_infinite ? 1.0 : 0.0, z.re),
                std::copysign(im_infinite ? 1.0 : 0.0, z.im)};
    if (z.re == 0 && z.im == 0) return {0, 0};
    if (!finite(z)) {
        const double size = std::sqrt(z.re * z.re + z.im * z.im);
        return {z.re / size, z.im / size};
    }
    const Z near_one = scaled(z, -exponent_of(z));
    const N size = vector_math::square_root(wide_product(near_one.re, near_one.re) +
                                            wide_product(near_one.im, near_one.im));
    return {std::copysign((wide(near_one.re) / size).head[0], z.re),
            std::copysign((wide(near_one.im) / size).head[0], z.im)};
}

double angle(Z z) { return std::atan2(z.im, z.re); }

Z sqrt(Z z) { return from_c(__builtin_csqrt(to_c(z))); }
Z exp(Z z) { return from_c(__builtin_cexp(to_c(z))); }
Z log(Z z) { return from_c(__builtin_clog(to_c(z))); }
Z log10(Z z) { return from_c(clog10(to_c(z))); }
Z sin(Z z) { return from_c(__builtin_csin(to_c(z))); }
Z cos(Z z) { return from_c(__builtin_ccos(to_c(z))); }
Z sinh(Z z) { return from_c(__builtin_csinh(to_c(z))); }
Z cosh(Z z) { return from_c(__builtin_ccosh(to_c(z))); }

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); the C library's rounds too often.
Z tanh(Z z) {
    if (!finite(z)) return from_c(__builtin_ctanh(to_c(z)));
    const double s = std::sin(z.im), c = std::cos(z.im), size = std::fabs(z.re);
    if (size > 40) return {std::copysign(1.0, z.re), 4 * s * c * std::exp(-2 * size)};
    const auto [sinh, cosh] = vector_math::hyperbolic<N>(same(size));
    const N divisor = sinh * sinh + wide_product(c, c);
    const N re = sinh * cosh / divisor, im = wide_product(s, c) / divisor;
    // So small that products of tails vanish, it is x / cos^2 y.
    return {std::copysign(size < 0x1p-400 ? size / (c * c) : re.head[0], z.re),
            std::fabs(z.im) < 0x1p-400 ? z.im / (divisor.head[0]) : im.head[0]};
}

Z tan(Z z) {
    if (!finite(z)) return from_c(__builtin_ctan(to_c(z)));
    const Z turned = tanh({-z.im, z.re});
    return {turned.im, -turned.re};
}

// Of y times `factor`, which is a sum of three.
Reduced reduced_angle(double y, const double (&factor)[3]) {
    using vector_math::exact_product, vector_math::sum_of;
    const double turns = std::nearbyint(y * factor[0] * Constants<double>::quarters);
    double terms[12];
    for (int k = 0; k < 3; ++k) {
        const N more = exact_product(same(y), same(factor[k]));
        const N less = exact_product(same(-turns), same(Constants<double>::quarter_words[k]));
        terms[4 * k] = more.head[0];
        terms[4 * k + 1] = less.head[0];
        terms[4 * k + 2] = more.tail[0];
        terms[4 * k + 3] = less.tail[0];
    }
    // Each pass moves the sum to the front, exactly, and what it has lost behind it.
    for (int pass = 0; pass < 4; ++pass)
        for (std::size_t k = std::size(terms) - 1; k-- > 0;) {
            const auto sum = sum_of(terms[k], terms[k + 1]);
            terms[k] = sum.head;
            terms[k + 1] = sum.tail;
        }
    return {static_cast<std::uint64_t>(static_cast<std::int64_t>(turns)), terms[0],
            terms[1] + terms[2]};
}

// base^z, where base^x is size 2^twos, and `log_base` is a sum of three; z.im is not zero.
Z power_of(Z z, double size, int twos, const double (&log_base)[3]) {
    if (std::fabs(z.im) < 0x1p-300) // the product would lose digits
        return {std::ldexp(size, twos),
                std::ldexp(size * (std::ldexp(z.im, 600) * log_base[0]), twos - 600)};
    double c, s;
    if (!(std::fabs(z.im) < 0x1p50)) {
        const Quad angle = z.im * ((Quad(log_base[2]) + log_base[1]) + log_base[0]);
        c = static_cast<double>(cosf128(angle));
        s = static_cast<double>(sinf128(angle));
    } else {
        const Reduced angle = reduced_angle(z.im, log_base);
        const double sin = std::sin(angle.r), cos = std::cos(angle.r);
        c = cos - sin * angle.lost;
        s = sin + cos * angle.lost;
        if (angle.turns & 1) std::swap(c, s);
        if ((angle.turns + 1) & 2) c = -c;
        if (angle.turns & 2) s = -s;
    }
    return {std::ldexp(sized(size, c), twos), std::ldexp(sized(size, s), twos)};
}
// So many twos that everything overflows, and underflows.
double bounded(double twos) { return std::fmax(-10'000, std::fmin(10'000, twos)); }

Z exp2(Z z) {
    if (z.im == 0) return {std::exp2(z.re), z.im};
    if (!std::isfinite(z.im)) return exp(z);
    const double twos = std::isfinite(z.re) ? bounded(std::nearbyint(z.re)) : 0;
    const double rest = std::fabs(twos) < 10'000 ? z.re - twos : 0;
    return power_of(z, std::exp2(rest), static_cast<int>(twos), Constants<double>::ln_2_words);
}

Z exp10(Z z) {
    if (z.im == 0) return {::exp10(z.re), z.im};
    if (!std::isfinite(z.im)) return exp(z);
    constexpr auto log2_10 = Constants<double>::log2_10;
    if (!std::isfinite(z.re)) return power_of(z, ::exp10(z.re), 0, Constants<double>::ln_10_words);
    const double twos = bounded(std::nearbyint(z.re * log2_10.head));
    double size = 1;
    if (std::fabs(twos) < 10'000) {
        const N exponent = vector_math::exact_product(same(z.re), same(log2_10.head));
        const double lost = exponent.tail[0] + z.re * log2_10.tail;
        size = std::exp2(exponent.head[0] - twos);
        size += size * (lost * Constants<double>::ln_2.head);
    }
    return power_of(z, size, static_cast<int>(twos), Constants<double>::ln_10_words);
}

// e^x cos y - 1 where most of it cancels.
double expm1_quad(Z z) {
    const Quad half = sinf128(Quad(z.im) / 2);
    return static_cast<double>(expm1f128(z.re) * cosf128(z.im) - 2 * half * half);
}
Z expm1(Z z) {
    if (z.im == 0) return {std::expm1(z.re), z.im};
    const Z e = exp(z);
    if (!finite(z) || z.re > 600 || z.re < -500) return {e.re - 1, e.im};
    if (std::fabs(z.re) < 0x1p-190 && std::fabs(z.im) < 0x1p-100) { // x - y^2 / 2
        const N re = wide(z.re) - wide_product(z.im, z.im * 0.5);
        return {re.head[0] == 0 ? -0.0 : re.head[0], e.im};
    }
    if (!(std::fabs(z.im) < 0x1p50)) return {expm1_quad(z), e.im};
    const Reduced angle = reduced_angle(z.im, {1, 0, 0});
    const auto [sin, cos] = vector_math::LongTurn::of_reduced(
        vector_math::Integers<V>{} + angle.turns,
        vector_math::ordered_sum(same(angle.r), same(angle.lost)));
    const auto less = vector_math::long_exponentials(same(z.re)).second;
    const auto [value, kept] = vector_math::difference_of_one(less, sin, cos);
    return {kept[0] < 0x1p-18 ? expm1_quad(z) : value[0], e.im};
}

// The logarithm of the modulus near 1, by that of its square, which is 1 + `excess`.
double log_near_one(N excess) {
    const double head = excess.head[0];
    return (std::log1p(head) + excess.tail[0] / (1 + head)) / 2;
}

Z log2(Z z) {
    constexpr double log2_e = Constants<double>::log2_e.head;
    if (!finite(z) || (z.re == 0 && z.im == 0)) {
        const Z natural = log(z);
        return {natural.re * log2_e, natural.im * log2_e};
    }
    const double direction = angle(z) * log2_e;
    const auto modulus = vector_math::squared_modulus<false>(same(z.re), same(z.im));
    if (modulus.square.head[0] > 0.5 && modulus.square.head[0] < 2)
        return {log_near_one(modulus.excess) * log2_e, direction};
    const int twos = exponent_of(z);
    const Z near_one = scaled(z, -twos);
    return {std::log2(std::hypot(near_one.re, near_one.im)) + twos, direction};
}

Z log1p(Z z) {
    if (!finite(z)) return log({1 + z.re, z.im});
    const double shifted = 1 + z.re;
    if (std::hypot(shifted, z.im) < 0.5 || std::hypot(shifted, z.im) > 2)
        return log({shifted, z.im});
    // |1 + z|^2 - 1
    const N excess = vector_math::sum_of_three(same(2 * z.re), wide_product(z.re, z.re),
                                               wide_product(z.im, z.im));
    return {log_near_one(excess), std::atan2(z.im, shifted)};
}

} // namespace Atoll::kernels::complex_math
