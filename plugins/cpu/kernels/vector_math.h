// The vector functions, and which one serves each element-wise function at the processor level that
// this is compiled for.
//
// Note [Vector math]
// A vector function is of() of whole vectors of float or double. All have a bound of 1 ULP (SLEEF's
// erfc: 1.5). An element's result does not depend on its neighbours, and all levels with FMA give
// the same bits. `outside`, where there is one, tells which elements it does not cover: there the
// loop asks the C library. Vectors all of whose elements are `ordinary` go through of_ordinary(),
// which gives the same in fewer operations.
//
// Our own functions need FMA. Levels without it have SLEEF's.
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

#if !ATOLL_KERNELS_HAVE_FMA
#include "vector_sleef.h"
#endif

namespace Atoll::kernels::vector_math {

// The vector function of a functor for elements of T, as Of<F, T>::type; those without have none.
template <class F, class T> struct Of {};

template <class T> inline constexpr bool is_double = std::is_same_v<T, double>;

// With FMA, the function of our own for float, for double, within 1 ULP; without, SLEEF's. Beside
// it: SLEEF's time with FMA over ours for float, double at v4; at v3; for calls of 4,096 elements,
// on one thread of a Xeon with AVX-512 (logarithms and pow of float: of a Zen 5; exp2, exp10, pow
// of double, asin, acos, exp of float, and tan to tgamma but for erf of float: of a Zen 4), GCC 12.
#if ATOLL_KERNELS_HAVE_FMA
#define ATOLL_CHOICE(name, ForFloat, ForDouble)                                                    \
    template <> struct Of<functor::name, float> { using type = ForFloat; };                        \
    template <> struct Of<functor::name, double> { using type = ForDouble; };
#else
#define ATOLL_CHOICE(name, ForFloat, ForDouble)                                                    \
    template <> struct Of<functor::name, float> { using type = sleef::name; };                     \
    template <> struct Of<functor::name, double> { using type = sleef::name; };
#endif
ATOLL_CHOICE(exp, ByOctaves<BaseE>, Exponential)            // 1.5, 1.3; 1.8, 1.1
ATOLL_CHOICE(exp2, ByOctaves<BaseTwo>, ByOctaves<BaseTwo>)  // 1.4, 1.6; 1.5, 1.5
ATOLL_CHOICE(exp10, ByOctaves<BaseTen>, ByOctaves<BaseTen>) // 2.0, 1.3; 2.5, 1.5
ATOLL_CHOICE(expm1, Expm1, Expm1)                           // 2.7, 2.5; 2.5, 2.4
ATOLL_CHOICE(sinh, SinhCosh<true>, SinhCosh<true>)          // 3.1, 2.7; 2.9, 2.6
ATOLL_CHOICE(cosh, SinhCosh<false>, SinhCosh<false>)        // 2.9, 2.8; 3.0, 2.8
ATOLL_CHOICE(tanh, Piecewise<TanhTable>, Tanh)              // 4.4, 2.5; 2.0, 2.3
ATOLL_CHOICE(log, Logarithm<Natural>, Logarithm<Natural>)   // 1.9, 1.8; 2.0, 1.5
ATOLL_CHOICE(log2, Logarithm<Binary>, Logarithm<Binary>)    // 1.9, 1.8; 2.1, 1.2
ATOLL_CHOICE(log10, Logarithm<Decimal>, Logarithm<Decimal>) // 1.6, 1.5; 1.8, 1.4
ATOLL_CHOICE(log1p, Log1p, Log1p)                           // 2.3, 2.5; 1.6, 1.3
ATOLL_CHOICE(sin, Sine<0>, Sine<0>)                         // 1.2, 1.2; 1.4, 1.3
ATOLL_CHOICE(cos, Sine<1>, Sine<1>)                         // 1.5, 1.3; 1.5, 1.3
ATOLL_CHOICE(tan, Tangent, Tangent)                         // 1.4, 1.2; 1.6, 1.3
ATOLL_CHOICE(atan, Atan, Atan)                              // 2.6, 2.4; 2.5, 1.3
ATOLL_CHOICE(asinh, Asinh, Asinh)                           // 3.3, 3.4; 2.9, 3.2
ATOLL_CHOICE(acosh, Acosh, Acosh)                           // 2.8, 2.9; 2.1, 2.2
ATOLL_CHOICE(atanh, Atanh, Atanh)                           // 2.0, 2.2; 1.6, 1.9
ATOLL_CHOICE(cbrt, CubeRoot, CubeRoot)                      // 3.5, 3.2; 4.3, 4.4
ATOLL_CHOICE(erf, Piecewise<ErfTable>, Erf)                 // 5.9, 6.6; 3.3, 4.8
ATOLL_CHOICE(erfc, Erfc, Erfc)                              // 3.7, 3.0; 2.1, 2.6
ATOLL_CHOICE(lgamma, LogGamma, LogGammaOfDoubles)           // 2.6, 4.0; 1.9, 3.7
ATOLL_CHOICE(tgamma, GammaOfFloats, GammaOfDoubles)         // 1.7, 3.0; 1.9, 2.9
ATOLL_CHOICE(pow, PowOfFloats, PowOfDoubles)                // 4.4, 2.9; 3.6, 2.7
ATOLL_CHOICE(asin, Asin, Asin)                              // 2.0, 1.7; 2.3, 2.0
ATOLL_CHOICE(acos, Acos, Acos)                              // 2.1, 1.9; 2.6, 2.2
#undef ATOLL_CHOICE

// Without FMA these are the functors' loops. Beside it: nanoseconds for an element in those and
// here, for float, double; dense operands of a million elements, on one thread of a Zen 4 at level
// v4. SLEEF takes 1.7 times as long for atan2 (2.1 at v3), and is 2 ULP off where there is no FMA.
#define ATOLL_WITH_FMA(name, Own, Reals)                                                           \
    template <class T>                                                                             \
    requires(has_fma && Reals<T>) struct Of<functor::name, T> { using type = Own; };
ATOLL_WITH_FMA(fmod, Fmod, is_float)                // 26, 27; 0.19, 0.56
ATOLL_WITH_FMA(remainder, Remainder, is_float)      // 30, 27; 0.21, 0.62
ATOLL_WITH_FMA(floor_divide, FloorDivide, is_float) // 40, 40; 0.23, 0.57
ATOLL_WITH_FMA(atan2, Atan2, is_float)              // 18, 18; 0.81, 1.9
// The functor's loop over floats, in double, takes 0.55; this one would take 0.37, and round worse.
ATOLL_WITH_FMA(hypot, Hypot, is_double) // 6.2; 0.79
#undef ATOLL_WITH_FMA

#if defined(__AVX512F__)
// The instruction's time over this one's on Sapphire Rapids: 2.4.
template <> struct Of<functor::sqrt, double> { using type = SquareRoot; };
#endif

} // namespace Atoll::kernels::vector_math
