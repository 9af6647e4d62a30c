// Reducers that count the elements they take in: var and stddev, in double whatever the elements
// are, and mean with skip_nan.
#include "reducers_double.h"

namespace Atoll::kernels {
namespace {

// ---- var, stddev ----

// A run's number of elements, its mean, and the sum of |a - mean|^2. Every run of a few thousand
// elements is read twice while it is in the cache, first for the mean; the runs then join as in
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
struct Spread {
    double count, squares, re, im;
};

// n accumulators are four arrays of n numbers, so that rows vectorise.
struct Spreads {
    Spreads(std::int64_t n, char *accumulators)
        : count(reinterpret_cast<double *>(accumulators)), squares(count + n), re(squares + n),
          im(re + n) {}
    Spread get(std::int64_t k) const { return {count[k], squares[k], re[k], im[k]}; }
    void set(std::int64_t k, Spread a) const {
        count[k] = a.count;
        squares[k] = a.squares;
        re[k] = a.re;
        im[k] = a.im;
    }
    double *count, *squares, *re, *im;
};

template <class T, bool Root> struct Variance {
    using P = Part<T>;
    static constexpr std::int64_t per = sizeof(T) / sizeof(P);

    static void identity(std::int64_t n, char *accumulators) {
        std::memset(accumulators, 0, static_cast<std::size_t>(n) * sizeof(Spread));
    }
    static Spread join(Spread a, Spread b) {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        const double count = a.count + b.count, share = b.count / count;
        const double re = b.re - a.re, im = b.im - a.im;
        const double distance = is_complex<T> ? re * re + im * im : re * re;
        return {count, a.squares + b.squares + distance * (a.count * share), a.re + re * share,
                a.im + im * share};
    }
    static void merge(std::int64_t n, const char *from, const Given &, char *accumulators) {
        const Spreads a(n, accumulators), b(n, const_cast<char *>(from));
        for (std::int64_t k = 0; k < n; ++k) a.set(k, join(a.get(k), b.get(k)));
    }
    // First look: sums stand where the means come.
    static void rows(std::int64_t n, const char *in, const Given &, char *accumulators) {
        const Spreads a(n, accumulators);
        const P *x = elements_of<P>(in);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            a.count[k] += 1;
            a.re[k] += static_cast<double>(x[k * per]);
            if (is_complex<T>) a.im[k] += static_cast<double>(x[k * per + per - 1]);
        }
    }
    static void turn(std::int64_t n, char *accumulators) {
        const Spreads a(n, accumulators);
        for (std::int64_t k = 0; k < n; ++k) {
            a.re[k] /= a.count[k];
            a.im[k] /= a.count[k];
        }
    }
    static void rows_again(std::int64_t n, const char *in, const Given &, char *accumulators) {
        const Spreads a(n, accumulators);
        const P *x = elements_of<P>(in);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            const double re = static_cast<double>(x[k * per]) - a.re[k];
            const double im = static_cast<double>(x[k * per + per - 1]) - a.im[k];
            a.squares[k] += is_complex<T> ? re * re + im * im : re * re;
        }
    }
    static void block(std::int64_t n, const char *in, const Given &, char *accumulator) {
        const P *p = elements_of<P>(in);
        const T *x = elements_of<T>(in);
        Sums sums = {};
        const std::int64_t used =
            in_doubles(n * per, p, [&](Doubles v, int c) { sums[c] += v; }) / per;
        Complex<double> mean = even_and_odd(sums);
        if (!is_complex<T>) mean = {mean.re + mean.im, 0};
        for (std::int64_t k = used; k < n; ++k) {
            const Complex<double> z = widen(x[k]);
            mean.re += z.re;
            mean.im += z.im;
        }
        const double count = static_cast<double>(n);
        mean = {mean.re / count, mean.im / count};
        double means[8];
        for (int k = 0; k < 8; ++k) means[k] = is_complex<T> && k % 2 ? mean.im : mean.re;
        const Doubles middle = load_lanes<Doubles>(means);
        for (Doubles &sum : sums) sum = Doubles{};
        in_doubles(n * per, p, [&](Doubles v, int c) {
            v -= middle;
            sums[c] += v * v;
        });
        double squares = total(sums);
        for (std::int64_t k = used; k < n; ++k) {
            const Complex<double> z = widen(x[k]);
            const double re = z.re - mean.re, im = z.im - mean.im;
            squares += is_complex<T> ? re * re + im * im : re * re;
        }
        Spread &whole = *reinterpret_cast<Spread *>(accumulator);
        whole = join(whole, {count, squares, mean.re, mean.im});
    }
    static void finish(std::int64_t n, const char *accumulators, const Given &given, char *out) {
        const Spreads a(n, const_cast<char *>(accumulators));
        double *o = reinterpret_cast<double *>(out);
        for (std::int64_t k = 0; k < n; ++k) {
            const double count = a.count[k] - given.x;
            const double variance =
                count > 0 ? a.squares[k] / count : std::numeric_limits<double>::quiet_NaN();
            o[k] = Root ? std::sqrt(variance) : variance;
        }
    }
    static constexpr Reducer reducer() {
        Reducer r{};
        r.size = sizeof(Spread);
        r.out_size = sizeof(double);
        r.result = ATOLL_DTYPE_FLOAT64;
        r.pairwise = true;
        r.identity = &identity;
        r.block = &block;
        r.rows = &rows;
        r.merge = &merge;
        r.finish = &finish;
        r.turn = &turn;
        r.rows_again = &rows_again;
        return r;
    }
};

