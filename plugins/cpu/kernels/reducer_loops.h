// What the typed reducers share: vectors of fixed width, and the table row of a functor.
#pragma once

#include "functors/arithmetic.h"
#include "partial_vector.h"
#include "reducers.h"
#include "vector_halves.h"

#include <algorithm>
#include <limits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace Atoll::kernels {

#if defined(__clang__)
#define ATOLL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ATOLL_UNROLL _Pragma("GCC unroll 16")
#endif

// What is called at several places with sums in registers, which a call would keep in memory.
#define ATOLL_INLINE [[gnu::always_inline]] inline

// Note [Lanes]
// Elements are taken in by groups of 64 bytes, four groups in turn, so that latency hides behind
// other groups. A group is one vector or several, as wide as the level has them: the compiler takes
// comparisons in wider ones apart into single elements. Which element meets which depends on the
// groups only, so the result is the same on every level. In a fold the elements at the end that do
// not fill a group are one as well, with identities in the other lanes.
inline constexpr int chains = 4;                        // groups in turn
inline constexpr int group_vectors = 64 / vector_bytes; // vectors of a group
inline constexpr int vectors = chains * group_vectors;  // vectors of all groups

template <class T> struct Lanes {
    typedef T Vector __attribute__((vector_size(vector_bytes)));
    static constexpr std::int64_t count = 64 / sizeof(T); // of a group
    static constexpr std::int64_t in_vector = vector_bytes / sizeof(T);
};

template <class V, class E> V load_lanes(const E *x) {
    V v;
    std::memcpy(&v, x, sizeof v);
    return v;
}

// The first n lanes of v, then those of `others`.
template <class V> V first_lanes(std::int64_t n, V v, V others) {
    using Mask = decltype(v < v);
    using I = std::remove_cvref_t<decltype(Mask{}[0])>;
    constexpr int lanes = sizeof(Mask) / sizeof(I);
    Mask lane;
    for (int k = 0; k < lanes; ++k) lane[k] = static_cast<I>(k);
    return lane < static_cast<I>(std::min<std::int64_t>(n, lanes)) ? v : others;
}

// The first n elements; zeros follow them.
template <class V, class E> V load_first(std::int64_t n, const E *x) {
    constexpr std::int64_t lanes = sizeof(V) / sizeof(E);
    V v;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    const std::size_t bytes = static_cast<std::size_t>(std::min(n, lanes)) * sizeof(E);
    const std::uint64_t there = _bzhi_u64(~std::uint64_t(0), static_cast<unsigned>(bytes));
    if constexpr (sizeof v == 64)
        v = (V)_mm512_maskz_loadu_epi8(there, x);
    else if constexpr (sizeof v == 32)
        v = (V)_mm256_maskz_loadu_epi8(static_cast<__mmask32>(there), x);
    else
        v = (V)_mm_maskz_loadu_epi8(static_cast<__mmask16>(there), x);
    return v;
#else
    n = std::min(n, lanes);
    // What is stored in parts is slow to be loaded as a vector.
    if constexpr (sizeof(E) >= 4 && sizeof v == vector_bytes) {
        return (V)PartialVector<E>(n).load(reinterpret_cast<const char *>(x));
    } else if constexpr (sizeof(E) >= 4) {
        for (std::int64_t k = 0; k < lanes; ++k) v[k] = k < n ? x[k] : E{};
    } else {
        std::memset(&v, 0, sizeof v);
        std::memcpy(&v, x, static_cast<std::size_t>(n) * sizeof(E));
    }
    return v;
#endif
}

