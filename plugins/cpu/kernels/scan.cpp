// cumsum, cumprod: running sums and products along axis 0.
//
// Note [Ways to scan]
// Where n is the densest axis some rows are run through side by side, so that no sum waits for
// another; those that need a conversion by way of scratch. Otherwise a strip of neighbouring rows
// goes along n together, so that memory is read in order and the strip vectorises. All add in the
// order of n, so they give the same.
//
// In a long row each addition would wait for the one before, and so would the other threads. It is
// cut into stretches, which threads take in order; each hands on the sum of all before the next. A
// stretch of integers is first added up, then scanned. One of floats has some runs, which are
// scanned side by side, each from its own beginning; then the sum before a run is added to its
// results. As that is the result before the run exactly, running sums of numbers that are not
// negative do not fall, as in order. Results depend on extents and strides, not on the threads;
// those of floats are not quite those of the other ways.
//
// Where a float of a run, or the sum before it, is near infinity, the stretch is scanned in order:
// an infinite sum stays infinite, and one that is finite in order stays finite. Products of floats
// are always scanned in order: those of runs overflow and underflow easily.
#include "atoll/core_functions.hpp"
#include "convert.h"
#include "functors/arithmetic.h"
#include "ordered.h"
#include "space_pieces.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

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
    // For floats, whose rows can be cut into runs: scans each run of a stretch from its beginning.
    // Whether all results are far from infinity.
    bool (*runs)(const char *in, char *partial) = nullptr;
    // Moves the accumulator past a stretch. `before` becomes what it was before each run. Where
    // sums may overflow returns false and changes nothing.
    bool (*pass)(bool first, bool moderate, const char *partial, char *accumulator,
                 char *before) = nullptr;
    // Writes the results of a run. `before` is null for the first run of a row.
    void (*add)(const char *before, const char *partial, char *out) = nullptr;

    bool cuts_rows() const { return total || runs; }
};

constexpr std::int64_t run_length = block_size;
constexpr int runs_at_once = 4;
constexpr std::int64_t stretch = runs_at_once * run_length;

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
        constexpr int parts = 4;
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
    static bool runs(const char *in, char *partial) {
        const T *x = reinterpret_cast<const T *>(in);
        A *p = acc(partial), a[runs_at_once];
        for (int r = 0; r < runs_at_once; ++r) p[r * run_length] = a[r] = to<A>(x[r * run_length]);
        for (std::int64_t k = 1; k < run_length; ++k) {
#pragma GCC unroll 4
            for (int r = 0; r < runs_at_once; ++r)
                p[r * run_length + k] = a[r] = F::apply(a[r], to<A>(x[r * run_length + k]));
        }
        // A wider accumulator does not overflow.
        if constexpr (sizeof(A) > sizeof(T)) return true;
        const Part<A> *parts = reinterpret_cast<const Part<A> *>(partial);
        constexpr std::int64_t count = stretch * std::int64_t{sizeof(A) / sizeof(Part<A>)};
        // Counted in integers of the same size: vectors.
        std::conditional_t<sizeof(Part<A>) == 4, std::int32_t, std::int64_t> far = 0;
        for (std::int64_t k = 0; k < count; ++k) far |= !is_moderate(parts[k]);
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
    static bool pass(bool first, bool moderate, const char *partial, char *accumulator,
                     char *before) {
        const A *sums = reinterpret_cast<const A *>(partial) + run_length - 1;
        A *b = acc(before);
        // The first run of a row is in order as it is.
        A a = first ? sums[0] : *acc(accumulator);
        for (int r = first; r < runs_at_once; ++r) {
            // What is added to NaN is NaN, and infinity stays, whatever is moderate.
            const bool nan = each_part(a, [](auto x) { return std::isnan(x); });
            if (!nan &&
                !(moderate && each_part(a, [](auto x) { return is_moderate(x) || std::isinf(x); })))
                return false;
            b[r] = a;
            a = F::apply(a, sums[r * run_length]);
        }
        *acc(accumulator) = a;
        return true;
    }
    static void add(const char *before, const char *partial, char *out) {
        const A *p = reinterpret_cast<const A *>(partial);
        T *o = reinterpret_cast<T *>(out);
        if (!before) {
            for (std::int64_t k = 0; k < run_length; ++k) o[k] = to<T>(p[k]);
            return;
        }
        const A b = *reinterpret_cast<const A *>(before);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < run_length; ++k) o[k] = to<T>(F::apply(b, p[k]));
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
        else if (s_.cuts_rows() && n_ >= 2 * stretch)
            long_rows();
        else
            rows();
    }

