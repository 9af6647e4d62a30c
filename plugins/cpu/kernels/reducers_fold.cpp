// Reducers that fold elements with one operation: sums, products, smallest and largest elements.
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
    template <class A> static A identity() {
        if constexpr (is_complex<A>)
            return {1, 0};
        else
            return 1;
    }
    template <class A> static A combine(A a, A b) {
        if constexpr (is_complex<A>)
            return functor::multiply::apply(a, b);
        else
            return static_cast<A>(a * b);
    }
};
struct Smallest {
    template <class E> using Accumulator = E;
    template <class A> static A identity() {
        return is_float<A> ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
    }
    // NaN wins.
    template <class A> static A combine(A a, A b) { return ((a < b) | (a != a)) ? a : b; }
};
struct Largest {
    template <class E> using Accumulator = E;
    template <class A> static A identity() {
        return is_float<A> ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::lowest();
    }
    template <class A> static A combine(A a, A b) { return ((a > b) | (a != a)) ? a : b; }
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

template <class Map, class Operation, class T, bool Mean = false> struct Fold {
    using E = decltype(Map::of(T{}));
    using A = typename Operation::template Accumulator<E>;
    using Loops = PlainLoops<Fold, A, T>;

    static A start() { return Operation::template identity<A>(); }
    static A combine(A a, A b, const Given &) { return Operation::combine(a, b); }
    static A take(A a, T x, const Given &) {
        return Operation::combine(a, static_cast<A>(Map::of(x)));
    }
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
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        A &a = *reinterpret_cast<A *>(accumulator);
        if constexpr (is_complex<T> && std::is_same_v<Operation, Sum> &&
                      std::is_same_v<Map, Plain>) {
            using P = Part<T>;
            P lanes[Lanes<P>::count];
            const std::int64_t used = fold(2 * n, elements_of<P>(in), P(0), lanes) / 2;
            if (used)
                for (int k = 0; k < Lanes<P>::count; k += 2)
                    a = Sum::combine(a, T{lanes[k], lanes[k + 1]});
            Loops::take_all(n - used, elements_of<T>(in) + used, given, a);
        } else if constexpr (is_complex<T>) {
            Loops::take_all(n, elements_of<T>(in), given, a);
        } else {
            A lanes[Lanes<A>::count];
            const std::int64_t used = fold(n, elements_of<Element<T>>(in), start(), lanes);
            if (used) {
                for (std::int64_t width = Lanes<A>::count / 2; width; width /= 2)
                    for (std::int64_t k = 0; k < width; ++k)
                        lanes[k] = Operation::combine(lanes[k], lanes[k + width]);
                a = Operation::combine(a, lanes[0]);
            }
            const T *x = elements_of<T>(in);
            for (std::int64_t k = used; k < n; ++k) a = take(a, x[k], given);
        }
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = is_float<Part<A>>;
        return r;
    }

private:
    // Folds whole groups of x into the lanes of one; returns how many elements that were.
    template <class From, class To>
    static std::int64_t fold(std::int64_t n, const From *x, To identity, To *lanes) {
        using V = typename Lanes<From>::Vector;
        using W = typename Lanes<To>::Vector;
        if (n < Lanes<From>::count) return 0;
        W a[vectors];
        for (W &v : a) v = W{} + identity;
        const std::int64_t used = each_vector(n, x, [&](V v, int c) {
            if constexpr (is_bool<T>) v = (V)(v != 0) & 1;
            a[c] = Operation::combine(a[c], (W)Map::lanes(v));
        });
        join_groups(a, [](W x, W y) { return Operation::combine(x, y); });
        std::memcpy(lanes, a, 64);
        return used;
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
