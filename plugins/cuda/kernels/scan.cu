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

// float32 accumulates in float64, so that one rounding is left per result; halves in float32.
template <class S> struct AccumulatorOf { using type = Value<S>; };
template <> struct AccumulatorOf<float> { using type = double; };
template <> struct AccumulatorOf<Complex<float>> { using type = Complex<double>; };

template <class To, class From> __device__ To widened(From x) {
    if constexpr (kernels::is_complex<To>)
        return {static_cast<kernels::Part<To>>(x.re), static_cast<kernels::Part<To>>(x.im)};
    else
        return static_cast<To>(x);
}

// What stands before an element: nothing at first, which is not the same as 0 or 1.
template <class F, class A> struct Running {
    A value;
    bool any;
    __device__ static Running join(Running a, Running b) {
        if (!a.any || !b.any) return a.any ? a : b;
        return {F::apply(a.value, b.value), true};
    }
};

struct Join {
    template <class State> __device__ State operator()(State a, State b) const {
        return State::join(a, b);
    }
};

template <class F, class S> struct ScanWork {
    using A = typename AccumulatorOf<S>::type;
    using State = Running<F, A>;
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
    __device__ State element(const char *row, std::uint32_t i) const {
        return {widened<A>(value_of(in.read(row, i))), true};
    }
    __device__ void result(char *row, std::uint32_t i, State state) const {
        out.write(row, i, stored_as<S>(widened<Value<S>>(state.value)));
    }
};

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_totals(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    char *at[2];
    const std::uint32_t begin = work.locate_share(at);
    State total{};
    for (std::uint32_t i = begin; i < begin + per_thread && i < work.length; ++i)
        total = State::join(total, work.element(at[1], i));
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
        const State previous = shifted_up(running, State{});
        if (i < work.chunks) totals[i] = State::join(before, previous);
        before = State::join(before, last_of_block(running));
    }
}

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_within(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    char *at[2];
    const std::uint32_t begin = work.locate_share(at);
    State within[per_thread], total{};
    for (std::uint32_t k = 0; k < per_thread; ++k)
        if (begin + k < work.length)
            within[k] = total = State::join(total, work.element(at[1], begin + k));
    const State before =
        State::join(work.totals[blockIdx.x], shifted_up(scan_block(total, Join{}), State{}));
    for (std::uint32_t k = 0; k < per_thread; ++k)
        if (begin + k < work.length) work.result(at[0], begin + k, State::join(before, within[k]));
}

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_rows(const __grid_constant__ ScanWork<F, S> work) {
    using State = typename ScanWork<F, S>::State;
    const std::uint32_t row = blockIdx.x * block_threads + threadIdx.x;
    if (row >= work.rows.count) return;
    char *at[2];
    work.rows.locate(row, at);
    State total{};
    for (std::uint32_t i = 0; i < work.length; ++i) {
        total = State::join(total, work.element(at[1], i));
        work.result(at[0], i, total);
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
