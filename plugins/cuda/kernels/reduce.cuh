// Reductions: one way to take in elements for all of them.
//
// Note [Reductions]
// A reduction has, for values V of its compute dtype, an accumulator A that start() makes, that
// takes in elements and their positions, that is joined with others, and that becomes a result;
// what it needs to know of the result at hand is local(). The elements of one result are cut into
// chunks, and every chunk makes a partial accumulator; a last kernel joins those of a result. How a
// result's elements are grouped follows from the shape and the strides alone, so the bits are the
// same on every run, stream and device.
//   rows      a block takes in a chunk: its threads step through it together
//   columns   a thread takes in a chunk, its neighbours those of neighbouring results: for tensors
//             whose memory runs along the results, and for few elements per result
#pragma once

#include "elements.cuh"
#include "map.cuh"
#include "space.cuh"

#include <optional>

namespace Atoll::cuda {

// What a call gives to a reduction.
struct Given {
    double number = 0;      // ddof, or p
    std::int64_t count = 0; // elements per result
    bool skip_nan = false;
    const void *before = nullptr; // an accumulator per result of an earlier reduction, or null
};

template <class V> __host__ __device__ inline bool is_nan_value(V value) {
    if constexpr (kernels::is_complex<V>)
        return value.re != value.re || value.im != value.im;
    else if constexpr (kernels::is_float<V>)
        return value != value;
    else
        return false;
}

// Partial accumulators lie one chunk after the other, for all results each.
template <class Op, class S> struct Reduction {
    using A = typename Op::A;
    Space<2> results;   // out, in
    Space<1> elements;  // of one result, the first
    const char *origin; // of the first result
    Access access[2];
    std::uint8_t result_dtype;
    bool direct;
    bool is_signed;
    std::uint32_t chunk;  // elements
    std::uint32_t chunks; // of one result, in this space
    Divisor by_chunks;
    std::int64_t first_element, first_result, all_results;
    std::uint32_t first_chunk, all_chunks;
    A *partials;     // null: there is one chunk for each result
    A *accumulators; // where the joined ones go; null: they become results
    Given given;

    __device__ Value<S> element(const char *base, std::uint32_t i) const {
        char *at[1];
        elements.locate(i, at);
        const char *const from = base + (at[0] - origin);
        if (direct) return value_of(*reinterpret_cast<const S *>(from));
        return value_of(computed<S>(load(from, access[1]), is_signed));
    }
    __device__ A chunk_of(const char *base, std::uint32_t which, std::uint32_t result,
                          std::uint32_t first, std::uint32_t step) const {
        const auto local = Op::local(given, first_result + result);
        const std::uint32_t begin = which * chunk, left = elements.count - begin;
        const std::uint32_t end = begin + (left < chunk ? left : chunk);
        A a = Op::start(given);
        for (std::uint32_t i = begin + first; i < end; i += step)
            a = Op::take(a, element(base, i), local, first_element + i);
        return a;
    }
    __device__ void finish(A a, std::uint32_t result, std::uint32_t which) const {
        if (partials)
            partials[(first_chunk + which) * all_results + first_result + result] = a;
        else
            put(a, result);
    }
    __device__ void put(A a, std::uint32_t result) const {
        if (accumulators) {
            accumulators[first_result + result] = a;
            return;
        }
        char *at[2];
        results.locate(result, at);
        Number number = number_of(Op::result(a, given));
        if (access[0].dtype != result_dtype) number = rounded_to(result_dtype, number);
        store(at[0], access[0], number);
    }
};

// Joins the accumulators of a block's threads; the result is thread 0's.
template <class Op> __device__ typename Op::A join_block(typename Op::A a, const Given &given) {
    alignas(16) __shared__ unsigned char memory[block_threads * sizeof(typename Op::A)];
    auto *const shared = reinterpret_cast<typename Op::A *>(memory);
    shared[threadIdx.x] = a;
    for (unsigned half = block_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] = Op::join(shared[threadIdx.x], shared[threadIdx.x + half], given);
    }
    a = shared[0];
    __syncthreads(); // before the memory is used again
    return a;
}

template <class Op, class S> __global__ void __launch_bounds__(block_threads)
    reduce_rows(const __grid_constant__ Reduction<Op, S> work) {
    const std::uint32_t result = work.by_chunks.quotient(blockIdx.x);
    const std::uint32_t which = blockIdx.x - result * work.chunks;
    char *at[2];
    work.results.locate(result, at);
    const typename Op::A a =
        join_block<Op>(work.chunk_of(at[1], which, result, threadIdx.x, block_threads), work.given);
    if (threadIdx.x == 0) work.finish(a, result, which);
}

template <class Op, class S> __global__ void __launch_bounds__(block_threads)
    reduce_columns(const __grid_constant__ Reduction<Op, S> work) {
    const std::uint32_t result = blockIdx.x * block_threads + threadIdx.x;
    if (result >= work.results.count) return;
    char *at[2];
    work.results.locate(result, at);
    work.finish(work.chunk_of(at[1], blockIdx.y, result, 0, 1), result, blockIdx.y);
}

