// Complex functions in double, for devices: no wider type, no C library.
//
// Note [Complex accuracy on devices]
// Each part is good to some 8 ULP of the larger part, whatever the arguments; pow to what its
// exponent, of which the last bits are lost, makes of that. Complex floats, which go through these,
// are good to little more than 0.5 ULP. Values that are not finite follow Annex G of C99.
#pragma once

#include "functors/complex_math.h"

#include <cmath>

namespace Atoll::kernels::complex_math {

#define ATOLL_COMPLEX_FUNCTION ATOLL_BOTH_SIDES inline

inline constexpr double pi = 3.14159265358979323846, half_pi = pi / 2;

ATOLL_COMPLEX_FUNCTION double infinity() { return HUGE_VAL; }
ATOLL_COMPLEX_FUNCTION double not_a_number() { return infinity() - infinity(); }
ATOLL_COMPLEX_FUNCTION bool is_finite(double x) { return std::fabs(x) <= __DBL_MAX__; }
ATOLL_COMPLEX_FUNCTION bool is_finite(Z z) { return is_finite(z.re) && is_finite(z.im); }
ATOLL_COMPLEX_FUNCTION bool is_infinite(double x) { return std::fabs(x) > __DBL_MAX__; }
ATOLL_COMPLEX_FUNCTION bool is_nan(double x) { return x != x; }

// The exponent of the larger part; 0 for zero and what is not finite.
ATOLL_COMPLEX_FUNCTION int exponent_of(Z z) {
    const double size = std::fmax(std::fabs(z.re), std::fabs(z.im));
    return size > 0 && is_finite(z) ? std::ilogb(size) : 0;
}
ATOLL_COMPLEX_FUNCTION Z scaled(Z z, int exponent) {
    return {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)};
}
ATOLL_COMPLEX_FUNCTION Z turned(Z z) { return {-z.im, z.re}; }      // i z
ATOLL_COMPLEX_FUNCTION Z turned_back(Z z) { return {z.im, -z.re}; } // -i z

ATOLL_COMPLEX_FUNCTION Z wide_quotient(Z a, Z b) {
    if (b.re == 0 && b.im == 0) // the parts over a positive zero: infinities, as for reals
        return {a.re / std::fabs(b.re), a.im / std::fabs(b.re)};
    const int up = exponent_of(a), down = exponent_of(b);
    const Z x = scaled(a, -up), y = scaled(b, -down);
    if (std::fabs(y.re) >= std::fabs(y.im)) {
        const double ratio = y.im / y.re, scale = y.re + y.im * ratio;
        return scaled({(x.re + x.im * ratio) / scale, (x.im - x.re * ratio) / scale}, up - down);
    }
    const double ratio = y.re / y.im, scale = y.re * ratio + y.im;
    return scaled({(x.re * ratio + x.im) / scale, (x.im * ratio - x.re) / scale}, up - down);
}

ATOLL_COMPLEX_FUNCTION Z sign(Z z) {
    if (is_infinite(z.re) != is_infinite(z.im) && !is_nan(z.re) && !is_nan(z.im))
        return {std::copysign(is_infinite(z.re) ? 1.0 : 0.0, z.re),
                std::copysign(is_infinite(z.im) ? 1.0 : 0.0, z.im)};
    if (z.re == 0 && z.im == 0) return {0, 0};
    const Z near_one = scaled(z, -exponent_of(z));
    const double size = std::sqrt(near_one.re * near_one.re + near_one.im * near_one.im);
    return {near_one.re / size, near_one.im / size};
}

ATOLL_COMPLEX_FUNCTION double angle(Z z) { return std::atan2(z.im, z.re); }

ATOLL_COMPLEX_FUNCTION Z sqrt(Z z) {
    if (z.re == 0 && z.im == 0) return {0, z.im};
    if (is_infinite(z.im)) return {infinity(), z.im};
    if (is_nan(z.re)) return {z.re, z.re};
    if (is_infinite(z.re)) {
        if (z.re > 0) return {z.re, is_nan(z.im) ? z.im : std::copysign(0.0, z.im)};
        return {is_nan(z.im) ? z.im : 0.0, std::copysign(infinity(), z.im)};
    }
    if (is_nan(z.im)) return {z.im, z.im};
    const int exponent = exponent_of(z) / 2 * 2; // halved exactly
    const Z near_one = scaled(z, -exponent);
    const double re = std::fabs(near_one.re), im = near_one.im;
    const double large = std::sqrt((re + std::sqrt(re * re + im * im)) / 2);
    const double small = im / (2 * large);
    const Z root = z.re >= 0 ? Z{large, small} : Z{std::fabs(small), std::copysign(large, im)};
    return scaled(root, exponent / 2);
}

