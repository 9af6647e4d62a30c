// SLEEF's vector functions for the processor level that this is compiled for.
//
// Note [Vector math]
// One name, two overloads (float and double). The variants are those with a bound of 1 ULP (u10;
// erfc: 1.5) in SLEEF's deterministic family: an element's result does not depend on its neighbours
// (sin, cos and tan otherwise choose a method for a whole vector), and all levels with FMA give the
// same bits. `outside` tells where one of them overflows early or loses a sign: there the loop asks
// the C library.
#pragma once

#include "functors/elementary.h"

#include <cmath>
#include <cstdint>
#include <immintrin.h>

#include <sleef.h>

namespace Atoll::kernels::vector_math {

#if defined(__AVX512F__)
using Floats = __m512;
using Doubles = __m512d;
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_finz_##name##f16_##bound##avx512f
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_finz_##name##d8_##bound##avx512f
inline Floats load(const float *p) { return _mm512_loadu_ps(p); }
inline Doubles load(const double *p) { return _mm512_loadu_pd(p); }
inline void store(float *p, Floats x) { _mm512_storeu_ps(p, x); }
inline void store(double *p, Doubles x) { _mm512_storeu_pd(p, x); }
#elif defined(__AVX2__) && defined(__FMA__)
using Floats = __m256;
using Doubles = __m256d;
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_finz_##name##f8_##bound##avx2
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_finz_##name##d4_##bound##avx2
inline Floats load(const float *p) { return _mm256_loadu_ps(p); }
inline Doubles load(const double *p) { return _mm256_loadu_pd(p); }
inline void store(float *p, Floats x) { _mm256_storeu_ps(p, x); }
inline void store(double *p, Doubles x) { _mm256_storeu_pd(p, x); }
#else
using Floats = __m128;
using Doubles = __m128d;
#if defined(__SSE4_1__)
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_cinz_##name##f4_##bound##sse4
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_cinz_##name##d2_##bound##sse4
#else
#define ATOLL_SLEEF_FLOATS(name, bound) Sleef_cinz_##name##f4_##bound##sse2
#define ATOLL_SLEEF_DOUBLES(name, bound) Sleef_cinz_##name##d2_##bound##sse2
#endif
inline Floats load(const float *p) { return _mm_loadu_ps(p); }
inline Doubles load(const double *p) { return _mm_loadu_pd(p); }
inline void store(float *p, Floats x) { _mm_storeu_ps(p, x); }
inline void store(double *p, Doubles x) { _mm_storeu_pd(p, x); }
#endif

template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(sizeof(Floats) / sizeof(T));

template <class T> constexpr T power_of_two(int for_float, int for_double) {
    return static_cast<T>(__builtin_ldexp(1, sizeof(T) == 4 ? for_float : for_double));
}

// Which elements SLEEF does not cover.
struct Everywhere {
    template <class T> static bool outside(T) { return false; }
};
// e^x overflows a little early.
struct BelowOverflow {
    template <class T> static constexpr T limit = sizeof(T) == 4 ? T(88) : T(709);
    template <class T> static bool outside(T x) { return x >= limit<T>; }
};
// Functions that are about x near zero give zero for the smallest x, with the wrong sign.
struct NotTiny {
    template <class T> static bool outside(T x) {
        return int{std::fabs(x) < power_of_two<T>(-100, -960)} & int{x != 0};
    }
};
template <int ForFloat, int ForDouble> struct Below : NotTiny {
    template <class T> static bool outside(T x) {
        return int{NotTiny::outside(x)} | int{std::fabs(x) >= power_of_two<T>(ForFloat, ForDouble)};
    }
};
// Half of e^x, which overflows before it is halved.
struct Hyperbolic : NotTiny {
    template <class T> static bool outside(T x) {
        return int{NotTiny::outside(x)} | int{std::fabs(x) >= BelowOverflow::limit<T>};
    }
};
// Where the gamma function nears 0, of either sign.
struct NotVanishing {
    template <class T> static bool outside(T x) { return x < (sizeof(T) == 4 ? T(-30) : T(-160)); }
};
// Below 0 the logarithm of the gamma function has zeros, at which all digits are lost.
struct PositiveBelow {
    template <class T> static bool outside(T x) {
        return int{x < 0} | int{x > power_of_two<T>(100, 1000)};
    }
};
struct Expm1 : NotTiny {
    template <class T> static bool outside(T x) {
        return int{NotTiny::outside(x)} | int{BelowOverflow::outside(x)};
    }
};
using Long = Below<100, 1000>;
using Squarable = Below<60, 500>; // x^2 must not overflow

// The vector function of a functor, as Of<F>::type; those without have none.
template <class F> struct Of {};

#define ATOLL_VECTOR_FUNCTION(name, Range)                                                         \
    struct name : Range {                                                                          \
        static Floats of(Floats x) { return ATOLL_SLEEF_FLOATS(name, u10)(x); }                    \
        static Doubles of(Doubles x) { return ATOLL_SLEEF_DOUBLES(name, u10)(x); }                 \
    };                                                                                             \
    template <> struct Of<functor::name> { using type = name; };
ATOLL_VECTOR_FUNCTION(exp, BelowOverflow)
ATOLL_VECTOR_FUNCTION(exp2, Everywhere)
ATOLL_VECTOR_FUNCTION(exp10, Everywhere)
ATOLL_VECTOR_FUNCTION(expm1, Expm1)
ATOLL_VECTOR_FUNCTION(log, Everywhere)
ATOLL_VECTOR_FUNCTION(log2, Everywhere)
ATOLL_VECTOR_FUNCTION(log10, Everywhere)
ATOLL_VECTOR_FUNCTION(log1p, Long)
ATOLL_VECTOR_FUNCTION(sin, NotTiny)
ATOLL_VECTOR_FUNCTION(cos, Everywhere)
ATOLL_VECTOR_FUNCTION(tan, NotTiny)
ATOLL_VECTOR_FUNCTION(asin, NotTiny)
ATOLL_VECTOR_FUNCTION(acos, Everywhere)
ATOLL_VECTOR_FUNCTION(atan, NotTiny)
ATOLL_VECTOR_FUNCTION(sinh, Hyperbolic)
ATOLL_VECTOR_FUNCTION(cosh, Hyperbolic)
ATOLL_VECTOR_FUNCTION(tanh, NotTiny)
ATOLL_VECTOR_FUNCTION(asinh, Squarable)
ATOLL_VECTOR_FUNCTION(acosh, Squarable)
ATOLL_VECTOR_FUNCTION(atanh, NotTiny)
ATOLL_VECTOR_FUNCTION(cbrt, Everywhere)
ATOLL_VECTOR_FUNCTION(erf, NotTiny)
ATOLL_VECTOR_FUNCTION(tgamma, NotVanishing)
ATOLL_VECTOR_FUNCTION(lgamma, PositiveBelow)
#undef ATOLL_VECTOR_FUNCTION

// Its bound is 1.5 ULP.
struct erfc : Everywhere {
    static Floats of(Floats x) { return ATOLL_SLEEF_FLOATS(erfc, u15)(x); }
    static Doubles of(Doubles x) { return ATOLL_SLEEF_DOUBLES(erfc, u15)(x); }
};
template <> struct Of<functor::erfc> { using type = erfc; };

struct pow {
    static Floats of(Floats x, Floats y) { return ATOLL_SLEEF_FLOATS(pow, u10)(x, y); }
    static Doubles of(Doubles x, Doubles y) { return ATOLL_SLEEF_DOUBLES(pow, u10)(x, y); }
};
template <> struct Of<functor::pow> { using type = pow; };

} // namespace Atoll::kernels::vector_math
