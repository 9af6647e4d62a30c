// Functors that compare, choose or test: their results are bool or one of their arguments. See
// Note [Functors].
#pragma once

#include "functors/arithmetic.h"

namespace Atoll::kernels::functor {

// A functor with bool results asks `test` of real elements; of vectors, a mask answers. Complex
// elements pass if one part does, or where it says `both_parts`, if both do. Where it says
// `of_truths`, the test is about whether elements are non-zero, and is given that.
template <class F, class Types> struct Test : Types {
    static constexpr bool both_parts = false, of_truths = false;

    template <class T, class... Ts> ATOLL_BOTH_SIDES static Bool apply(T a, Ts... others) {
        if constexpr (is_bool<T> || F::of_truths)
            return Bool(F::test(truth(a), truth(others)...));
        else if constexpr (is_complex<T> && F::both_parts)
            return Bool(F::test(a.re, others.re...) & F::test(a.im, others.im...));
        else if constexpr (is_complex<T>)
            return Bool(F::test(a.re, others.re...) | F::test(a.im, others.im...));
        else
            return Bool(F::test(a, others...));
    }
};

struct equal : Test<equal, Wraps> {
    static constexpr bool both_parts = true;
    template <class X> ATOLL_BOTH_SIDES static auto test(X a, X b) { return a == b; }
};
struct not_equal : Test<not_equal, Wraps> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a, X b) { return a != b; }
};
struct less : Test<less, Same> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a, X b) { return a < b; }
};
struct less_equal : Test<less_equal, Same> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a, X b) { return a <= b; }
};
// The same loops with a and b exchanged.
struct greater {
    using Exchanged = less;
};
struct greater_equal {
    using Exchanged = less_equal;
};

// One of two arguments, chosen in a way that no processor foresees among random elements: branches
// are to be avoided.
struct Selection : Same {
    static constexpr bool selects = true;
};

// NaN wins in minimum and maximum and loses in fmin and fmax; of equals the first is taken, so that
// the signs of zeros follow the order of the arguments.
struct minimum : Selection {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return multiply::apply(a, b);
        else
            return ((a <= b) | (a != a)) ? a : b;
    }
};
struct maximum : Selection {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return add::apply(a, b);
        else
            return ((a >= b) | (a != a)) ? a : b;
    }
};
struct fmin : Selection {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return multiply::apply(a, b);
        else
            return ((a <= b) | (b != b)) ? a : b;
    }
};
struct fmax : Selection {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T b) {
        if constexpr (is_bool<T>)
            return add::apply(a, b);
        else
            return ((a >= b) | (b != b)) ? a : b;
    }
};
struct clip : Selection {
    template <class T> ATOLL_BOTH_SIDES static T apply(T a, T low, T high) {
        return minimum::apply(maximum::apply(a, low), high);
    }
    // The same in fewer steps, where neither limit is NaN.
    template <class T> ATOLL_BOTH_SIDES static T between(T a, T low, T high) {
        const T x = low > a ? low : a;
        return high < x ? high : x;
    }
};

template <class F> struct TestOfTruths : Test<F, Wraps> { static constexpr bool of_truths = true; };
struct logical_and : TestOfTruths<logical_and> {
    template <class X> ATOLL_BOTH_SIDES static X test(X a, X b) { return a & b; }
};
struct logical_or : TestOfTruths<logical_or> {
    template <class X> ATOLL_BOTH_SIDES static X test(X a, X b) { return a | b; }
};
struct logical_xor : TestOfTruths<logical_xor> {
    template <class X> ATOLL_BOTH_SIDES static X test(X a, X b) { return a ^ b; }
};
struct logical_not : TestOfTruths<logical_not> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return a == 0; }
};

// Integers are all alike here: one loop per width. x - x is NaN where x is infinite or NaN, and
// else 0.
struct isnan : Test<isnan, Wraps> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return a != a; }
};
struct isinf : Test<isinf, Wraps> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return (a - a != 0) & (a == a); }
};
struct isfinite : Test<isfinite, Wraps> {
    static constexpr bool both_parts = true;
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return a - a == 0; }
};
struct isposinf : Test<isposinf, Wraps> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return (a - a != 0) & (a > X{}); }
};
struct isneginf : Test<isneginf, Wraps> {
    template <class X> ATOLL_BOTH_SIDES static auto test(X a) { return (a - a != 0) & (a < X{}); }
};

} // namespace Atoll::kernels::functor
