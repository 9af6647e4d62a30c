// Complex functions: the C library's where they are good, the others from extended precision.
//
// Note [Complex accuracy]
// Double results are good to 4 ULP in each part, and complex floats, which go through double, to
// little more than 0.5. At processor levels with FMA most elements go through the vectors of
// vector_complex.h instead, which keep the same bounds, and the functions here serve the others:
// see Note [Complex vectors]. The C library's functions are kept where they measure below 3.5 ULP;
// its tan, asin, atan and their relatives come close to 4 or pass it. Those and the functions that
// it lacks are computed in long double, whose 11 more bits pay for the rounding on the way. Where a
// part is a small difference of large terms that is not enough: a test of the terms finds such
// places, and float128 (113 bits, slow) is used there. Not good in each part are exp2, exp10 and
// pow with angles beyond 2^50: modulus only. Values that are not finite go to the C library: Annex
// G of C99.
#include "functors/complex_math.h"

#include <cmath>
#include <limits>

namespace Atoll::kernels::complex_math {

// 113 bits.
#if __LDBL_MANT_DIG__ == 113 // AArch64
using Quad = long double;
#else
using Quad = __float128;
#endif

// glibc has these (the first ones since 2.26), but C++ headers do not always show them.
extern "C" {
Quad expf128(Quad) noexcept;
Quad expm1f128(Quad) noexcept;
Quad logf128(Quad) noexcept;
Quad log1pf128(Quad) noexcept;
Quad sinf128(Quad) noexcept;
Quad cosf128(Quad) noexcept;
Quad atan2f128(Quad, Quad) noexcept;
_Complex double clog10(_Complex double) noexcept;
}

namespace {

using C = _Complex double;
using Long = long double;

C to_c(Z z) {
    C c;
    __real__ c = z.re;
    __imag__ c = z.im;
    return c;
}
Z from_c(C c) { return {__real__ c, __imag__ c}; }

_Complex long double to_long(Z z) {
    _Complex long double c;
    __real__ c = z.re;
    __imag__ c = z.im;
    return c;
}
Z from_c(_Complex long double c) {
    return {static_cast<double>(__real__ c), static_cast<double>(__imag__ c)};
}

bool finite(double x) { return std::fabs(x) <= std::numeric_limits<double>::max(); }
bool finite(Z z) { return finite(z.re) && finite(z.im); }

template <class T> Z rounded(T re, T im) {
    return {static_cast<double>(re), static_cast<double>(im)};
}

Quad absolute(Quad x) { return x < 0 ? -x : x; }

// A product that is 0 where a factor is 0, even if the other one is infinite.
template <class T> T scaled(T size, T part) { return part == 0 ? part : size * part; }

// base^z for a base with the logarithm `log_base`; `size` is base^z.re.
Z exp_base(Z z, Long size, Long log_base, Quad log_base_quad) {
    const Long angle = z.im * log_base;
    const Long c = cosl(angle), s = sinl(angle);
    // The angle is good to 63 bits, and so is the sine of a small one.
    if (fabsl(angle) <= 256 * fminl(fabsl(c), fabsl(s)) || fabsl(angle) < 1)
        return rounded(scaled(size, c), scaled(size, s));
    const Quad exact = z.im * log_base_quad;
    return rounded(scaled(static_cast<Quad>(size), cosf128(exact)),
                   scaled(static_cast<Quad>(size), sinf128(exact)));
}

// |a|^2 - 1, for moduli between 1/2 and 2. All squares are exact.
Quad square_less_one(Quad re, Quad im) {
    return re > im ? (re * re - 1) + im * im : (im * im - 1) + re * re;
}

Z pow_quad(Z a, Z b) {
    const Quad re = absolute(a.re), im = absolute(a.im), square = re * re + im * im;
    const Quad log_size = square > Quad(0.25) && square < Quad(4)
                              ? log1pf128(square_less_one(re, im)) / 2
                              : logf128(square) / 2;
    const Quad angle = atan2f128(a.im, a.re);
    const Quad exponent = b.re * log_size - b.im * angle, turn = b.re * angle + b.im * log_size;
    const Quad size = expf128(exponent);
    return rounded(scaled(size, cosf128(turn)), scaled(size, sinf128(turn)));
}

template <class T> struct Parts { T re, im; };
// The principal square root; no square of a double overflows or underflows a long double.
Parts<Long> root(Long re, Long im) {
    if (re == 0 && im == 0) return {0, im};
    const Long large = sqrtl((fabsl(re) + sqrtl(re * re + im * im)) / 2);
    const Long small = im / (2 * large);
    return re >= 0 ? Parts<Long>{large, small} : Parts<Long>{fabsl(small), copysignl(large, im)};
}

template <class T> Parts<T> product(Parts<T> a, Parts<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> Parts<T> power(Z z, int n) {
    Parts<T> result{1, 0}, base{z.re, z.im};
    for (int left = n < 0 ? -n : n; left; left >>= 1) {
        if (left & 1) result = product(result, base);
        if (left > 1) base = product(base, base);
    }
    if (n > 0) return result;
    const T square = result.re * result.re + result.im * result.im;
    return {result.re / square, -result.im / square};
}

// Neither overflows in the steps: the caller has looked at the modulus.
Z pow_integer(Z a, int n) {
    const Parts<Long> p = power<Long>(a, n);
    const Long re = fabsl(p.re), im = fabsl(p.im);
    const bool axis = a.re == 0 || a.im == 0;
    // Each of about n products may lose the last bit of the modulus.
    if (axis || fminl(re, im) >= fmaxl(re, im) * (n < 0 ? -n : n) * 0x1p-10L)
        return rounded(p.re, p.im);
    const Parts<Quad> q = power<Quad>(a, n);
    return rounded(q.re, q.im);
}

} // namespace

Z wide_quotient(Z a, Z b) {
    if (b.re == 0 && b.im == 0) // the parts over a positive zero: infinities, as for reals
        return {a.re / std::fabs(b.re), a.im / std::fabs(b.re)};
    const Long ar = a.re, ai = a.im, br = b.re, bi = b.im;
    if (std::fabs(br) >= std::fabs(bi)) {
        const Long ratio = bi / br, scale = br + bi * ratio;
        return rounded((ar + ai * ratio) / scale, (ai - ar * ratio) / scale);
    }
    const Long ratio = br / bi, scale = br * ratio + bi;
    return rounded((ar * ratio + ai) / scale, (ai * ratio - ar) / scale);
}

Z sign(Z z) {
    const bool re_infinite = std::isinf(z.re), im_infinite = std::isinf(z.im);
    if (re_infinite != im_infinite && z.re == z.re && z.im == z.im)
        return {std::copysign(re_infinite ? 1.0 : 0.0, z.re),
                std::copysign(im_infinite ? 1.0 : 0.0, z.im)};
    if (z.re == 0 && z.im == 0) return {0, 0};
    // No square of a double overflows or underflows a long double.
    const Long re = z.re, im = z.im, size = sqrtl(re * re + im * im);
    return rounded(re / size, im / size);
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

// W. Kahan, "Branch cuts for complex elementary functions", 1987. No sum below cancels: where
// products are subtracted their signs differ.
Z asin(Z z) {
    if (!finite(z)) return from_c(__builtin_casin(to_c(z)));
    const Parts<Long> less = root(1 - Long(z.re), -z.im), more = root(1 + Long(z.re), z.im);
    return rounded(atan2l(z.re, less.re * more.re - less.im * more.im),
                   asinhl(less.re * more.im - less.im * more.re));
}

Z acos(Z z) {
    if (!finite(z)) return from_c(__builtin_cacos(to_c(z)));
    const Parts<Long> less = root(1 - Long(z.re), -z.im), more = root(1 + Long(z.re), z.im);
    return rounded(2 * atan2l(less.re, more.re), asinhl(more.re * less.im - more.im * less.re));
}

Z asinh(Z z) {
    if (!finite(z)) return from_c(__builtin_casinh(to_c(z)));
    const Z turned = asin({-z.im, z.re});
    return {turned.im, -turned.re};
}

Z acosh(Z z) {
    if (!finite(z)) return from_c(__builtin_cacosh(to_c(z)));
    const Z turned = acos(z);
    return {std::fabs(turned.im), std::copysign(turned.re, z.im)};
}

Z atan(Z z) { return from_c(__builtin_catanl(to_long(z))); }
Z atanh(Z z) { return from_c(__builtin_catanhl(to_long(z))); }

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); the C library's rounds too often.
Z tanh(Z z) {
    if (!finite(z)) return from_c(__builtin_ctanh(to_c(z)));
    const Long s = std::sin(z.im), c = std::cos(z.im), size = std::fabs(z.re);
    if (size > 40) return rounded(copysignl(1, z.re), 4 * s * c * expl(-2 * size));
    const Long sinh = sinhl(z.re), square = sinh * sinh, divisor = square + c * c;
    return rounded(sinh * sqrtl(1 + square) / divisor, s * c / divisor);
}

Z tan(Z z) {
    if (!finite(z)) return from_c(__builtin_ctan(to_c(z)));
    const Z turned = tanh({-z.im, z.re});
    return {turned.im, -turned.re};
}

Z exp2(Z z) {
    if (z.im == 0) return {std::exp2(z.re), z.im};
    if (!finite(z.im)) return exp(z);
    return exp_base(z, exp2l(z.re), 0.693147180559945309417232121458176568L, logf128(2));
}

Z exp10(Z z) {
    if (z.im == 0) return {::exp10(z.re), z.im};
    if (!finite(z.im)) return exp(z);
    return exp_base(z, exp10l(z.re), 2.302585092994045684017991454684364208L, logf128(10));
}

Z expm1(Z z) {
    if (z.im == 0) return {std::expm1(z.re), z.im};
    if (!finite(z)) {
        const Z e = exp(z);
        return {e.re - 1, e.im};
    }
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
    const Long s = sinl(z.im), c = cosl(z.im), half = sinl(Long(z.im) / 2);
    const Long first = expm1l(z.re) * c, second = 2 * half * half;
    Long re = first - second;
    if (fabsl(re) < fmaxl(fabsl(first), second) * 0x1p-8L) {
        const Quad h = sinf128(Quad(z.im) / 2);
        re = static_cast<Long>(expm1f128(z.re) * cosf128(z.im) - 2 * h * h);
    }
    return rounded(re, scaled(expl(z.re), s));
}

Z log2(Z z) {
    constexpr Long log2_e = 1.442695040888963407359924681001892137L;
    const _Complex long double c = __builtin_clogl(to_long(z));
    return rounded(__real__ c * log2_e, __imag__ c * log2_e);
}

Z log1p(Z z) {
    if (!finite(z)) return log({1 + z.re, z.im});
    const Long shifted = 1 + Long(z.re), im = z.im;
    const Long square = shifted * shifted + im * im;
    const Long angle = atan2l(im, shifted);
    if (square < 0.5L || square > 2) return rounded(logl(square) / 2, angle);
    // |1 + z|^2 - 1
    const Long first = z.re * (2 + Long(z.re)), second = im * im;
    Long excess = first + second;
    if (fabsl(excess) < second * 0x1p-8L) {
        const Quad x = z.re, y = z.im;
        excess = static_cast<Long>((2 * x + y * y) + x * x);
    }
    return rounded(log1pl(excess) / 2, angle);
}

Z pow(Z a, Z b) {
    const double n = b.re;
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        return b.re > 0 ? Z{0, 0} : Z{nan, nan};
    }
    if (!finite(a) || !finite(b)) return from_c(__builtin_cpow(to_c(a), to_c(b)));
    if (b.im == 0) {
        if (n == 1) return a;
        if (n == 0.5) return sqrt(a);
        const bool whole = n == std::floor(n);
        if (a.im == 0 && (a.re > 0 || whole)) {
            const bool flips = a.re < 0 && std::fmod(n, 2) == 0;
            return {std::pow(a.re, n), (flips ? -a.im : a.im) * (n > 0 ? 1 : -1)};
        }
        if (whole && std::fabs(n) <= 100) {
            const double octaves =
                std::fabs(std::logb(std::fmax(std::fabs(a.re), std::fabs(a.im))));
            if ((octaves + 1) * std::fabs(n) < 8000) return pow_integer(a, static_cast<int>(n));
        }
    }
    const _Complex long double c = __builtin_clogl(to_long(a));
    const Long log_size = __real__ c, angle = __imag__ c;
    const Long first = b.re * log_size, second = b.im * angle;
    const Long third = b.re * angle, fourth = b.im * log_size;
    const Long turn = third + fourth, size = expl(first - second);
    const Long real = cosl(turn), imaginary = sinl(turn);
    // What the terms may be wrong by is what the exponent and the angle may be wrong by.
    const Long terms = fabsl(first) + fabsl(second) + fabsl(third) + fabsl(fourth);
    const Long smaller = turn == 0 ? 1 : fminl(fabsl(real), fabsl(imaginary));
    if (terms <= 256 * smaller || (terms < 1 && third * fourth >= 0 && terms <= 256 * fabsl(real)))
        return rounded(scaled(size, real), scaled(size, imaginary));
    return pow_quad(a, b);
}

} // namespace Atoll::kernels::complex_math
