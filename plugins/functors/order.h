// The order of values: that of sort, and that of comparisons which no dtype can hold.
#pragma once

#include "functors/arithmetic.h"

namespace Atoll::kernels {

// Written without branches: the order of elements cannot be predicted.
template <class T> ATOLL_BOTH_SIDES bool is_unordered(T x) {
    if constexpr (is_complex<T>)
        return unsigned{x.re != x.re} | unsigned{x.im != x.im};
    else if constexpr (is_float<T>)
        return x != x;
    else
        return false;
}

// Whether a stands before b in ascending order, as sort, argsort and searchsorted have it: NaN is
// last, also of descending ones; -0 equals +0; complex numbers by real, then imaginary part, and
// NaN if a part is.
template <class T> ATOLL_BOTH_SIDES bool is_before(T a, T b) {
    if constexpr (is_complex<T>) {
        const unsigned less =
            unsigned{a.re < b.re} | (unsigned{a.re == b.re} & unsigned{a.im < b.im});
        return (less | unsigned{is_unordered(b)}) & unsigned{!is_unordered(a)};
    } else if constexpr (is_float<T>) {
        return unsigned{a < b} | (unsigned{b != b} & unsigned{a == a});
    } else if constexpr (is_bool<T>) {
        return truth(a) < truth(b);
    } else {
        return a < b;
    }
}

// The sign of a - b for integers of 64 bits, and 2 where there is no order. A rounded integer that
// differs from a float differs on the same side as the integer itself, for rounding keeps order;
// one that equals it is compared as an integer, which the float then is.
template <class I> ATOLL_BOTH_SIDES int exact_order(I a, double b) {
    constexpr double end = std::is_signed_v<I> ? 0x1p63 : 0x1p64; // no I is this large
    const double rounded = static_cast<double>(a);
    if (rounded < b) return -1;
    if (rounded > b) return 1;
    if (b != b) return 2;
    if (b == end) return -1;
    const I whole = static_cast<I>(b);
    return int{a > whole} - int{a < whole};
}

} // namespace Atoll::kernels
