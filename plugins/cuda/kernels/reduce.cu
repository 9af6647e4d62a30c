// Reductions that fold elements with one operation, or test them.
#include "kernels.hpp"
#include "reducers.cuh"

#include <limits>

namespace Atoll::cuda {

extern constexpr ReduceRow counts = reduce_row<CountOf, ATOLL_FN_count_nonzero>();

namespace {

// ---- Sums and products ----

template <class V> using Modulus = decltype(modulus(std::declval<V>()));

template <class V> struct SumOfModuli : NothingLocal, AddsUp<Sum<Modulus<V>>> {
    using A = Sum<Modulus<V>>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (!(given.skip_nan && is_nan_value(x))) a.add(modulus(x));
        return a;
    }
};

// Of elements, or of their moduli where those have the same type.
template <class V> struct SumOf : NothingLocal, AddsUp<Sum<V>> {
    static constexpr bool has_moduli = std::is_same_v<V, Modulus<V>>;
    using A = Sum<V>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        // Not a branch: one for every element costs more than the sum.
        if constexpr (has_moduli) x = given.moduli ? modulus(x) : x;
        a.add(given.skip_nan && is_nan_value(x) ? V{} : x); // no sum is -0, which 0 would change
        return a;
    }
};
template <class V> using SumAbs =
    std::conditional_t<SumOf<V>::has_moduli, SumOf<V>, SumOfModuli<V>>;

template <class V> struct ProductOf : NothingLocal {
    using A = V;
    __device__ static A start(const Given &) { return kernels::one<V>(); }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        return given.skip_nan && is_nan_value(x) ? a : kernels::functor::multiply::apply(a, x);
    }
    __device__ static A join(A a, A b, const Given &) {
        return kernels::functor::multiply::apply(a, b);
    }
    __device__ static V result(A a, const Given &) { return a; }
};

// ---- The smallest and the largest ----

template <class P> constexpr P extreme(bool largest) {
    if constexpr (kernels::is_float<P>)
        return largest ? std::numeric_limits<P>::infinity() : -std::numeric_limits<P>::infinity();
    else
        return largest ? std::numeric_limits<P>::max() : std::numeric_limits<P>::lowest();
}

// NaN wins, or is passed over and stays where there was nothing else.
template <class V> struct Extreme : NothingLocal {
    using A = decltype(plain(Modulus<V>{}));
    __device__ static A key_of(A value, const Given &given) {
        return given.largest ? opposite(value) : value;
    }
    __device__ static A start(const Given &given) {
        if constexpr (kernels::is_float<A>)
            if (given.skip_nan) return key_of(std::numeric_limits<A>::quiet_NaN(), given);
        return kernels::is_float<A> ? std::numeric_limits<A>::infinity()
                                    : std::numeric_limits<A>::max();
    }
    __device__ static A join(A a, A b, const Given &given) {
        return a < b || (given.skip_nan ? b != b : a != a) ? a : b;
    }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        A value;
        if constexpr (kernels::is_complex<V>)
            value = modulus(x);
        else
            value = given.moduli ? modulus(x) : plain(x);
        return join(a, key_of(value, given), given);
    }
    __device__ static A result(A a, const Given &given) { return key_of(a, given); }
};

// ---- Tests ----

// What elements can be.
enum Properties : std::uint32_t { is_zero = 1, is_nonzero = 2, is_infinite = 4, is_nan = 8 };

// Whether any element has a property that is wanted.
template <class V> struct Holds : NothingLocal {
    using A = std::uint32_t;
    __device__ static A start(const Given &) { return 0; }
    __device__ static A join(A a, A b, const Given &) { return a | b; }
    __device__ static A take(A a, V x, const Given &, std::int64_t) {
        A properties = kernels::truth(x) ? is_nonzero : is_zero;
        if constexpr (kernels::is_float<V> || kernels::is_complex<V>) {
            if (kernels::truth(kernels::functor::isinf::apply(x))) properties |= is_infinite;
            if (is_nan_value(x)) properties |= is_nan;
        }
        return a | properties;
    }
    __device__ static Bool result(A a, const Given &given) {
        return Bool(((a & given.wanted) != 0) != given.inverted);
    }
};

struct Line {
    ReduceRow kernels;
    Given given;
};
constexpr std::array<Line, ATOLL_FN_COUNT> make_table() {
    std::array<Line, ATOLL_FN_COUNT> table{};
    table[ATOLL_FN_sum] = {reduce_row<SumOf, ATOLL_FN_sum>(), {}};
    table[ATOLL_FN_sum_abs] = {reduce_row<SumAbs, ATOLL_FN_sum_abs>(), {.moduli = true}};
    table[ATOLL_FN_prod] = {reduce_row<ProductOf, ATOLL_FN_prod>(), {}};
    table[ATOLL_FN_min] = {reduce_row<Extreme, ATOLL_FN_min>(), {}};
    table[ATOLL_FN_max] = {reduce_row<Extreme, ATOLL_FN_max>(), {.largest = true}};
    table[ATOLL_FN_min_abs] = {reduce_row<Extreme, ATOLL_FN_min_abs>(), {.moduli = true}};
    table[ATOLL_FN_max_abs] = {reduce_row<Extreme, ATOLL_FN_max_abs>(),
                               {.moduli = true, .largest = true}};
    table[ATOLL_FN_any] = {reduce_row<Holds, ATOLL_FN_any>(), {.wanted = is_nonzero}};
    table[ATOLL_FN_all] = {reduce_row<Holds, ATOLL_FN_all>(),
                           {.inverted = true, .wanted = is_zero}};
    table[ATOLL_FN_all_finite] = {reduce_row<Holds, ATOLL_FN_all_finite>(),
                                  {.inverted = true, .wanted = is_infinite | is_nan}};
    table[ATOLL_FN_any_inf] = {reduce_row<Holds, ATOLL_FN_any_inf>(), {.wanted = is_infinite}};
    table[ATOLL_FN_any_nan] = {reduce_row<Holds, ATOLL_FN_any_nan>(), {.wanted = is_nan}};
    table[ATOLL_FN_count_nonzero] = {counts, {}};
    return table;
}
constexpr auto table = make_table();

} // namespace

void reduce(State &state, atoll_call &call) {
    const Target target(state, call);
    const Line &line = table[call.function];
    Given given = line.given;
    given.skip_nan = call.attribute_count > 0 && sdk::flag(call, 0);
    reduce(target, call, given, *line.kernels[call.dtype]);
    target.enqueued();
}

} // namespace Atoll::cuda
