// What reducers that compute in double, whatever the elements are, have in common.
#pragma once

#include "reducer_loops.h"
#include "vector_types.h"

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

// Parts as doubles; the first n, then zeros.
template <class P> struct AsDoubles {
    static constexpr std::int64_t step = Lanes<double>::in_vector;
    typedef P Few __attribute__((vector_size(step * sizeof(P))));
    static Doubles load(const P *x) { return vector_math::as_doubles(load_lanes<Few>(x)); }
    static Doubles load_first(std::int64_t n, const P *x) {
        return vector_math::as_doubles(kernels::load_first<Few>(n, x));
    }
};
template <class Half>
requires(is_half<Half>) struct AsDoubles<Half> {
    static constexpr std::int64_t step = Lanes<double>::in_vector;
    using Few = vector_halves::FewHalves;
    static Doubles load(const Half *x) {
        return vector_math::as_doubles(Half::widened(load_lanes<Few>(x)));
    }
    static Doubles load_first(std::int64_t n, const Half *x) {
        const Few first = kernels::load_first<Few>(n, x);
        return vector_math::as_doubles(Half::widened(first));
    }
};

// each(v, c) for vectors of parts as doubles, of whole groups and of what follows them, where
// zeros fill the last one.
template <class P, class Each>
ATOLL_INLINE void in_doubles(std::int64_t n, const P *x, Each &&each) {
    using As = AsDoubles<P>;
    const std::int64_t used =
        in_groups<As::step>(n, [&](std::int64_t k, int c) { each(As::load(x + k), c); });
    after_groups<As::step>(used, n, [&](std::int64_t k, std::int64_t rest, int c) {
        each(As::load_first(rest, x + k), c);
    });
}

// The same of few, where c counts the vectors of a group.
template <class P, class Each>
ATOLL_INLINE void in_few_doubles(std::int64_t n, const P *x, Each &&each) {
    using As = AsDoubles<P>;
    in_few_groups<As::step>(
        n, [&](std::int64_t k, int c) { each(As::load(x + k), c); },
        [&](std::int64_t k, std::int64_t rest, int c) { each(As::load_first(rest, x + k), c); });
}

// add(v, sum) for vectors of all parts, the sums of whose lanes are added to a; zeros, which are
// none, must not count.
template <class P, class Add>
void add_in_doubles(std::int64_t n, const P *x, double &a, Add &&add) {
    Group<Doubles> sum;
    in_leaves<Doubles>(
        n,
        [&](std::int64_t first, std::int64_t count, Group<Doubles> &group) [[gnu::always_inline]] {
            Sums sums = {};
            in_doubles(count, x + first, [&](Doubles v, int c) { add(v, sums[c]); });
            join_sums(sums);
            std::copy_n(sums, group_vectors, group.v);
        },
        [](Group<Doubles> &group, const Group<Doubles> &other) {
            for (int c = 0; c < group_vectors; ++c) group.v[c] += other.v[c];
        },
        sum);
    const Complex<double> parts = even_and_odd(sum.v);
    a += parts.re + parts.im;
}

template <class T> Complex<double> widen(T x) {
    if constexpr (is_complex<T>)
        return {x.re, x.im};
    else
        return {x, 0};
}

} // namespace Atoll::kernels
