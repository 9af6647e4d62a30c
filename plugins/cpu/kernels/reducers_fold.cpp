// Reducers that fold elements with one operation: sums, products, smallest and largest elements.
#include "fetch.h"
#include "joined_groups.h"
#include "partial_vector.h"
#include "product_vectors.h"
#include "reducer_loops.h"

namespace Atoll::kernels {
namespace {

// What an element becomes before it is folded. `of` takes an element, `lanes` a vector of real
// ones.
struct Plain {
    template <class T> static Element<T> of(T x) {
        if constexpr (is_bool<T>)
            return truth(x);
        else
            return x;
    }
    template <class V> static V lanes(V v) { return v; }
};
struct Modulus {
    template <class T> static auto of(T x) { return modulus(x); }
    template <class V> static V lanes(V v) { return abs_lanes(v); }
};
template <int Replacement> struct WithoutNan {
    template <class T> static T of(T x) {
        if (!is_nan(x)) return x;
        if constexpr (is_complex<T>)
            return {Replacement, 0};
        else
            return Replacement;
    }
    template <class V> static V lanes(V v) { return v == v ? v : V{} + Replacement; }
};
struct ModulusWithoutNan {
    template <class T> static auto of(T x) { return modulus(WithoutNan<0>::of(x)); }
    template <class V> static V lanes(V v) { return abs_lanes(WithoutNan<0>::lanes(v)); }
};

// `combine` takes two accumulators, or two vectors of real ones.
struct Sum {
    template <class E> using Accumulator = Wrapping<E>;
    template <class A> static A identity() { return A{}; }
    template <class A> static A combine(A a, A b) {
        if constexpr (is_complex<A>)
            return {a.re + b.re, a.im + b.im};
        else
            return static_cast<A>(a + b);
    }
};
struct Product {
    template <class E> using Accumulator = Wrapping<E>;
    template <class A> static A identity() { return one<A>(); }
    template <class A> static A combine(A a, A b) {
        if constexpr (is_complex<A>)
            return functor::multiply::apply(a, b);
        else
            return static_cast<A>(a * b);
    }
};
// Of vectors whose lanes are the parts of complex numbers, as functor::multiply rounds it.
struct ProductOfPairs {
    template <class A> static A identity() {
        return by_lanes<A>([](int lane) { return lane % 2 == 0 ? 1 : 0; });
    }
    template <class A> static A combine(A a, A b) {
        const A minus = by_lanes<A>([](int lane) { return lane % 2 == 0 ? -1 : 1; });
        return parts_of<0, 0>(a) * b + parts_of<1, 1>(a) * (parts_of<1, 0>(b) * minus);
    }

private:
    template <class A> static constexpr A by_lanes(auto value) {
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return A{static_cast<std::remove_cvref_t<decltype(A{}[0])>>(value(i))...};
        }
        (std::make_integer_sequence<int, static_cast<int>(sizeof(A) / sizeof(A{}[0]))>());
    }
};
// `of_numbers` gives the same where b is not NaN, and a where it is; of two zeros either.
struct Smallest {
    template <class E> using Accumulator = E;
    template <class A> static A identity() {
        return is_float<A> ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
    }
    // NaN wins.
    template <class A> static A combine(A a, A b) { return ((a < b) | (a != a)) ? a : b; }
    template <class V> static V of_numbers(V a, V b) { return b < a ? b : a; }
};
struct Largest {
    template <class E> using Accumulator = E;
    template <class A> static A identity() {
        return is_float<A> ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::lowest();
    }
    template <class A> static A combine(A a, A b) { return ((a > b) | (a != a)) ? a : b; }
    template <class V> static V of_numbers(V a, V b) { return b > a ? b : a; }
};
// NaN is passed over, and stays where there was nothing else.
struct SmallestNumber {
    template <class E> using Accumulator = E;
    template <class A> static A identity() { return std::numeric_limits<A>::quiet_NaN(); }
    template <class A> static A combine(A a, A b) { return ((a < b) | (b != b)) ? a : b; }
};
struct LargestNumber : SmallestNumber {
    template <class A> static A combine(A a, A b) { return ((a > b) | (b != b)) ? a : b; }
};

template <class Operation, class A> struct Folded {
    static A start() { return Operation::template identity<A>(); }
    static A combine(A a, A b, const Given &) { return Operation::combine(a, b); }
    static A result(A a, const Given &) { return a; }
};
template <class A> struct Mean : Folded<Sum, A> {
    static auto result(A a, const Given &given) {
        const double n = static_cast<double>(given.count);
        if constexpr (is_complex<A>)
            return Complex<double>{a.re / n, a.im / n};
        else
            return static_cast<double>(a) / n;
    }
};

// `S`: what elements are stored as, T or halves of it.
template <class Map, class Operation, class T, class S = T> struct Fold {
    using E = decltype(Map::of(T{}));
    using A = typename Operation::template Accumulator<E>;
    using State = Folded<Operation, A>;
    using Loops = PlainLoops<Fold, A, T, State>;
    template <class Half> using Of = Fold<Map, Operation, T, Half>;
    static constexpr bool reads_halves =
        std::is_same_v<Map, Plain> && !std::is_base_of_v<SmallestNumber, Operation>;

    static A take(A a, T x, const Given &) {
        return Operation::combine(a, static_cast<A>(Map::of(x)));
    }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        A &a = *reinterpret_cast<A *>(accumulator);
        if constexpr (folds_parts) {
            using P = Part<T>;
            P parts[2];
            if (fold<2>(2 * n, elements_of<P>(in), given, parts))
                a = Operation::combine(a, T{parts[0], parts[1]});
            else
                Loops::take_all(n, elements_of<T>(in), given, a);
        } else if constexpr (is_complex<T>) {
            Loops::take_all(n, elements_of<T>(in), given, a);
        } else {
            A folded;
            const auto *x = elements_of<Stored>(in);
            if (fold<1>(n, x, given, &folded))
                a = Operation::combine(a, folded);
            else
                for (std::int64_t k = 0; k < n; ++k) a = take(a, element_at(in, k), given);
        }
    }
    static void groups(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                       const Given &given, char *groups) {
        const std::int64_t lanes = n * (is_complex<T> ? 2 : 1);
        for (std::int64_t row = 0; row < rows; ++row) {
            Group<GroupVector> folded;
            static_assert(sizeof folded == group_bytes);
            const auto *x = elements_of<Stored>(in + row * stride);
            if (lanes <= chains * Lanes<Part<A>>::count)
                fold_few<Part<A>>(lanes, x, folded);
            else
                fold_leaf<Part<A>>(lanes, x, given, folded);
            std::memcpy(groups + row * group_bytes, &folded, sizeof folded);
        }
    }
    static void fold_groups(std::int64_t n, const char *groups, char *accumulators) {
        JoinedGroups<GroupVector, A>::join(n, groups, accumulators,
                                           [](auto a, auto b) { return OfLanes::combine(a, b); });
    }
    // As PlainLoops::many_rows, or rows, of floats.
    template <int taken> static void rows_in_vectors(std::int64_t n, const char *const *in,
                                                     const Given &, char *accumulators) {
        using V = Vector<T>;
        for (std::int64_t k = 0; k < n; k += lanes<T>) {
            char *const at = accumulators + k * static_cast<std::int64_t>(sizeof(T));
            const std::int64_t count = std::min<std::int64_t>(lanes<T>, n - k);
            const auto take = [&](auto load, V a) {
                const auto each = [&](auto combine, auto &&watch) {
                    V all = a;
                    ATOLL_UNROLL
                    for (int i = 0; i < taken; ++i) {
                        const V x = load(elements_of<Stored>(in[i]) + k);
                        watch(x);
                        all = combine(all, x);
                    }
                    return all;
                };
                if constexpr (taken > 1 && requires { Operation::of_numbers(a, a); }) {
                    NanWatch<V> nan; // one that `a` has stays there
                    const V all = each([](V x, V y) { return Operation::of_numbers(x, y); },
                                       [&](V x) { nan.take(x); });
                    if (!nan.any()) return all;
                }
                return each([](V x, V y) { return Operation::combine(x, y); }, [](V) {});
            };
            if (count == lanes<T>) {
                store_vector(
                    at, take([](const Stored *x) { return vector_at<V>(x); }, load_vector<V>(at)));
            } else {
                const PartialVector<T> rest(count);
                rest.store(at, take([&](const Stored *x) { return first_at<V>(count, x); },
                                    rest.load(at)));
            }
        }
    }
    // The same of products of complex numbers, of which compilers' own vectors cross lanes.
    template <int taken>
    static void rows_of_pairs(std::int64_t n, const char *const *in, char *accumulators) {
        constexpr std::int64_t at_once = Lanes<Part<A>>::in_vector / 2;
        A *const a = reinterpret_cast<A *>(accumulators);
        std::int64_t k = 0;
        for (; k + at_once <= n; k += at_once) {
            auto all = load_vector<GroupVector>(a + k);
            ATOLL_UNROLL
            for (int i = 0; i < taken; ++i)
                all = OfLanes::combine(all, load_vector<GroupVector>(elements_of<T>(in[i]) + k));
            store_vector(a + k, all);
        }
        for (; k < n; ++k)
            for (int i = 0; i < taken; ++i)
                a[k] = Operation::combine(a[k], elements_of<T>(in[i])[k]);
    }
    // The last vector begins before the one before it ends, unless they fill the row: lanes that
    // two vectors have are the same.
    template <int count> static void narrow_rows(std::int64_t n, std::int64_t rows, const char *in,
                                                 std::int64_t stride, char *accumulators) {
        using V = Vector<A>;
        const auto at = [=](int c) { return c + 1 < count ? c * lanes<A> : n - lanes<A>; };
        A *const a = reinterpret_cast<A *>(accumulators);
        V all[count];
        const auto take = [&](auto combine, auto &&watch) {
            ATOLL_UNROLL
            for (int c = 0; c < count; ++c) all[c] = load_vector<V>(a + at(c));
            const char *p = in;
            for (std::int64_t row = 0; row < rows; ++row, p += stride) {
                ATOLL_UNROLL
                for (int c = 0; c < count; ++c) {
                    const auto x = vector_at<V>(elements_of<Stored>(p) + at(c));
                    watch(x);
                    all[c] = combine(all[c], x);
                }
            }
        };
        bool numbers = false; // and nothing else
        if constexpr (is_float<A> && requires { Operation::of_numbers(V{}, V{}); }) {
            NanWatch<V> nan; // one that an accumulator has stays there
            take([](V x, V y) { return Operation::of_numbers(x, y); }, [&](V x) { nan.take(x); });
            numbers = !nan.any();
        }
        if (!numbers) take([](V x, V y) { return Operation::combine(x, y); }, [](V) {});
        ATOLL_UNROLL
        for (int c = 0; c < count; ++c) store_vector(a + at(c), all[c]);
    }
    static void any_narrow_rows(std::int64_t n, std::int64_t rows, const char *in,
                                std::int64_t stride, char *accumulators) {
        constexpr std::int64_t most =
            vector_bytes == 64 ? 8 : 16; // vectors, most of them in registers
        static constexpr auto of_counts = []<int... k>(std::integer_sequence<int, k...>) {
            return std::array{&narrow_rows<k + 1>...};
        }
        (std::make_integer_sequence<int, most>());
        // About as many in each part, so that none is less than a vector.
        const std::int64_t all = (n + lanes<A> - 1) / lanes<A>, parts = (all + most - 1) / most,
                           in_part = (all + parts - 1) / parts;
        for (std::int64_t k = 0, count; k < n; k += count) {
            count = std::min(in_part * lanes<A>, n - k);
            of_counts[static_cast<std::size_t>((count - 1) / lanes<A>)](
                count, rows, in + k * std::int64_t{sizeof(S)}, stride,
                accumulators + k * std::int64_t{sizeof(A)});
        }
    }
    // Of bools.
    static bool is_last(const char *accumulator) {
        return *accumulator == std::is_same_v<Operation, Largest>;
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = pairwise;
        r.halves = pairwise && (!is_complex<T> || folds_parts);
        constexpr bool compares =
            !std::is_same_v<Operation, Sum> && !std::is_same_v<Operation, Product>;
        // Compilers make no vectors of many rows of floats that are compared.
        if constexpr (std::is_same_v<Map, Plain> && !is_complex<T>) {
            if constexpr (of_halves || (is_float<A> && compares))
                r.many_rows = &rows_in_vectors<rows_taken>;
            else
                r.many_rows = &Loops::many_rows;
            if constexpr (!is_bool<T>) r.narrow_rows = &any_narrow_rows;
        }
        if constexpr (!is_complex<T> || folds_parts) {
            r.groups = &groups;
            r.fold_groups = &fold_groups;
        }
        if constexpr (folds_parts && !product) {
            using OfParts = typename Fold<Map, Operation, Part<T>>::Loops;
            r.rows = [](std::int64_t n, const char *in, const Given &given, char *accumulators) {
                OfParts::rows(2 * n, in, given, accumulators);
            };
            r.many_rows = [](std::int64_t n, const char *const *in, const Given &given,
                             char *accumulators) {
                OfParts::many_rows(2 * n, in, given, accumulators);
            };
            r.narrow_rows = [](std::int64_t n, std::int64_t rows, const char *in,
                               std::int64_t stride, char *accumulators) {
                Fold<Map, Operation, Part<T>>::any_narrow_rows(2 * n, rows, in, stride,
                                                               accumulators);
            };
        }
        if constexpr (folds_parts && product) {
            r.rows = [](std::int64_t n, const char *in, const Given &, char *accumulators) {
                rows_of_pairs<1>(n, &in, accumulators);
            };
            r.many_rows = [](std::int64_t n, const char *const *in, const Given &,
                             char *accumulators) {
                rows_of_pairs<rows_taken>(n, in, accumulators);
            };
        }
        if constexpr (of_halves)
            r.rows = [](std::int64_t n, const char *in, const Given &given, char *accumulators) {
                rows_in_vectors<1>(n, &in, given, accumulators);
            };
        if constexpr (is_bool<T> && compares) r.done = &is_last;
        return r;
    }

private:
    static constexpr bool pairwise = is_float<Part<A>>;
    static constexpr bool product = std::is_same_v<Operation, Product>;
    static constexpr bool folds_parts =
        is_complex<T> && std::is_same_v<Map, Plain> && (product || std::is_same_v<Operation, Sum>);
    // What is done to vectors, whose lanes are elements or their parts.
    using OfLanes = std::conditional_t<folds_parts && product, ProductOfPairs, Operation>;
    using GroupVector = typename Lanes<Part<A>>::Vector;
    static constexpr bool of_halves = is_half<S>;
    using Stored = std::conditional_t<of_halves, S, Element<Part<T>>>;

