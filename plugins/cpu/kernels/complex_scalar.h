// One complex number at a time through what complex_math.h's functions share.
#pragma once

#include "functors/complex_math.h"
#include "vector_complex_parts.h"

#include <cmath>
#include <limits>

namespace Atoll::kernels::complex_math {

// 113 bits, slow: for what cancels so much that nothing else is good enough.
#if __LDBL_MANT_DIG__ == 113 // AArch64
using Quad = long double;
#else
using Quad = __float128;
#endif

using C = _Complex double;
inline C to_c(Z z) {
    C c;
    __real__ c = z.re;
    __imag__ c = z.im;
    return c;
}
inline Z from_c(C c) { return {__real__ c, __imag__ c}; }

inline bool finite(Z z) { return std::isfinite(z.re) && std::isfinite(z.im); }

// The exponent of the larger part, which is finite and not zero.
inline int exponent_of(Z z) { return std::ilogb(std::fmax(std::fabs(z.re), std::fabs(z.im))); }
inline Z scaled(Z z, int exponent) {
    return {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)};
}
// 1 with the sign of x; zeros and what is not finite stay.
inline double unit(double x) { return x == 0 || !std::isfinite(x) ? x : std::copysign(1.0, x); }
// A product that is 0 where a factor is 0, even if the other one is infinite.
template <class T> T sized(T size, T part) { return part == 0 ? part : size * part; }

// Vectors that hold one number: so formulas of vectors, with twice the digits, are at hand here
// too.
using V = vector_math::ComplexV;
using N = vector_math::DoubleWord<V>;
inline V same(double x) { return x - V{}; } // -0 stays
inline N wide(double x) { return {same(x), V{}}; }
inline N wide_product(double a, double b) { return vector_math::exact_product(same(a), same(b)); }

// An angle: turns pi / 2 + r.
struct Reduced {
    std::uint64_t turns;
    double r, lost;
};
// Of y times `factor`, which is a sum of three; for y below 2^50. r is good to 2^-105, and to that
// part of itself if y is small.
Reduced reduced_angle(double y, const double (&factor)[3]);

} // namespace Atoll::kernels::complex_math
