// What reducers that compute in double, whatever the elements are, have in common.
#pragma once

#include "reducer_loops.h"

namespace Atoll::kernels {

using Doubles = Lanes<double>::Vector;
using Sums = Doubles[vectors];

// Adds up the vectors of four groups into the first.
inline void join_sums(Sums &sums) {
    join_groups(sums, [](Doubles a, Doubles b) { return a + b; });
}
// The sums of the even and of the odd lanes of a group.
inline Complex<double> even_and_odd(const Doubles *group) {
    double t[8];
    std::memcpy(t, group, sizeof t);
    return {(t[0] + t[2]) + (t[4] + t[6]), (t[1] + t[3]) + (t[5] + t[7])};
}

// each_vector of parts as doubles: groups are of eight parts.
template <class P, class Each> std::int64_t in_doubles(std::int64_t n, const P *x, Each &&each) {
    constexpr std::int64_t step = Lanes<double>::in_vector;
    typedef P Few __attribute__((vector_size(step * sizeof(P))));
    return four_groups_at_once<step>(n, [&](std::int64_t k, int c) {
        each(__builtin_convertvector(load_lanes<Few>(x + k), Doubles), c);
    });
}

// Adds map(v) for the vectors of whole groups to a; returns how many parts those have.
template <class P, class Map>
std::int64_t add_in_doubles(std::int64_t n, const P *x, double &a, Map &&map) {
    Group<Doubles> sum;
    const std::int64_t used = in_leaves<Doubles>(
        n,
        [&](std::int64_t first, std::int64_t count, Group<Doubles> &group) {
            Sums sums = {};
            const std::int64_t taken =
                in_doubles(count, x + first, [&](Doubles v, int c) { sums[c] += map(v); });
            join_sums(sums);
            std::copy_n(sums, group_vectors, group.v);
            return taken;
        },
        [](Group<Doubles> &group, const Group<Doubles> &other) {
            for (int c = 0; c < group_vectors; ++c) group.v[c] += other.v[c];
        },
        sum);
    const Complex<double> parts = even_and_odd(sum.v);
    a += parts.re + parts.im;
    return used;
}

template <class T> Complex<double> widen(T x) {
    if constexpr (is_complex<T>)
        return {x.re, x.im};
    else
        return {x, 0};
}

} // namespace Atoll::kernels
