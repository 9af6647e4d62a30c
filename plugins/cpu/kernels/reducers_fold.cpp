// Reducers that fold elements with one operation: sums, products, smallest and largest elements.
#include "joined_groups.h"
#include "partial_vector.h"
#include "product_vectors.h"
#include "reducer_loops.h"
#include "vector_halves.h"

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
    // The real or the imaginary parts, each twice; and both exchanged.
    template <int first, int second, class A> static A parts_of(A z) {
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return __builtin_shufflevector(z, z, (i % 2 ? i - 1 + second : i + first)...);
        }
        (std::make_integer_sequence<int, static_cast<int>(sizeof z / sizeof z[0])>());
    }
};
// `of_numbers` gives the same where b is not NaN, and a where it is.
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

template <class Operation, class A, bool Mean> struct Folded {
    static A start() { return Operation::template identity<A>(); }
    static A combine(A a, A b, const Given &) { return Operation::combine(a, b); }
    static auto result(A a, const Given &given) {
        if constexpr (Mean && is_complex<A>) {
            const double n = static_cast<double>(given.count);
            return Complex<double>{a.re / n, a.im / n};
        } else if constexpr (Mean) {
            return static_cast<double>(a) / static_cast<double>(given.count);
        } else {
            return a;
        }
    }
};

