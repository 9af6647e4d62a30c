// Complex functions in double, one element at a time. Complex floats go through them too: rounding
// the double result leaves next to no error.
#pragma once

#include "types.h"

#include <cmath>

namespace Atoll::kernels::complex_math {

using Z = Complex<double>;

// Note [Complex division]
// a / b = a conj(b) / |b|^2. Between numbers of moderate size nothing leaves the range, and the
// error is a few units of the last place of the larger part; all complex floats are moderate but
// the special ones. Other numbers are divided by Smith's method in long double, whose range is wide
// enough. Which way an element goes depends on nothing but itself.
inline constexpr double moderate_low = 0x1p-400, moderate_high = 0x1p400;

inline bool is_moderate(double a_re, double a_im, double b_re, double b_im) {
    const double ar = std::fabs(a_re), ai = std::fabs(a_im);
    const double br = std::fabs(b_re), bi = std::fabs(b_im);
    // No branches, so that loops vectorise; NaN is not moderate.
    return (ar <= moderate_high) & (ai <= moderate_high) &
           ((ar >= moderate_low) | (ai >= moderate_low) | ((ar == 0) & (ai == 0))) &
           (br <= moderate_high) & (bi <= moderate_high) &
           ((br >= moderate_low) | (bi >= moderate_low));
}

// A product that no compiler makes a part of a fused operation, which rounds once less: GCC 12 does
// that to a sum beside a difference even where contraction is off.
inline double product(double a, double b) {
#if defined(__GNUC__) && !defined(__clang__)
    return __builtin_assoc_barrier(a * b);
#else
    return a * b;
#endif
}

// Of moderate numbers.
inline Z plain_quotient(double a_re, double a_im, double b_re, double b_im) {
    const double square = product(b_re, b_re) + product(b_im, b_im);
    return {(product(a_re, b_re) + product(a_im, b_im)) / square,
            (product(a_im, b_re) - product(a_re, b_im)) / square};
}
inline bool has_zero(double re, double im) { return (re == 0) | (im == 0); }
// The same with the signs that Smith's method gives to parts that are zero: -0 for 0 / -1, as for
// reals.
inline Z with_signs(Z q, Z a, Z b) {
    const bool first = std::fabs(b.re) >= std::fabs(b.im);
    const double ratio = first ? b.im / b.re : b.re / b.im;
    const double scale = first ? b.re + product(b.im, ratio) : product(b.re, ratio) + b.im;
    const double re = first ? a.re + product(a.im, ratio) : product(a.re, ratio) + a.im;
    const double im = first ? a.im - product(a.re, ratio) : product(a.im, ratio) - a.re;
    return {q.re == 0 && re == 0 ? re / scale : q.re, q.im == 0 && im == 0 ? im / scale : q.im};
}
// Of any others.
Z wide_quotient(Z a, Z b);

inline Z quotient(Z a, Z b) {
    if (!is_moderate(a.re, a.im, b.re, b.im)) return wide_quotient(a, b);
    const Z q = plain_quotient(a.re, a.im, b.re, b.im);
    return has_zero(q.re, q.im) ? with_signs(q, a, b) : q;
}

Z sign(Z z);
double angle(Z z);
Z pow(Z a, Z b);

Z sqrt(Z z);
Z exp(Z z);
Z exp2(Z z);
Z exp10(Z z);
Z expm1(Z z);
Z log(Z z);
Z log2(Z z);
Z log10(Z z);
Z log1p(Z z);
Z sin(Z z);
Z cos(Z z);
Z tan(Z z);
Z asin(Z z);
Z acos(Z z);
Z atan(Z z);
Z sinh(Z z);
Z cosh(Z z);
Z tanh(Z z);
Z asinh(Z z);
Z acosh(Z z);
Z atanh(Z z);

} // namespace Atoll::kernels::complex_math
