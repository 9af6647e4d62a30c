// cumsum, cumprod: running sums and products along axis 0.
//
// Note [Ways to scan]
// Where n is the densest axis some rows are run through side by side, so that no sum waits for
// another; those that need a conversion by way of scratch. Otherwise a strip of neighbouring rows
// goes along n together, so that memory is read in order and the strip vectorises. All add in the
// order of n, so they give the same.
//
// In a long row each addition would wait for the one before. Where there are few such rows, groups
// of four short runs of floats are scanned, each run from its own beginning: by vectors, see Note
// [Sums of runs] and Note [Runs as lanes], or side by side where that is faster. Then the sum
// before a run is added to its results. As that is the result before the run exactly, running sums
// of numbers that are not negative do not fall, as in order. Where sums are as wide as the elements
// and those of a run, or the one before it, are not far from infinity, the group is scanned in
// order: a sum overflows where it does in order, but for what rounds at the largest number.
// Products of floats are always scanned in order: those of runs overflow and underflow easily.
//
// Threads take stretches of long rows in order; each hands on the sum of all before the next. A
// stretch of integers is first added up, then scanned; runs of floats are scanned, and what is
// before them is added while those of the thread's next stretch are. Results depend on extents and
// strides, not on the threads, but for the bits of NaN; those of floats are not quite those of the
// other ways.
#include "atoll/core_functions.hpp"
#include "convert.h"
#include "fetch.h"
#include "functors/arithmetic.h"
#include "lane_runs.h"
#include "ordered.h"
#include "run_sums.h"
#include "space_pieces.h"
#include "streaming.h"
#include "vector_types.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace Atoll::kernels {
namespace {

// One functor on one compute dtype; results are in the type that the dtype is computed in. In and
// out are dense and aligned, or the very same elements. `first`: accumulators become their first
// element, whatever they were; 0 + -0 and 1 * (inf + 0i) would not be that.
struct Scanner {
    std::uint8_t size = 0; // bytes of an accumulator
    // One accumulator takes in n elements, each result is written.
    void (*row)(bool first, std::int64_t n, const char *in, char *accumulator, char *out) = nullptr;
    // Accumulator i takes in element i.
    void (*rows)(bool first, std::int64_t n, const char *in, char *accumulators,
                 char *out) = nullptr;
    // Rows of n elements, each of which begins so many bytes after another.
    void (*whole_rows)(std::int64_t rows, std::int64_t n, const char *in, std::int64_t in_next,
                       char *out, std::int64_t out_next) = nullptr;
    // For integers: an accumulator takes in n elements.
    void (*total)(bool first, std::int64_t n, const char *in, char *accumulator) = nullptr;
    // For floats, whose rows can be cut into runs: scans n elements as `row`, by groups. If it
    // streams, results go past the caches where they are aligned, and elements are fetched ahead.
    void (*groups)(bool first, std::int64_t n, const char *in, char *accumulator, char *out,
                   bool streams) = nullptr;
    // The same of a stretch, in three steps. First each run is scanned from its beginning; returns
    // a bit for each group whose results are far from infinity. Group by group, the last step of
    // another stretch is done before or meanwhile, if there is one; its `partial` may be the same:
    // so one reads from memory while one writes to it.
    struct Left {
        const char *before, *partial;
        char *out;
        bool streams;
    };
    std::uint32_t (*runs)(const char *in, char *partial, const Left *left) = nullptr;
    // Moves the accumulator past it. `before` becomes what is to be added to each run, and what
    // `partial` has of groups where sums may overflow becomes their results.
    void (*pass)(bool first, std::uint32_t moderate, const char *in, char *partial,
                 char *accumulator, char *before) = nullptr;
    // Writes the results.
    void (*add)(const Left &left) = nullptr;

