// cumsum, cumprod: running sums and products along axis 0.
//
// Note [Two ways to scan]
// Where n is the densest axis one row at a time is run through. Otherwise a strip of neighbouring
// rows goes along n together, so that memory is read in order and the strip vectorises. Both add
// in the order of n, so they give the same.
#include "atoll/core_functions.hpp"
#include "convert.h"
#include "functors/arithmetic.h"
#include "ordered.h"
#include "parallel.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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
};

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
        row[id] = {sizeof(A), &S::row, &S::rows};                                                  \
    }
#include "atoll/lists/dtypes.inc"
    return row;
}
constinit const ScannerRow sums = scanner_row<functor::add, ATOLL_FN_cumsum>();
constinit const ScannerRow products = scanner_row<functor::multiply, ATOLL_FN_cumprod>();

constexpr std::int64_t strip = block_size; // rows that are scanned together
constexpr std::int64_t few = 16;           // fewer rows, or a longer axis, do not make a strip

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
    }

    void operator()() const {
        const std::int64_t width = others_.shape[0];
        const bool dense_along = std::abs(in_step_) <= std::abs(others_.strides[1][0]) &&
                                 std::abs(out_step_) <= std::abs(others_.strides[0][0]);
        if (width >= few && (!dense_along || n_ < few))
            strips();
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
                for (std::int64_t row = 0; row < rows; ++row)
                    one_row(data[1] + row * others_.strides[1][0],
                            data[0] + row * others_.strides[0][0]);
            });
        });
    }
    void one_row(const char *in, char *out) const {
        alignas(16) char accumulator[16];
        const bool straight =
            in_direct_ && in_step_ == in_.in_size() && out_direct_ && out_step_ == out_.out_size();
        const std::int64_t step = straight ? n_ : block_size;
        for (std::int64_t k = 0; k < n_; k += step) {
            const std::int64_t count = std::min(step, n_ - k);
            through(count, in + k * in_step_, in_step_, out + k * out_step_, out_step_,
                    [&](const char *i, char *o) { s_.row(k == 0, count, i, accumulator, o); });
        }
    }

    void strips() const {
        const std::int64_t width = others_.shape[0];
        const std::int64_t per_row = (width + strip - 1) / strip;
        const std::int64_t is = others_.strides[1][0], os = others_.strides[0][0];
        parallel(others_.outer() * per_row, std::min(width, strip) * n_,
                 [&](std::int64_t begin, std::int64_t end) {
                     alignas(64) char accumulators[strip * 16];
                     for (std::int64_t s = begin; s < end; ++s) {
                         const std::int64_t first = s % per_row * strip;
                         const std::int64_t count = std::min(strip, width - first);
                         const char *in =
                             others_.data[1] + others_.offset(1, s / per_row) + first * is;
                         char *out = others_.data[0] + others_.offset(0, s / per_row) + first * os;
                         for (std::int64_t k = 0; k < n_; ++k)
                             through(count, in + k * in_step_, is, out + k * out_step_, os,
                                     [&](const char *i, char *o) {
                                         s_.rows(k == 0, count, i, accumulators, o);
                                     });
                     }
                 });
    }

    const Scanner &s_;
    const Space others_;
    const std::int64_t n_, out_step_, in_step_;
    const Conversion in_, out_;
    bool in_direct_, out_direct_;
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