// One block joins the partial accumulators of one result.
template <class Op, class S> __global__ void __launch_bounds__(block_threads)
    join_partials(const __grid_constant__ Reduction<Op, S> work) {
    const std::uint32_t result = blockIdx.x;
    typename Op::A a = Op::start(work.given);
    for (std::uint32_t which = threadIdx.x; which < work.all_chunks; which += block_threads)
        a = Op::join(a, work.partials[which * work.all_results + work.first_result + result],
                     work.given);
    a = join_block<Op>(a, work.given);
    if (threadIdx.x == 0) work.put(a, result);
}

// How the elements of a result are grouped. A function of the shape and the strides only.
struct Grouping {
    bool columns;
    std::uint32_t chunk;

    Grouping(std::int64_t results, std::int64_t elements, bool along_results)
        : columns((along_results && results >= 32) || elements < 32) {
        const std::int64_t step = columns ? 256 : block_threads * 16;
        // Enough chunks to fill a device, and no more partial accumulators than that takes.
        const std::int64_t wanted = columns ? 262144 : 2048;
        const std::int64_t chunks = std::max<std::int64_t>(1, wanted / results);
        const std::int64_t length = (elements + chunks - 1) / chunks;
        chunk = static_cast<std::uint32_t>(
            std::min((length + step - 1) / step * step, space_limit / step * step));
    }
};

// Whether neighbouring results lie closer together than neighbouring elements of one.
inline bool along_results(const atoll_call &call) {
    const atoll_operand &in = call.operands[1];
    std::int64_t element = INT64_MAX, result = INT64_MAX;
    for (std::uint32_t axis = 0; axis < call.rank; ++axis) {
        std::int64_t &least = axis < call.core ? element : result;
        const std::int64_t stride = std::abs(in.strides[axis]);
        if (call.shape[axis] > 1 && stride > 0) least = std::min(least, stride);
    }
    return result < element;
}

// Enqueues the reduction of operand 1 into operand 0, or of its results' accumulators into device
// memory.
template <class Op, class S> void reduce(const Target &target, const atoll_call &call, Given given,
                                         typename Op::A *accumulators = nullptr) {
    using A = typename Op::A;
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    Extents<1> core;
    core.rank = call.core;
    std::copy_n(call.shape, call.core, core.shape);
    core.data[0] = static_cast<char *>(in.data);
    core.strides[0] = in.strides;
    Extents<2> loop;
    loop.rank = call.rank - call.core;
    std::copy_n(call.shape + call.core, loop.rank, loop.shape);
    loop.data[0] = static_cast<char *>(out.data);
    loop.data[1] = static_cast<char *>(in.data);
    loop.strides[0] = out.strides + call.core;
    loop.strides[1] = in.strides + call.core;

    Reduction<Op, S> work{};
    work.given = given;
    work.origin = core.data[0];
    work.given.count = core.count();
    work.access[0] = access_of(call.rank, out);
    work.access[1] = access_of(call.rank, in);
    work.direct =
        in.dtype == call.dtype && !work.access[1].swapped && aligned_to(call.rank, in, sizeof(S));
    work.is_signed = is_signed_dtype(call.dtype);
    work.result_dtype =
        static_cast<std::uint8_t>(sdk::core_functions[call.function].result_dtype(call.dtype));
    work.accumulators = accumulators;
    work.all_results = loop.count();
    const Grouping grouping(work.all_results, work.given.count, along_results(call));
    work.chunk = grouping.chunk;
    for_each_space(core, [&](const Space<1> &elements) {
        work.all_chunks += (elements.count + work.chunk - 1) / work.chunk;
    });
    std::optional<Temporary> memory;
    if (work.all_chunks > 1) {
        memory.emplace(target,
                       work.all_chunks * static_cast<std::uint64_t>(work.all_results) * sizeof(A));
        work.partials = reinterpret_cast<A *>(memory->data());
    }
    for_each_space(core, [&](const Space<1> &elements) {
        work.elements = elements;
        work.chunks = (elements.count + work.chunk - 1) / work.chunk;
        work.by_chunks = Divisor(work.chunks);
        work.first_result = 0;
        for_each_space(loop, [&](const Space<2> &results) {
            work.results = results;
            if (grouping.columns)
                launch(target,
                       dim3((results.count + block_threads - 1) / block_threads, work.chunks),
                       &reduce_columns<Op, S>, work);
            else
                launch(target, dim3(results.count * work.chunks), &reduce_rows<Op, S>, work);
            work.first_result += results.count;
        });
        work.first_chunk += work.chunks;
        work.first_element += elements.count;
    });
    if (!memory) return;
    work.first_result = 0;
    for_each_space(loop, [&](const Space<2> &results) {
        work.results = results;
        launch(target, dim3(results.count), &join_partials<Op, S>, work);
        work.first_result += results.count;
    });
}

} // namespace Atoll::cuda
