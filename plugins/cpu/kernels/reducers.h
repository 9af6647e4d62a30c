// The typed parts of reductions: one functor per function and the loops made from it.
//
// A functor has, for a compute type T: Accumulator<T>, identity, combine of two accumulators, lift
// of an element to an accumulator, and finish. `scale` is 1 except where norm2 repeats itself.
#pragma once

#include "functors.h"

#include <array>
#include <limits>

namespace Atoll::kernels {

// A reduction with its types erased; all arrays are dense and aligned. Null functions: not there.
struct Reducer {
    std::uint8_t size = 0;     // bytes of an accumulator
    std::uint8_t out_size = 0; // bytes of a result
    bool pairwise = false;     // rounds: long runs are halved, not added up
    void (*identity)(std::int64_t n, char *accumulators);
    // One accumulator takes in n elements.
    void (*block)(std::int64_t n, const char *in, double scale, char *accumulator);
    // Accumulator i takes in element i.
    void (*rows)(std::int64_t n, const char *in, double scale, char *accumulators);
    // Accumulator i takes in accumulator i of `from`.
    void (*merge)(std::int64_t n, const char *from, char *accumulators);
    void (*finish)(std::int64_t n, const char *accumulators, double scale, char *out);
    bool (*done)(const char *accumulator) = nullptr; // no further element can change it
    // The scale to repeat with because squares left the range, or 1.
    double (*rescale)(const char *accumulator) = nullptr;
};

namespace reducer {

// 64 bytes of lanes: what the compiler makes of it depends on the level, the result does not.
template <class T> struct Lanes {
    typedef T Vector __attribute__((vector_size(64)));
    static constexpr int count = 64 / sizeof(T);
};
inline constexpr int chains = 4; // independent accumulators, to hide the latency of one operation

struct sum {
    static constexpr bool vectors = true;
    template <class T> using Accumulator = Wrapping<T>;
    template <class A> static A identity() { return A{}; }
    template <class A> static A combine(A a, A b) { return functor::add::apply(a, b); }
    template <class V> static void combine_lanes(V &a, const V &b) { a = a + b; }
    template <class T> static Accumulator<T> lift(T x, double) {
        return static_cast<Accumulator<T>>(x);
    }
};
struct prod {
    static constexpr bool vectors = true;
    template <class T> using Accumulator = Wrapping<T>;
    template <class A> static A identity() {
        if constexpr (is_complex<A>)
            return {1, 0};
        else
            return A(1);
    }
    template <class A> static A combine(A a, A b) { return functor::multiply::apply(a, b); }
    template <class V> static void combine_lanes(V &a, const V &b) { a = a * b; }
    template <class T> static Accumulator<T> lift(T x, double) {
        return static_cast<Accumulator<T>>(x);
    }
};
// bool orders as its bytes 0 and 1.
template <class T> using OrderedAccumulator = std::conditional_t<is_bool<T>, std::uint8_t, T>;
struct min {
    static constexpr bool vectors = true;
    template <class T> using Accumulator = OrderedAccumulator<T>;
    template <class A> static A identity() {
        return is_float<A> ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
    }
    template <class A> static A combine(A a, A b) { return a < b || a != a ? a : b; }
    template <class V> static void combine_lanes(V &a, const V &b) {
        a = ((a < b) | (a != a)) ? a : b;
    }
    template <class T> static Accumulator<T> lift(T x, double) {
        if constexpr (is_bool<T>)
            return truth(x);
        else
            return x;
    }
};
struct max {
    static constexpr bool vectors = true;
    template <class T> using Accumulator = OrderedAccumulator<T>;
    template <class A> static A identity() {
        return is_float<A> ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::lowest();
    }
    template <class A> static A combine(A a, A b) { return a > b || a != a ? a : b; }
    template <class V> static void combine_lanes(V &a, const V &b) {
        a = ((a > b) | (a != a)) ? a : b;
    }
    template <class T> static Accumulator<T> lift(T x, double) { return min::lift(x, 1); }
};
// Sums squares in double; a float's square cannot leave double's range.
struct norm2 {
    static constexpr bool vectors = false;
    template <class T> using Accumulator = double;
    template <class A> static A identity() { return 0; }
    template <class A> static A combine(A a, A b) { return a + b; }
    template <class T> static double lift(T x, double scale) {
        if constexpr (is_complex<T>)
            return lift(x.re, scale) + lift(x.im, scale);
        else
            return (scale * static_cast<double>(x)) * (scale * static_cast<double>(x));
    }
};
struct any {
    static constexpr bool vectors = false;
    template <class T> using Accumulator = std::uint8_t; // a non-zero element was seen
    template <class A> static A identity() { return 0; }
    template <class A> static A combine(A a, A b) { return a | b; }
    template <class T> static std::uint8_t lift(T x, double) { return truth(x); }
};
struct all {
    static constexpr bool vectors = false;
    template <class T> using Accumulator = std::uint8_t; // a zero was seen
    template <class A> static A identity() { return 0; }
    template <class A> static A combine(A a, A b) { return a | b; }
    template <class T> static std::uint8_t lift(T x, double) { return !truth(x); }
};

template <class F, class T> struct Make {
    using A = typename F::template Accumulator<T>;
    static constexpr bool is_norm = std::is_same_v<F, norm2>;
    static constexpr bool is_truth = std::is_same_v<F, any> || std::is_same_v<F, all>;
    using R =
        std::conditional_t<is_norm, Part<T>, std::conditional_t<is_truth || is_bool<T>, Bool, A>>;

    static A *acc(char *p) { return reinterpret_cast<A *>(p); }

    static void identity(std::int64_t n, char *accumulators) {
        for (std::int64_t k = 0; k < n; ++k) acc(accumulators)[k] = F::template identity<A>();
    }
    static void rows(std::int64_t n, const char *in, double scale, char *accumulators) {
        const T *x = reinterpret_cast<const T *>(in);
        A *a = acc(accumulators);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) a[k] = F::combine(a[k], F::lift(x[k], scale));
    }
    static void merge(std::int64_t n, const char *from, char *accumulators) {
        const A *x = reinterpret_cast<const A *>(from);
        A *a = acc(accumulators);
        for (std::int64_t k = 0; k < n; ++k) a[k] = F::combine(a[k], x[k]);
    }
    static void block(std::int64_t n, const char *in, double scale, char *accumulator) {
        A a = *acc(accumulator);
        if constexpr (is_norm) {
            using P = Part<T>;
            a = squares<P>(n * static_cast<std::int64_t>(sizeof(T) / sizeof(P)),
                           reinterpret_cast<const P *>(in), scale, a);
        } else if constexpr (F::vectors && is_complex<T> && std::is_same_v<F, sum>) {
            using P = Part<T>;
            P lanes[Lanes<P>::count];
            const std::int64_t used = fold<P>(2 * n, reinterpret_cast<const P *>(in), P(0), lanes);
            for (int k = 0; k < Lanes<P>::count; k += 2)
                a = F::combine(a, T{lanes[k], lanes[k + 1]});
            tail(used / 2, n, in, scale, a);
        } else if constexpr (F::vectors && !is_complex<T> && !is_bool<T>) {
            A lanes[Lanes<A>::count];
            const std::int64_t used =
                fold<A>(n, reinterpret_cast<const A *>(in), F::template identity<A>(), lanes);
            if (used)
                for (int width = Lanes<A>::count / 2; width; width /= 2)
                    for (int k = 0; k < width; ++k)
                        lanes[k] = F::combine(lanes[k], lanes[k + width]);
            if (used) a = F::combine(a, lanes[0]);
            tail(used, n, in, scale, a);
        } else {
            tail(0, n, in, scale, a);
        }
        *acc(accumulator) = a;
    }
    static void finish(std::int64_t n, const char *accumulators, double scale, char *out) {
        const A *a = reinterpret_cast<const A *>(accumulators);
        R *o = reinterpret_cast<R *>(out);
        for (std::int64_t k = 0; k < n; ++k) {
            if constexpr (is_norm)
                o[k] = static_cast<R>(std::sqrt(a[k]) / scale);
            else if constexpr (std::is_same_v<F, all>)
                o[k] = Bool(a[k] == 0);
            else if constexpr (is_truth || is_bool<T>)
                o[k] = Bool(a[k] != 0);
            else
                o[k] = a[k];
        }
    }
    static bool done(const char *accumulator) { return *accumulator != 0; }
    // Squares of doubles leave the range from 2^±512 on; a power of two brings them back exactly.
    static double rescale(const char *accumulator) {
        const double squares = load<double>(accumulator);
        if (squares > std::numeric_limits<double>::max()) return 0x1p-600;
        return squares < 0x1p-900 ? 0x1p600 : 1.0;
    }

