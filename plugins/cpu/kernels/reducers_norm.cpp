// Reducers that compute in double whatever the elements are: norms, var and stddev; and nan_mean,
// which counts beside its sum.
#include "reducer_loops.h"

namespace Atoll::kernels {
namespace {

using Doubles = Lanes<double>::Vector;
using Sums = Doubles[vectors];

// The sums of the even and of the odd lanes.
Complex<double> even_and_odd(Sums &sums) {
    join_groups(sums, [](Doubles a, Doubles b) { return a + b; });
    double t[8];
    std::memcpy(t, sums, sizeof t);
    return {(t[0] + t[2]) + (t[4] + t[6]), (t[1] + t[3]) + (t[5] + t[7])};
}
double total(Sums &sums) {
    const Complex<double> parts = even_and_odd(sums);
    return parts.re + parts.im;
}

// each_vector of parts as doubles: groups are of eight parts.
template <class P, class Each> std::int64_t in_doubles(std::int64_t n, const P *x, Each &&each) {
    constexpr std::int64_t step = Lanes<double>::in_vector, width = Lanes<double>::count;
    typedef P Few __attribute__((vector_size(step * sizeof(P))));
    std::int64_t k = 0;
    for (; k + chains * width <= n; k += chains * width) {
        ATOLL_UNROLL
        for (int c = 0; c < vectors; ++c)
            each(__builtin_convertvector(load_lanes<Few>(x + k + c * step), Doubles), c);
    }
    return k;
}

template <class T> Complex<double> widen(T x) {
    if constexpr (is_complex<T>)
        return {x.re, x.im};
    else
        return {x, 0};
}
template <class T> double modulus_of(T x) {
    if constexpr (is_complex<T>)
        return modulus(widen(x));
    else
        return std::fabs(static_cast<double>(x));
}

// ---- norm_two: a sum of squares; a float's square cannot leave double's range ----

template <class T, bool SkipNan> struct Squares {
    using Loops = PlainLoops<Squares, double, T>;
    static double start() { return 0; }
    static double combine(double a, double b, const Given &) { return a + b; }
    static double take(double a, T x, const Given &given) {
        const Complex<double> z = widen(x);
        const double re = given.scale * z.re, im = given.scale * z.im;
        const double square = is_complex<T> ? re * re + im * im : re * re;
        return SkipNan && is_nan(x) ? a : a + square;
    }
    static double result(double a, const Given &given) { return std::sqrt(a) / given.scale; }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        double &a = *reinterpret_cast<double *>(accumulator);
        const T *x = elements_of<T>(in);
        if constexpr (SkipNan && is_complex<T>) {
            Loops::take_all(n, x, given, a);
        } else {
            using P = Part<T>;
            const P *p = elements_of<P>(in);
            constexpr std::int64_t per = sizeof(T) / sizeof(P);
            Sums sums = {};
            const double scale = given.scale;
            const std::int64_t used = in_doubles(n * per, p, [&](Doubles v, int c) {
                v *= scale;
                v *= v;
                sums[c] += SkipNan ? (v == v ? v : Doubles{}) : v;
            });
            for (std::int64_t k = used / per; k < n; ++k) a = take(a, x[k], given);
            a += total(sums);
        }
    }
    // Squares of doubles leave the range from 2^±512 on; a power of two brings them back exactly.
    static double rescale(const char *accumulator) {
        const double squares = load<double>(accumulator);
        if (squares > std::numeric_limits<double>::max()) return 0x1p-600;
        return squares < 0x1p-900 ? 0x1p600 : 1.0;
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = true;
        if constexpr (sizeof(Part<T>) == 8) r.rescale = &rescale;
        return r;
    }
};

// ---- norm, x = 1: a sum of moduli ----

template <class T, bool SkipNan> struct Moduli {
    using Loops = PlainLoops<Moduli, double, T>;
    static double start() { return 0; }
    static double combine(double a, double b, const Given &) { return a + b; }
    static double take(double a, T x, const Given &) {
        return SkipNan && is_nan(x) ? a : a + modulus_of(x);
    }
    static double result(double a, const Given &) { return a; }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        double &a = *reinterpret_cast<double *>(accumulator);
        const T *x = elements_of<T>(in);
        std::int64_t k = 0;
        if constexpr (!is_complex<T>) {
            Sums sums = {};
            k = in_doubles(n, x, [&](Doubles v, int c) {
                v = abs_lanes(v);
                sums[c] += SkipNan ? (v == v ? v : Doubles{}) : v;
            });
            a += total(sums);
        } else {
            // The moduli of a few elements at a time; their sum as that of reals.
            double moduli[128];
            while (k < n) {
                const std::int64_t count = std::min<std::int64_t>(n - k, std::size(moduli));
                for (std::int64_t i = 0; i < count; ++i) moduli[i] = take(0, x[k + i], given);
                Moduli<double, false>::block(count, reinterpret_cast<const char *>(moduli), given,
                                             accumulator);
                k += count;
            }
        }
        Loops::take_all(n - k, x + k, given, a);
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = true;
        return r;
    }
};

