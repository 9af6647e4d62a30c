// Functors of division with remainder, bits and shifts. See Note [Functors].
#pragma once

#include "functors/arithmetic.h"

namespace Atoll::kernels::functor {

// Integers: by zero 0, and the one quotient that does not fit wraps. Floats: remainder and fmod are
// exact, floor_divide is the whole number below the exact quotient, rounded once.
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
            const T x = std::fabs(a), y = std::fabs(b), quotient = std::trunc(x / y);
            if (x - x != 0) return x - x; // of infinity there is no remainder: NaN, as in NumPy
            const bool below = std::signbit(a) != std::signbit(b);
            if (quotient > std::numeric_limits<T>::max()) return below ? -quotient : quotient;
            // Exact; where x / y was rounded up to a whole number, less by y. See Note [Quotients].
            const T rest = y > std::numeric_limits<T>::max() ? x : std::fma(-quotient, y, x);
            // From here on not every whole number is a float.
            if (quotient >= 2 / std::numeric_limits<T>::epsilon())
                return below ? -(quotient + std::ceil(rest / y)) : quotient + std::floor(rest / y);
            if (below) return -(rest > 0 ? quotient + 1 : quotient);
            return rest < 0 ? quotient - 1 : quotient;
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