    bool cuts_rows() const { return total || runs; }
};

// The processor fetches the runs of a group as one, and writes while it computes.
constexpr std::int64_t run_bytes = 256;
constexpr std::int64_t stretch = 4 * block_size, integer_stretch = 32 * block_size;
constexpr int in_group = 4;   // runs
constexpr int rows_aside = 4; // that are run through at once
constexpr std::int64_t most_before =
    stretch * 16 / run_bytes * 16; // bytes for the runs of a stretch

// float32 accumulates in float64, so that one rounding is left per result; halves in float32.
template <class T, std::uint32_t Dtype> struct AccumulatorOf { using type = Wrapping<T>; };
template <> struct AccumulatorOf<float, ATOLL_DTYPE_FLOAT32> { using type = double; };
template <> struct AccumulatorOf<Complex<float>, ATOLL_DTYPE_COMPLEX64> {
    using type = Complex<double>;
};

template <class To, class From> To to(From x) {
    if constexpr (is_complex<To>)
        return {static_cast<Part<To>>(x.re), static_cast<Part<To>>(x.im)};
    else
        return static_cast<To>(x);
}

template <class F, class T, class A> struct Scan {
    static A *acc(char *p) { return reinterpret_cast<A *>(p); }
    static const T *elements(const char *p) { return reinterpret_cast<const T *>(p); }
    static void row(bool first, std::int64_t n, const char *in, char *accumulator, char *out) {
        const T *x = reinterpret_cast<const T *>(in);
        T *o = reinterpret_cast<T *>(out);
        A a = first ? to<A>(x[0]) : F::apply(*acc(accumulator), to<A>(x[0]));
        o[0] = to<T>(a);
        for (std::int64_t k = 1; k < n; ++k) {
            a = F::apply(a, to<A>(x[k]));
            o[k] = to<T>(a);
        }
        *acc(accumulator) = a;
    }
    static void whole_rows(std::int64_t rows, std::int64_t n, const char *in, std::int64_t in_next,
                           char *out, std::int64_t out_next) {
        // So many sums at a time do not wait for each other. The processor fetches ahead what each
        // part of the rows reads and writes, but not what is read by leaps between neighbours.
        constexpr int parts = rows_aside;
        const std::int64_t part = n >= 4 && sizeof(T) <= 8 ? rows / parts : 0,
                           in_part = part * in_next, out_part = part * out_next;
        for (std::int64_t row = 0; row < part; ++row, in += in_next, out += out_next) {
            const T *x[parts];
            T *o[parts];
            A a[parts];
#pragma GCC unroll 4
            for (int p = 0; p < parts; ++p) {
                x[p] = reinterpret_cast<const T *>(in + p * in_part);
                o[p] = reinterpret_cast<T *>(out + p * out_part);
                a[p] = to<A>(x[p][0]);
                o[p][0] = to<T>(a[p]);
            }
            for (std::int64_t k = 1; k < n; ++k) {
#pragma GCC unroll 4
                for (int p = 0; p < parts; ++p) {
                    a[p] = F::apply(a[p], to<A>(x[p][k]));
                    o[p][k] = to<T>(a[p]);
                }
            }
        }
        in += (parts - 1) * in_part;
        out += (parts - 1) * out_part;
        alignas(A) char accumulator[sizeof(A)];
        for (std::int64_t row = parts * part; row < rows; ++row, in += in_next, out += out_next)
            Scan::row(true, n, in, accumulator, out);
    }
    static void total(bool first, std::int64_t n, const char *in, char *accumulator) {
        const T *x = reinterpret_cast<const T *>(in);
        A a = to<A>(x[0]);
        for (std::int64_t k = 1; k < n; ++k) a = F::apply(a, to<A>(x[k]));
        *acc(accumulator) = first ? a : F::apply(*acc(accumulator), a);
    }
    static constexpr int parts = sizeof(A) / sizeof(Part<A>);
    static constexpr std::int64_t run = run_bytes / sizeof(T), group = in_group * run,
                                  groups = stretch / group, size = sizeof(T);
    static_assert(groups <= 32 && groups * group == stretch);
    static_assert(groups * in_group * sizeof(A) <= most_before);
    static constexpr bool may_overflow = sizeof(A) == sizeof(T); // a wider sum does not
    static constexpr bool by_lanes =
        LaneRuns::is_there && std::is_same_v<T, float> && std::is_same_v<A, double>;
    // Where the sum of a group's run has its last number.
    static std::int64_t last_of(int r) {
        return by_lanes ? (run - 1) * in_group + r : r * run + run - 1;
    }
    // What is written of a group while another one is added up.
    struct Group {
        const A *before, *partial;
        T *out; // null: there is none
        bool streams;
    };

    static std::uint32_t runs(const char *in, char *partial, const Scanner::Left *left) {
        std::uint32_t moderate = 0;
        for (std::int64_t g = 0; g < groups; ++g) {
            const T *const x = elements(in) + g * group;
            if (left && left->streams) fetch_group(x);
            const Group other = left ? group_of(*left, g) : Group{};
            moderate |= std::uint32_t{runs_of_group(x, acc(partial) + g * group, other)} << g;
        }
        return moderate;
    }
    static void pass(bool first, std::uint32_t moderate, const char *in, char *partial,
                     char *accumulator, char *before) {
        for (std::int64_t g = 0; g < groups; ++g)
            pass_group(first && g == 0, moderate >> g & 1, elements(in) + g * group,
                       acc(partial) + g * group, *acc(accumulator), acc(before) + g * in_group);
    }
    static void add(const Scanner::Left &left) {
        for (std::int64_t g = 0; g < groups; ++g) write_group(group_of(left, g));
    }
    static Group group_of(const Scanner::Left &left, std::int64_t g) {
        return {reinterpret_cast<const A *>(left.before) + g * in_group,
                reinterpret_cast<const A *>(left.partial) + g * group,
                reinterpret_cast<T *>(left.out) + g * group, left.streams};
    }
    static void scan_groups(bool first, std::int64_t n, const char *in, char *accumulator,
                            char *out, bool streams) {
        alignas(64) A partial[2][group];
        A before[2][in_group];
        Group other{};
        std::int64_t k = 0;
        for (int turn = 0; k + group <= n; k += group, turn ^= 1) {
            const T *const x = elements(in) + k;
            if (streams) fetch_group(x);
            const bool moderate = runs_of_group(x, partial[turn], other);
            pass_group(first && k == 0, moderate, x, partial[turn], *acc(accumulator),
                       before[turn]);
            other = {before[turn], partial[turn], reinterpret_cast<T *>(out) + k, streams};
        }
        if (other.out) write_group(other);
        if (k < n) row(first && k == 0, n - k, in + k * size, accumulator, out + k * size);
    }

    // The runs of the group at x. The other one's partial results may be those at p.
    static bool runs_of_group(const T *x, A *p, const Group &other) {
        if constexpr (by_lanes) {
            auto sums = -LaneRuns::Sums{}; // what is added to -0 stays
            const auto add = [&](std::int64_t k) {
                LaneRuns::add(x + k, run, sums, p + k * in_group);
            };
            if (other.out)
                write_lanes(other, add);
            else
                for (std::int64_t k = 0; k < run; k += LaneRuns::step) add(k);
            return true;
        }
        if (other.out) write_group(other);
        return runs_of_group(x, p);
    }
    static bool runs_of_group(const T *x, A *p) {
        using V = Vector<Part<A>>;
        // What is converted gains by vectors of eight: on Zen 5 10 M float32 take 1.9 ms instead of
        // 3.1. By four it takes as long as side by side, by two twice as long.
        if constexpr (may_overflow || lanes<double> == 8) {
            for (int r = 0; r < in_group; ++r) {
                constexpr int vectors = run * int{sizeof(A)} / int{sizeof(V)};
                constexpr std::int64_t in_vector = lanes<Part<A>>;
                const Part<T> *const from = reinterpret_cast<const Part<T> *>(x + r * run);
                Part<A> *const to = reinterpret_cast<Part<A> *>(p + r * run);
                V v[vectors];
#pragma GCC unroll 16
                for (int i = 0; i < vectors; ++i) {
                    if constexpr (may_overflow)
                        v[i] = load_vector<V>(from + i * in_vector);
                    else
                        v[i] = vector_math::as_doubles(
                            load_vector<VectorN<Part<T>, lanes<double>>>(from + i * in_vector));
                }
                RunSums<Part<A>, parts>::run(v);
#pragma GCC unroll 16
                for (int i = 0; i < vectors; ++i) store_vector(to + i * in_vector, v[i]);
            }
        } else {
            A a[in_group];
            for (int r = 0; r < in_group; ++r) p[r * run] = a[r] = to<A>(x[r * run]);
            for (std::int64_t k = 1; k < run; ++k) {
#pragma GCC unroll 4
                for (int r = 0; r < in_group; ++r)
                    p[r * run + k] = a[r] = F::apply(a[r], to<A>(x[r * run + k]));
            }
        }
        if constexpr (!may_overflow) return true;
        const Part<A> *parts = reinterpret_cast<const Part<A> *>(p);
        // Counted in integers of the same size: vectors.
        std::conditional_t<sizeof(Part<A>) == 4, std::int32_t, std::int64_t> far = 0;
        for (std::int64_t k = 0; k < group * std::int64_t{sizeof(A) / sizeof(Part<A>)}; ++k)
            far |= !is_moderate(parts[k]);
        return !far;
    }
    // The sum of two moderate numbers is finite.
    static bool is_moderate(Part<A> x) {
        return std::abs(x) < std::numeric_limits<Part<A>>::max() / 2;
    }
    template <class Test> static bool each_part(const A &x, Test &&test) {
        if constexpr (is_complex<A>)
            return test(x.re) && test(x.im);
        else
            return test(x);
    }
    static void pass_group(bool first, bool moderate, const T *x, A *p, A &sum, A *before) {
        A a = first ? minus_zero() : sum; // what is added to -0 stays
        bool safe = true;
        for (int r = 0; r < in_group; ++r) {
            before[r] = a;
            if constexpr (may_overflow) {
                // NaN and infinity stay, whatever is moderate.
                const auto settled = [](auto y) { return is_moderate(y) || !std::isfinite(y); };
                safe &= each_part(a, [](auto y) { return std::isnan(y); }) ||
                        (moderate && each_part(a, settled));
            }
            a = F::apply(a, p[last_of(r)]);
        }
        if constexpr (may_overflow)
            if (!safe) {
                std::fill_n(before, in_group, minus_zero());
                return row(first, group, reinterpret_cast<const char *>(x),
                           reinterpret_cast<char *>(&sum), reinterpret_cast<char *>(p));
            }
        sum = a;
    }
    static A minus_zero() {
        if constexpr (is_complex<A>)
            return {-Part<A>(0), -Part<A>(0)};
        else
            return -A(0);
    }
    static void write_group(const Group &of) {
        if constexpr (by_lanes) {
            write_lanes(of, [](std::int64_t) {});
        } else if (of.streams && past_line(of.out) == 0) {
            stream_group(of.before, of.partial, of.out);
        } else {
            add_group(of.before, of.partial, of.out);
        }
    }
    // meanwhile(k) is called for each step, behind it: it may write where partial results were.
    template <class Meanwhile>
    static void write_lanes(const Group &of, const Meanwhile &meanwhile) {
        const auto before = load_vector<LaneRuns::Sums>(of.before);
        const auto write = [&](auto streams) {
            for (std::int64_t k = 0; k < run; k += LaneRuns::step) {
                LaneRuns::write<streams>(before, of.partial + k * in_group, of.out + k, run);
                meanwhile(k);
            }
        };
        if (of.streams && past_line(of.out) == 0)
            write(std::true_type());
        else
            write(std::false_type());
    }
    static void add_group(const A *before, const A *p, T *o) {
        for (int r = 0; r < in_group; ++r, p += run, o += run) {
            const A b = before[r];
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < run; ++k) o[k] = to<T>(F::apply(b, p[k]));
        }
    }
    // Run by run: a whole group at once takes a tenth longer.
    static void stream_group(const A *before, const A *p, T *o) {
        for (int r = 0; r < in_group; ++r, p += run, o += run) {
            const A b = before[r];
            alignas(64) T sums[run];
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < run; ++k) sums[k] = to<T>(F::apply(b, p[k]));
            stream_lines<run_bytes>(reinterpret_cast<char *>(o),
                                    reinterpret_cast<const char *>(sums));
        }
    }
    // The group that is `ahead` bytes further on.
    static void fetch_group(const T *x) {
        constexpr int ahead = 2048;
        const char *const first = reinterpret_cast<const char *>(x) + ahead;
#pragma GCC unroll 16
        for (int i = 0; i < in_group * run_bytes; i += cache_line) fetch(first + i);
    }
    static void rows(bool first, std::int64_t n, const char *in, char *accumulators, char *out) {
        const T *x = reinterpret_cast<const T *>(in);
        T *o = reinterpret_cast<T *>(out);
        A *a = acc(accumulators);
        if (first) {
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) {
                a[k] = to<A>(x[k]);
                o[k] = to<T>(a[k]);
            }
            return;
        }
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            a[k] = F::apply(a[k], to<A>(x[k]));
            o[k] = to<T>(a[k]);
        }
    }
};