// ---- norm, any other x ----

// sum + rest is of (|a| / top)^x, where top is the power of two at the largest finite modulus so
// far: no power leaves the range before the norm does. rest is what rounding took from sum: where x
// is below 1, the root multiplies errors.
struct Powers {
    double top, sum, rest;

    // Knuth's sum of two numbers and its error; what is infinite or NaN has none.
    void add(double power) {
        const double both = sum + power, part = both - sum;
        const double error = (sum - (both - part)) + (power - part);
        if (std::fabs(both) <= std::numeric_limits<double>::max()) rest += error;
        sum = both;
    }
};

double power(double base, double x) {
    if (x > 0 && x <= 16 && x == std::floor(x)) {
        double result = 1;
        for (int rest = static_cast<int>(x); rest; rest >>= 1, base *= base)
            if (rest & 1) result *= base;
        return result;
    }
    return std::pow(base, x);
}
// The sum under another top.
void rescale(Powers &a, double top, double x) {
    if (a.top == top) return;
    // What is infinite or NaN stays, also where the power is 0.
    if (a.top != 0 && a.sum <= std::numeric_limits<double>::max()) {
        const double ratio = power(a.top / top, x);
        a.sum *= ratio;
        a.rest *= ratio;
    }
    a.top = top;
}
double power_of_two_at(double modulus) {
    int exponent;
    std::frexp(modulus, &exponent);
    return std::ldexp(1.0, exponent - 1);
}

template <class T, bool SkipNan> struct AnyNorm {
    using Loops = PlainLoops<AnyNorm, Powers, T>;
    static Powers start() { return {0, 0, 0}; }
    static Powers combine(Powers a, Powers b, const Given &given) {
        if (a.top < b.top) std::swap(a, b);
        // Without a top there are no powers but those of zeros, infinities and NaN.
        rescale(b, a.top, given.x);
        a.add(b.sum);
        a.rest += b.rest;
        return a;
    }
    static Powers take(Powers a, T x, const Given &given) {
        if (SkipNan && is_nan(x)) return a;
        const double size = modulus_of(x);
        if (size > 0 && size <= std::numeric_limits<double>::max()) {
            if (size >= 2 * a.top || a.top == 0) rescale(a, power_of_two_at(size), given.x);
            a.add(power(size / a.top, given.x));
        } else {
            a.add(power(size, given.x));
        }
        return a;
    }
    static double result(Powers a, const Given &given) {
        const double root = std::pow(a.sum + a.rest, 1 / given.x);
        return a.top == 0 ? root : a.top * root;
    }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        Powers &a = *reinterpret_cast<Powers *>(accumulator);
        Loops::take_all(n, elements_of<T>(in), given, a);
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = true;
        return r;
    }
};

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

// ---- nan_mean ----

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
    static constexpr Reducer reducer() {
        Reducer r = Loops::plain();
        r.pairwise = true;
        return r;
    }
};

template <class T> using MakeNorm2 = Squares<T, false>;
template <class T> using MakeNanNorm2 = Squares<T, true>;
template <class T> using MakeNorm1 = Moduli<T, false>;
template <class T> using MakeNanNorm1 = Moduli<T, true>;
template <class T> using MakeNorm = AnyNorm<T, false>;
template <class T> using MakeNanNorm = AnyNorm<T, true>;
template <class T> using MakeVariance = Variance<T, false>;
template <class T> using MakeDeviation = Variance<T, true>;

} // namespace

namespace reducers {
constinit const ReducerRow norm_two = reducer_row<ATOLL_FN_norm, MakeNorm2>();
constinit const ReducerRow norm = reducer_row<ATOLL_FN_norm, MakeNorm>();
constinit const ReducerRow nan_norm = reducer_row<ATOLL_FN_norm, MakeNanNorm>();
constinit const ReducerRow norm_one = reducer_row<ATOLL_FN_norm, MakeNorm1>();
constinit const ReducerRow nan_norm_one = reducer_row<ATOLL_FN_norm, MakeNanNorm1>();
constinit const ReducerRow nan_norm_two = reducer_row<ATOLL_FN_norm, MakeNanNorm2>();
constinit const ReducerRow var = reducer_row<ATOLL_FN_var, MakeVariance>();
constinit const ReducerRow stddev = reducer_row<ATOLL_FN_stddev, MakeDeviation>();
constinit const ReducerRow nan_mean = reducer_row<ATOLL_FN_mean, NanMean>();
} // namespace reducers

} // namespace Atoll::kernels
