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
// Our own functions need FMA. The others are SLEEF's, of its deterministic family (sin, cos and tan
// otherwise choose a method for a whole vector); `outside` is where one of them overflows early or
// loses a sign. The table at the end says which is used where.
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

#include <cmath>
#include <cstdint>

#include <sleef.h>

namespace Atoll::kernels::vector_math {
namespace sleef {

#if defined(__AVX512F__)
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_finz_##name##f16_##bound##avx512f
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_finz_##name##d8_##bound##avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_finz_##name##f8_##bound##avx2
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_finz_##name##d4_##bound##avx2
#elif defined(__aarch64__)
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_finz_##name##f4_##bound##advsimd
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_finz_##name##d2_##bound##advsimd
#elif defined(__SSE4_1__)
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_cinz_##name##f4_##bound##sse4
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_cinz_##name##d2_##bound##sse4
#else
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_cinz_##name##f4_##bound##sse2
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_cinz_##name##d2_##bound##sse2
#endif

template <class X> constexpr Number<X> power_of_two(int for_float, int for_double) {
    return static_cast<Number<X>>(
        __builtin_ldexp(1, sizeof(Number<X>) == 4 ? for_float : for_double));
}

// Which elements are not covered: of an element or of a vector.
struct Everywhere {};
// e^x overflows a little early.
struct BelowOverflow {
    template <class T> static constexpr T limit = sizeof(T) == 4 ? T(88) : T(709);
    template <class X> static auto outside(X x) { return x >= limit<Number<X>>; }
};
// Functions that are about x near zero give zero for the smallest x, with the wrong sign.
struct NotTiny {
    template <class X> static auto outside(X x) {
        return (magnitude(x) < power_of_two<X>(-100, -960)) & (x != Number<X>(0));
    }
};
template <int ForFloat, int ForDouble> struct Below : NotTiny {
    template <class X> static auto outside(X x) {
        return NotTiny::outside(x) | (magnitude(x) >= power_of_two<X>(ForFloat, ForDouble));
    }
};
// Half of e^x, which overflows before it is halved.
struct Hyperbolic : NotTiny {
    template <class X> static auto outside(X x) {
        return NotTiny::outside(x) | (magnitude(x) >= BelowOverflow::limit<Number<X>>);
    }
};
// Where the gamma function nears 0, of either sign.
struct NotVanishing {
    template <class X> static auto outside(X x) {
        return x < Number<X>(sizeof(Number<X>) == 4 ? -30 : -160);
    }
};
// Below 0 the logarithm of the gamma function has zeros, at which all digits are lost.
struct PositiveBelow {
    template <class X> static auto outside(X x) {
        return (x < Number<X>(0)) | (x > power_of_two<X>(100, 1000));
    }
};
struct Expm1 : NotTiny {
    template <class X> static auto outside(X x) {
        return NotTiny::outside(x) | BelowOverflow::outside(x);
    }
};
using Long = Below<100, 1000>;
using Squarable = Below<60, 500>; // x^2 must not overflow

#define ATOLL_SLEEF(name, Range)                                                                   \
    struct name : Range {                                                                          \
        static Vector<float> of(Vector<float> x) { return ATOLL_SLEEF_FLOATS(name, u10)(x); }      \
        static Vector<double> of(Vector<double> x) { return ATOLL_SLEEF_DOUBLES(name, u10)(x); }   \
    };
ATOLL_SLEEF(exp, BelowOverflow)
ATOLL_SLEEF(exp2, Everywhere)
ATOLL_SLEEF(exp10, Everywhere)
ATOLL_SLEEF(expm1, Expm1)
ATOLL_SLEEF(log, Everywhere)
ATOLL_SLEEF(log2, Everywhere)
ATOLL_SLEEF(log10, Everywhere)
ATOLL_SLEEF(log1p, Long)
ATOLL_SLEEF(sin, NotTiny)
ATOLL_SLEEF(cos, Everywhere)
ATOLL_SLEEF(tan, NotTiny)
ATOLL_SLEEF(asin, NotTiny)
ATOLL_SLEEF(acos, Everywhere)
ATOLL_SLEEF(atan, NotTiny)
ATOLL_SLEEF(sinh, Hyperbolic)
ATOLL_SLEEF(cosh, Hyperbolic)
ATOLL_SLEEF(tanh, NotTiny)
ATOLL_SLEEF(asinh, Squarable)
ATOLL_SLEEF(acosh, Squarable)
ATOLL_SLEEF(atanh, NotTiny)
ATOLL_SLEEF(cbrt, Everywhere)
ATOLL_SLEEF(erf, NotTiny)
ATOLL_SLEEF(tgamma, NotVanishing)
ATOLL_SLEEF(lgamma, PositiveBelow)
#undef ATOLL_SLEEF

// Its bound is 1.5 ULP.
struct erfc : Everywhere {
    static Vector<float> of(Vector<float> x) { return ATOLL_SLEEF_FLOATS(erfc, u15)(x); }
    static Vector<double> of(Vector<double> x) { return ATOLL_SLEEF_DOUBLES(erfc, u15)(x); }
};

struct pow {
    // See PowOfFloats.
    template <int Lanes, class T>
    static void run(std::int64_t count, const T *x, const T *y, T *out) {
        using V = VectorN<T, Lanes>;
        bool any_doubtful = false;
        for (std::int64_t k = 0; k < count; k += Lanes) {
            const V a = load_vector<V>(x + k), b = load_vector<V>(y + k);
            store_vector(out + k, b == T(2) ? a * a : of(a, b));
        }
        for (std::int64_t k = 0; k < count; ++k) any_doubtful |= doubtful(out[k]);
        if (any_doubtful)
            for (std::int64_t k = 0; k < count; ++k)
                if (doubtful(out[k])) out[k] = functor::pow::apply(x[k], y[k]);
    }

private:
    static Vector<float> of(Vector<float> x, Vector<float> y) {
        return ATOLL_SLEEF_FLOATS(pow, u10)(x, y);
    }
    static Vector<double> of(Vector<double> x, Vector<double> y) {
        return ATOLL_SLEEF_DOUBLES(pow, u10)(x, y);
    }
    // May have overflowed early.
    template <class T> static bool doubtful(T result) {
        return std::fabs(result) > std::numeric_limits<T>::max() / 4;
    }
};

} // namespace sleef

// The vector function of a functor for elements of T, as Of<F, T>::type; those without have none.
template <class F, class T> struct Of {};

template <class T> inline constexpr bool is_double = std::is_same_v<T, double>;
template <class Own, class Sleef> using Fastest = std::conditional_t<has_fma, Own, Sleef>;

// The function of our own for float, for double, or SLEEF's: the faster one at level v4 that is not
// slower at v3, within 1 ULP. Beside it: SLEEF's time over ours for float, double at v4; at v3; for
// calls of 4,096 elements, on one thread of a Xeon with AVX-512 (logarithms and pow of float: of a
// Zen 5; exp2, exp10, pow of double, asin, acos, exp of float, and tan to tgamma but for erf of
// float: of a Zen 4), GCC 12.
#define ATOLL_CHOICE(name, ForFloat, ForDouble)                                                    \
    template <> struct Of<functor::name, float> { using type = Fastest<ForFloat, sleef::name>; };  \
    template <> struct Of<functor::name, double> { using type = Fastest<ForDouble, sleef::name>; };
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