// at(k, c): a vector of `step` elements begins at k, the c-th of four groups. Returns how many
// elements fill four groups each. before(k) comes before the four groups from k on.
struct Nothing {
    template <class... Args> void operator()(const Args &...) const {}
};
template <std::int64_t step, class At, class Before = Nothing>
ATOLL_INLINE std::int64_t four_groups_at_once(std::int64_t n, At &&at, Before &&before = {}) {
    constexpr std::int64_t four_groups = vectors * step;
    std::int64_t k = 0;
    for (; k + four_groups <= n; k += four_groups) {
        before(k);
        ATOLL_UNROLL
        for (int c = 0; c < vectors; ++c) at(k + c * step, c);
    }
    return k;
}
// The same, and the groups that follow them.
template <std::int64_t step, class At, class Before = Nothing>
ATOLL_INLINE std::int64_t in_groups(std::int64_t n, At &&at, Before &&before = {}) {
    constexpr std::int64_t group = group_vectors * step;
    std::int64_t k = four_groups_at_once<step>(n, at, before);
    ATOLL_UNROLL
    for (int chain = 0; chain < chains - 1; ++chain) {
        if (k + group > n) break;
        ATOLL_UNROLL
        for (int c = 0; c < group_vectors; ++c) at(k + c * step, chain * group_vectors + c);
        k += group;
    }
    return k;
}
// last(k, n, c): a vector of at most n elements begins at k, after those of in_groups.
template <std::int64_t step, class Last>
ATOLL_INLINE void after_groups(std::int64_t k, std::int64_t n, Last &&last) {
    ATOLL_UNROLL
    for (int c = vectors - group_vectors; c < vectors; ++c) {
        if (k >= n) break;
        last(k, n - k, c);
        k += step;
    }
}

// The same of few elements: of each vector of a group those of all groups follow each other.
template <std::int64_t step, class At, class Last>
ATOLL_INLINE void in_few_groups(std::int64_t n, At &&at, Last &&last) {
    ATOLL_UNROLL
    for (int c = 0; c < group_vectors; ++c) {
        std::int64_t k = c * step;
        for (; k + step <= n; k += group_vectors * step) at(k, c);
        if (k < n) last(k, n - k, c);
    }
}

// each(v, c) for the vectors of whole groups, where c counts the vectors of four groups. Returns
// how many elements that were.
template <class E, class Each>
ATOLL_INLINE std::int64_t each_vector(std::int64_t n, const E *x, Each &&each) {
    using V = typename Lanes<E>::Vector;
    return in_groups<Lanes<E>::in_vector>(
        n, [&](std::int64_t at, int c) { each(load_lanes<V>(x + at), c); });
}

// Folds the vectors of four groups into the first group.
template <class V, class Combine> void join_groups(V (&a)[vectors], Combine &&combine) {
    for (int c = 0; c < group_vectors; ++c) {
        const V left = combine(a[c], a[c + group_vectors]);
        const V right = combine(a[c + 2 * group_vectors], a[c + 3 * group_vectors]);
        a[c] = combine(left, right);
    }
}

// What the vectors of four groups have been folded into.
template <class V> struct Group { V v[group_vectors]; };

// Folds n elements into one group: fold_leaf(from, count, group) folds a leaf; join(group, other)
// adds the other to it. Leaves are joined in pairs, pairs of pairs, and so on. If by_two,
// fold_two(from, groups) folds two whole leaves at once.
template <class V, class Leaf, class Join, class Two = Nothing>
void in_leaves(std::int64_t n, Leaf &&fold_leaf, Join &&join, Group<V> &result, bool by_two = false,
               Two &&fold_two = {}) {
    if (n < 2 * leaf) return fold_leaf(0, n, result);
    Group<V> joined[48];
    int depth = 0;
    std::int64_t used = 0;
    for (std::int64_t leaves = 0;;) {
        if (by_two && n - used >= 4 * leaf) {
            fold_two(used, joined + depth);
            used += 2 * leaf;
            leaves += 2;
            depth += 2;
        } else {
            const std::int64_t count = n - used < 2 * leaf ? n - used : leaf;
            fold_leaf(used, count, joined[depth++]);
            used += count;
            ++leaves;
        }
        if (used == n) break;
        for (std::int64_t half = leaves; half % 2 == 0; half /= 2, --depth)
            join(joined[depth - 2], joined[depth - 1]);
    }
    for (; depth > 1; --depth) join(joined[depth - 2], joined[depth - 1]);
    result = joined[0];
}

