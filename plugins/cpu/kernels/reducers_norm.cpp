// Norms, in double whatever the elements are.
#include "complex_loops.h"
#include "joined_groups.h"
#include "loops.h"
#include "reducers_double.h"

namespace Atoll::kernels {
namespace {

template <class T> double modulus_of(T x) {
    if constexpr (is_complex<T>)
        return modulus(widen(x));
    else
        return std::fabs(static_cast<double>(x));
}

// ---- norm_two: a sum of squares; a float's square cannot leave double's range ----

template <class T, bool SkipNan, class S = T> struct Squares {
    using Loops = PlainLoops<Squares, double, T>;
    static constexpr bool of_halves = is_half<S>;
    using P = std::conditional_t<of_halves, S, Part<T>>;
    static constexpr std::int64_t per = sizeof(S) / sizeof(P);
    static constexpr bool scales = sizeof(P) == sizeof(double);
    template <class Half> using Of = Squares<T, SkipNan, Half>;
    static constexpr bool reads_halves = true;
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
        if constexpr (SkipNan && is_complex<T>) {
            Loops::take_all(n, elements_of<T>(in), given, a);
        } else {
            add_in_doubles(n * per, elements_of<P>(in), a,
                           [&](Doubles v, Doubles &sum) { add_square(v, given, sum); });
        }
    }
    static void groups(std::int64_t n, std::int64_t rows, const char *in, std::int64_t stride,
                       const Given &given, char *groups) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const P *x = elements_of<P>(in + row * stride);
            Group<Doubles> sum{};
            if (n * per <= chains * Lanes<double>::count)
                in_few_doubles(n * per, x,
                               [&](Doubles v, int c) { add_square(v, given, sum.v[c]); });
            else
                add_squares(n * per, x, given, sum);
            std::memcpy(groups + row * group_bytes, &sum, group_bytes);
        }
    }
    static void fold_groups(std::int64_t n, const char *groups, char *accumulators) {
        JoinedGroups<Doubles, double>::join(n, groups, accumulators,
                                            [](Doubles a, Doubles b) { return a + b; });
    }
    static void add_squares(std::int64_t n, const P *x, const Given &given, Group<Doubles> &sum) {
        Sums sums = {};
        in_doubles(n, x, [&](Doubles v, int c) { add_square(v, given, sums[c]); });
        join_sums(sums);
        std::copy_n(sums, group_vectors, sum.v);
    }
    static void add_square(Doubles v, const Given &given, Doubles &sum) {
        if constexpr (SkipNan) v = v == v ? v : Doubles{};
        if constexpr (scales) {
            v *= given.scale;
            sum += v * v;
        } else {
            sum = multiply_add(v, v, sum); // the square is exact
        }
    }
    // As float32, some at a time.
    static void rows_of_halves(std::int64_t n, const char *in, const Given &given,
                               char *accumulators) {
        alignas(64) char floats[block_size * sizeof(float)];
        for (std::int64_t k = 0; k < n; k += block_size) {
            const std::int64_t count = std::min(block_size, n - k);
            vector_halves::widen<S>(count, floats, in + k * std::int64_t{sizeof(S)});
            Loops::rows(count, floats, given, accumulators + k * std::int64_t{sizeof(double)});
        }
    }
    // Squares of doubles leave the range from 2^±512 on; a power of two brings them back exactly.
    static double rescale(const char *accumulator) {
        const double squares = load<double>(accumulator);
        if (squares > std::numeric_limits<double>::max()) return 0x1p-600;
        return squares < 0x1p-900 ? 0x1p600 : 1.0;
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::pairwise();
        if constexpr (!(SkipNan && is_complex<T>)) {
            r.halves = true;
            r.groups = &groups;
            r.fold_groups = &fold_groups;
        }
        if constexpr (scales) r.rescale = &rescale;
        if constexpr (of_halves) r.rows = &rows_of_halves;
        return r;
    }
};

// ---- the moduli of a few elements at a time, as doubles ----

constexpr std::int64_t few_moduli = 128;

