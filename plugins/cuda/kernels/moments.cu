// mean, var, stddev and norm.
#include "kernels.hpp"
#include "reducers.cuh"

#include <cmath>
#include <limits>

namespace Atoll::cuda {
namespace {

template <class V> struct MeanOf : NothingLocal {
    struct A {
        Sum<V> sum;
        std::int64_t count;
    };
    __device__ static A start(const Given &) { return {}; }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (given.skip_nan && is_nan_value(x)) return a;
        a.sum.add(x);
        ++a.count;
        return a;
    }
    __device__ static A join(A a, A b, const Given &) {
        a.sum.add(b.sum);
        a.count += b.count;
        return a;
    }
    __host__ __device__ static V result(A a, const Given &) {
        const auto sum = a.sum.value();
        // One rounding for floats: sum and quotient in double are as good as exact.
        const double n = static_cast<double>(a.count);
        if constexpr (kernels::is_complex<V>)
            return {static_cast<kernels::Part<V>>(sum.re / n),
                    static_cast<kernels::Part<V>>(sum.im / n)};
        else
            return static_cast<V>(sum / n);
    }
};

// Note [Two passes]
// The first makes the means, which are rounded; the second sums squares of what the elements are
// off by, and that itself, whose square corrects for the rounding.
template <class V> struct Spread {
    struct Deviation {
        Complex<double> mean;
    };
    struct A {
        Sum<double> squares;
        Sum<double> re, im;
    };
    __device__ static Deviation local(const Given &given, std::int64_t result) {
        const V mean = MeanOf<V>::result(
            static_cast<const typename MeanOf<V>::A *>(given.before)[result], given);
        if constexpr (kernels::is_complex<V>)
            return {{mean.re, mean.im}};
        else
            return {{mean, 0}};
    }
    __device__ static A start(const Given &) { return {}; }
    __device__ static A take(A a, V x, const Deviation &from, std::int64_t) {
        const auto part = [&](double value, double mean, Sum<double> &sum) {
            const double off = value - mean;
            a.squares.add(off * off);
            sum.add(off);
        };
        if constexpr (kernels::is_complex<V>) {
            part(x.re, from.mean.re, a.re);
            part(x.im, from.mean.im, a.im);
        } else {
            part(x, from.mean.re, a.re);
        }
        return a;
    }
    __device__ static A join(A a, A b, const Given &) {
        a.squares.add(b.squares);
        a.re.add(b.re);
        a.im.add(b.im);
        return a;
    }
    __device__ static double result(A a, const Given &given) {
        const double n = static_cast<double>(given.count), re = a.re.value(), im = a.im.value();
        if (n <= given.number) return std::numeric_limits<double>::quiet_NaN();
        const double var = (a.squares.value() - (re * re + im * im) / n) / (n - given.number);
        const double positive = var < 0 ? 0 : var; // NaN stays
        return given.root ? std::sqrt(positive) : positive;
    }
};

constexpr ReduceRow means = reduce_row<MeanOf, ATOLL_FN_mean>();
constexpr ReduceRow spreads = reduce_row<Spread, ATOLL_FN_var>();
static_assert(compiled_dtypes(ATOLL_FN_var) == compiled_dtypes(ATOLL_FN_mean) &&
              compiled_dtypes(ATOLL_FN_var) == compiled_dtypes(ATOLL_FN_stddev));

std::uint64_t result_count(const atoll_call &call) {
    std::uint64_t results = 1;
    for (std::uint32_t axis = call.core; axis < call.rank; ++axis)
        results *= static_cast<std::uint64_t>(call.shape[axis]);
    return results;
}

void spread(const Target &target, const atoll_call &call) {
    const ReductionKernels &mean = *means[call.dtype];
    const Temporary before(target, result_count(call) * mean.accumulator_bytes);
    Given given;
    given.number = call.attributes[0].value.f64[0];
    given.root = call.function == ATOLL_FN_stddev;
    reduce(target, call, given, mean, before.data());
    given.before = before.data();
    reduce(target, call, given, *spreads[call.dtype]);
}

// ---- Norms, in double whatever the elements are ----

template <class V> __device__ double modulus_of(V x) {
    if constexpr (kernels::is_complex<V>)
        return modulus(Complex<double>{x.re, x.im});
    else
        return std::fabs(static_cast<double>(x));
}

// The largest modulus, 0 without any; NaN wins or is passed over.
template <class V> struct LargestOf : NothingLocal {
    using A = double;
    __device__ static A start(const Given &) { return 0; }
    __device__ static A join(A a, A b, const Given &) { return a > b || a != a ? a : b; }
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        return given.skip_nan && is_nan_value(x) ? a : join(a, modulus_of(x), given);
    }
    __device__ static double result(A a, const Given &) { return a; }
};
// The sum of moduli.
template <class V> struct TaxicabOf : NothingLocal, AddsUp<Sum<double>> {
    using A = Sum<double>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (!(given.skip_nan && is_nan_value(x))) a.add(modulus_of(x));
        return a;
    }
};
// Moduli in units of the largest one, so that no power leaves the range.
template <class V> struct PowersOf : AddsUp<Sum<double>> {
    using A = Sum<double>;
    struct Scale {
        double largest, p;
        bool skip_nan;
    };
    __device__ static Scale local(const Given &given, std::int64_t result) {
        return {static_cast<const double *>(given.before)[result], given.number, given.skip_nan};
    }
    __device__ static A take(A a, V x, const Scale &scale, std::int64_t) {
        if (scale.skip_nan && is_nan_value(x)) return a;
        const double size = modulus_of(x);
        // A largest modulus of 0, infinity or NaN is the norm.
        if (size == 0 || !(scale.largest <= std::numeric_limits<double>::max())) return a;
        const double ratio = size / scale.largest;
        a.add(scale.p == 2 ? ratio * ratio : std::pow(ratio, scale.p));
        return a;
    }
};