using ScannerRow = std::array<Scanner, ATOLL_DTYPE_COUNT>;

template <class F, std::uint16_t function> constexpr ScannerRow scanner_row() {
    ScannerRow row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (sdk::core_functions[function].domain >> id & 1) {                                \
        using A = typename AccumulatorOf<wide::identifier, id>::type;                              \
        using S = Scan<F, Wrapping<wide::identifier>, A>;                                          \
        row[id] = {sizeof(A), &S::row, &S::rows, &S::whole_rows};                                  \
        if constexpr (!is_float<Part<A>>) {                                                        \
            row[id].total = &S::total;                                                             \
        } else if constexpr (function == ATOLL_FN_cumsum) {                                        \
            row[id].runs = &S::runs;                                                               \
            row[id].pass = &S::pass;                                                               \
            row[id].add = &S::add;                                                                 \
            row[id].groups = &S::scan_groups;                                                      \
        }                                                                                          \
    }
#include "atoll/lists/dtypes.inc"
    return row;
}
constinit const ScannerRow sums = scanner_row<functor::add, ATOLL_FN_cumsum>();
constinit const ScannerRow products = scanner_row<functor::multiply, ATOLL_FN_cumprod>();

constexpr std::int64_t strip = block_size; // rows that are scanned together
constexpr std::int64_t few = 16;           // fewer rows, or a longer axis, do not make a strip
constexpr std::int64_t many_rows = 16;     // so many long ones keep the threads busy

