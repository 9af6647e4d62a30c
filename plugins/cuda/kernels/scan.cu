// cumsum and cumprod.
//
// Note [Scans]
// A row is cut into chunks of fixed length. One kernel makes the total of each chunk, one what
// stands before each, and one adds that to the running totals within. Few elements per row, or rows
// whose memory runs across: a thread for each row. Which way is taken follows from the shape and
// the strides, so the bits are the same on every run.
#include "kernels.hpp"
#include "reducers.cuh"
#include "rows.cuh"

namespace Atoll::cuda {
namespace {

constexpr std::uint32_t per_thread = 8, chunk = block_threads * per_thread;

// What F has made of some elements S. float32 accumulates in float64, so that one rounding is left
// per result; halves in float32.
template <class S> struct WiderThan { using type = Value<S>; };
template <> struct WiderThan<float> { using type = double; };
template <> struct WiderThan<Complex<float>> { using type = Complex<double>; };

template <class To, class From> __device__ To widened(From x) {
    if constexpr (kernels::is_complex<To>)
        return {static_cast<kernels::Part<To>>(x.re), static_cast<kernels::Part<To>>(x.im)};
    else
        return static_cast<To>(x);
}

template <class F, class S> struct Total {
    using Wide = typename WiderThan<S>::type;
    Wide total;
    __device__ static Total of(S x) { return {widened<Wide>(value_of(x))}; }
    __device__ void take(Total next) { total = F::apply(total, next.total); }
    __device__ Value<S> value() const { return widened<Value<S>>(total); }
};

// Nothing is wider than float64: there what rounding takes is kept beside.
template <class S> struct ExactSum {
    Sum<S> total;
    __device__ static ExactSum of(S x) {
        ExactSum result;
        if constexpr (kernels::is_complex<S>)
            result.total.re.high = x.re, result.total.im.high = x.im;
        else
            result.total.high = x;
        return result;
    }
    __device__ void take(ExactSum next) { total.add(next.total); }
    __device__ S value() const { return total.value(); }
};
struct ExactProduct {
    double high, low;
    __device__ static ExactProduct of(double x) { return {x, 0}; }
    __device__ void take(ExactProduct next) {
        const double product = high * next.high;
        low = fma(high, next.high, -product) + (high * next.low + low * next.high);
        high = product;
    }
    // What rounding took from an infinite product is not a number.
    __device__ double value() const { return low != 0 && low - low == 0 ? high + low : high; }
};

template <class F, class S> struct AccumulatorOf { using type = Total<F, S>; };
template <> struct AccumulatorOf<kernels::functor::add, double> { using type = ExactSum<double>; };
template <> struct AccumulatorOf<kernels::functor::add, Complex<double>> {
    using type = ExactSum<Complex<double>>;
};
template <> struct AccumulatorOf<kernels::functor::multiply, double> { using type = ExactProduct; };

// What stands before an element: nothing at first, which is not the same as 0 or 1.
template <class A> struct Running {
    A accumulator;
    bool any;
    __device__ void take(Running next) {
        if (!next.any) return;
        if (any)
            accumulator.take(next.accumulator);
        else
            *this = next;
    }
};

struct Join {
    template <class State> __device__ State operator()(State a, State b) const {
        a.take(b);
        return a;
    }
};

template <class F, class S> struct ScanWork {
    using A = typename AccumulatorOf<F, S>::type;
    using State = Running<A>;
    static constexpr unsigned width = pack_width<S>;
    static_assert(per_thread % width == 0);
    Space<2> rows; // out, in
    Row<S> out, in;
    std::uint32_t length, chunks;
    Divisor by_chunks;
    State *totals; // of each chunk of each row

    // Of a thread, where a block has a chunk: its row, and its first element in that.
    __device__ std::uint32_t locate_share(char *(&at)[2]) const {
        const std::uint32_t row = by_chunks.quotient(blockIdx.x);
        rows.locate(row, at);
        return (blockIdx.x - row * chunks) * chunk + threadIdx.x * per_thread;
    }
    __device__ static State state_of(S element) { return {A::of(element), true}; }
    __device__ static S result_of(const State &state) {
        return stored_as<S>(state.accumulator.value());
    }

    // The elements of a thread, as far as the row has them: see Note [Packs].
    __device__ void read_share(const char *row, std::uint32_t begin, S (&x)[per_thread]) const {
        const PackReader<S> read(row);
        const std::uint32_t margin = read.margin();
        if (in.direct && in.step == sizeof(S) && begin >= margin &&
            begin + per_thread + margin <= length) {
#pragma unroll
            for (unsigned first = 0; first < per_thread; first += width) {
                const Pack<S, width> pack = read(row + (begin + first) * in.step);
#pragma unroll
                for (unsigned k = 0; k < width; ++k) x[first + k] = pack.at[k];
            }
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < per_thread; ++k)
            if (begin + k < length) x[k] = in.read(row, begin + k);
    }
    __device__ void write_share(char *row, std::uint32_t begin, const S (&x)[per_thread]) const {
        char *const first_byte = row + begin * out.step;
        if (out.direct && out.step == sizeof(S) && begin + per_thread <= length &&
            reinterpret_cast<std::uintptr_t>(first_byte) % 16 == 0) {
#pragma unroll
            for (unsigned first = 0; first < per_thread; first += width) {
                Pack<S, width> pack;
#pragma unroll
                for (unsigned k = 0; k < width; ++k) pack.at[k] = x[first + k];
                *reinterpret_cast<Pack<S, width> *>(first_byte + first * sizeof(S)) = pack;
            }
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < per_thread; ++k)
            if (begin + k < length) out.write(row, begin + k, x[k]);
    }
};

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_totals(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    char *at[2];
    const std::uint32_t begin = work.locate_share(at);
    S x[per_thread];
    work.read_share(at[1], begin, x);
    State total{};
#pragma unroll
    for (std::uint32_t k = 0; k < per_thread; ++k)
        if (begin + k < work.length) total.take(work.state_of(x[k]));
    total = scan_block(total, Join{});
    if (threadIdx.x == block_threads - 1) work.totals[blockIdx.x] = total;
}

// What stands before each chunk.
template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_chunks(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    State before{};
    State *const totals = work.totals + std::int64_t{blockIdx.x} * work.chunks;
    for (std::uint32_t begin = 0; begin < work.chunks; begin += block_threads) {
        const std::uint32_t i = begin + threadIdx.x;
        const State running = scan_block(i < work.chunks ? totals[i] : State{}, Join{});
        State previous = before;
        previous.take(shifted_up(running, State{}));
        if (i < work.chunks) totals[i] = previous;
        before.take(last_of_block(running));
    }
}

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_within(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    char *at[2];
    const std::uint32_t begin = work.locate_share(at);
    S x[per_thread];
    work.read_share(at[1], begin, x);
    State total{};
#pragma unroll
    for (std::uint32_t k = 0; k < per_thread; ++k)
        if (begin + k < work.length) total.take(work.state_of(x[k]));
    State running = work.totals[blockIdx.x];
    running.take(shifted_up(scan_block(total, Join{}), State{}));
#pragma unroll
    for (std::uint32_t k = 0; k < per_thread; ++k) {
        if (begin + k >= work.length) break;
        running.take(work.state_of(x[k]));
        x[k] = work.result_of(running);
    }
    work.write_share(at[0], begin, x);
}

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_rows(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    const std::uint32_t row = blockIdx.x * block_threads + threadIdx.x;
    if (row >= work.rows.count) return;
    char *at[2];
    work.rows.locate(row, at);
    State total{};
#pragma unroll 1
    for (std::uint32_t i = 0; i < work.length; ++i) {
        total.take(work.state_of(work.in.read(at[1], i)));
        work.out.write(at[0], i, work.result_of(total));
    }
}

template <class F, std::uint32_t dtype>
void scan_call(const Target &target, const atoll_call &call) {
    using S = kernels::Wrapping<Stored<dtype>>;
    using Work = ScanWork<F, S>;
    Work work{};
    work.out = row_of<S>(call, 0, dtype);
    work.in = row_of<S>(call, 1, dtype);
    work.length = row_length(call);
    work.chunks = parts_of(work.length, chunk);
    work.by_chunks = Divisor(work.chunks);
    const Extents<2> rows = rows_of<2>(call);
    const bool across = along_results(call) && rows.count() >= 32;
    if (work.length < 64 || across)
        return for_each_space(rows, [&](const Space<2> &space) {
            work.rows = space;
            launch(target, dim3(parts_of(space.count, block_threads)), &scan_rows<F, S>, work);
        });
    const std::int64_t limit = std::max<std::int64_t>(1, space_limit / work.chunks);
    for_each_space(rows, limit, [&](const Space<2> &space) {
        work.rows = space;
        const Temporary totals(target, std::uint64_t{space.count} * work.chunks *
                                           sizeof(typename Work::State));
        work.totals = reinterpret_cast<typename Work::State *>(totals.data());
        launch(target, dim3(space.count * work.chunks), &scan_totals<F, S>, work);
        launch(target, dim3(space.count), &scan_chunks<F, S>, work);
        launch(target, dim3(space.count * work.chunks), &scan_within<F, S>, work);
    });
}

constexpr auto sums = launchers_of<ATOLL_FN_cumsum>(
    [](auto dtype) { return &scan_call<kernels::functor::add, dtype()>; });
constexpr auto products = launchers_of<ATOLL_FN_cumprod>(
    [](auto dtype) { return &scan_call<kernels::functor::multiply, dtype()>; });

} // namespace

void scan(State &state, atoll_call &call) {
    const Target target(state, call);
    (call.function == ATOLL_FN_cumsum ? sums : products)[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
