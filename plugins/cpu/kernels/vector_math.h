// The vector functions, and which one serves each element-wise function at the processor level that
// this is compiled for.
//
// Note [Vector math]
// A vector function is of() of whole vectors of float or double. All have a bound of 1 ULP. An
// element's result does not depend on its neighbours, and all levels with FMA give the same bits.
// `outside`, where there is one, tells which elements it does not cover: there the loop asks the C
// library. Vectors all of whose elements are `ordinary` go through of_ordinary(), which gives the
// same in fewer operations.
#pragma once

#include "functors/elementary.h"
#include "functors/integer.h"
#include "vector_asin.h"
#include "vector_atan.h"
#include "vector_atan2.h"
#include "vector_cbrt.h"
#include "vector_circular.h"
#include "vector_division.h"
#include "vector_error_function.h"
#include "vector_exp.h"
#include "vector_hypot.h"
#include "vector_inverse_hyperbolic.h"
#include "vector_lgamma.h"
#include "vector_log.h"
#include "vector_piecewise.h"
#include "vector_pow.h"
#include "vector_pow_double.h"
#include "vector_sqrt.h"
#include "vector_tgamma.h"

namespace Atoll::kernels::vector_math {

// The vector function of a functor for elements of T, as Of<F, T>::type; those without have none.
template <class F, class T> struct Of {};

// For float, for double; SLEEF's times over these: tests/bench/RESULTS.md.
#define ATOLL_CHOICE(name, ForFloat, ForDouble)                                                    \
    template <> struct Of<functor::name, float> { using type = ForFloat; };                        \
    template <> struct Of<functor::name, double> { using type = ForDouble; };
ATOLL_CHOICE(exp, ByOctaves<BaseE>, ByOctaves<BaseE>)
ATOLL_CHOICE(exp2, ByOctaves<BaseTwo>, ByOctaves<BaseTwo>)
ATOLL_CHOICE(exp10, ByOctaves<BaseTen>, ByOctaves<BaseTen>)
ATOLL_CHOICE(expm1, Expm1, Expm1)
ATOLL_CHOICE(sinh, SinhCosh<true>, SinhCosh<true>)
ATOLL_CHOICE(cosh, SinhCosh<false>, SinhCosh<false>)
ATOLL_CHOICE(tanh, Piecewise<TanhTable>, Tanh)
ATOLL_CHOICE(log, Logarithm<Natural>, Logarithm<Natural>)
ATOLL_CHOICE(log2, Logarithm<Binary>, Logarithm<Binary>)
ATOLL_CHOICE(log10, Logarithm<Decimal>, Logarithm<Decimal>)
ATOLL_CHOICE(log1p, Log1p, Log1p)
ATOLL_CHOICE(sin, Sine<0>, Sine<0>)
ATOLL_CHOICE(cos, Sine<1>, Sine<1>)
ATOLL_CHOICE(tan, Tangent, Tangent)
ATOLL_CHOICE(atan, Atan, Atan)
ATOLL_CHOICE(asinh, Asinh, Asinh)
ATOLL_CHOICE(acosh, Acosh, Acosh)
ATOLL_CHOICE(atanh, Atanh, Atanh)
ATOLL_CHOICE(cbrt, CubeRoot, CubeRoot)
ATOLL_CHOICE(erf, Piecewise<ErfTable>, Erf)
ATOLL_CHOICE(erfc, Erfc, Erfc)
ATOLL_CHOICE(lgamma, LogGamma, LogGammaOfDoubles)
ATOLL_CHOICE(tgamma, GammaOfFloats, GammaOfDoubles)
ATOLL_CHOICE(pow, PowOfFloats, PowOfDoubles)
ATOLL_CHOICE(asin, Asin, Asin)
ATOLL_CHOICE(acos, Acos, Acos)
// Beside it: nanoseconds for an element in the functor's loop and here, for float, double; dense
// operands of a million elements, on one thread of a Zen 4 at level v4.
ATOLL_CHOICE(fmod, Fmod, Fmod)                                         // 26, 27; 0.19, 0.56
ATOLL_CHOICE(remainder, Remainder, Remainder)                          // 30, 27; 0.21, 0.62
ATOLL_CHOICE(floor_divide, FloorDivide, FloorDivide)                   // 40, 40; 0.23, 0.57
ATOLL_CHOICE(atan2, Atan2, Atan2)                                      // 18, 18; 0.81, 1.9
template <> struct Of<functor::hypot, double> { using type = Hypot; }; // 6.2; 0.79

#if defined(__AVX512F__)
// Beside it: the time of the instruction, or of the functor's loop over floats, which computes in
// double, over this one's on an Emerald Rapids.
ATOLL_CHOICE(sqrt, SquareRoot, SquareRoot)                                    // 1.35, 2.1
template <> struct Of<functor::hypot, float> { using type = HypotOfFloats; }; // 2.2
#endif
#undef ATOLL_CHOICE

} // namespace Atoll::kernels::vector_math
