// Functors that compare, choose or test: their results are bool or one of their arguments. See
// Note [Functors].
#pragma once

#include "functors/arithmetic.h"

namespace Atoll::kernels::functor {

struct equal : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) == truth(b));
        else if constexpr (is_complex<T>)
            return Bool(unsigned{a.re == b.re} & unsigned{a.im == b.im});
        else
            return Bool(a == b);
    }
};
struct not_equal : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) != truth(b));
        else if constexpr (is_complex<T>)
            return Bool(unsigned{a.re != b.re} | unsigned{a.im != b.im});
        else
            return Bool(a != b);
    }
};
struct less : Same {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        if constexpr (is_bool<T>)
            return Bool(truth(a) < truth(b));
        else
            return Bool(a < b);
    }
};
struct less_equal : Same {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
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

// NaN wins in minimum and maximum and loses in fmin and fmax; of equals the first is taken, so that
// the signs of zeros follow the order of the arguments.
struct minimum : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return multiply::apply(a, b);
        else
            return ((a <= b) | (a != a)) ? a : b;
    }
};
struct maximum : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return add::apply(a, b);
        else
            return ((a >= b) | (a != a)) ? a : b;
    }
};
struct fmin : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return multiply::apply(a, b);
        else
            return ((a <= b) | (b != b)) ? a : b;
    }
};
struct fmax : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return add::apply(a, b);
        else
            return ((a >= b) | (b != b)) ? a : b;
    }
};
struct clip : Same {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T low, T high) {
        return minimum::apply(maximum::apply(a, low), high);
    }
};

struct logical_and : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        return Bool(unsigned{truth(a)} & unsigned{truth(b)});
    }
};
struct logical_or : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        return Bool(unsigned{truth(a)} | unsigned{truth(b)});
    }
};
struct logical_xor : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a, T b) {
        return Bool(truth(a) != truth(b));
    }
};
struct logical_not : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) { return Bool(!truth(a)); }
};

template <class T> ATOLL_BOTH_SIDES constexpr T largest() {
    return sizeof(T) == 4 ? static_cast<T>(__FLT_MAX__) : static_cast<T>(__DBL_MAX__);
}

// Integers are all alike here: one loop per width.
struct isnan : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) {
        if constexpr (is_complex<T>)
            return Bool(unsigned{a.re != a.re} | unsigned{a.im != a.im});
        else
            return Bool(a != a);
    }
};
struct isinf : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) {
        if constexpr (is_complex<T>)
            return Bool(unsigned{std::fabs(a.re) > largest<Part<T>>()} |
                        unsigned{std::fabs(a.im) > largest<Part<T>>()});
        else if constexpr (is_float<T>)
            return Bool(std::fabs(a) > largest<T>());
        else
            return Bool(false);
    }
};
struct isfinite : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) {
        if constexpr (is_complex<T>)
            return Bool(unsigned{std::fabs(a.re) <= largest<Part<T>>()} &
                        unsigned{std::fabs(a.im) <= largest<Part<T>>()});
        else if constexpr (is_float<T>)
            return Bool(std::fabs(a) <= largest<T>());
        else
            return Bool(true);
    }
};
struct isposinf : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) {
        if constexpr (is_float<T>)
            return Bool(a > largest<T>());
        else
            return Bool(false);
    }
};
struct isneginf : Wraps {
    template <class T> ATOLL_BOTH_SIDES static Bool apply(T a) {
        if constexpr (is_float<T>)
            return Bool(a < -largest<T>());
        else
            return Bool(false);
    }
};

} // namespace Atoll::kernels::functor