    static T element_at(const char *in, std::int64_t k) {
        if constexpr (of_halves)
            return S::widened(elements_of<S>(in)[k].bits);
        else
            return elements_of<T>(in)[k];
    }
    // What is at x, or the first n of it and zeros, as W.
    template <class W> static W vector_at(const Stored *x) {
        if constexpr (of_halves)
            return mapped<W>(S::widened(load_lanes<vector_halves::Halves>(x)));
        else
            return mapped<W>(load_lanes<typename Lanes<Stored>::Vector>(x));
    }
    template <class W> static W first_at(std::int64_t n, const Stored *x) {
        if constexpr (of_halves)
            return mapped<W>(S::widened(load_first<vector_halves::Halves>(n, x)));
        else
            return mapped<W>(load_first<typename Lanes<Stored>::Vector>(n, x));
    }

    // Folds x into `Count` elements; not if it is shorter than a group.
    template <int Count, class To>
    static bool fold(std::int64_t n, const Stored *x, const Given &given, To *out) {
        using W = typename Lanes<To>::Vector;
        if (n < Lanes<To>::count) return false;
        Group<W> folded;
        const auto leaf = [&](std::int64_t first, std::int64_t count, Group<W> &group) {
            fold_leaf<To>(count, x + first, given, group);
        };
        const auto join = [](Group<W> &group, const Group<W> &other) {
            for (int c = 0; c < group_vectors; ++c)
                group.v[c] = OfLanes::combine(group.v[c], other.v[c]);
        };
        const auto two = [&](std::int64_t first, Group<W> *groups) {
            fold_two<To>(x + first, groups);
        };
        if (pairwise || given.two_streams)
            in_leaves(n, leaf, join, folded, given.two_streams, two);
        else
            leaf(0, n, folded);
        W *v = folded.v;
        for (int width = group_vectors / 2; width > 0; width /= 2)
            for (int c = 0; c < width; ++c) v[c] = OfLanes::combine(v[c], v[c + width]);
        fold_lanes<Count>(v[0], out);
        return true;
    }
    // In registers: what is stored as one vector is slow to be loaded as halves.
    template <int Count, class V, class To> static void fold_lanes(V v, To *out) {
        constexpr int half = static_cast<int>(sizeof(V) / sizeof(To)) / 2;
        if constexpr (2 * half == Count)
            std::memcpy(out, &v, sizeof v);
        else if constexpr (half == 1)
            *out = OfLanes::combine(static_cast<To>(v[0]), static_cast<To>(v[1]));
        else
            fold_lanes<Count>(
                OfLanes::combine(part_of<half>(v, std::integral_constant<int, 0>()),
                                 part_of<half>(v, std::integral_constant<int, half>())),
                out);
    }
    template <class W, class To> static W identity() {
        if constexpr (std::is_same_v<OfLanes, Operation>)
            return W{} + Operation::template identity<To>();
        else
            return OfLanes::template identity<W>();
    }
    template <class W, class V> static W mapped(V v) {
        if constexpr (is_bool<T>) v = (V)(v != 0) & 1;
        return (W)Map::lanes(v);
    }
    template <class To, class W>
    static void fold_few(std::int64_t n, const Stored *x, Group<W> &group) {
        for (W &v : group.v) v = identity<W, To>();
        const auto take = [&](W w, int c) { group.v[c] = OfLanes::combine(group.v[c], w); };
        in_few_groups<Lanes<To>::in_vector>(
            n, [&](std::int64_t k, int c) { take(vector_at<W>(x + k), c); },
            [&](std::int64_t k, std::int64_t rest, int c) {
                take(first_lanes(rest, first_at<W>(rest, x + k), identity<W, To>()), c);
            });
    }
    template <class To, class W>
    static void fold_leaf(std::int64_t n, const Stored *x, const Given &given, Group<W> &group) {
        Watch<To, W> nan;
        W a[vectors];
        for (W &v : a) v = identity<W, To>();
        const auto take = [&](W w, int c) { take_vector<To>(w, a[c], nan); };
        const std::int64_t used = in_groups<Lanes<To>::in_vector>(
            n, [&](std::int64_t k, int c) { take(vector_at<W>(x + k), c); },
            [&](std::int64_t k) {
                if (given.fetches)
                    fetch_ahead<chains *int{sizeof(Stored)} / int{sizeof(To)}>(x + k);
            });
        after_groups<Lanes<To>::in_vector>(used, n, [&](std::int64_t k, std::int64_t rest, int c) {
            take(first_lanes(rest, first_at<W>(rest, x + k), identity<W, To>()), c);
        });
        finish_leaf<To>(a, nan, group);
    }
    // Two leaves that follow each other, a few lines of each in turn.
    template <class To, class W> static void fold_two(const Stored *x, Group<W> *groups) {
        constexpr std::int64_t step = Lanes<To>::in_vector;
        static_assert(leaf % (vectors * step) == 0);
        W a[2][vectors];
        Watch<To, W> nan[2];
        for (W(&of)[vectors] : a)
            for (W &v : of) v = identity<W, To>();
        for (std::int64_t k = 0; k < leaf; k += vectors * step)
            for (int s = 0; s < 2; ++s) {
                ATOLL_UNROLL
                for (int c = 0; c < vectors; ++c)
                    take_vector<To>(vector_at<W>(x + s * leaf + k + c * step), a[s][c], nan[s]);
            }
        for (int s = 0; s < 2; ++s) finish_leaf<To>(a[s], nan[s], groups[s]);
    }
    // Floats of which NaN is watched for, as combining them would lose it.
    template <class To, class W> static constexpr bool watches = is_float<To> &&requires {
        OfLanes::of_numbers(W{}, W{});
    };
    template <class To, class W> using Watch =
        NanWatch<std::conditional_t<watches<To, W>, W, Lanes<float>::Vector>>;
    template <class To, class W> static void take_vector(W w, W &a, Watch<To, W> &nan) {
        if constexpr (watches<To, W>) {
            nan.take(w);
            a = OfLanes::of_numbers(a, w);
        } else {
            a = OfLanes::combine(a, w);
        }
    }
    template <class To, class W>
    static void finish_leaf(W (&a)[vectors], const Watch<To, W> &nan, Group<W> &group) {
        join_groups(a, [](W x, W y) { return OfLanes::combine(x, y); });
        for (int c = 0; c < group_vectors; ++c) {
            group.v[c] = a[c];
            if constexpr (watches<To, W>)
                if (nan.any()) group.v[c] = W{} + std::numeric_limits<To>::quiet_NaN();
        }
    }
};