private:
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
        bool first, last; // of its row
        const char *in;
        char *out;
    };

    void long_rows() const {
        const std::int64_t per_row = (n_ + stretch - 1) / stretch;
        const auto scan = [&](Turns &turns, std::int64_t row, std::int64_t number) {
            const std::int64_t first = number % per_row * stretch;
            const auto at = [&](int operand, std::int64_t step) {
                return row_at(operand, row) + first * step;
            };
            const Stretch s{number,          std::min(stretch, n_ - first),
                            first == 0,      n_ - first <= stretch,
                            at(1, in_step_), at(0, out_step_)};
            if (s_.total)
                exact_stretch(turns, s);
            else
                stretch_of_runs(turns, s);
        };
        const std::int64_t count = others_.shape[0] * others_.outer();
        if (count >= many_rows) { // each by one thread
            parallel(count, n_, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t row = begin; row < end; ++row) {
                    Turns turns;
                    for (std::int64_t i = 0; i < per_row; ++i) scan(turns, row, i);
                }
            });
            return;
        }
        Turns turns;
        parallel(count * per_row, stretch, [&](std::int64_t begin, std::int64_t end) {
            for (; begin < end; ++begin) {
                const std::int64_t number = turns.take();
                if (number >= count * per_row) return; // a pool that repeats a part
                scan(turns, number / per_row, number);
            }
        });
    }
    char *row_at(int operand, std::int64_t row) const {
        return others_.data[operand] + others_.offset(operand, row / others_.shape[0]) +
               row % others_.shape[0] * others_.strides[operand][0];
    }
    void exact_stretch(Turns &turns, const Stretch &s) const {
        // One thread alone needs no totals.
        if (turns.is_at(s.number)) {
            in_order(s.first, s.n, s.in, turns.accumulator, s.out);
            return turns.end(s.number);
        }
        alignas(64) char scratch[stretch * 16];
        alignas(16) char total[16], before[16];
        s_.total(true, s.n, dense(s.n, s.in, scratch), total);
        turns.wait_for(s.number);
        std::memcpy(before, turns.accumulator, sizeof before);
        s_.total(s.first, 1, total, turns.accumulator);
        turns.end(s.number);
        in_order(s.first, s.n, s.in, before, s.out);
    }
    void stretch_of_runs(Turns &turns, const Stretch &s) const {
        alignas(64) char scratch[stretch * 16], partial[stretch * 16], before[runs_at_once * 16];
        const bool whole = s.n == stretch;
        const bool moderate = whole && s_.runs(dense(s.n, s.in, scratch), partial);
        turns.wait_for(s.number);
        if (!whole || !s_.pass(s.first, moderate, partial, turns.accumulator, before)) {
            std::memcpy(before, turns.accumulator, 16);
            if (s.last) turns.end(s.number); // the next one begins anew
            in_order(s.first, s.n, s.in, before, s.out);
            if (s.last) return;
            std::memcpy(turns.accumulator, before, 16);
            return turns.end(s.number);
        }
        turns.end(s.number);
        for (int r = 0; r < runs_at_once; ++r) {
            char *const out = s.out + r * run_length * out_step_;
            s_.add(s.first && r == 0 ? nullptr : before + r * s_.size,
                   partial + r * run_length * s_.size, out_place_ ? out : scratch);
            if (!out_place_) out_.run(run_length, out, out_step_, scratch, out_.in_size());
        }
    }
    const char *dense(std::int64_t n, const char *in, char *scratch) const {
        const std::int64_t size = in_.out_size();
        if (in_place_) return in;
        for (std::int64_t k = 0; k < n; k += block_size)
            in_.run(std::min(block_size, n - k), scratch + k * size, size, in + k * in_step_,
                    in_step_);
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