struct NormWork {
    Space<1> space;
    Access access;
    const double *largest;
    const Sum<double> *sums;
    double p;
    std::int64_t first;
    std::uint8_t result_dtype;
    __device__ void operator()(std::uint32_t i) const {
        char *at[1];
        space.locate(i, at);
        const double size = largest[first + i], sum = sums[first + i].value();
        const bool plain = size > 0 && size <= std::numeric_limits<double>::max();
        const double root = p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
        Number number = number_of(plain ? size * root : size);
        if (access.dtype != result_dtype) number = rounded_to(result_dtype, number);
        store(at[0], access, number);
    }
};

static_assert((compiled_dtypes(ATOLL_FN_norm) & ~compiled_dtypes(ATOLL_FN_count_nonzero)) == 0);
constexpr ReduceRow taxicabs = reduce_row<TaxicabOf, ATOLL_FN_norm>();
constexpr ReduceRow maxima = reduce_row<LargestOf, ATOLL_FN_norm>();
constexpr ReduceRow powers = reduce_row<PowersOf, ATOLL_FN_norm>();

void norm(const Target &target, const atoll_call &call) {
    Given given;
    given.number = call.attributes[0].value.f64[0];
    given.skip_nan = sdk::flag(call, 1);
    if (given.number == 0) return reduce(target, call, given, *counts[call.dtype]);
    if (given.number == 1) return reduce(target, call, given, *taxicabs[call.dtype]);
    if (std::isinf(given.number)) return reduce(target, call, given, *maxima[call.dtype]);
    const std::uint64_t results = result_count(call);
    const Temporary largest(target, results * sizeof(double));
    const Temporary sums(target, results * sizeof(Sum<double>));
    reduce(target, call, given, *maxima[call.dtype], largest.data());
    given.before = largest.data();
    reduce(target, call, given, *powers[call.dtype], sums.data());
    NormWork work{
        {},
        access_of(call.rank, call.operands[0]),
        reinterpret_cast<const double *>(largest.data()),
        reinterpret_cast<const Sum<double> *>(sums.data()),
        given.number,
        0,
        static_cast<std::uint8_t>(sdk::core_functions[call.function].result_dtype(call.dtype))};
    atoll_operand out = call.operands[0];
    out.strides += call.core;
    for_each_space(extents_of<1>(call.rank - call.core, call.shape + call.core, &out),
                   [&](const Space<1> &space) {
                       work.space = space;
                       enqueue(target, work);
                       work.first += space.count;
                   });
}

} // namespace

void moments(State &state, atoll_call &call) {
    const Target target(state, call);
    switch (call.function) {
    case ATOLL_FN_mean: {
        Given given;
        given.skip_nan = sdk::flag(call, 0);
        reduce(target, call, given, *means[call.dtype]);
        break;
    }
    case ATOLL_FN_norm: norm(target, call); break;
    default: spread(target, call);
    }
    target.enqueued();
}

} // namespace Atoll::cuda