class Scans {
public:
    Scans(const Scanner &scanner, const atoll_call &call)
        : s_(scanner), others_(1, call.rank, call.shape, call.operands, 2), n_(call.shape[0]),
          out_step_(call.operands[0].strides[0]), in_step_(call.operands[1].strides[0]),
          in_({call.operands[1].dtype, call.dtype, widened(call.dtype)},
              call.operands[1].flags & ATOLL_OPERAND_SWAPPED, false),
          out_({widened(call.dtype), call.dtype, call.operands[0].dtype}, false,
               call.operands[0].flags & ATOLL_OPERAND_SWAPPED) {
        const auto fits = [&](int k, std::int64_t step, std::uint32_t alignment) {
            return is_aligned(others_, k, alignment) && step % alignment == 0;
        };
        in_direct_ = in_.moves() && fits(1, in_step_, in_.in_alignment());
        out_direct_ = out_.moves() && fits(0, out_step_, out_.out_alignment());
        in_place_ = in_direct_ && in_step_ == in_.in_size();
        out_place_ = out_direct_ && out_step_ == out_.out_size();
    }

    void operator()() const {
        const std::int64_t width = others_.shape[0];
        const bool dense_along = std::abs(in_step_) <= std::abs(others_.strides[1][0]) &&
                                 std::abs(out_step_) <= std::abs(others_.strides[0][0]);
        // Whether rows are taken as they are, or several of them are converted at once.
        const bool quickly = (out_place_ || others_.strides[0][0] == n_ * out_step_) &&
                             (in_place_ || others_.strides[1][0] == n_ * in_step_);
        if (width >= few && (!dense_along || (n_ < few && !quickly)))
            strips();
        else if (s_.cuts_rows() && is_long())
            long_rows();
        else
            rows();
    }

private:
    // Whether there are too few rows for running them through side by side, or for the threads; or
    // they are so long that the memory would have too many places to read and write at once.
    bool is_long() const {
        const std::int64_t rows = others_.shape[0] * others_.outer();
        return n_ >= (rows < rows_aside  ? block_size
                      : rows < many_rows ? 2 * stretch
                                         : 4 * stretch);
    }
    // One step of a loop over up to block_size elements: in to scratch if need be, the loop, and
    // from scratch to out.
    template <class Loop> void through(std::int64_t n, const char *in, std::int64_t in_stride,
                                       char *out, std::int64_t out_stride, Loop &&loop) const {
        alignas(64) char scratch[block_size * 16];
        const bool out_dense = out_direct_ && out_stride == out_.out_size();
        if (!(in_direct_ && in_stride == in_.in_size())) {
            in_.run(n, scratch, in_.out_size(), in, in_stride);
            in = scratch;
        }
        loop(in, out_dense ? out : scratch);
        if (!out_dense) out_.run(n, out, out_stride, scratch, out_.in_size());
    }