// ---- mean with skip_nan ----

template <class T> struct Counted {
    T sum;
    std::int64_t count;
};

template <class T> struct NanMean {
    using A = Counted<T>;
    using Loops = PlainLoops<NanMean, A, T>;
    static A start() { return {T{}, 0}; }
    static A combine(A a, A b, const Given &) {
        return {functor::add::apply(a.sum, b.sum), a.count + b.count};
    }
    static A take(A a, T x, const Given &) {
        if (is_nan(x)) return a;
        return {functor::add::apply(a.sum, x), a.count + 1};
    }
    static auto result(A a, const Given &) {
        const double n = static_cast<double>(a.count);
        if constexpr (is_complex<T>)
            return Complex<double>{a.sum.re / n, a.sum.im / n};
        else
            return static_cast<double>(a.sum) / n;
    }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        A &a = *reinterpret_cast<A *>(accumulator);
        // The sum and the number of elements, each by the reducer that does only that.
        const std::uint32_t dtype =
            sizeof(Part<T>) == 4 ? (is_complex<T> ? ATOLL_DTYPE_COMPLEX64 : ATOLL_DTYPE_FLOAT32)
                                 : (is_complex<T> ? ATOLL_DTYPE_COMPLEX128 : ATOLL_DTYPE_FLOAT64);
        reducers::nan_sum[dtype].block(n, in, given, reinterpret_cast<char *>(&a.sum));
        const T *x = elements_of<T>(in);
        std::int64_t count = 0;
        if constexpr (is_complex<T>) {
            for (std::int64_t k = 0; k < n; ++k) count += !is_nan(x[k]);
        } else {
            using V = typename Lanes<T>::Vector;
            std::remove_cvref_t<decltype(V{} == V{})> counts[vectors] = {};
            std::int64_t k = each_vector(n, x, [&](V v, int c) { counts[c] -= v == v; });
            for (const auto &lanes : counts)
                for (std::int64_t lane = 0; lane < Lanes<T>::in_vector; ++lane)
                    count += lanes[lane];
            for (; k < n; ++k) count += !is_nan(x[k]);
        }
        a.count += count;
    }
    static constexpr Reducer reducer() { return Loops::pairwise(); }
};

template <class T> using MakeVariance = Variance<T, false>;
template <class T> using MakeDeviation = Variance<T, true>;

} // namespace

namespace reducers {
constinit const ReducerRow var = reducer_row<ATOLL_FN_var, MakeVariance>();
constinit const ReducerRow stddev = reducer_row<ATOLL_FN_stddev, MakeDeviation>();
constinit const ReducerRow nan_mean = reducer_row<ATOLL_FN_mean, NanMean>();
} // namespace reducers

} // namespace Atoll::kernels