template <class T> void moduli_of(std::int64_t n, const T *x, double *moduli) {
    for (std::int64_t k = 0; k < n; ++k) moduli[k] = std::fabs(static_cast<double>(x[k]));
}
void moduli_of(std::int64_t n, const Complex<double> *x, double *moduli) {
    char *const data[] = {reinterpret_cast<char *>(moduli),
                          const_cast<char *>(reinterpret_cast<const char *>(x))};
    const std::int64_t strides[] = {sizeof *moduli, sizeof *x};
    real_of_complex_loop<ModulusOfParts<double>, Complex<double>>(n, data, strides);
}
// Squares of floats do not leave the range of double.
void moduli_of(std::int64_t n, const Complex<float> *x, double *moduli) {
    PartsBlock parts;
    for (std::int64_t begin = 0; begin < n; begin += PartsBlock::size) {
        const std::int64_t count = std::min(PartsBlock::size, n - begin);
        double *const to = moduli + begin;
        parts.load<Complex<float>>(count, reinterpret_cast<const char *>(x + begin), sizeof *x);
        std::int64_t any_nan = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = std::sqrt(parts.re[i] * parts.re[i] + parts.im[i] * parts.im[i]);
            any_nan |= to[i] == to[i] ? std::int64_t{0} : std::int64_t{-1};
        }
        // What is infinite counts as that, even beside NaN.
        for (std::int64_t i = 0; any_nan && i < count; ++i) to[i] = modulus_of(x[begin + i]);
    }
}
// each(n, elements, moduli), where NaN counts as 0 if it is skipped.
template <bool SkipNan, class T, class Each>
void by_moduli(std::int64_t n, const T *x, Each &&each) {
    alignas(64) double moduli[few_moduli];
    for (std::int64_t k = 0; k < n; k += few_moduli) {
        const std::int64_t count = std::min(n - k, few_moduli);
        moduli_of(count, x + k, moduli);
        if constexpr (SkipNan)
            for (std::int64_t i = 0; i < count; ++i)
                if (is_nan(x[k + i])) moduli[i] = 0;
        each(count, x + k, moduli);
    }
}

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
        if constexpr (!is_complex<T>) {
            add_in_doubles(n, x, a, [&](Doubles v, Doubles &sum) {
                v = abs_lanes(v);
                sum += SkipNan ? (v == v ? v : Doubles{}) : v;
            });
        } else {
            by_moduli<SkipNan>(n, x, [&](std::int64_t count, const T *, const double *moduli) {
                Moduli<double, false>::block(count, reinterpret_cast<const char *>(moduli), given,
                                             accumulator);
            });
        }
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::pairwise();
        r.halves = !is_complex<T>;
        return r;
    }
};

// ---- norm, any other x ----

// sum + rest is of (|a| / top)^x, so that no power leaves the range before the norm does. rest is
// what rounding took from sum: where x is below 1, the root multiplies errors. The top is the power
// of two at the largest finite modulus so far, by which one divides exactly. Where the powers of
// numbers below 2 are too large for that, it is the modulus itself: there the root divides errors.
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

