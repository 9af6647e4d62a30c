// Reductions that fold elements with one operation, or test them.
#include "kernels.hpp"
#include "reducers.cuh"

#include <limits>

namespace Atoll::cuda {
namespace {

// ---- Sums and products ----

template <class V> struct SumOf : NothingLocal, AddsUp<Sum<V>> {
    using A = Sum<V>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (!(given.skip_nan && is_nan_value(x))) a.add(x);
        return a;
    }
};

template <class V> struct SumOfModuli : NothingLocal,
                                        AddsUp<Sum<decltype(modulus(std::declval<V>()))>> {
    using A = Sum<decltype(modulus(std::declval<V>()))>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (!(given.skip_nan && is_nan_value(x))) a.add(modulus(x));
        return a;
    }
};

template <class V> struct ProductOf : NothingLocal {
    using A = V;
    __device__ static A start(const Given &) {
        if constexpr (kernels::is_complex<V>)
            return {1, 0};
        else
            return V(1);
    }
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
template <class V, bool largest, bool of_moduli> struct Extreme : NothingLocal {
    __host__ __device__ static auto key(V x) {
        if constexpr (of_moduli)
            return modulus(x);
        else
            return plain(x);
    }
    using A = decltype(key(V{}));
    __device__ static A start(const Given &given) {
        if constexpr (kernels::is_float<A>)
            if (given.skip_nan) return std::numeric_limits<A>::quiet_NaN();
        return extreme<A>(!largest);
    }
    __device__ static A join(A a, A b, const Given &given) {
        const bool first = largest ? a > b : a < b;
        return first || (given.skip_nan ? b != b : a != a) ? a : b;
    }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        return join(a, key(x), given);
    }
    __device__ static A result(A a, const Given &) { return a; }
};
template <class V> using Smallest = Extreme<V, false, false>;
template <class V> using Largest = Extreme<V, true, false>;
template <class V> using SmallestModulus = Extreme<V, false, true>;
template <class V> using LargestModulus = Extreme<V, true, true>;

// ---- Tests ----

// Whether Test holds for any element, or for all of them.
template <class V, class Test, bool all> struct Holds : NothingLocal {
    using A = std::uint32_t;
    __device__ static A start(const Given &) { return all; }
    __device__ static A join(A a, A b, const Given &) { return all ? a & b : a | b; }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        return join(a, kernels::truth(Test::apply(x)), given);
    }
    __device__ static Bool result(A a, const Given &) { return Bool(a); }
};
struct IsNonzero {
    template <class V> __host__ __device__ static Bool apply(V x) {
        return Bool(kernels::truth(x));
    }
};
template <class V> using Any = Holds<V, IsNonzero, false>;
template <class V> using All = Holds<V, IsNonzero, true>;
template <class V> using AllFinite = Holds<V, kernels::functor::isfinite, true>;
template <class V> using AnyInf = Holds<V, kernels::functor::isinf, false>;
template <class V> using AnyNan = Holds<V, kernels::functor::isnan, false>;

constexpr std::array<ReduceRow, ATOLL_FN_COUNT> make_table() {
    std::array<ReduceRow, ATOLL_FN_COUNT> table{};
    table[ATOLL_FN_sum] = reduce_row<SumOf, ATOLL_FN_sum>();
    table[ATOLL_FN_prod] = reduce_row<ProductOf, ATOLL_FN_prod>();
    table[ATOLL_FN_sum_abs] = reduce_row<SumOfModuli, ATOLL_FN_sum_abs>();
    table[ATOLL_FN_min] = reduce_row<Smallest, ATOLL_FN_min>();
    table[ATOLL_FN_max] = reduce_row<Largest, ATOLL_FN_max>();
    table[ATOLL_FN_min_abs] = reduce_row<SmallestModulus, ATOLL_FN_min_abs>();
    table[ATOLL_FN_max_abs] = reduce_row<LargestModulus, ATOLL_FN_max_abs>();
    table[ATOLL_FN_any] = reduce_row<Any, ATOLL_FN_any>();
    table[ATOLL_FN_all] = reduce_row<All, ATOLL_FN_all>();
    table[ATOLL_FN_all_finite] = reduce_row<AllFinite, ATOLL_FN_all_finite>();
    table[ATOLL_FN_any_inf] = reduce_row<AnyInf, ATOLL_FN_any_inf>();
    table[ATOLL_FN_any_nan] = reduce_row<AnyNan, ATOLL_FN_any_nan>();
    table[ATOLL_FN_count_nonzero] = reduce_row<CountOf, ATOLL_FN_count_nonzero>();
    return table;
}
constexpr auto table = make_table();

} // namespace

void reduce(State &state, atoll_call &call) {
    const Target target(state, call);
    Given given;
    given.skip_nan = call.attribute_count > 0 && sdk::flag(call, 0);
    table[call.function][call.dtype](target, call, given);
    target.enqueued();
}

} // namespace Atoll::cuda