// x e^700 if `far`: what would overflow alone may not after the product with a sine. The sine grows
// first: a product with a subnormal one would lose its digits.
ATOLL_COMPLEX_FUNCTION double grown(double x, bool far) { return far ? x * std::exp(700.0) : x; }
// A product that is 0 where a factor is 0, even if the other one is infinite.
ATOLL_COMPLEX_FUNCTION double sized(double size, double part) {
    return part == 0 ? part : size * part;
}

ATOLL_COMPLEX_FUNCTION Z exp(Z z) {
    if (z.im == 0) return {std::exp(z.re), z.im};
    if (!is_finite(z.im)) {
        if (z.re == -infinity()) return {0, std::copysign(0.0, z.im)};
        if (z.re == infinity()) return {z.re, not_a_number()};
        return {not_a_number(), not_a_number()};
    }
    const bool far = z.re > 700 && z.re < 1500;
    const double size = std::exp(far ? z.re - 700 : z.re);
    return {sized(size, grown(std::cos(z.im), far)), sized(size, grown(std::sin(z.im), far))};
}

// base^z, where `size` is base^z.re and the logarithm of base is high + low.
ATOLL_COMPLEX_FUNCTION Z power_of(double size, double im, double high, double low) {
    // The angle with twice the bits: a large one keeps its digits.
    const double angle = im * high, rest = std::fma(im, high, -angle) + im * low;
    const double s = std::sin(angle), c = std::cos(angle);
    return {sized(size, c - rest * s), sized(size, s + rest * c)};
}
ATOLL_COMPLEX_FUNCTION Z exp2(Z z) {
    if (z.im == 0) return {std::exp2(z.re), z.im};
    if (!is_finite(z.im)) return exp(z);
    return power_of(std::exp2(z.re), z.im, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
}
ATOLL_COMPLEX_FUNCTION Z exp10(Z z) {
    if (z.im == 0) return {::exp10(z.re), z.im};
    if (!is_finite(z.im)) return exp(z);
    return power_of(::exp10(z.re), z.im, 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53);
}
ATOLL_COMPLEX_FUNCTION Z expm1(Z z) {
    if (z.im == 0) return {std::expm1(z.re), z.im};
    if (!is_finite(z)) {
        const Z e = exp(z);
        return {e.re - 1, e.im};
    }
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
    const double half = std::sin(z.im / 2);
    const Z e = exp(z);
    if (z.re > 30) return e;
    return {std::expm1(z.re) * std::cos(z.im) - 2 * half * half, e.im};
}

// The logarithm of the modulus of what is not zero, and is finite.
ATOLL_COMPLEX_FUNCTION double log_modulus(Z z) {
    const double re = std::fabs(z.re), im = std::fabs(z.im);
    const double large = std::fmax(re, im), small = std::fmin(re, im);
    if (large > 0.5 && large < 2) {
        // |z|^2 - 1, without what cancels
        const double less_one = std::fma(large, large, -1.0);
        return std::log1p(std::fma(small, small, less_one)) / 2;
    }
    const int exponent = std::ilogb(large);
    const double x = std::ldexp(large, -exponent), y = std::ldexp(small, -exponent);
    return std::log(x * x + y * y) / 2 + exponent * 0.69314718055994530942;
}
ATOLL_COMPLEX_FUNCTION Z log(Z z) {
    const double direction = std::atan2(z.im, z.re);
    if (z.re == 0 && z.im == 0) return {-infinity(), direction};
    if (is_infinite(z.re) || is_infinite(z.im)) return {infinity(), direction};
    if (is_nan(z.re) || is_nan(z.im)) return {not_a_number(), not_a_number()};
    return {log_modulus(z), direction};
}
ATOLL_COMPLEX_FUNCTION Z log2(Z z) {
    const Z natural = log(z);
    return {natural.re * 1.4426950408889634074, natural.im * 1.4426950408889634074};
}
ATOLL_COMPLEX_FUNCTION Z log10(Z z) {
    const Z natural = log(z);
    return {natural.re * 0.43429448190325182765, natural.im * 0.43429448190325182765};
}
ATOLL_COMPLEX_FUNCTION Z log1p(Z z) {
    if (!is_finite(z)) return log({1 + z.re, z.im});
    const double shifted = 1 + z.re, direction = std::atan2(z.im, shifted);
    if (std::fabs(z.re) > 0.5 || std::fabs(z.im) > 0.75) {
        if (shifted == 0 && z.im == 0) return {-infinity(), direction};
        return {log_modulus({shifted, z.im}), direction};
    }
    // |1 + z|^2 - 1
    const double excess = std::fma(z.re, z.re, std::fma(z.im, z.im, 2 * z.re));
    return {std::log1p(excess) / 2, direction};
}

ATOLL_COMPLEX_FUNCTION Z sinh(Z z) {
    if (z.im == 0) return {std::sinh(z.re), z.im};
    if (!is_finite(z.im)) {
        if (z.re == 0 || is_infinite(z.re)) return {z.re, not_a_number()};
        return {not_a_number(), not_a_number()};
    }
    const double s = std::sin(z.im), c = std::cos(z.im);
    if (!(std::fabs(z.re) > 22)) return {sized(std::sinh(z.re), c), std::cosh(z.re) * s};
    const bool far = std::fabs(z.re) > 700;
    const double size = std::exp(far ? std::fabs(z.re) - 700 : std::fabs(z.re)) / 2;
    return {size * grown(std::copysign(c, z.re * c), far), size * grown(s, far)};
}
ATOLL_COMPLEX_FUNCTION Z cosh(Z z) {
    if (z.im == 0) return {std::cosh(z.re), is_nan(z.re) ? z.im : std::copysign(1.0, z.re) * z.im};
    if (!is_finite(z.im)) {
        if (z.re == 0) return {not_a_number(), 0};
        if (is_infinite(z.re)) return {infinity(), not_a_number()};
        return {not_a_number(), not_a_number()};
    }
    const double s = std::sin(z.im), c = std::cos(z.im);
    if (!(std::fabs(z.re) > 22)) return {std::cosh(z.re) * c, sized(std::sinh(z.re), s)};
    const bool far = std::fabs(z.re) > 700;
    const double size = std::exp(far ? std::fabs(z.re) - 700 : std::fabs(z.re)) / 2;
    return {size * grown(c, far), size * grown(std::copysign(s, z.re * s), far)};
}
// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
ATOLL_COMPLEX_FUNCTION Z tanh(Z z) {
    if (!is_finite(z.im)) {
        if (is_infinite(z.re)) return {std::copysign(1.0, z.re), std::copysign(0.0, z.im)};
        return {z.re == 0 ? z.re : not_a_number(), not_a_number()};
    }
    if (is_nan(z.re)) return {z.re, z.im == 0 ? z.im : z.re};
    const double s = std::sin(z.im), c = std::cos(z.im), size = std::fabs(z.re);
    if (size > 22)
        return {std::copysign(1.0, z.re),
                is_finite(size) ? 4 * s * c * std::exp(-2 * size) : std::copysign(0.0, s * c)};
    const double sinh = std::sinh(z.re), divisor = sinh * sinh + c * c;
    return {sinh * std::sqrt(1 + sinh * sinh) / divisor, s * c / divisor};
}
ATOLL_COMPLEX_FUNCTION Z sin(Z z) { return turned_back(sinh(turned(z))); }
ATOLL_COMPLEX_FUNCTION Z cos(Z z) { return cosh(turned(z)); }
ATOLL_COMPLEX_FUNCTION Z tan(Z z) { return turned_back(tanh(turned(z))); }

// Where 1 does not count beside z^2, and products of roots may overflow.
ATOLL_COMPLEX_FUNCTION bool is_far(Z z) {
    return std::fmax(std::fabs(z.re), std::fabs(z.im)) > 1e150;
}
ATOLL_COMPLEX_FUNCTION double log_of_twice(Z z) { return log_modulus(z) + 0.69314718055994530942; }

// W. Kahan, "Branch cuts for complex elementary functions", 1987. No sum below cancels: where
// products are subtracted their signs differ.
ATOLL_COMPLEX_FUNCTION Z asin(Z z) {
    if (is_nan(z.re)) return {z.re, is_infinite(z.im) ? z.im : z.re};
    if (is_nan(z.im)) {
        if (is_infinite(z.re)) return {z.im, z.re};
        return {z.re == 0 ? z.re : z.im, z.im};
    }
    if (is_infinite(z.re) || is_infinite(z.im)) {
        const double part = !is_infinite(z.re) ? 0 : is_infinite(z.im) ? pi / 4 : half_pi;
        return {std::copysign(part, z.re), std::copysign(infinity(), z.im)};
    }
    if (is_far(z)) return {std::atan2(z.re, std::fabs(z.im)), std::copysign(log_of_twice(z), z.im)};
    const Z less = sqrt({1 - z.re, -z.im}), more = sqrt({1 + z.re, z.im});
    return {std::atan2(z.re, less.re * more.re - less.im * more.im),
            std::asinh(less.re * more.im - less.im * more.re)};
}
ATOLL_COMPLEX_FUNCTION Z acos(Z z) {
    if (is_nan(z.re)) return {z.re, is_infinite(z.im) ? -z.im : z.re};
    if (is_nan(z.im)) {
        if (is_infinite(z.re)) return {z.im, z.re};
        return {z.re == 0 ? half_pi : z.im, z.im};
    }
    if (is_infinite(z.re) || is_infinite(z.im)) {
        double part = half_pi;
        if (is_infinite(z.re)) {
            const double from_axis = is_infinite(z.im) ? pi / 4 : 0;
            part = z.re > 0 ? from_axis : pi - from_axis;
        }
        return {part, -std::copysign(infinity(), z.im)};
    }
    if (is_far(z))
        return {std::atan2(std::fabs(z.im), z.re), -std::copysign(log_of_twice(z), z.im)};
    const Z less = sqrt({1 - z.re, -z.im}), more = sqrt({1 + z.re, z.im});
    return {2 * std::atan2(less.re, more.re), std::asinh(more.re * less.im - more.im * less.re)};
}
ATOLL_COMPLEX_FUNCTION Z asinh(Z z) { return turned_back(asin(turned(z))); }
ATOLL_COMPLEX_FUNCTION Z acosh(Z z) {
    const Z arc = acos(z);
    return {std::fabs(arc.im), std::copysign(arc.re, z.im)};
}
ATOLL_COMPLEX_FUNCTION Z atanh(Z z) {
    if (is_infinite(z.im)) return {std::copysign(0.0, z.re), std::copysign(half_pi, z.im)};
    if (is_nan(z.re)) return {z.re, z.re};
    if (is_infinite(z.re))
        return {std::copysign(0.0, z.re), is_nan(z.im) ? z.im : std::copysign(half_pi, z.im)};
    if (is_nan(z.im)) return {z.re == 0 ? z.re : z.im, z.im};
    const double x = std::fabs(z.re), y = std::fabs(z.im);
    if (is_far(z)) { // 1 / z, but for the angle
        const Z inverse = wide_quotient({1, 0}, {x, y});
        return {std::copysign(inverse.re, z.re), std::copysign(half_pi, z.im)};
    }
    const double gap = 1 - x, square = gap * gap + y * y;
    // So close to the pole that the square of the distance vanishes; the distance is y.
    const bool beside_pole = gap == 0 && y < 1e-140;
    const double size =
        beside_pole ? (0.69314718055994530942 - std::log(y)) / 2 : std::log1p(4 * x / square) / 4;
    return {std::copysign(size, z.re),
            std::copysign(std::atan2(2 * y, gap * (1 + x) - y * y) / 2, z.im)};
}
ATOLL_COMPLEX_FUNCTION Z atan(Z z) { return turned_back(atanh(turned(z))); }

ATOLL_COMPLEX_FUNCTION Z times(Z a, Z b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
ATOLL_COMPLEX_FUNCTION Z pow(Z a, Z b) {
    const double n = b.re;
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0) return b.re > 0 ? Z{0, 0} : Z{not_a_number(), not_a_number()};
    if (b.im == 0 && is_finite(a) && is_finite(n)) {
        if (n == 1) return a;
        if (n == 0.5) return sqrt(a);
        const bool whole = n == std::floor(n);
        if (a.im == 0 && (a.re > 0 || whole)) {
            const bool flips = a.re < 0 && std::fmod(n, 2.0) == 0;
            return {std::pow(a.re, n), (flips ? -a.im : a.im) * (n > 0 ? 1 : -1)};
        }
        const double octaves = std::fabs(static_cast<double>(exponent_of(a)));
        if (whole && std::fabs(n) <= 100 && (octaves + 1) * std::fabs(n) < 1000) {
            Z result{1, 0}, base = a;
            for (int left = static_cast<int>(std::fabs(n)); left; left >>= 1) {
                if (left & 1) result = times(result, base);
                if (left > 1) base = times(base, base);
            }
            return n > 0 ? result : wide_quotient({1, 0}, result);
        }
    }
    return exp(times(b, log(a)));
}

#undef ATOLL_COMPLEX_FUNCTION

} // namespace Atoll::kernels::complex_math