    static constexpr Reducer reducer() {
        Reducer r{};
        r.size = sizeof(A);
        r.out_size = sizeof(R);
        r.pairwise = is_float<Part<A>>;
        r.identity = &identity;
        r.block = &block;
        r.rows = &rows;
        r.merge = &merge;
        r.finish = &finish;
        if constexpr (is_truth) r.done = &done;
        if constexpr (is_norm && sizeof(Part<T>) == 8) r.rescale = &rescale;
        return r;
    }

private:
    static void tail(std::int64_t begin, std::int64_t n, const char *in, double scale, A &a) {
        const T *x = reinterpret_cast<const T *>(in);
        for (std::int64_t k = begin; k < n; ++k) a = F::combine(a, F::lift(x[k], scale));
    }
    // Folds whole groups of lanes of x; returns how many elements that were.
    template <class E> static std::int64_t fold(std::int64_t n, const E *x, E identity, E *lanes) {
        using V = typename Lanes<E>::Vector;
        constexpr std::int64_t width = Lanes<E>::count;
        V a[chains];
        for (V &v : a)
            for (int k = 0; k < width; ++k) v[k] = identity;
        std::int64_t k = 0;
        for (; k + chains * width <= n; k += chains * width)
            for (int c = 0; c < chains; ++c) {
                V v;
                std::memcpy(&v, x + k + c * width, sizeof v);
                F::combine_lanes(a[c], v);
            }
        for (; k + width <= n; k += width) {
            V v;
            std::memcpy(&v, x + k, sizeof v);
            F::combine_lanes(a[0], v);
        }
        F::combine_lanes(a[0], a[1]);
        F::combine_lanes(a[2], a[3]);
        F::combine_lanes(a[0], a[2]);
        std::memcpy(lanes, &a[0], sizeof(V));
        return k;
    }
    template <class P> static double squares(std::int64_t n, const P *x, double scale, double a) {
        using V = Lanes<double>::Vector;
        typedef P Part8 __attribute__((vector_size(8 * sizeof(P))));
        V sums[chains] = {};
        std::int64_t k = 0;
        for (; k + 8 * chains <= n; k += 8 * chains)
            for (int c = 0; c < chains; ++c) {
                Part8 parts;
                std::memcpy(&parts, x + k + 8 * c, sizeof parts);
                const V v = __builtin_convertvector(parts, V) * scale;
                sums[c] += v * v;
            }
        for (; k < n; ++k) a += lift_part(x[k], scale);
        const V total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        return a + (((total[0] + total[1]) + (total[2] + total[3])) +
                    ((total[4] + total[5]) + (total[6] + total[7])));
    }
    template <class P> static double lift_part(P x, double scale) { return norm2::lift(x, scale); }
};

} // namespace reducer
} // namespace Atoll::kernels
