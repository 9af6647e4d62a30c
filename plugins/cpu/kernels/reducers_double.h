// What reducers that compute in double, whatever the elements are, have in common.
#pragma once

#include "reducer_loops.h"

namespace Atoll::kernels {

using Doubles = Lanes<double>::Vector;
using Sums = Doubles[vectors];

// The sums of the even and of the odd lanes.
inline Complex<double> even_and_odd(Sums &sums) {
    join_groups(sums, [](Doubles a, Doubles b) { return a + b; });
    double t[8];
    std::memcpy(t, sums, sizeof t);
    return {(t[0] + t[2]) + (t[4] + t[6]), (t[1] + t[3]) + (t[5] + t[7])};
}
inline double total(Sums &sums) {
    const Complex<double> parts = even_and_odd(sums);
    return parts.re + parts.im;
}

// each_vector of parts as doubles: groups are of eight parts.
template <class P, class Each> std::int64_t in_doubles(std::int64_t n, const P *x, Each &&each) {
    constexpr std::int64_t step = Lanes<double>::in_vector, width = Lanes<double>::count;
    typedef P Few __attribute__((vector_size(step * sizeof(P))));
    std::int64_t k = 0;
    for (; k + chains * width <= n; k += chains * width) {
        ATOLL_UNROLL
        for (int c = 0; c < vectors; ++c)
            each(__builtin_convertvector(load_lanes<Few>(x + k + c * step), Doubles), c);
    }
    return k;
}

template <class T> Complex<double> widen(T x) {
    if constexpr (is_complex<T>)
        return {x.re, x.im};
    else
        return {x, 0};
}

} // namespace Atoll::kernels