template <class Map, class Operation, class T, bool Mean = false> struct Fold {
    using E = decltype(Map::of(T{}));
    using A = typename Operation::template Accumulator<E>;
    using State = Folded<Operation, A, Mean>;
    using Loops = PlainLoops<Fold, A, T, State>;

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
            if (fold<1>(n, elements_of<Element<T>>(in), given, &folded)) {
                a = Operation::combine(a, folded);
                return;
            }
            const T *x = elements_of<T>(in);
            for (std::int64_t k = 0; k < n; ++k) a = take(a, x[k], given);
        }
    }
    static void groups(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                       const Given &given, char *groups) {
        using From = Element<Part<T>>;
        const std::int64_t lanes = n * (is_complex<T> ? 2 : 1);
        for (std::int64_t row = 0; row < rows; ++row) {
            Group<GroupVector> folded;
            static_assert(sizeof folded == group_bytes);
            const auto *x = elements_of<From>(in + row * stride);
            if (lanes <= chains * Lanes<From>::count)
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
    // As PlainLoops::many_rows, of elements E that all(x) and some(x, count) give as vectors.
    template <class E, class All, class Some> static void
    in_vectors(std::int64_t n, const char *const *in, char *accumulators, All all, Some some) {
        using V = Vector<T>;
        for (std::int64_t k = 0; k < n; k += lanes<T>) {
            char *const at = accumulators + k * static_cast<std::int64_t>(sizeof(T));
            const std::int64_t count = std::min<std::int64_t>(lanes<T>, n - k);
            const auto take = [&](auto load, V a) {
                const auto each = [&](auto combine, auto &&watch) {
                    V all = a;
                    ATOLL_UNROLL
                    for (int i = 0; i < rows_taken; ++i) {
                        const V x = load(elements_of<E>(in[i]) + k);
                        watch(x);
                        all = combine(all, x);
                    }
                    return all;
                };
                if constexpr (requires { Operation::of_numbers(a, a); }) {
                    NanWatch<V> nan; // one that `a` has stays there
                    const V all = each([](V x, V y) { return Operation::of_numbers(x, y); },
                                       [&](V x) { nan.take(x); });
                    if (!nan.any()) return all;
                }
                return each([](V x, V y) { return Operation::combine(x, y); }, [](V) {});
            };
            if (count == lanes<T>) {
                store_vector(at, take(all, load_vector<V>(at)));
            } else {
                const PartialVector<T> rest(count);
                rest.store(at, take([&](const E *x) { return some(x, count); }, rest.load(at)));
            }
        }
    }
    // The last vector begins before the one before it ends, unless they fill the row: lanes that
    // two vectors have are the same.
    template <int count> static void narrow_rows(std::int64_t n, std::int64_t rows, const char *in,
                                                 std::int64_t stride, char *accumulators) {
        using V = Vector<A>;
        const auto at = [=](int c) {
            return (c + 1 < count ? c * lanes<A> : n - lanes<A>)*std::int64_t{sizeof(A)};
        };
        V all[count];
        const auto take = [&](auto combine, auto &&watch) {
            ATOLL_UNROLL
            for (int c = 0; c < count; ++c) all[c] = load_vector<V>(accumulators + at(c));
            const char *p = in;
            for (std::int64_t row = 0; row < rows; ++row, p += stride) {
                ATOLL_UNROLL
                for (int c = 0; c < count; ++c) {
                    const auto x = load_vector<V>(p + at(c));
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
        for (int c = 0; c < count; ++c) store_vector(accumulators + at(c), all[c]);
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
            const std::int64_t bytes = k * std::int64_t{sizeof(A)};
            of_counts[static_cast<std::size_t>((count - 1) / lanes<A>)](
                count, rows, in + bytes, stride, accumulators + bytes);
        }
    }
    static void rows_of_floats(std::int64_t n, const char *const *in, const Given &,
                               char *accumulators) {
        in_vectors<T>(
            n, in, accumulators, [](const T *x) { return load_vector<Vector<T>>(x); },
            [](const T *x, std::int64_t count) {
                return PartialVector<T>(count).load(reinterpret_cast<const char *>(x));
            });
    }
    template <class Format> static void rows_of_halves(std::int64_t n, const char *const *in,
                                                       const Given &, char *accumulators) {
        using vector_halves::Halves;
        static_assert(Format::has_vectors && vector_halves::at_once == lanes<T>);
        in_vectors<std::uint16_t>(
            n, in, accumulators,
            [](const std::uint16_t *x) { return Format::widened(load_vector<Halves>(x)); },
            [](const std::uint16_t *x, std::int64_t count) {
                return Format::widened(load_first<Halves>(count, x));
            });
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
            if constexpr (is_float<A> && compares)
                r.many_rows = &rows_of_floats;
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
        if constexpr (std::is_same_v<T, float> && std::is_same_v<Map, Plain>) {
            if constexpr (vector_halves::Float16::has_vectors)
                r.rows_of_float16 = &rows_of_halves<vector_halves::Float16>;
            r.rows_of_bfloat16 = &rows_of_halves<vector_halves::Bfloat16>;
        }
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

    // Folds x into `Count` elements; not if it is shorter than a group.
    template <int Count, class From, class To>
    static bool fold(std::int64_t n, const From *x, const Given &given, To *out) {
        using W = typename Lanes<To>::Vector;
        if (n < Lanes<From>::count) return false;
        Group<W> folded;
        const auto leaf = [&](std::int64_t first, std::int64_t count, Group<W> &group) {
            fold_leaf<To>(count, x + first, given, group);
        };
        const auto join = [](Group<W> &group, const Group<W> &other) {
            for (int c = 0; c < group_vectors; ++c)
                group.v[c] = OfLanes::combine(group.v[c], other.v[c]);
        };
        if constexpr (pairwise)
            in_leaves(n, leaf, join, folded);
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
    template <class To, class From, class W>
    static void fold_few(std::int64_t n, const From *x, Group<W> &group) {
        using V = typename Lanes<From>::Vector;
        for (W &v : group.v) v = identity<W, To>();
        const auto take = [&](W w, int c) { group.v[c] = OfLanes::combine(group.v[c], w); };
        in_few_groups<Lanes<From>::in_vector>(
            n, [&](std::int64_t k, int c) { take(mapped<W>(load_lanes<V>(x + k)), c); },
            [&](std::int64_t k, std::int64_t rest, int c) {
                take(first_lanes(rest, mapped<W>(load_first<V>(rest, x + k)), identity<W, To>()),
                     c);
            });
    }
    template <class To, class From, class W>
    static void fold_leaf(std::int64_t n, const From *x, const Given &given, Group<W> &group) {
        using V = typename Lanes<From>::Vector;
        constexpr bool watches = is_float<To> && requires { OfLanes::of_numbers(W{}, W{}); };
        [[maybe_unused]] NanWatch<std::conditional_t<watches, W, Lanes<float>::Vector>> nan;
        W a[vectors];
        for (W &v : a) v = identity<W, To>();
        const auto take = [&](W w, int c) {
            if constexpr (watches) {
                nan.take(w);
                a[c] = OfLanes::of_numbers(a[c], w);
            } else {
                a[c] = OfLanes::combine(a[c], w);
            }
        };
        const std::int64_t used = each_vector(
            n, x, [&](V v, int c) { take(mapped<W>(v), c); }, given.far);
        after_groups<Lanes<From>::in_vector>(
            used, n, [&](std::int64_t k, std::int64_t rest, int c) {
                take(first_lanes(rest, mapped<W>(load_first<V>(rest, x + k)), identity<W, To>()),
                     c);
            });
        join_groups(a, [](W x, W y) { return OfLanes::combine(x, y); });
        for (int c = 0; c < group_vectors; ++c) {
            group.v[c] = a[c];
            if constexpr (watches)
                if (nan.any()) group.v[c] = W{} + std::numeric_limits<To>::quiet_NaN();
        }
    }
};

template <class T> using MakeSum = Fold<Plain, Sum, T>;
template <class T> using MakeProduct = Fold<Plain, Product, T>;
template <class T> using MakeSmallest = Fold<Plain, Smallest, T>;
template <class T> using MakeLargest = Fold<Plain, Largest, T>;
template <class T> using MakeMean = Fold<Plain, Sum, T, true>;
// bool is its own modulus; unsigned integers too.
template <class T> using MapModulus =
    std::conditional_t<is_bool<T> || std::is_unsigned_v<T>, Plain, Modulus>;
template <class T> using MakeSumAbs = Fold<MapModulus<T>, Sum, T>;
template <class T> using MakeSmallestAbs = Fold<MapModulus<T>, Smallest, T>;
template <class T> using MakeLargestAbs = Fold<MapModulus<T>, Largest, T>;
// Nothing but floats is NaN: the others are what they are without skip_nan.
template <class T, class Nan, class Other> using IfFloat =
    std::conditional_t<is_float<Part<T>>, Nan, Other>;
template <class T> using MakeNanSum = Fold<IfFloat<T, WithoutNan<0>, Plain>, Sum, T>;
template <class T> using MakeNanProduct = Fold<IfFloat<T, WithoutNan<1>, Plain>, Product, T>;
template <class T> using MakeNanSumAbs = Fold<IfFloat<T, ModulusWithoutNan, MapModulus<T>>, Sum, T>;
template <class T> using MakeNanSmallest = Fold<Plain, IfFloat<T, SmallestNumber, Smallest>, T>;
template <class T> using MakeNanLargest = Fold<Plain, IfFloat<T, LargestNumber, Largest>, T>;
template <class T> using MakeNanLargestAbs = Fold<ModulusWithoutNan, Largest, T>;

} // namespace

namespace reducers {
constinit const ReducerRow sum = reducer_row<ATOLL_FN_sum, MakeSum>();
constinit const ReducerRow prod = reducer_row<ATOLL_FN_prod, MakeProduct>();
constinit const ReducerRow min = reducer_row<ATOLL_FN_min, MakeSmallest>();
constinit const ReducerRow max = reducer_row<ATOLL_FN_max, MakeLargest>();
constinit const ReducerRow mean = reducer_row<ATOLL_FN_mean, MakeMean>();
constinit const ReducerRow sum_abs = reducer_row<ATOLL_FN_sum_abs, MakeSumAbs>();
constinit const ReducerRow min_abs = reducer_row<ATOLL_FN_min_abs, MakeSmallestAbs>();
constinit const ReducerRow max_abs = reducer_row<ATOLL_FN_max_abs, MakeLargestAbs>();
constinit const ReducerRow nan_sum = reducer_row<ATOLL_FN_sum, MakeNanSum>();
constinit const ReducerRow nan_prod = reducer_row<ATOLL_FN_prod, MakeNanProduct>();
constinit const ReducerRow nan_sum_abs = reducer_row<ATOLL_FN_sum_abs, MakeNanSumAbs>();
constinit const ReducerRow nan_min = reducer_row<ATOLL_FN_min, MakeNanSmallest>();
constinit const ReducerRow nan_max = reducer_row<ATOLL_FN_max, MakeNanLargest>();
constinit const ReducerRow norm_infinity = reducer_row<ATOLL_FN_norm, MakeLargestAbs>();
constinit const ReducerRow nan_norm_infinity = reducer_row<ATOLL_FN_norm, MakeNanLargestAbs>();
} // namespace reducers

} // namespace Atoll::kernels