// Whether one of some vectors of floats had a NaN.
template <class V> class NanWatch {
    using E = std::remove_cvref_t<decltype(V{}[0])>;

public:
    void take(V v) {
#if defined(__AVX512F__)
        if constexpr (sizeof(E) == 4)
            seen_ |= _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        else
            seen_ |= _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q);
#else
        seen_ |= v != v;
#endif
    }
    bool any() const {
#if defined(__AVX512F__)
        return seen_ != 0;
#else
        return any_lane(seen_);
#endif
    }

private:
#if defined(__AVX512F__)
    std::uint32_t seen_ = 0;
#else
    decltype(V{} != V{}) seen_{};
#endif
};

// The elements of a block, or the parts of complex ones.
template <class E> const E *elements_of(const char *in) { return reinterpret_cast<const E *>(in); }

// |v| by clearing signs (-0 becomes +0), or by negation of what is negative.
template <class V> V abs_lanes(V v) {
    using Mask = decltype(v < v);
    using E = std::remove_cvref_t<decltype(v[0])>;
    if constexpr (is_float<E>) {
        using I = std::remove_cvref_t<decltype(Mask{}[0])>;
        return (V)((Mask)v & std::numeric_limits<I>::max());
    } else if constexpr (std::is_signed_v<E>) {
        typedef std::make_unsigned_t<E> U __attribute__((vector_size(sizeof(V))));
        const U sign = (U)(v < 0);
        return (V)(((U)v ^ sign) - sign);
    } else {
        return v;
    }
}

// |x| for sums and comparisons of moduli.
template <class T> auto modulus(T x) {
    if constexpr (std::is_same_v<T, Complex<double>>) {
        // Neither square overflows or loses digits here; elsewhere hypot, which is slow.
        const double square = x.re * x.re + x.im * x.im;
        if (square > 0x1p-900 && square < 0x1p1000) return std::sqrt(square);
        return static_cast<double>(std::hypot(x.re, x.im));
    } else if constexpr (is_bool<T>) {
        return static_cast<std::uint8_t>(truth(x));
    } else {
        return functor::abs::apply(x);
    }
}

template <class T> bool is_nan(T x) {
    if constexpr (is_complex<T>)
        return x.re != x.re || x.im != x.im;
    else if constexpr (is_float<T>)
        return x != x;
    else
        return false;
}

// The dtype of a result that is not simply what the rule says.
template <class R> inline constexpr std::uint8_t own_result_dtype = 0;
template <> inline constexpr std::uint8_t own_result_dtype<double> = ATOLL_DTYPE_FLOAT64;
template <> inline constexpr std::uint8_t own_result_dtype<Complex<double>> =
    ATOLL_DTYPE_COMPLEX128;
template <> inline constexpr std::uint8_t own_result_dtype<std::int64_t> = ATOLL_DTYPE_INT64;

template <class T> inline constexpr bool is_half =
    std::is_same_v<T, vector_halves::Float16> || std::is_same_v<T, vector_halves::Bfloat16>;

template <class Made> inline constinit const Reducer reducer_of = Made::reducer();

// In the row of a half: those of Made, a reducer of float32, for halves as they are stored.
template <class Made, std::size_t dtype, class Half>
inline constinit const StoredRow halves_of = [] {
    StoredRow row{};
    row[dtype] = &reducer_of<typename Made::template Of<Half>>;
    return row;
}();
template <class Made, std::size_t dtype, class Half> constexpr const StoredRow *stored_halves() {
    if constexpr (Half::has_vectors && requires { typename Made::template Of<Half>; })
        if constexpr (Made::reads_halves) return &halves_of<Made, dtype, Half>;
    return nullptr;
}

// Make<T>::reducer() for the dtypes of a function's domain.
template <std::uint16_t function, template <class> class Make> constexpr ReducerRow reducer_row() {
    ReducerRow row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (sdk::core_functions[function].domain >> id & 1)                                  \
        row[id] = Make<wide::identifier>::reducer();
#include "atoll/lists/dtypes.inc"
    row[ATOLL_DTYPE_FLOAT16].of_stored =
        stored_halves<Make<float>, ATOLL_DTYPE_FLOAT16, vector_halves::Float16>();
    row[ATOLL_DTYPE_BFLOAT16].of_stored =
        stored_halves<Make<float>, ATOLL_DTYPE_BFLOAT16, vector_halves::Bfloat16>();
    return row;
}