    void rows() const {
        const std::int64_t count = others_.shape[0] * others_.outer();
        parallel(count, n_, [&](std::int64_t begin, std::int64_t end) {
            each_run(others_, begin, end, [&](char *const *data, std::int64_t rows, std::int64_t) {
                some_rows(rows, data[1], others_.strides[1][0], data[0], others_.strides[0][0]);
            });
        });
    }
    void some_rows(std::int64_t rows, const char *in, std::int64_t in_next, char *out,
                   std::int64_t out_next) const {
        if (in_place_ && out_place_) return s_.whole_rows(rows, n_, in, in_next, out, out_next);
        alignas(64) char scratch[block_size * 16];
        const std::int64_t size = in_.out_size(), dense = n_ * size,
                           at_once = std::int64_t{sizeof scratch} / dense;
        if (at_once < 2) {
            alignas(16) char accumulator[16];
            for (std::int64_t row = 0; row < rows; ++row)
                in_order(true, n_, in + row * in_next, accumulator, out + row * out_next);
            return;
        }
        for (std::int64_t row = 0; row < rows; row += at_once) {
            const std::int64_t some = std::min(at_once, rows - row);
            const char *const from = in + row * in_next;
            char *const to = out + row * out_next;
            if (!in_place_)
                convert_rows(in_, n_, some, scratch, size, dense, from, in_step_, in_next);
            s_.whole_rows(some, n_, in_place_ ? from : scratch, in_place_ ? in_next : dense,
                          out_place_ ? to : scratch, out_place_ ? out_next : dense);
            if (!out_place_)
                convert_rows(out_, n_, some, to, out_step_, out_next, scratch, size, dense);
        }
    }
    // n elements that come after those that the accumulator has.
    void in_order(bool first, std::int64_t n, const char *in, char *accumulator, char *out) const {
        const std::int64_t step = in_place_ && out_place_ ? n : block_size;
        for (std::int64_t k = 0; k < n; k += step) {
            const std::int64_t count = std::min(step, n - k);
            through(
                count, in + k * in_step_, in_step_, out + k * out_step_, out_step_,
                [&](const char *i, char *o) { s_.row(first && k == 0, count, i, accumulator, o); });
        }
    }

