// SLEEF's vector functions, for levels without FMA: of its deterministic family, as sin, cos and
// tan otherwise choose a method for a whole vector. `outside` is where one of them overflows early
// or loses a sign.
#pragma once

#include "functors/elementary.h"
#include "vector_operations.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <sleef.h>

namespace Atoll::kernels::vector_math {
namespace sleef {

#if defined(__SSE4_1__)
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

} // namespace Atoll::kernels::vector_math
