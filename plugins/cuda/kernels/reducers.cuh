// What reductions share: sums that keep the digits that they lose, moduli, and the row of a table.
#pragma once

#include "functors/functors.h"
#include "reduce.cuh"

#include <utility>

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

// A key whose order is the opposite one; the same again leads back. NaN stays NaN.
template <class K> __host__ __device__ inline K opposite(K key) {
    if constexpr (std::is_integral_v<K>)
        return static_cast<K>(~key);
    else if constexpr (sizeof(K) == 4)
        return bits_as<K>(bits_as<std::uint32_t>(key) ^ 0x80000000u);
    else
        return bits_as<K>(bits_as<std::uint64_t>(key) ^ 0x8000000000000000u);
}

// The sum of values of type V. Its error is that of rounding the result, and, of floats, some 2^-53
// of the sum of moduli for each element.
template <class V> struct Sum {
    V total = 0;
    __host__ __device__ void add(V x) { total = kernels::functor::add::apply(total, x); }
    __host__ __device__ void add(Sum other) { add(other.total); }
    __host__ __device__ V value() const { return total; }
};
template <> struct Sum<float> {
    // Takes fewer instructions than a compensated sum, though GPUs with few units for float64 are
    // slower at float16 with it.
    double total = 0;
    __host__ __device__ void add(float x) { total += static_cast<double>(x); }
    __host__ __device__ void add(Sum other) { total += other.total; }
    __host__ __device__ double value() const { return total; }
};
// No type is wider: rounding errors are kept in a second number.
template <> struct Sum<double> {
    double high = 0, low = 0;
    __host__ __device__ void add(double x) {
        const double sum = high + x, part = sum - high;
        low += (high - (sum - part)) + (x - part);
        high = sum;
    }
    __host__ __device__ void add(Sum other) {
        add(other.high);
        low += other.low;
    }
    // What rounding took from an infinite sum is not a number; from -0 it took 0.
    __host__ __device__ double value() const {
        return low != 0 && low - low == 0 ? high + low : high;
    }
};
template <class P> struct Sum<Complex<P>> {
    Sum<P> re, im;
    __host__ __device__ void add(Complex<P> x) { re.add(x.re), im.add(x.im); }
    __host__ __device__ void add(Sum other) { re.add(other.re), im.add(other.im); }
    __host__ __device__ Complex<double> value() const { return {re.value(), im.value()}; }
};

// A reduction whose accumulator is a sum.
template <class A> struct AddsUp {
    __device__ static A start(const Given &) { return {}; }
    __device__ static A join(A a, A b, const Given &) {
        a.add(b);
        return a;
    }
    __device__ static decltype(std::declval<A>().value()) result(A a, const Given &) {
        return a.value();
    }
};

// How many elements are not zero.
template <class V> struct CountOf : NothingLocal {
    using A = std::int64_t;
    __device__ static A start(const Given &) { return 0; }
    __device__ static A join(A a, A b, const Given &) { return a + b; }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        return a + (kernels::truth(x) && !(given.skip_nan && is_nan_value(x)));
    }
    __device__ static A result(A a, const Given &) { return a; }
};

// A function's row: Op<V> for the dtypes of its domain.
using ReduceRow = LauncherRow<const ReductionKernels *>;

template <template <class> class Op, std::uint16_t function> constexpr ReduceRow reduce_row() {
    return launchers_of<function, const ReductionKernels *>([](auto dtype) {
        using S = Stored<dtype()>;
        return &reduction_kernels<Op<Value<S>>, S>;
    });
}

// Of count_nonzero, which is a norm as well.
extern const ReduceRow counts;

} // namespace Atoll::cuda