    // The threads that scan stretches take turns in handing on the sum of all before.
    class Turns {
    public:
        std::int64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
        // Until all stretches before this one are in the accumulator. That is soon: whoever took
        // them is at work on them.
        void wait_for(std::int64_t number) const {
            for (int tries = 0; !is_at(number); ++tries)
                if (tries > 100) std::this_thread::yield();
        }
        bool is_at(std::int64_t number) const {
            return turn_.load(std::memory_order_acquire) == number;
        }
        void end(std::int64_t number) { turn_.store(number + 1, std::memory_order_release); }
        alignas(16) char accumulator[16];

    private:
        alignas(64) std::atomic<std::int64_t> next_{0};
        alignas(64) std::atomic<std::int64_t> turn_{0};
    };
    struct Stretch {
        std::int64_t number, n;
        bool first; // of its row
        const char *in;
        char *out;
    };

    void long_rows() const {
        const std::int64_t length = s_.total ? integer_stretch : stretch,
                           per_row = (n_ + length - 1) / length,
                           rows = others_.shape[0] * others_.outer(), count = rows * per_row;
        const auto stretch_at = [&](std::int64_t number) {
            const std::int64_t row = number / per_row, first = number % per_row * length;
            const auto at = [&](int operand, std::int64_t step) {
                return row_at(operand, row) + first * step;
            };
            return Stretch{number, std::min(length, n_ - first), first == 0, at(1, in_step_),
                           at(0, out_step_)};
        };
        const bool streams = large_operands().scans_stream && out_place_ && is_far(rows);
        const auto whole_rows = [&](std::int64_t begin, std::int64_t end) {
            alignas(16) char accumulator[16];
            const bool at_once = !s_.total && in_place_ && out_place_;
            for (std::int64_t row = begin; row < end; ++row) {
                if (at_once)
                    s_.groups(true, n_, row_at(1, row), accumulator, row_at(0, row), streams);
                else
                    for (std::int64_t part = 0; part < per_row; ++part)
                        scan(stretch_at(row * per_row + part), accumulator, streams);
            }
            if (streams) finish_streaming();
        };
        const bool alone = !s_.total && in_place_ && out_place_ && is_far(rows) &&
                           threads_at_work() < 4 && !large_operands().scans_shared;
        if (alone || rows >= many_rows) return parallel(rows, n_, whole_rows);
        Turns turns;
        parallel(count, length, [&](std::int64_t begin, std::int64_t end) {
            if (end - begin == count) return whole_rows(0, rows); // nobody to share with
            const auto taken = [&](auto &&take) {
                for (; begin < end; ++begin) {
                    const std::int64_t number = turns.take();
                    if (number >= count) break; // a pool that repeats a part
                    take(stretch_at(number));
                }
            };
            if (s_.total)
                taken([&](const Stretch &s) { add_up_and_scan(turns, s); });
            else
                scan_runs(turns, streams && large_operands().scans_shared, taken);
        });
    }
    bool is_far(std::int64_t rows) const {
        return rows * n_ * (in_.in_size() + out_.out_size()) >= large_operands().far;
    }
    char *row_at(int operand, std::int64_t row) const {
        return others_.data[operand] + others_.offset(operand, row / others_.shape[0]) +
               row % others_.shape[0] * others_.strides[operand][0];
    }
    void scan(const Stretch &s, char *accumulator, bool streams) const {
        if (s_.total) return in_order(s.first, s.n, s.in, accumulator, s.out);
        alignas(64) char scratch[stretch * 16];
        s_.groups(s.first, s.n, dense(s.n, s.in, scratch), accumulator,
                  out_place_ ? s.out : scratch, streams);
        if (!out_place_) out_.run(s.n, s.out, out_step_, scratch, out_.in_size());
    }
    void add_up_and_scan(Turns &turns, const Stretch &s) const {
        alignas(16) char total[16], before[16];
        alignas(64) char scratch[block_size * 16];
        const std::int64_t step = in_place_ ? s.n : block_size;
        for (std::int64_t k = 0; k < s.n; k += step) {
            const std::int64_t count = std::min(step, s.n - k);
            s_.total(k == 0, count, dense(count, s.in + k * in_step_, scratch), total);
        }
        turns.wait_for(s.number);
        std::memcpy(before, turns.accumulator, sizeof before);
        s_.total(s.first, 1, total, turns.accumulator);
        turns.end(s.number);
        in_order(s.first, s.n, s.in, before, s.out);
    }
    // taken(take): calls take for the stretches of a thread.
    template <class Taken> void scan_runs(Turns &turns, bool streams, Taken &&taken) const {
        alignas(64) char scratch[stretch * 16], partial[stretch * 16], before[most_before];
        Scanner::Left left{};
        taken([&](const Stretch &s) {
            if (s.n < stretch) { // the last of its row
                alignas(16) char before_it[16];
                turns.wait_for(s.number);
                std::memcpy(before_it, turns.accumulator, sizeof before_it);
                turns.end(s.number);
                return scan(s, before_it, false);
            }
            const char *const in = dense(stretch, s.in, scratch);
            const std::uint32_t moderate = s_.runs(in, partial, left.out ? &left : nullptr);
            turns.wait_for(s.number);
            s_.pass(s.first, moderate, in, partial, turns.accumulator, before);
            turns.end(s.number);
            left = {before, partial, out_place_ ? s.out : scratch, streams};
            if (out_place_) return;
            s_.add(left);
            left.out = nullptr;
            out_.run(stretch, s.out, out_step_, scratch, out_.in_size());
        });
        if (left.out) s_.add(left);
        if (streams) finish_streaming();
    }
    const char *dense(std::int64_t n, const char *in, char *scratch) const {
        if (in_place_) return in;
        in_.run(n, scratch, in_.out_size(), in, in_step_);
        return scratch;
    }

