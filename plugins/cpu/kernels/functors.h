// One functor per element-wise function, named as in the list of functions. `Type<T>` is the type
// that dtype T is computed in (one instantiation for both signs where the bits are the same).
#pragma once

#include "types.h"

#include <cmath>
#include <complex>

namespace Atoll::kernels {

// Integers wrap: small ones are promoted to unsigned, not to int.
template <class T> using Arithmetic =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, unsigned, Wrapping<T>>;

template <class T> constexpr bool truth(T x) {
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

struct add : Wraps {
    template <class T> static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return T(unsigned{truth(a)} | unsigned{truth(b)});
        else if constexpr (is_complex<T>)
            return {a.re + b.re, a.im + b.im};
        else
            return static_cast<T>(Arithmetic<T>(a) + Arithmetic<T>(b));
    }
};

struct subtract : Wraps {
    template <class T> static T apply(T a, T b) {
        if constexpr (is_complex<T>)
            return {a.re - b.re, a.im - b.im};
        else
            return static_cast<T>(Arithmetic<T>(a) - Arithmetic<T>(b));
    }
};

struct multiply : Wraps {
    template <class T> static T apply(T a, T b) {
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
    template <class T> static T apply(T a, T b) {
        if constexpr (is_complex<T>) {
            // Smith's method: no product of parts overflows before the quotient does.
            using P = Part<T>;
            if (std::fabs(b.re) >= std::fabs(b.im)) {
                if (b.re == 0 && b.im == 0) return {a.re / std::fabs(b.re), a.im / std::fabs(b.re)};
                const P ratio = b.im / b.re, scale = b.re + b.im * ratio;
                return {(a.re + a.im * ratio) / scale, (a.im + a.re * -ratio) / scale};
            }
            const P ratio = b.re / b.im, scale = b.re * ratio + b.im;
            return {(a.re * ratio + a.im) / scale, (a.im * ratio + -a.re) / scale};
        } else {
            return a / b;
        }
    }
};

struct equal : Wraps {
    template <class T> static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) == truth(b));
        else if constexpr (is_complex<T>)
            return Bool(unsigned{a.re == b.re} & unsigned{a.im == b.im});
        else
            return Bool(a == b);
    }
};
struct not_equal : Wraps {
    template <class T> static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) != truth(b));
        else if constexpr (is_complex<T>)
            return Bool(unsigned{a.re != b.re} | unsigned{a.im != b.im});
        else
            return Bool(a != b);
    }
};
struct less : Same {
    template <class T> static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) < truth(b));
        else
            return Bool(a < b);
    }
};
struct less_equal : Same {
    template <class T> static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) <= truth(b));
        else
            return Bool(a <= b);
    }
};
// The same loops with a and b exchanged.
struct greater {
    using Exchanged = less;
};
struct greater_equal {
    using Exchanged = less_equal;
};

struct negative : Wraps {
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return {-a.re, -a.im};
        else if constexpr (is_float<T>)
            return -a;
        else
            return static_cast<T>(Arithmetic<T>(0) - Arithmetic<T>(a));
    }
};

struct abs : Same {
    template <class T> static Part<T> apply(T a) {
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

struct sqrt : Same {
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>) {
            const auto z = std::sqrt(std::complex<Part<T>>(a.re, a.im)); // the C library's csqrt
            return {z.real(), z.imag()};
        } else {
            return std::sqrt(a);
        }
    }
};

struct square : Wraps {
    template <class T> static T apply(T a) {
        if constexpr (is_bool<T>)
            return a;
        else
            return multiply::apply(a, a);
    }
};

struct conj : Wraps {
    template <class T> static T apply(T a) {
        if constexpr (is_complex<T>)
            return {a.re, -a.im};
        else
            return a;
    }
};

} // namespace functor
} // namespace Atoll::kernels
