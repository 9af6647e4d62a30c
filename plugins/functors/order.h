// The order that sort, argsort and searchsorted share: NaN is last, also of descending ones; -0
// equals +0; complex numbers by real, then imaginary part, and NaN if a part is.
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

// Whether a stands before b in ascending order.
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

} // namespace Atoll::kernels