    void strips() const {
        const std::int64_t is = others_.strides[1][0], os = others_.strides[0][0],
                           work = std::min(others_.shape[0], strip) * n_;
        SpacePieces(others_, 0, strip).visit_all(work, [&](char *const *data, std::int64_t count) {
            alignas(64) char accumulators[strip * 16];
            for (std::int64_t k = 0; k < n_; ++k)
                through(
                    count, data[1] + k * in_step_, is, data[0] + k * out_step_, os,
                    [&](const char *i, char *o) { s_.rows(k == 0, count, i, accumulators, o); });
        });
    }

    const Scanner &s_;
    const Space others_;
    const std::int64_t n_, out_step_, in_step_;
    const Conversion in_, out_;
    bool in_direct_, out_direct_; // no element needs a conversion
    bool in_place_, out_place_;   // nor a row, which is dense
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_scan(const atoll_call *call) {
    using namespace Atoll::kernels;
    const bool known = call->function == ATOLL_FN_cumsum || call->function == ATOLL_FN_cumprod;
    if (!known || call->dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const Scanner &scanner = (call->function == ATOLL_FN_cumsum ? sums : products)[call->dtype];
    if (!scanner.size) return ATOLL_STATUS_NOT_SUPPORTED;
    Scans(scanner, *call)();
    return ATOLL_STATUS_OK;
}