// Of integers modulo 2^64, whatever the sign.
template <class T> using MakeSum = Fold<Plain, Sum, Wrapping<T>>;
template <class T> using MakeProduct = Fold<Plain, Product, Wrapping<T>>;
template <class T> using MakeSmallest = Fold<Plain, Smallest, T>;
template <class T> using MakeLargest = Fold<Plain, Largest, T>;
// A sum with another end.
template <class T, class S> struct MeanOf {
    template <class Half> using Of = MeanOf<T, Half>;
    static constexpr bool reads_halves = true;
    static constexpr Reducer reducer() {
        using A = typename Fold<Plain, Sum, T, S>::A;
        Reducer r = Fold<Plain, Sum, T, S>::reducer();
        AccumulatorLoops<Mean<A>, A>::set_finish(r);
        return r;
    }
};
template <class T> using MakeMean = MeanOf<T, T>;
// bool is its own modulus; unsigned integers too.
template <class T> using MapModulus =
    std::conditional_t<is_bool<T> || std::is_unsigned_v<T>, Plain, Modulus>;
template <class T> using MakeSumAbs = Fold<MapModulus<T>, Sum, T>;
template <class T> using MakeSmallestAbs = Fold<MapModulus<T>, Smallest, T>;
template <class T> using MakeLargestAbs = Fold<MapModulus<T>, Largest, T>;
// Nothing but floats is NaN: the others are what they are without skip_nan.
template <class T, class Nan, class Other> using IfFloat =
    std::conditional_t<is_float<Part<T>>, Nan, Other>;