bool is_small_and_whole(double x) { return x > 0 && x <= 16 && x == std::floor(x); }
// Of a double or a vector of them.
template <class V> V whole_power(V base, int x) {
    V result = V{} + 1;
    for (int rest = x; rest; rest >>= 1, base *= base)
        if (rest & 1) result *= base;
    return result;
}
double power(double base, double x) {
    return is_small_and_whole(x) ? whole_power(base, static_cast<int>(x)) : std::pow(base, x);
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
// Powers up to 1/2 are in range as they are, while what a modulus is divided by may leave nothing
// of it.
constexpr double largest_without_tops = 0.5, largest_for_exact_tops = 512;
double top_at(double modulus, double x) {
    if (x <= largest_without_tops) return 1;
    if (x > largest_for_exact_tops) return modulus;
    int exponent;
    std::frexp(modulus, &exponent);
    return std::ldexp(1.0, exponent - 1);
}

// The sum to the power of 1 / x. Where x is below 1, also what rounding took from the sum and from
// 1 / x, to first order: it counts 1 / x times there.
double root_of(const Powers &a, double x) {
    const double sum = a.sum + a.rest, inverse = 1 / x, root = std::pow(sum, inverse);
    if (x >= 1 || !(root > 0 && root <= std::numeric_limits<double>::max())) return root;
    const double of_sum = (a.sum - sum + a.rest) / sum, of_inverse = std::fma(-inverse, x, 1) / x;
    return root + root * (of_sum * inverse + of_inverse * std::log(sum));
}

// Bases become their powers, by vectors.
void raise(std::int64_t n, double *bases, double x) {
    if (!is_small_and_whole(x)) {
        char *const data[] = {reinterpret_cast<char *>(bases), reinterpret_cast<char *>(bases),
                              reinterpret_cast<char *>(&x)};
        const std::int64_t strides[] = {sizeof *bases, sizeof *bases, 0};
        return binary_loops[ATOLL_FN_pow][ATOLL_DTYPE_FLOAT64](n, data, strides);
    }
    const int whole = static_cast<int>(x);
    std::int64_t k = 0;
    for (; k + lanes<double> <= n; k += lanes<double>)
        store_vector(bases + k, whole_power(load_vector<Vector<double>>(bases + k), whole));
    for (; k < n; ++k) bases[k] = whole_power(bases[k], whole);
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
        a.add(power(under_top(a, modulus_of(x), given.x), given.x));
        return a;
    }
    // Of a finite modulus that is not zero.
    static void raise_top(Powers &a, double modulus, double x) {
        const double below = x > largest_for_exact_tops ? 1 : 2; // of modulus / top
        if (modulus >= below * a.top || a.top == 0) rescale(a, top_at(modulus, x), x);
    }
    // What a power is taken of: a modulus divided by the top. Zero, infinity and NaN stay.
    static double under_top(Powers &a, double modulus, double x) {
        if (!(modulus > 0 && modulus <= std::numeric_limits<double>::max())) return modulus;
        raise_top(a, modulus, x);
        return modulus / a.top;
    }
    static double result(Powers a, const Given &given) {
        const double root = root_of(a, given.x);
        return a.top == 0 ? root : a.top * root;
    }
    static void block(std::int64_t n, const char *in, const Given &given, char *accumulator) {
        Powers &a = *reinterpret_cast<Powers *>(accumulator);
        if (!by_vectors(given)) return Loops::take_all(n, elements_of<T>(in), given, a);
        by_moduli<SkipNan>(n, elements_of<T>(in),
                           [&](std::int64_t count, const T *elements, double *moduli) {
                               if (!take_together(count, moduli, given.x, a))
                                   Loops::take_all(count, elements, given, a);
                           });
    }
    static void rows(std::int64_t n, const char *in, const Given &given, char *accumulators) {
        if (!by_vectors(given)) return Loops::rows(n, in, given, accumulators);
        Powers *a = reinterpret_cast<Powers *>(accumulators);
        by_moduli<SkipNan>(n, elements_of<T>(in),
                           [&](std::int64_t count, const T *, double *moduli) {
                               for (std::int64_t i = 0; i < count; ++i)
                                   moduli[i] = under_top(a[i], moduli[i], given.x);
                               raise(count, moduli, given.x);
                               for (std::int64_t i = 0; i < count; ++i) a[i].add(moduli[i]);
                               a += count;
                           });
    }
    static bool by_vectors(const Given &given) {
        return given.x > 0 && given.x <= largest_for_exact_tops;
    }
    // All with the same top; `moduli` are overwritten. False, and nothing is taken, where one is
    // not finite or the top is too small to divide by.
    static bool take_together(std::int64_t n, double *moduli, double x, Powers &a) {
        Doubles largest[group_vectors] = {}, wrong[group_vectors] = {};
        in_doubles(n, moduli, [&](Doubles v, int c) {
            Doubles &most = largest[c % group_vectors];
            most = v > most ? v : most;
            wrong[c % group_vectors] += v - v; // NaN unless v is finite
        });
        double size = 0, any_wrong = 0;
        for (int c = 0; c < group_vectors; ++c)
            for (int i = 0; i < Lanes<double>::in_vector; ++i) {
                size = std::max(size, largest[c][i]);
                any_wrong += wrong[c][i];
            }
        if (any_wrong != 0 || (size > 0 && size < 0x1p-1000)) return false;
        if (size == 0) return true;
        raise_top(a, size, x);
        const double scale = 1 / a.top; // exact: a power of two
        for (std::int64_t k = 0; k < n; ++k) moduli[k] *= scale;
        raise(n, moduli, x);
        Doubles sums[group_vectors] = {}, rests[group_vectors] = {}; // as Powers::add
        in_doubles(n, moduli, [&](Doubles v, int c) {
            Doubles &sum = sums[c % group_vectors];
            const Doubles both = sum + v, part = both - sum;
            rests[c % group_vectors] += (sum - (both - part)) + (v - part);
            sum = both;
        });
        for (int c = 0; c < group_vectors; ++c)
            for (int i = 0; i < Lanes<double>::in_vector; ++i) {
                a.add(sums[c][i]);
                a.rest += rests[c][i];
            }
        return true;
    }
    static constexpr Reducer reducer() {
        Reducer r = Loops::pairwise();
        r.rows = &rows;
        return r;
    }
};

template <class T> using MakeNorm2 = Squares<T, false>;
template <class T> using MakeNanNorm2 = Squares<T, true>;
template <class T> using MakeNorm1 = Moduli<T, false>;
template <class T> using MakeNanNorm1 = Moduli<T, true>;
template <class T> using MakeNorm = AnyNorm<T, false>;
template <class T> using MakeNanNorm = AnyNorm<T, true>;

} // namespace

namespace reducers {
constinit const ReducerRow norm_two = reducer_row<ATOLL_FN_norm, MakeNorm2>();
constinit const ReducerRow norm = reducer_row<ATOLL_FN_norm, MakeNorm>();
constinit const ReducerRow nan_norm = reducer_row<ATOLL_FN_norm, MakeNanNorm>();
constinit const ReducerRow norm_one = reducer_row<ATOLL_FN_norm, MakeNorm1>();
constinit const ReducerRow nan_norm_one = reducer_row<ATOLL_FN_norm, MakeNanNorm1>();
constinit const ReducerRow nan_norm_two = reducer_row<ATOLL_FN_norm, MakeNanNorm2>();
} // namespace reducers

} // namespace Atoll::kernels
