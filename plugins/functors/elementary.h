// Functors of exponentials, logarithms, circular and hyperbolic functions. See Note [Functors].
#pragma once

#include "functors/arithmetic.h"
#include "functors/complex_math.h"

namespace Atoll::kernels::functor {

template <class T> ATOLL_BOTH_SIDES Complex<double> in_double(T z) { return {z.re, z.im}; }
template <class T> ATOLL_BOTH_SIDES T rounded(Complex<double> z) {
    return {static_cast<Part<T>>(z.re), static_cast<Part<T>>(z.im)};
}

struct sqrt : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sqrt(in_double(a)));
        else
            return std::sqrt(a);
    }
};

struct angle : Scalar {
    template <class T> ATOLL_BOTH_SIDES static Part<T> apply(T a) {
        if constexpr (is_complex<T>)
            return static_cast<Part<T>>(complex_math::angle(in_double(a)));
        else
            return a != a ? a : std::signbit(a) ? static_cast<T>(3.14159265358979323846) : T(0);
    }
};

struct cbrt : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) { return std::cbrt(a); }
};

struct erf : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) { return std::erf(a); }
};
struct erfc : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) { return std::erfc(a); }
};

// The C library's own are some 5 to 10 ULP off, a device's have no wider type; lgamma would write a
// global variable.
#if defined(ATOLL_ON_DEVICE)
template <class T> using Wider = double;
ATOLL_BOTH_SIDES inline double real_lgamma(double a) { return ::lgamma(a); }
#else
template <class T> using Wider = std::conditional_t<sizeof(T) == 4, double, long double>;
inline double real_lgamma(double a) {
    int sign;
    return ::lgamma_r(a, &sign);
}
inline long double real_lgamma(long double a) {
    int sign;
    return ::lgammal_r(a, &sign);
}
#endif

struct tgamma : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        return static_cast<T>(std::tgamma(Wider<T>{a}));
    }
};
struct lgamma : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        return static_cast<T>(real_lgamma(Wider<T>{a}));
    }
};

// exp10 is in the C library, not in the C++ library.
ATOLL_BOTH_SIDES inline float real_exp10(float x) { return ::exp10f(x); }
ATOLL_BOTH_SIDES inline double real_exp10(double x) { return ::exp10(x); }

struct exp : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp(in_double(a)));
        else
            return std::exp(a);
    }
};
struct exp2 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp2(in_double(a)));
        else
            return std::exp2(a);
    }
};
struct exp10 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp10(in_double(a)));
        else
            return real_exp10(a);
    }
};
struct expm1 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::expm1(in_double(a)));
        else
            return std::expm1(a);
    }
};
struct log : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log(in_double(a)));
        else
            return std::log(a);
    }
};
struct log2 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log2(in_double(a)));
        else
            return std::log2(a);
    }
};
struct log10 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log10(in_double(a)));
        else
            return std::log10(a);
    }
};
struct log1p : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log1p(in_double(a)));
        else
            return std::log1p(a);
    }
};
struct sin : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sin(in_double(a)));
        else
            return std::sin(a);
    }
};
struct cos : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::cos(in_double(a)));
        else
            return std::cos(a);
    }
};
struct tan : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::tan(in_double(a)));
        else
            return std::tan(a);
    }
};
struct asin : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::asin(in_double(a)));
        else
            return std::asin(a);
    }
};
struct acos : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::acos(in_double(a)));
        else
            return std::acos(a);
    }
};
struct atan : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::atan(in_double(a)));
        else
            return std::atan(a);
    }
};
struct sinh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sinh(in_double(a)));
        else
            return std::sinh(a);
    }
};
struct cosh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::cosh(in_double(a)));
        else
            return std::cosh(a);
    }
};
struct tanh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::tanh(in_double(a)));
        else
            return std::tanh(a);
    }
};
struct asinh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::asinh(in_double(a)));
        else
            return std::asinh(a);
    }
};
struct acosh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::acosh(in_double(a)));
        else
            return std::acosh(a);
    }
};
struct atanh : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::atanh(in_double(a)));
        else
            return std::atanh(a);
    }
};

struct atan2 : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) { return std::atan2(a, b); }
};

struct pow : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_complex<T>) {
            return rounded<T>(complex_math::pow(in_double(a), in_double(b)));
        } else if constexpr (is_float<T>) {
            return b == 2 ? a * a : std::pow(a, b);
        } else {
            // The host refuses negative exponents; they give 0 here.
            if constexpr (std::is_signed_v<T>)
                if (b < 0) return 0;
            Arithmetic<T> power = 1, base = static_cast<Arithmetic<T>>(a);
            for (auto left = static_cast<std::make_unsigned_t<T>>(b); left; left >>= 1) {
                if (left & 1) power *= base;
                base *= base;
            }
            return static_cast<T>(power);
        }
    }
};

} // namespace Atoll::kernels::functor