template <class T> using MakeNanSum = Fold<IfFloat<T, WithoutNan<0>, Plain>, Sum, Wrapping<T>>;
template <class T> using MakeNanProduct =
    Fold<IfFloat<T, WithoutNan<1>, Plain>, Product, Wrapping<T>>;
template <class T> using MakeNanSumAbs = Fold<IfFloat<T, ModulusWithoutNan, MapModulus<T>>, Sum, T>;
template <class T> using MakeNanSmallest = Fold<Plain, IfFloat<T, SmallestNumber, Smallest>, T>;
template <class T> using MakeNanLargest = Fold<Plain, IfFloat<T, LargestNumber, Largest>, T>;
template <class T> using MakeNanLargestAbs = Fold<ModulusWithoutNan, Largest, T>;

// With what integers have, where they are computed in other dtypes.
constexpr ReducerRow with(ReducerRow row, std::initializer_list<int> dtypes,
                          const StoredRow *of_integers) {
    for (const int dtype : dtypes) row[static_cast<std::size_t>(dtype)].of_stored = of_integers;
    return row;
}
constexpr std::initializer_list<int> summed = {ATOLL_DTYPE_INT64, ATOLL_DTYPE_UINT64};

} // namespace

namespace reducers {
constinit const ReducerRow sum =
    with(reducer_row<ATOLL_FN_sum, MakeSum>(), summed, &sums_of_integers);
constinit const ReducerRow prod = reducer_row<ATOLL_FN_prod, MakeProduct>();
constinit const ReducerRow min = reducer_row<ATOLL_FN_min, MakeSmallest>();
constinit const ReducerRow max = reducer_row<ATOLL_FN_max, MakeLargest>();
constinit const ReducerRow mean =
    with(reducer_row<ATOLL_FN_mean, MakeMean>(), {ATOLL_DTYPE_FLOAT64}, &means_of_integers);
constinit const ReducerRow sum_abs = reducer_row<ATOLL_FN_sum_abs, MakeSumAbs>();
constinit const ReducerRow min_abs = reducer_row<ATOLL_FN_min_abs, MakeSmallestAbs>();
constinit const ReducerRow max_abs = reducer_row<ATOLL_FN_max_abs, MakeLargestAbs>();
constinit const ReducerRow nan_sum =
    with(reducer_row<ATOLL_FN_sum, MakeNanSum>(), summed, &sums_of_integers);
constinit const ReducerRow nan_prod = reducer_row<ATOLL_FN_prod, MakeNanProduct>();
constinit const ReducerRow nan_sum_abs = reducer_row<ATOLL_FN_sum_abs, MakeNanSumAbs>();
constinit const ReducerRow nan_min = reducer_row<ATOLL_FN_min, MakeNanSmallest>();
constinit const ReducerRow nan_max = reducer_row<ATOLL_FN_max, MakeNanLargest>();
constinit const ReducerRow norm_infinity = reducer_row<ATOLL_FN_norm, MakeLargestAbs>();
constinit const ReducerRow nan_norm_infinity = reducer_row<ATOLL_FN_norm, MakeNanLargestAbs>();
} // namespace reducers

} // namespace Atoll::kernels
