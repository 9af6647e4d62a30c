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
        const V sum = a.sum.value();
        // One rounding for floats: the quotient in double is as good as exact.
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
template <class V, bool root> struct Spread {
    struct Deviation {
        Complex<double> mean;
    };
    struct A {
        Exact<double> squares;
        Exact<double> re, im;
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
        const auto part = [&](double value, double mean, Exact<double> &sum) {
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
        return root ? std::sqrt(positive) : positive;
    }
};
template <class V> using VarianceOf = Spread<V, false>;
template <class V> using DeviationOf = Spread<V, true>;

template <template <class> class Op, std::uint32_t dtype>
void spread_call(const Target &target, const atoll_call &call, const Given &base) {
    using S = Stored<dtype>;
    using Mean = MeanOf<Value<S>>;
    std::uint64_t results = 1;
    for (std::uint32_t axis = call.core; axis < call.rank; ++axis)
        results *= static_cast<std::uint64_t>(call.shape[axis]);
    Given given = base;
    const Temporary means(target, results * sizeof(typename Mean::A));
    given.number = call.attributes[0].value.f64[0];
    reduce<Mean, S>(target, call, given, reinterpret_cast<typename Mean::A *>(means.data()));
    given.before = means.data();
    reduce<Op<Value<S>>, S>(target, call, given);
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
template <class V> struct TaxicabOf : NothingLocal, AddsUp<Exact<double>> {
    using A = Exact<double>;
    __device__ static A take(A a, V x, const Given &given, std::int64_t) {
        if (!(given.skip_nan && is_nan_value(x))) a.add(modulus_of(x));
        return a;
    }
};
// Moduli in units of the largest one, so that no power leaves the range.
template <class V> struct PowersOf : AddsUp<Exact<double>> {
    using A = Exact<double>;
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
    const Exact<double> *sums;
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

template <std::uint32_t dtype>
void norm_call(const Target &target, const atoll_call &call, const Given &base) {
    using S = Stored<dtype>;
    using V = Value<S>;
    Given given = base;
    given.number = call.attributes[0].value.f64[0];
    given.skip_nan = sdk::flag(call, 1);
    if (given.number == 0) return reduce<CountOf<V>, S>(target, call, given);
    if (given.number == 1) return reduce<TaxicabOf<V>, S>(target, call, given);
    if (std::isinf(given.number)) return reduce<LargestOf<V>, S>(target, call, given);
    std::uint64_t results = 1;
    for (std::uint32_t axis = call.core; axis < call.rank; ++axis)
        results *= static_cast<std::uint64_t>(call.shape[axis]);
    const Temporary largest(target, results * sizeof(double));
    const Temporary sums(target, results * sizeof(Exact<double>));
    reduce<LargestOf<V>, S>(target, call, given, reinterpret_cast<double *>(largest.data()));
    given.before = largest.data();
    reduce<PowersOf<V>, S>(target, call, given, reinterpret_cast<Exact<double> *>(sums.data()));
    NormWork work{
        {},
        access_of(call.rank, call.operands[0]),
        reinterpret_cast<const double *>(largest.data()),
        reinterpret_cast<const Exact<double> *>(sums.data()),
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

constexpr std::array<ReduceRow, 4> make_table() {
    std::array<ReduceRow, 4> table{};
    table[0] = reduce_row<MeanOf, ATOLL_FN_mean>();
    table[1] = launchers_of<ATOLL_FN_var, ReduceLauncher>(
        [](auto dtype) { return &spread_call<VarianceOf, dtype()>; });
    table[2] = launchers_of<ATOLL_FN_stddev, ReduceLauncher>(
        [](auto dtype) { return &spread_call<DeviationOf, dtype()>; });
    table[3] =
        launchers_of<ATOLL_FN_norm, ReduceLauncher>([](auto dtype) { return &norm_call<dtype()>; });
    return table;
}
constexpr auto table = make_table();
static_assert(ATOLL_FN_var == ATOLL_FN_mean + 4);

} // namespace

void moments(State &state, atoll_call &call) {
    const Target target(state, call);
    Given given;
    int row = 0;
    switch (call.function) {
    case ATOLL_FN_mean: given.skip_nan = sdk::flag(call, 0); break;
    case ATOLL_FN_var: row = 1; break;
    case ATOLL_FN_stddev: row = 2; break;
    default: row = 3;
    }
    table[static_cast<std::size_t>(row)][call.dtype](target, call, given);
    target.enqueued();
}

} // namespace Atoll::cuda
