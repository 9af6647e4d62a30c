// What reductions share: sums that keep the digits that they lose, moduli, and the row of a table.
#pragma once

#include "functors/functors.h"
#include "reduce.cuh"

namespace Atoll::cuda {

// The value of an element for reductions: bool counts and compares as 0 and 1.
template <class V> __host__ __device__ inline auto plain(V value) {
    if constexpr (kernels::is_bool<V>)
        return static_cast<std::uint8_t>(value);
    else
        return value;
}
template <class V> __host__ __device__ inline auto modulus(V value) {
    if constexpr (kernels::is_bool<V>)
        return plain(value);
    else
        return kernels::functor::abs::apply(value);
}

// A sum and what rounding has taken from it, so that the result is good to the last place however
// many elements there are.
template <class P> struct Exact {
    P high = 0, low = 0;
    __host__ __device__ void add(P x) {
        const P sum = high + x, part = sum - high;
        low += (high - (sum - part)) + (x - part);
        high = sum;
    }
    __host__ __device__ void add(Exact other) {
        add(other.high);
        low += other.low;
    }
    // What rounding took from an infinite sum is not a number.
    __host__ __device__ P value() const { return low - low == 0 ? high + low : high; }
};

// The sum of values of type V.
template <class V> struct Sum {
    V total = 0;
    __host__ __device__ void add(V x) { total = kernels::functor::add::apply(total, x); }
    __host__ __device__ void add(Sum other) { add(other.total); }
    __host__ __device__ V value() const { return total; }
};
template <> struct Sum<float> : Exact<float> {};
template <> struct Sum<double> : Exact<double> {};
template <class P> struct Sum<Complex<P>> {
    Sum<P> re, im;
    __host__ __device__ void add(Complex<P> x) { re.add(x.re), im.add(x.im); }
    __host__ __device__ void add(Sum other) { re.add(other.re), im.add(other.im); }
    __host__ __device__ Complex<P> value() const { return {re.value(), im.value()}; }
};

// What most reductions do not need.
struct NothingLocal {
    __device__ static const Given &local(const Given &given, std::int64_t) { return given; }
};

// A function's row: Op<V> for the dtypes of its domain.
template <template <class> class Op, std::uint32_t dtype>
void reduce_call(const Target &target, const atoll_call &call, const Given &given) {
    using S = Stored<dtype>;
    reduce<Op<Value<S>>, S>(target, call, given);
}
using ReduceLauncher = void (*)(const Target &, const atoll_call &, const Given &);
using ReduceRow = std::array<ReduceLauncher, ATOLL_DTYPE_COUNT>;

template <template <class> class Op, std::uint16_t function> constexpr ReduceRow reduce_row() {
    ReduceRow row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (is_compiled(function, id)) row[id] = &reduce_call<Op, id>;
#include "atoll/lists/dtypes.inc"
    return row;
}

} // namespace Atoll::cuda
