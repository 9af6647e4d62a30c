// Complex functions in double, one element at a time. Complex floats go through them too: rounding
// the double result leaves next to no error.
#pragma once

#include "functors/element.h"

#include <cmath>

namespace Atoll::kernels::complex_math {

using Z = Complex<double>;

// Note [Complex division]
// a / b = a conj(b) / |b|^2. Between numbers of moderate size nothing leaves the range, and the
// error is a few units of the last place of the larger part. Other numbers are scaled by powers of
// two first. Which way an element goes depends on nothing but itself.
//
// Complex floats (`narrow`) are all moderate but the special ones, which make a part that is not
// finite; one division serves both parts, as the bits that this costs are rounded away.
inline constexpr double moderate_low = 0x1p-400, moderate_high = 0x1p400;

// A product that no compiler makes a part of a fused operation, which rounds once less: GCC 12 does
// that to a sum beside a difference even where contraction is off.
ATOLL_BOTH_SIDES inline double product(double a, double b) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    return __builtin_assoc_barrier(a * b);
#else
    return a * b;
#endif
}

template <bool narrow>
ATOLL_BOTH_SIDES Z plain_quotient(double a_re, double a_im, double b_re, double b_im) {
    // The divisor is turned until its larger part is positive, and the quotient back: parts that
    // are zero get the signs of Smith's method, -0 for 0 / -1, as for reals.
    const double turn = std::copysign(1.0, std::fabs(b_re) >= std::fabs(b_im) ? b_re : b_im);
    b_re *= turn;
    b_im *= turn;
    const double square = (product(b_re, b_re) + product(b_im, b_im)) * turn;
    const double re = product(a_re, b_re) + product(a_im, b_im);
    const double im = product(a_im, b_re) - product(a_re, b_im);
    if constexpr (narrow) {
        const double inverse = 1 / square;
        return {re * inverse, im * inverse};
    }
    return {re / square, im / square};
}
// Whether the plain quotient, q, is a / b. No branches, so that loops vectorise.
template <bool narrow> ATOLL_BOTH_SIDES bool is_plain(double q_re, double q_im, double a_re,
                                                      double a_im, double b_re, double b_im) {
    if constexpr (narrow)
        return (std::fabs(q_re) <= __DBL_MAX__) & (std::fabs(q_im) <= __DBL_MAX__);
    const double ar = std::fabs(a_re), ai = std::fabs(a_im);
    const double br = std::fabs(b_re), bi = std::fabs(b_im);
    return (ar <= moderate_high) & (ai <= moderate_high) &
           ((ar >= moderate_low) | (ai >= moderate_low) | ((ar == 0) & (ai == 0))) &
           (br <= moderate_high) & (bi <= moderate_high) &
           ((br >= moderate_low) | (bi >= moderate_low));
}
ATOLL_BOTH_SIDES Z wide_quotient(Z a, Z b);

template <bool narrow> ATOLL_BOTH_SIDES Z quotient(Z a, Z b) {
    const Z q = plain_quotient<narrow>(a.re, a.im, b.re, b.im);
    return is_plain<narrow>(q.re, q.im, a.re, a.im, b.re, b.im) ? q : wide_quotient(a, b);
}

#if !defined(ATOLL_ON_DEVICE)
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
#endif

} // namespace Atoll::kernels::complex_math

#if defined(ATOLL_ON_DEVICE)
#include "functors/complex_math_double.h"
#endif
