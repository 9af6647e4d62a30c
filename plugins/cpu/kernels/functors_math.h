// Functors of exponentials, logarithms, circular and hyperbolic functions. See Note [Functors].
#pragma once

#include "complex_math.h"
#include "functors.h"
#include "vector_math.h"

namespace Atoll::kernels::functor {

template <class T> Complex<double> in_double(T z) { return {z.re, z.im}; }
template <class T> T rounded(Complex<double> z) {
    return {static_cast<Part<T>>(z.re), static_cast<Part<T>>(z.im)};
}

struct sqrt : Same {
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sqrt(in_double(a)));
        else
            return std::sqrt(a);
    }
};

struct angle : Scalar {
    template <class T> static Part<T> apply(T a) {
        if constexpr (is_complex<T>)
            return static_cast<Part<T>>(complex_math::angle(in_double(a)));
        else
            return a != a ? a : std::signbit(a) ? static_cast<T>(3.14159265358979323846) : T(0);
    }
};

struct cbrt : Scalar {
    using Vector = vector_math::cbrt;
    template <class T> static T apply(T a) { return std::cbrt(a); }
};

struct erf : Scalar {
    using Vector = vector_math::erf;
    template <class T> static T apply(T a) { return std::erf(a); }
};
struct erfc : Scalar {
    using Vector = vector_math::erfc;
    template <class T> static T apply(T a) { return std::erfc(a); }
};

// The C library's own are some 5 to 10 ULP off; lgamma would write a global variable.
template <class T> using Wider = std::conditional_t<sizeof(T) == 4, double, long double>;
inline double real_lgamma(double a, int *sign) { return ::lgamma_r(a, sign); }
inline long double real_lgamma(long double a, int *sign) { return ::lgammal_r(a, sign); }

struct tgamma : Scalar {
    using Vector = vector_math::tgamma;
    template <class T> static T apply(T a) { return static_cast<T>(std::tgamma(Wider<T>{a})); }
};
struct lgamma : Scalar {
    using Vector = vector_math::lgamma;
    template <class T> static T apply(T a) {
        int sign;
        return static_cast<T>(real_lgamma(Wider<T>{a}, &sign));
    }
};

// The C library has exp10, the C++ library has not.
inline float real_exp10(float x) { return ::exp10f(x); }
inline double real_exp10(double x) { return ::exp10(x); }

struct exp : Scalar {
    using Vector = vector_math::exp;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp(in_double(a)));
        else
            return std::exp(a);
    }
};
struct exp2 : Scalar {
    using Vector = vector_math::exp2;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp2(in_double(a)));
        else
            return std::exp2(a);
    }
};
struct exp10 : Scalar {
    using Vector = vector_math::exp10;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::exp10(in_double(a)));
        else
            return real_exp10(a);
    }
};
struct expm1 : Scalar {
    using Vector = vector_math::expm1;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::expm1(in_double(a)));
        else
            return std::expm1(a);
    }
};
struct log : Scalar {
    using Vector = vector_math::log;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log(in_double(a)));
        else
            return std::log(a);
    }
};
struct log2 : Scalar {
    using Vector = vector_math::log2;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log2(in_double(a)));
        else
            return std::log2(a);
    }
};
struct log10 : Scalar {
    using Vector = vector_math::log10;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log10(in_double(a)));
        else
            return std::log10(a);
    }
};
struct log1p : Scalar {
    using Vector = vector_math::log1p;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::log1p(in_double(a)));
        else
            return std::log1p(a);
    }
};
struct sin : Scalar {
    using Vector = vector_math::sin;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sin(in_double(a)));
        else
            return std::sin(a);
    }
};
struct cos : Scalar {
    using Vector = vector_math::cos;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::cos(in_double(a)));
        else
            return std::cos(a);
    }
};
struct tan : Scalar {
    using Vector = vector_math::tan;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::tan(in_double(a)));
        else
            return std::tan(a);
    }
};
struct asin : Scalar {
    using Vector = vector_math::asin;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::asin(in_double(a)));
        else
            return std::asin(a);
    }
};
struct acos : Scalar {
    using Vector = vector_math::acos;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::acos(in_double(a)));
        else
            return std::acos(a);
    }
};
struct atan : Scalar {
    using Vector = vector_math::atan;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::atan(in_double(a)));
        else
            return std::atan(a);
    }
};
struct sinh : Scalar {
    using Vector = vector_math::sinh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::sinh(in_double(a)));
        else
            return std::sinh(a);
    }
};
struct cosh : Scalar {
    using Vector = vector_math::cosh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::cosh(in_double(a)));
        else
            return std::cosh(a);
    }
};
struct tanh : Scalar {
    using Vector = vector_math::tanh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::tanh(in_double(a)));
        else
            return std::tanh(a);
    }
};
struct asinh : Scalar {
    using Vector = vector_math::asinh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::asinh(in_double(a)));
        else
            return std::asinh(a);
    }
};
struct acosh : Scalar {
    using Vector = vector_math::acosh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::acosh(in_double(a)));
        else
            return std::acosh(a);
    }
};
struct atanh : Scalar {
    using Vector = vector_math::atanh;
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return rounded<T>(complex_math::atanh(in_double(a)));
        else
            return std::atanh(a);
    }
};

struct atan2 : Scalar {
    template <class T> static T apply(T a, T b) { return std::atan2(a, b); }
};

struct pow : Scalar {
    using Vector = vector_math::pow;
    template <class T> static T apply(T a, T b) {
        if constexpr (is_complex<T>) {
            return rounded<T>(complex_math::pow(in_double(a), in_double(b)));
        } else if constexpr (is_float<T>) {
            return b == 2 ? a * a : std::pow(a, b);
        } else {
            // The host refuses negative exponents; they give 0 here.
            if (b < T(0)) return 0;
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
