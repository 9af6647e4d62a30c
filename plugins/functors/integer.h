// Functors of division with remainder, bits and shifts. See Note [Functors].
#pragma once

#include "functors/arithmetic.h"

namespace Atoll::kernels::functor {

// Integers: by zero 0, and the one quotient that does not fit wraps. Floats: floor_divide and
// remainder belong together, both come from fmod, which is exact (as in NumPy).
struct trunc_divide : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_float<T>) {
            return std::trunc(a / b);
        } else {
            if (b == 0) return 0;
            if constexpr (std::is_signed_v<T>)
                if (b == -1) return negative::apply(a);
            return static_cast<T>(a / b);
        }
    }
};
struct fmod : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_float<T>) {
            return std::fmod(a, b);
        } else {
            if (b == 0) return 0;
            if constexpr (std::is_signed_v<T>)
                if (b == -1) return 0;
            return static_cast<T>(a % b);
        }
    }
};
struct remainder : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        T rest = fmod::apply(a, b);
        if constexpr (is_float<T>) {
            if (b == 0) return rest; // NaN
            if (rest == 0) return std::copysign(T(0), b);
        }
        if constexpr (std::is_signed_v<T> || is_float<T>)
            if (rest != 0 && (rest < 0) != (b < 0)) rest = static_cast<T>(rest + b);
        return rest;
    }
};
struct floor_divide : Scalar {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_float<T>) {
            if (b == 0) return a / b;
            const T rest = std::fmod(a, b);
            T quotient = (a - rest) / b;
            if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
            if (quotient == 0) return std::copysign(T(0), a / b);
            // The division may have rounded to either side of the integer that it is.
            const T whole = std::floor(quotient);
            return quotient - whole > T(0.5) ? whole + 1 : whole;
        } else {
            if (b == 0) return 0;
            if constexpr (std::is_signed_v<T>) {
                if (b == -1) return negative::apply(a);
                return static_cast<T>(a / b - int{(a % b != 0) & ((a < 0) != (b < 0))});
            } else {
                return static_cast<T>(a / b);
            }
        }
    }
};

struct bitwise_and : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return multiply::apply(a, b);
        else
            return static_cast<T>(a & b);
    }
};
struct bitwise_or : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return add::apply(a, b);
        else
            return static_cast<T>(a | b);
    }
};
struct bitwise_xor : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return T(truth(a) != truth(b));
        else
            return static_cast<T>(a ^ b);
    }
};
struct bitwise_not : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a) {
        if constexpr (is_bool<T>)
            return T(!truth(a));
        else
            return static_cast<T>(~a);
    }
};

template <class T> inline constexpr unsigned width = 8 * sizeof(T);

// A negative count is as one past the width.
struct left_shift : Wraps {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        const auto inside = static_cast<T>(b < width<T> ? b : T(0));
        return static_cast<T>(b < width<T> ? Arithmetic<T>(a) << inside : Arithmetic<T>(0));
    }
};
struct right_shift : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        const auto count = static_cast<std::make_unsigned_t<T>>(b);
        const bool fits = count < width<T>;
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (fits ? count : width<T> - 1));
        else
            return static_cast<T>(fits ? a >> (fits ? count : 0) : 0);
    }
};

} // namespace Atoll::kernels::functor
