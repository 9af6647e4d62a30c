// Functors of arithmetic: one per element-wise function, named as in the list of functions.
//
// Note [Functors]
// `Type<T>` is the type that dtype T is computed in (one instantiation for both signs where the
// bits are the same). `scalar` says that a loop over the functor does not vectorise, so that one
// plain loop is enough. Everything is defined for every value: no signed overflow, no division by
// an integer zero, no shift past the width.
#pragma once

#include "functors/complex_math.h"
#include "functors/element.h"

#include <cmath>

namespace Atoll::kernels {

// Integers wrap: small ones are promoted to unsigned, not to int.
template <class T> using Arithmetic =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, unsigned, Wrapping<T>>;

template <class T> ATOLL_BOTH_SIDES constexpr bool truth(T x) {
    if constexpr (is_complex<T>)
        return x.re != 0 || x.im != 0;
    else
        return x != T(0);
}

namespace functor {

struct Wraps {
    template <class T> using Type = Wrapping<T>;
};
struct Same {
    template <class T> using Type = T;
};
struct Scalar : Same {
    static constexpr bool scalar = true;
};

struct add : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return T(unsigned{truth(a)} | unsigned{truth(b)});
        else if constexpr (is_complex<T>)
            return {a.re + b.re, a.im + b.im};
        else
            return static_cast<T>(Arithmetic<T>(a) + Arithmetic<T>(b));
    }
};

struct subtract : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_complex<T>)
            return {a.re - b.re, a.im - b.im};
        else
            return static_cast<T>(Arithmetic<T>(a) - Arithmetic<T>(b));
    }
};

struct multiply : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return T(unsigned{truth(a)} & unsigned{truth(b)});
        else if constexpr (is_complex<T>) {
            // A sum of two products in both parts: GCC 12 makes a fused operation, which rounds
            // once less, of a difference beside a sum, even where contraction is off.
            const Part<T> opposite = -b.im;
            return {a.re * b.re + a.im * opposite, a.re * b.im + a.im * b.re};
        } else
            return static_cast<T>(Arithmetic<T>(a) * Arithmetic<T>(b));
    }
};

struct divide : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_complex<T>) {
            constexpr bool narrow = sizeof(Part<T>) < sizeof(double);
            const Complex<double> q = complex_math::quotient<narrow>(Complex<double>{a.re, a.im},
                                                                     Complex<double>{b.re, b.im});
            return {static_cast<Part<T>>(q.re), static_cast<Part<T>>(q.im)};
        } else {
            return a / b;
        }
    }
};

struct negative : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return {-a.re, -a.im};
        else if constexpr (is_float<T>)
            return -a;
        else
            return static_cast<T>(Arithmetic<T>(0) - Arithmetic<T>(a));
    }
};

struct abs : Same {
    template <class T> ATOLL_BOTH_SIDES static Part<T> apply(T a) {
        if constexpr (std::is_same_v<T, Complex<float>>) {
            // In double neither square overflows; one rounding at the end.
            const double re = a.re, im = a.im;
            const bool infinite = std::fabs(a.re) > __FLT_MAX__ || std::fabs(a.im) > __FLT_MAX__;
            const float modulus = static_cast<float>(std::sqrt(re * re + im * im));
            return infinite ? __builtin_inff() : modulus;
        } else if constexpr (is_complex<T>) {
            return std::hypot(a.re, a.im);
        } else if constexpr (is_float<T>) {
            return std::fabs(a);
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<T>(a < 0 ? Arithmetic<T>(0) - Arithmetic<T>(a) : Arithmetic<T>(a));
        } else {
            return a;
        }
    }
};

struct hypot : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        return abs::apply(Complex<T>{a, b});
    }
};

struct copysign : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) { return std::copysign(a, b); }
};

struct square : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_bool<T>)
            return a;
        else
            return multiply::apply(a, a);
    }
};

struct conj : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return {a.re, -a.im};
        else
            return a;
    }
};

struct reciprocal : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return divide::apply(one<T>(), a);
        else
            return T(1) / a;
    }
};

struct sign : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>) {
            const Complex<double> s = complex_math::sign(Complex<double>{a.re, a.im});
            return {static_cast<Part<T>>(s.re), static_cast<Part<T>>(s.im)};
        } else if constexpr (is_float<T>) {
            return a != a ? a : static_cast<T>(a > 0) - static_cast<T>(a < 0);
        } else {
            int negative = 0;
            if constexpr (std::is_signed_v<T>) negative = a < 0;
            return static_cast<T>(static_cast<int>(a > T(0)) - negative);
        }
    }
};

// To integers: nothing to do for bool and integers.
struct ceil : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_float<T>)
            return std::ceil(a);
        else
            return a;
    }
};
struct floor : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_float<T>)
            return std::floor(a);
        else
            return a;
    }
};
struct trunc : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_float<T>)
            return std::trunc(a);
        else
            return a;
    }
};
struct round : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_complex<T>)
            return {std::nearbyint(a.re), std::nearbyint(a.im)};
        else if constexpr (is_float<T>)
            return std::nearbyint(a);
        else
            return a;
    }
};

} // namespace functor
} // namespace Atoll::kernels
