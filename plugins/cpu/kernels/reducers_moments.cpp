// Reducers that count the elements they take in: var and stddev, in double whatever the elements
// are, and mean with skip_nan.
#include "reducers_double.h"

namespace Atoll::kernels {
namespace {

// ---- var, stddev ----

// A run's number of elements, its mean, and the sum of |a - mean|^2; runs join as in Chan, Golub
// and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
//
// The mean of a run is guessed from some of its elements. The sums of a - guess and of its square
// then give the mean and the squares about it, and next to nothing cancels if the guess is near the
// mean as deviations go; where it is not, the run is read again with the mean just found. So most
// runs are read once, and a mean of any number of deviations costs no digits. It is kept as re +
// re_low: rounded to one number it would be off by too much of a deviation when runs are joined.
//
// The squares of elements of few values are rounded alike, so that the errors of their sum add up.
// Hence that, too, is kept as squares + squares_low, except for float32.
struct Spread {
    double count, squares, re, im, re_low, im_low, squares_low;
};
static_assert(sizeof(Spread) == largest_accumulator);

// A number or a vector of them as the sum of its rounding and the rest. The rest of NaN and
// infinities is NaN.
template <class V> struct Split { V high, low; };
template <class V> Split<V> sum_of(V a, V b) { // Knuth's TwoSum
    const V high = a + b, from_b = high - a;
    return {high, (a - (high - from_b)) + (b - from_b)};
}
template <class V> Split<V> sum_of(Split<V> a, V b) {
    const Split<V> sum = sum_of(a.high, b);
    return {sum.high, a.low + sum.low};
}
template <class V> Split<V> sum_of(Split<V> a, Split<V> b) {
    const Split<V> sum = sum_of(a, b.high);
    return {sum.high, sum.low + b.low};
}

// n accumulators are seven arrays of n numbers, so that rows vectorise; those of imaginary parts
// stay zero for real elements.
template <class T> struct Spreads {
    Spreads(std::int64_t n, char *accumulators)
        : count(reinterpret_cast<double *>(accumulators)), squares(count + n),
          squares_low(squares + n), re(squares_low + n), re_low(re + n), im(re_low + n),
          im_low(im + n) {}
    Spread get(std::int64_t k) const {
        Spread a = {count[k], squares[k], re[k], 0, re_low[k], 0, squares_low[k]};
        if constexpr (is_complex<T>) {
            a.im = im[k];
            a.im_low = im_low[k];
        }
        return a;
    }
    void set(std::int64_t k, Spread a) const {
        count[k] = a.count;
        squares[k] = a.squares;
        re[k] = a.re;
        re_low[k] = a.re_low;
        squares_low[k] = a.squares_low;
        if constexpr (is_complex<T>) {
            im[k] = a.im;
            im_low[k] = a.im_low;
        }
    }
    double *count, *squares, *squares_low, *re, *re_low, *im, *im_low;
};

template <class T, bool Root> struct Variance {
    using P = Part<T>;
    static constexpr std::int64_t per = sizeof(T) / sizeof(P);
    static constexpr bool narrow = sizeof(P) < sizeof(double);
    static constexpr double largest = std::numeric_limits<double>::max();
    // Of numbers that are added up for a guess, so that no sum of fewer than 2^10 overflows.
    static constexpr double part = narrow ? 1 : 0x1p-10;

    static void identity(std::int64_t n, char *accumulators) {
        std::memset(accumulators, 0, static_cast<std::size_t>(n) * sizeof(Spread));
    }
    static Spread join(Spread a, Spread b) {
        const double count = a.count + b.count, share = b.count / count;
        const double re = (b.re - a.re) + (b.re_low - a.re_low);
        const Split mean_re = sum_of(a.re, a.re_low + re * share);
        Spread both = {count, 0, mean_re.high, 0, mean_re.low, 0, 0};
        double distance = re * re;
        if constexpr (is_complex<T>) {
            const double im = (b.im - a.im) + (b.im_low - a.im_low);
            const Split mean_im = sum_of(a.im, a.im_low + im * share);
            both.im = mean_im.high;
            both.im_low = mean_im.low;
            distance += im * im;
        }
        const Split<double> squares =
            sum_of(sum_of(squares_of(a), squares_of(b)), distance * (a.count * share));
        both.squares = squares.high;
        both.squares_low = squares.low;
        // Those of no elements last, so that there is no branch.
        return b.count == 0 ? a : a.count == 0 ? b : both;
    }
    static void merge(std::int64_t n, const char *from, const Given &, char *accumulators) {
        const Spreads<T> a(n, accumulators), b(n, const_cast<char *>(from));
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) a.set(k, join(a.get(k), b.get(k)));
    }
    // First look: sums stand where the guesses come.
    template <int taken>
    static void add_rows(std::int64_t n, const char *const *in, const Given &, char *accumulators) {
        const Spreads<T> a(n, accumulators);
        const auto x = parts_of_rows<taken>(in);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            double re = a.re[k], im = is_complex<T> ? a.im[k] : 0;
            ATOLL_UNROLL
            for (int i = 0; i < taken; ++i) {
                re += part * static_cast<double>(x[i][k * per]);
                if (is_complex<T>) im += part * static_cast<double>(x[i][k * per + per - 1]);
            }
            a.re[k] = re;
            if (is_complex<T>) a.im[k] = im;
        }
    }
    template <int taken> static auto parts_of_rows(const char *const *in) {
        std::array<const P *, taken> x;
        for (int i = 0; i < taken; ++i) x[static_cast<std::size_t>(i)] = elements_of<P>(in[i]);
        return x;
    }
    static void turn(std::int64_t n, std::int64_t rows, char *accumulators) {
        const Spreads<T> a(n, accumulators);
        const double count = static_cast<double>(rows);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            a.count[k] = count;
            a.re[k] /= count * part;
            if (is_complex<T>) a.im[k] /= count * part;
        }
    }
    // Second look: squares and sums of a - guess, which stand where the low parts come.
    template <int taken> static void spread_rows(std::int64_t n, const char *const *in,
                                                 const Given &, char *accumulators) {
        const Spreads<T> a(n, accumulators);
        const auto x = parts_of_rows<taken>(in);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            double re_low = a.re_low[k], im_low = is_complex<T> ? a.im_low[k] : 0;
            Split<double> sum = {a.squares[k], a.squares_low[k]};
            ATOLL_UNROLL
            for (int i = 0; i < taken; ++i) {
                const double re = static_cast<double>(x[i][k * per]) - a.re[k];
                re_low += re;
                double square = re * re;
                if constexpr (is_complex<T>) {
                    const double im = static_cast<double>(x[i][k * per + per - 1]) - a.im[k];
                    im_low += im;
                    square += im * im;
                }
                add_to(sum, square);
            }
            a.re_low[k] = re_low;
            if (is_complex<T>) a.im_low[k] = im_low;
            a.squares[k] = sum.high;
            if (!narrow) a.squares_low[k] = sum.low;
        }
    }
    static bool settle(std::int64_t n, bool last, char *accumulators) {
        const Spreads<T> a(n, accumulators);
        bool far = false;
        for (std::int64_t k = 0; k < n && !last; ++k) far |= is_far(a.get(k));
        if (far) {
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) a.set(k, better(a.get(k)));
        } else {
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) a.set(k, settled(a.get(k)));
        }
        return !far;
    }

    // The rest is NaN where squares overflow.
    static Split<double> squares_of(Spread a) {
        return {a.squares, std::fabs(a.squares) <= largest ? a.squares_low : 0};
    }
    // Of a run whose squares and sums are about a guess: whether the squares' errors would grow by
    // more than a seventh in settled, or they overflow, which a better guess may help.
    static bool is_far(Spread a) { return 8 * shift(a) > a.squares || overflows(a); }
    static bool overflows(Spread a) {
        return a.squares > largest && std::fabs(a.re_low) <= largest &&
               std::fabs(a.im_low) <= largest;
    }
    // What the squares have too much.
    static double shift(Spread a) {
        const double re = a.re_low * (a.re_low / a.count);
        return is_complex<T> ? re + a.im_low * (a.im_low / a.count) : re;
    }
    // The same run with a better guess, to be read again.
    static Spread better(Spread a) {
        return {a.count, 0, a.re + a.re_low / a.count, a.im + a.im_low / a.count, 0, 0, 0};
    }
    // The run about its mean. Squares that overflow stay infinite; rounding makes none negative.
    static Spread settled(Spread a) {
        const Split<double> squares = sum_of(squares_of(a), -shift(a));
        const double sum = squares.high + squares.low;
        a.squares = overflows(a) ? a.squares : sum < 0 ? 0 : sum;
        a.squares_low = 0;
        a.re_low /= a.count;
        if (is_complex<T>) a.im_low /= a.count;
        return a;
    }

    static void block(std::int64_t n, const char *in, const Given &, char *accumulator) {
        Spread run = about(n, in, guess(n, in));
        if (is_far(run)) {
            const Spread other = better(run);
            run = about(n, in, {other.re, other.im});
        }
        const Spreads<T> whole(1, accumulator);
        whole.set(0, join(whole.get(0), settled(run)));
    }
    // The mean of all elements, or of some in the middle of a long run, which suits a trend, too.
    static Complex<double> guess(std::int64_t n, const char *in) {
        constexpr std::int64_t some = 4 * chains * Lanes<double>::count;
        const P *p = elements_of<P>(in);
        const std::int64_t parts = n * per;
        const bool long_run = parts >= 4 * some;
        if (long_run) p += (n - some / per) / 2 * per;
        Sums sums = {};
        const std::int64_t taken = long_run ? some : parts;
        in_doubles(taken, p, [&](Doubles v, int c) { sums[c] += part * v; });
        // The next run most often follows; the processor does not foresee its middle.
        for (std::int64_t line = 0; long_run && line < some; line += 64 / sizeof(P))
            __builtin_prefetch(p + parts + line);
        const Complex<double> sum = parts_of(sums);
        const double count = static_cast<double>(taken / per) * part;
        return {sum.re / count, sum.im / count};
    }
    // A float32 has too few digits for the rest to count.
    template <class V> static void add_to(Split<V> &sum, V x) {
        if constexpr (narrow)
            sum.high += x;
        else
            sum = sum_of(sum, x);
    }
    template <class V> static void add_to(Split<V> &sum, Split<V> other) {
        add_to(sum, other.high);
        sum.low += other.low;
    }
    // The sum of the lanes of `count` vectors, a power of two.
    static Split<double> folded(int count, Split<Doubles> *a) {
        for (count /= 2; count; count /= 2)
            for (int c = 0; c < count; ++c) add_to(a[c], a[c + count]);
        constexpr std::int64_t lanes = Lanes<double>::in_vector;
        Split<double> sums[lanes];
        for (std::int64_t k = 0; k < lanes; ++k) sums[k] = {a[0].high[k], a[0].low[k]};
        for (std::int64_t width = lanes / 2; width; width /= 2)
            for (std::int64_t k = 0; k < width; ++k) add_to(sums[k], sums[k + width]);
        return sums[0];
    }
    // Squares and sums of a - `middle`.
    static Spread about(std::int64_t n, const char *in, Complex<double> middle) {
        using As = AsDoubles<P>;
        const P *x = elements_of<P>(in);
        double both[8];
        for (int k = 0; k < 8; ++k) both[k] = is_complex<T> && k % 2 ? middle.im : middle.re;
        const Doubles middles = load_lanes<Doubles>(both);
        // Half of the vectors suffice for sums. A few elements are added up before the sums over
        // all take them: two squares, and so many differences.
        constexpr int half = vectors / 2;
        constexpr std::int64_t at_once = narrow ? std::numeric_limits<std::int64_t>::max() : 256;
        Split<Doubles> squares[half] = {}, sums[half] = {};
        const std::int64_t parts = n * per;
        std::int64_t used = 0;
        for (std::int64_t taken = at_once; taken == at_once; used += taken) {
            Doubles waiting[half], few[half] = {};
            taken = four_groups_at_once<As::step>(
                std::min(at_once, parts - used), [&](std::int64_t k, int c) {
                    const Doubles v = As::load(x + used + k) - middles;
                    few[c % half] += v;
                    if (c < half)
                        waiting[c] = v * v;
                    else
                        add_to(squares[c - half], waiting[c - half] + v * v);
                });
            for (int c = 0; c < half; ++c) add_to(sums[c], few[c]);
        }
        // The rest has sums of its own: added to the large ones it would be rounded to their
        // digits.
        Split<Doubles> rest_squares[group_vectors] = {};
        Doubles rest_sums[group_vectors] = {};
        for (int c = 0; used < parts; used += As::step, c = (c + 1) % group_vectors) {
            const Doubles v = first_lanes(
                parts - used, As::load_first(parts - used, x + used) - middles, Doubles{});
            rest_sums[c] += v;
            add_to(rest_squares[c], v * v);
        }
        Split<double> square = folded(half, squares);
        add_to(square, folded(group_vectors, rest_squares));
        Sums all = {};
        for (int c = 0; c < half; ++c) all[c] = sums[c].high + sums[c].low;
        for (int c = 0; c < group_vectors; ++c) all[half + c] = rest_sums[c];
        const Complex<double> sum = parts_of(all);
        return {
            static_cast<double>(n), square.high, middle.re, middle.im, sum.re, sum.im, square.low};
    }
    // The sums of both parts; for real elements of all lanes.
    static Complex<double> parts_of(Sums &sums) {
        join_sums(sums);
        const Complex<double> parts = even_and_odd(sums);
        if constexpr (is_complex<T>)
            return parts;
        else
            return {parts.re + parts.im, 0};
    }
    static void finish(std::int64_t n, const char *accumulators, const Given &given, char *out) {
        const Spreads<T> a(n, const_cast<char *>(accumulators));
        double *o = reinterpret_cast<double *>(out);
        for (std::int64_t k = 0; k < n; ++k) {
            const double count = a.count[k] - given.x;
            const Split<double> squares = squares_of(a.get(k));
            const double variance = count > 0 ? (squares.high + squares.low) / count
                                              : std::numeric_limits<double>::quiet_NaN();
            o[k] = Root ? std::sqrt(variance) : variance;
        }
    }
    static constexpr Reducer reducer() {
        Reducer r{};
        r.size = sizeof(Spread);
        r.out_size = sizeof(double);
        r.result = ATOLL_DTYPE_FLOAT64;
        r.pairwise = true;
        r.by_members = true;
        r.identity = &identity;
        r.block = &block;
        r.rows = [](std::int64_t n, const char *in, const Given &given, char *accumulators) {
            add_rows<1>(n, &in, given, accumulators);
        };
        r.many_rows = &add_rows<rows_taken>;
        r.merge = &merge;
        r.finish = &finish;
        r.turn = &turn;
        r.rows_again = [](std::int64_t n, const char *in, const Given &given, char *accumulators) {
            spread_rows<1>(n, &in, given, accumulators);
        };
        r.many_rows_again = &spread_rows<rows_taken>;
        r.settle = &settle;
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