// The loops over accumulators A alone, of a State that has start, combine and result.
template <class State, class A> struct AccumulatorLoops {
    static A *acc(char *p) { return reinterpret_cast<A *>(p); }
    static const A *acc(const char *p) { return reinterpret_cast<const A *>(p); }

    static void identity(std::int64_t n, char *accumulators) {
        for (std::int64_t k = 0; k < n; ++k) acc(accumulators)[k] = State::start();
    }
    static void merge(std::int64_t n, const char *from, const Given &given, char *accumulators) {
        const A *x = acc(from);
        A *a = acc(accumulators);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) a[k] = State::combine(a[k], x[k], given);
    }
    static void finish(std::int64_t n, const char *accumulators, const Given &given, char *out) {
        using R = decltype(State::result(A{}, given));
        const A *a = acc(accumulators);
        R *o = reinterpret_cast<R *>(out);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) o[k] = State::result(a[k], given);
    }
    static constexpr void set_finish(Reducer &r) {
        using R = decltype(State::result(A{}, Given{}));
        r.out_size = sizeof(R);
        r.result = own_result_dtype<R>;
        r.finish = &finish;
    }
};

// The loops that need no vectors, of a Make that has take; and those of its State.
template <class Make, class A, class T, class State = Make> struct PlainLoops
    : AccumulatorLoops<State, A> {
    using Accumulators = AccumulatorLoops<State, A>;
    using Accumulators::acc;

    static void rows(std::int64_t n, const char *in, const Given &given, char *accumulators) {
        const T *x = elements_of<T>(in);
        A *a = acc(accumulators);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) a[k] = Make::take(a[k], x[k], given);
    }
    static void many_rows(std::int64_t n, const char *const *in, const Given &given,
                          char *accumulators) {
        static_assert(rows_taken == 8);
        const auto row = [&](int i) { return elements_of<T>(in[i]); };
        const T *const x0 = row(0), *const x1 = row(1), *const x2 = row(2), *const x3 = row(3);
        const T *const x4 = row(4), *const x5 = row(5), *const x6 = row(6), *const x7 = row(7);
        A *a = acc(accumulators);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            A all = a[k];
            for (const T x : {x0[k], x1[k], x2[k], x3[k], x4[k], x5[k], x6[k], x7[k]})
                all = Make::take(all, x, given);
            a[k] = all;
        }
    }
    // For a block without vectors: takes in n elements by several accumulators in turn, which are
    // joined after short runs, to hide latency and to keep rounding errors from piling up.
    static void take_all(std::int64_t n, const T *x, const Given &given, A &a) {
        constexpr std::int64_t width = 8, run = 256;
        std::int64_t k = 0;
        while (k + width <= n) {
            A lanes[width];
            Accumulators::identity(width, reinterpret_cast<char *>(lanes));
            const std::int64_t end = std::min(n, k + run);
            for (; k + width <= end; k += width)
                for (std::int64_t c = 0; c < width; ++c)
                    lanes[c] = Make::take(lanes[c], x[k + c], given);
            for (std::int64_t half = width / 2; half; half /= 2)
                for (std::int64_t c = 0; c < half; ++c)
                    lanes[c] = State::combine(lanes[c], lanes[c + half], given);
            a = State::combine(a, lanes[0], given);
        }
        for (; k < n; ++k) a = Make::take(a, x[k], given);
    }

    static constexpr Reducer plain() {
        static_assert(sizeof(A) <= largest_accumulator);
        Reducer r{};
        r.size = sizeof(A);
        r.identity = &Accumulators::identity;
        r.block = &Make::block;
        r.rows = &rows;
        r.merge = &Accumulators::merge;
        Accumulators::set_finish(r);
        return r;
    }
    // The same, for accumulators whose order matters to rounding.
    static constexpr Reducer pairwise() {
        Reducer r = plain();
        r.pairwise = true;
        return r;
    }
};

} // namespace Atoll::kernels
