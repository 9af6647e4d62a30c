// Reducers that test elements (any … any_nan) or count those that pass a test (count_nonzero).
#include "functors/comparison.h"
#include "reducer_loops.h"

namespace Atoll::kernels {
namespace {

// Tests as those of element-wise functions.
struct NonZero : functor::Test<NonZero, functor::Wraps> {
    template <class V> static auto test(V v) { return v != 0; }
};
struct Zero : functor::Test<Zero, functor::Wraps> {
    static constexpr bool both_parts = true;
    template <class V> static auto test(V v) { return v == 0; }
};
struct Number : functor::Test<Number, functor::Wraps> { // that is not zero
    template <class V> static auto test(V v) { return (v != 0) & (v == v); }
};
struct NotFinite : functor::Test<NotFinite, functor::Wraps> {
    template <class V> static auto test(V v) { return !functor::isfinite::test(v); }
};

template <class Test, class T> bool hit(T x) { return truth(Test::apply(x)); }
// The result is `on_hit` iff an element passes.
template <class Test, bool on_hit, class T> struct Any {
    using Loops = PlainLoops<Any, std::uint8_t, T>;
    static std::uint8_t start() { return 0; }
    static std::uint8_t combine(std::uint8_t a, std::uint8_t b, const Given &) { return a | b; }
    static std::uint8_t take(std::uint8_t a, T x, const Given &) {
        return a | std::uint8_t{hit<Test>(x)};
    }
    static Bool result(std::uint8_t a, const Given &) { return Bool((a != 0) == on_hit); }
    static bool done(const char *accumulator) { return *accumulator != 0; }

    static void block(std::int64_t n, const char *in, const Given &, char *accumulator) {
        std::uint8_t seen = 0;
        constexpr bool pairs = is_complex<T> && Test::both_parts;
        using E = Element<Part<T>>;
        using V = typename Lanes<E>::Vector;
        const std::int64_t count = is_complex<T> ? 2 * n : n;
        const E *x = elements_of<E>(in);
        using Mask = std::remove_cvref_t<decltype(Test::test(V{}))>;
        Mask masks[vectors] = {};
        std::int64_t k = each_vector(count, x, [&](V v, int c) {
            if constexpr (is_bool<T>) v = (V)(v != 0) & 1;
            const Mask passed = Test::test(v);
            if constexpr (pairs)
                masks[c] |= passed & parts_of<1, 0>(passed);
            else
                masks[c] |= passed;
        });
        join_groups(masks, [](auto a, auto b) { return a | b; });
        seen = any_lane(reinterpret_cast<const Mask(&)[group_vectors]>(masks));
        if constexpr (pairs)
            for (k /= 2; k < n; ++k) seen |= std::uint8_t{hit<Test>(elements_of<T>(in)[k])};
        else
            for (; k < count; ++k)
                seen |=
                    std::uint8_t{bool(Test::test(is_bool<T> ? static_cast<E>(x[k] != 0) : x[k]))};
        *accumulator = static_cast<char>(*accumulator | seen);
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.done = &done;
        return r;
    }
};

// What no element of the type can be: none is looked at.
template <bool Result> struct Never {
    using Loops = PlainLoops<Never, std::uint8_t, std::uint8_t>;
    static std::uint8_t start() { return 0; }
    static std::uint8_t combine(std::uint8_t a, std::uint8_t, const Given &) { return a; }
    static std::uint8_t take(std::uint8_t a, std::uint8_t, const Given &) { return a; }
    static Bool result(std::uint8_t, const Given &) { return Bool(Result); }
    static bool done(const char *) { return true; }
    static void block(std::int64_t, const char *, const Given &, char *) {}
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.done = &done;
        return r;
    }
};

template <class Test, class T> struct Count {
    using Loops = PlainLoops<Count, std::int64_t, T>;
    static std::int64_t start() { return 0; }
    static std::int64_t combine(std::int64_t a, std::int64_t b, const Given &) { return a + b; }
    static std::int64_t take(std::int64_t a, T x, const Given &) { return a + hit_element(x); }
    static std::int64_t result(std::int64_t a, const Given &) { return a; }

    // A complex number is zero if both parts are, and a number if both are.
    static bool hit_element(T x) {
        if constexpr (is_complex<T> && std::is_same_v<Test, Number>)
            return !is_nan(x) && truth(x);
        else
            return hit<Test>(x);
    }
    static void block(std::int64_t n, const char *in, const Given &, char *accumulator) {
        std::int64_t count = 0;
        if constexpr (is_complex<T>) {
            const T *x = elements_of<T>(in);
            for (std::int64_t k = 0; k < n; ++k) count += hit_element(x[k]);
        } else {
            using E = Element<T>;
            using V = typename Lanes<E>::Vector;
            using Mask = std::remove_cvref_t<decltype(Test::test(V{}))>;
            const E *x = elements_of<E>(in);
            std::int64_t k = 0;
            while (k + Lanes<E>::count <= n) {
                // Few enough that not even lanes of 8 bits overflow.
                const std::int64_t some = std::min(n - k, 120 * chains * Lanes<E>::count);
                Mask counts[vectors] = {};
                k += each_vector(some, x + k, [&](V v, int c) { counts[c] -= Test::test(v); });
                for (const Mask &lanes : counts)
                    for (std::int64_t lane = 0; lane < Lanes<E>::in_vector; ++lane)
                        count += lanes[lane];
            }
            for (; k < n; ++k) count += Test::test(x[k]);
        }
        *reinterpret_cast<std::int64_t *>(accumulator) += count;
    }
    static constexpr Reducer reducer() { return Loops::plain(); }
};

// Signed and unsigned integers have the same zero.
template <class T> using MakeAny = Any<NonZero, true, Wrapping<T>>;
template <class T> using MakeAll = Any<Zero, false, Wrapping<T>>;
template <class T, class Floats, bool Otherwise> using IfFloat =
    std::conditional_t<is_float<Part<T>>, Floats, Never<Otherwise>>;
template <class T> using MakeFinite = IfFloat<T, Any<NotFinite, false, T>, true>;
template <class T> using MakeInfinite = IfFloat<T, Any<functor::isinf, true, T>, false>;
template <class T> using MakeNan = IfFloat<T, Any<functor::isnan, true, T>, false>;
template <class T> using MakeCount = Count<NonZero, Wrapping<T>>;
template <class T> using MakeCountNumbers =
    Count<std::conditional_t<is_float<Part<T>>, Number, NonZero>, Wrapping<T>>;

} // namespace

namespace reducers {
constinit const ReducerRow any = reducer_row<ATOLL_FN_any, MakeAny>();
constinit const ReducerRow all = reducer_row<ATOLL_FN_all, MakeAll>();
constinit const ReducerRow all_finite = reducer_row<ATOLL_FN_all_finite, MakeFinite>();
constinit const ReducerRow any_inf = reducer_row<ATOLL_FN_any_inf, MakeInfinite>();
constinit const ReducerRow any_nan = reducer_row<ATOLL_FN_any_nan, MakeNan>();
constinit const ReducerRow count_nonzero = reducer_row<ATOLL_FN_count_nonzero, MakeCount>();
constinit const ReducerRow nan_count_nonzero =
    reducer_row<ATOLL_FN_count_nonzero, MakeCountNumbers>();
} // namespace reducers

} // namespace Atoll::kernels
