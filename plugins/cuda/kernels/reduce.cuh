// Reductions: one way to take in elements for all of them.
//
// Note [Reductions]
// A reduction has, for values V of its compute dtype, an accumulator A that start() makes, that
// takes in elements and their positions, that is joined with others, and that becomes a result;
// what it needs to know of the result at hand is local(). The elements of one result are cut into
// chunks, and every chunk makes a partial accumulator; a last kernel joins those of a result. How a
// result's elements are grouped follows from the shape, the dtype and which strides are the
// smallest, so the bits are the same on every run, stream and device, and for every address.
//   rows      the lanes of a chunk, threads side by side, take its packs in turn: Note [Packs]
//   columns   for tensors whose memory runs along the results: the neighbours of a thread take in
//             those of neighbouring results, or several results each, 16 bytes at a time; with few
//             results a chunk has several lanes, which take its elements in turn
// The lanes of a chunk are joined at the end. A thread has several loads under way, but for rows
// whose packs are not aligned or not one run.
#pragma once

#include "elements.cuh"
#include "grouping.cuh"
#include "map.cuh"
#include "packs.cuh"
#include "space.cuh"

#include <optional>

namespace Atoll::cuda {

// What a call gives to a reduction. Functions that differ by a line are one kernel with a switch
// here: the element's way from memory takes longer.
struct Given {
    double number = 0;            // ddof, or p
    std::int64_t count = 0;       // elements per result
    const void *before = nullptr; // an accumulator per result of an earlier reduction, or null
    bool skip_nan = false;
    bool moduli = false;      // of the elements
    bool largest = false;     // instead of the smallest
    bool root = false;        // of the result
    bool inverted = false;    // the result of a test
    std::uint32_t wanted = 0; // by a test: Properties
};

template <class V> __host__ __device__ inline bool is_nan_value(V value) {
    if constexpr (kernels::is_complex<V>)
        return value.re != value.re || value.im != value.im;
    else if constexpr (kernels::is_float<V>)
        return value != value;
    else
        return false;
}

// What most reductions have as local().
struct NothingLocal {
    __device__ static const Given &local(const Given &given, std::int64_t) { return given; }
};

// What kernels take. Partial accumulators lie one chunk after the other, for all results each.
struct ReductionWork {
    Space<2> results;  // out, in
    Space<1> elements; // of one result
    std::int64_t part; // of the elements, in bytes from the result's first one
    Access access[2];
    std::uint8_t result_dtype;
    bool direct;   // native, aligned, of the compute dtype
    bool in_packs; // elements lie in runs of packs
    bool is_signed;
    std::uint32_t lanes;  // threads of a block for one chunk
    std::uint32_t chunk;  // elements
    std::uint32_t chunks; // of one result, in this space
    Divisor by_chunks;
    std::int64_t first_element, first_result, all_results;
    std::uint32_t first_chunk, all_chunks;
    void *partials;     // null: there is one chunk for each result
    void *accumulators; // where the joined ones go; null: they become results
    Given given;

    __device__ const char *place(const char *base, std::uint32_t i) const {
        return base + part +
               (elements.rank == 1 ? i * elements.strides[0][0] : offset_in(elements, i));
    }
    __device__ std::uint32_t end_of(std::uint32_t which) const {
        const std::uint32_t begin = which * chunk, left = elements.count - begin;
        return begin + (left < chunk ? left : chunk);
    }
};

// How Op takes in elements S.
template <class Op, class S> struct Reduction {
    using A = typename Op::A;
    static constexpr unsigned width = pack_width<S>;
    // Those without local() wait for memory, others compute for longer.
    static constexpr bool is_quick = std::is_base_of_v<NothingLocal, Op>;
    static constexpr unsigned in_flight = is_quick ? 4 : 1; // loads of a thread
    // Results of a thread, where it can load several at once and has registers for them.
    static constexpr unsigned most_across() {
        unsigned count = is_quick ? width : 1;
        while (count > 1 && count * sizeof(A) > 128) count /= 2;
        return count;
    }

    __device__ static S element(const ReductionWork &work, const char *from) {
        return work.direct ? *reinterpret_cast<const S *>(from)
                           : computed<S>(load(from, work.access[1]), work.is_signed);
    }
    // What a lane takes of a chunk: packs.
    __device__ static A share_of_row(const ReductionWork &work, const char *base,
                                     std::uint32_t which, std::uint32_t result,
                                     std::uint32_t lane) {
        const auto &local = Op::local(work.given, work.first_result + result);
        const std::uint32_t end = work.end_of(which), step = work.lanes * width;
        std::uint32_t i = which * work.chunk + lane * width;
        A a = Op::start(work.given);
        const auto following = [&](std::uint32_t k) {
            return (k + 1) % width != 0 ? k + 1 : k + 1 + step - width;
        };
        const PackReader<S> read(base + work.part);
        const std::uint32_t margin = read.margin(), reach = width + margin;
        const auto take_pack = [&](const Pack<S, width> &pack) {
#pragma unroll
            for (unsigned k = 0; k < width; ++k)
                a = Op::take(a, value_of(pack.at[k]), local, work.first_element + i + k);
            i += step;
        };
        // Loads without conditions, which would let each wait for the one before.
        if constexpr (in_flight > 1)
            if (work.in_packs && margin == 0 && work.elements.rank == 1)
                while (i + (in_flight - 1) * step + width <= end) {
                    const char *const from = base + work.part + std::int64_t{i} * sizeof(S);
                    Pack<S, width> packs[in_flight];
#pragma unroll
                    for (unsigned round = 0; round < in_flight; ++round)
                        packs[round] = *reinterpret_cast<const Pack<S, width> *>(
                            from + round * step * sizeof(S));
#pragma unroll
                    for (unsigned round = 0; round < in_flight; ++round) take_pack(packs[round]);
                }
        while (i < end) {
            if (work.in_packs && i >= margin && i + reach <= end) {
                take_pack(read(work.place(base, i)));
                continue;
            }
            // Singly: what is no pack, and what stands where packs cannot be read.
            a = Op::take(a, value_of(element(work, work.place(base, i))), local,
                         work.first_element + i);
            i = following(i);
        }
        return a;
    }
    // What a lane takes of the chunks of neighbouring results.
    template <unsigned across>
    __device__ static void share_of_columns(const ReductionWork &work, const char *base,
                                            std::uint32_t which, std::uint32_t result,
                                            std::uint32_t lane, A (&a)[across]) {
        using Loaded = Pack<S, across>;
        const auto &local = Op::local(work.given, work.first_result + result);
        const std::uint32_t end = work.end_of(which);
        std::uint32_t i = which * work.chunk + lane;
#pragma unroll
        for (unsigned k = 0; k < across; ++k) a[k] = Op::start(work.given);
        const auto take = [&](const Loaded &x) {
#pragma unroll
            for (unsigned k = 0; k < across; ++k)
                a[k] = Op::take(a[k], value_of(x.at[k]), local, work.first_element + i);
            i += work.lanes;
        };
        while (work.direct && i + (in_flight - 1) * work.lanes < end) {
            Loaded loaded[in_flight];
#pragma unroll
            for (unsigned round = 0; round < in_flight; ++round)
                loaded[round] =
                    *reinterpret_cast<const Loaded *>(work.place(base, i + round * work.lanes));
#pragma unroll
            for (unsigned round = 0; round < in_flight; ++round) take(loaded[round]);
        }
#pragma unroll 1
        while (i < end) {
            const char *const from = work.place(base, i);
            if constexpr (across == 1)
                take({element(work, from)});
            else
                take(*reinterpret_cast<const Loaded *>(from));
        }
    }

    __device__ static void finish(const ReductionWork &work, A a, std::uint32_t result,
                                  std::uint32_t which) {
        if (work.partials)
            static_cast<A *>(work.partials)[(work.first_chunk + which) * work.all_results +
                                            work.first_result + result] = a;
        else
            put(work, a, result);
    }
    // For several results of a thread.
    __device__ ATOLL_OUT_OF_LINE static void
    finish_apart(const ReductionWork &work, A a, std::uint32_t result, std::uint32_t which) {
        finish(work, a, result, which);
    }
    __device__ static void put(const ReductionWork &work, A a, std::uint32_t result) {
        if (work.accumulators) {
            static_cast<A *>(work.accumulators)[work.first_result + result] = a;
            return;
        }
        char *at[2];
        work.results.locate(result, at);
        Number number = number_of(Op::result(a, work.given));
        if (work.access[0].dtype != work.result_dtype)
            number = rounded_to(work.result_dtype, number);
        store(at[0], work.access[0], number);
    }
};

// Joins the accumulators of threads that are `spacing` apart; lane 0 has the outcome.
template <class Op> __device__ typename Op::A join_lanes(typename Op::A a, std::uint32_t lane,
                                                         std::uint32_t lanes, std::uint32_t spacing,
                                                         const Given &given) {
    alignas(16) __shared__ unsigned char memory[block_threads * sizeof(typename Op::A)];
    auto *const shared = reinterpret_cast<typename Op::A *>(memory);
    shared[threadIdx.x] = a;
    for (std::uint32_t half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half)
            shared[threadIdx.x] = a = Op::join(a, shared[threadIdx.x + half * spacing], given);
    }
    return a;
}

template <class Op, class S> __global__ void __launch_bounds__(block_threads)
    reduce_rows(const __grid_constant__ ReductionWork work) {
    const std::uint32_t place =
        blockIdx.x * (block_threads / work.lanes) + threadIdx.x / work.lanes;
    const std::uint32_t lane = threadIdx.x % work.lanes;
    const bool is_one = place < work.results.count * work.chunks;
    const std::uint32_t result = is_one ? work.by_chunks.quotient(place) : 0;
    const std::uint32_t which = place - result * work.chunks;
    typename Op::A a = Op::start(work.given);
    if (is_one) {
        char *at[2];
        work.results.locate(result, at);
        a = Reduction<Op, S>::share_of_row(work, at[1], which, result, lane);
    }
    a = join_lanes<Op>(a, lane, work.lanes, 1, work.given);
    if (is_one && lane == 0) Reduction<Op, S>::finish(work, a, result, which);
}

template <class Op, class S, unsigned across> __global__ void __launch_bounds__(block_threads)
    reduce_columns(const __grid_constant__ ReductionWork work) {
    const std::uint32_t side_by_side = block_threads / work.lanes;
    const std::uint32_t lane = threadIdx.x / side_by_side;
    const std::uint32_t result = (blockIdx.x * side_by_side + threadIdx.x % side_by_side) * across;
    const bool is_one = result < work.results.count;
    typename Op::A a[across];
    a[0] = Op::start(work.given);
    if (is_one) {
        char *at[2];
        work.results.locate(result, at);
        Reduction<Op, S>::template share_of_columns<across>(work, at[1], blockIdx.y, result, lane,
                                                            a);
    }
    if constexpr (across == 1) {
        a[0] = join_lanes<Op>(a[0], lane, work.lanes, side_by_side, work.given);
        if (is_one && lane == 0) Reduction<Op, S>::finish(work, a[0], result, blockIdx.y);
    } else {
        for (unsigned k = 0; is_one && lane == 0 && k < across; ++k)
            Reduction<Op, S>::finish_apart(work, a[k], result + k, blockIdx.y);
    }
}

// Joins the partial accumulators of results, whose lanes take them in turn.
template <class Op, class S> __global__ void __launch_bounds__(block_threads)
    join_partials(const __grid_constant__ ReductionWork work) {
    const std::uint32_t side_by_side = block_threads / work.lanes;
    const std::uint32_t lane = threadIdx.x / side_by_side;
    const std::uint32_t result = blockIdx.x * side_by_side + threadIdx.x % side_by_side;
    const bool is_one = result < work.results.count;
    typename Op::A a = Op::start(work.given);
    const auto *const partials =
        static_cast<const typename Op::A *>(work.partials) + work.first_result + result;
#pragma unroll 4
    for (std::uint32_t which = lane; is_one && which < work.all_chunks; which += work.lanes)
        a = Op::join(a, partials[which * work.all_results], work.given);
    a = join_lanes<Op>(a, lane, work.lanes, side_by_side, work.given);
    if (is_one && lane == 0) Reduction<Op, S>::put(work, a, result);
}

// The kernels of a reduction, and what the host has to know to launch them.
struct ReductionKernels {
    using Kernel = void (*)(ReductionWork);
    Kernel rows, columns, wide_columns, join;
    unsigned width, across; // elements of a pack; results of a thread of wide_columns
    std::uint32_t element_bytes, accumulator_bytes;
};
template <class Op, class S> inline constexpr ReductionKernels reduction_kernels = {
    &reduce_rows<Op, S>,
    &reduce_columns<Op, S, 1>,
    &reduce_columns<Op, S, Reduction<Op, S>::most_across()>,
    &join_partials<Op, S>,
    Reduction<Op, S>::width,
    Reduction<Op, S>::most_across(),
    sizeof(S),
    sizeof(typename Op::A)};

// Enqueues the reduction of operand 1 into operand 0, or of its results' accumulators into device
// memory.
inline void reduce(const Target &target, const atoll_call &call, const Given &given,
                   const ReductionKernels &kernels, void *accumulators = nullptr) {
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

    ReductionWork work{};
    work.given = given;
    work.given.count = core.count();
    work.access[0] = access_of(call.rank, out);
    work.access[1] = access_of(call.rank, in);
    work.direct = in.dtype == call.dtype && !work.access[1].swapped &&
                  aligned_to(call.rank, in, kernels.element_bytes);
    work.is_signed = is_signed_dtype(call.dtype);
    work.result_dtype =
        static_cast<std::uint8_t>(sdk::core_functions[call.function].result_dtype(call.dtype));
    work.accumulators = accumulators;
    work.all_results = loop.count();
    const Grouping grouping(work.all_results, work.given.count, along_results(call), kernels.width);
    work.chunk = grouping.chunk;

    // One row is a run from whatever address; the parts of others are read at multiples of 16.
    const bool is_one_run = core.rank == 1;
    work.in_packs = work.direct && in.strides[0] == kernels.element_bytes &&
                    (is_one_run || (core.shape[0] % kernels.width == 0 &&
                                    aligned_but_along(0, call.rank, in, 16)));
    const unsigned across = kernels.across;
    const bool wide = across > 1 && grouping.columns && work.direct &&
                      loop.strides[1][0] == kernels.element_bytes && loop.shape[0] % across == 0 &&
                      work.all_results >= block_threads * across &&
                      aligned_but_along(call.core, call.rank, in, across * kernels.element_bytes);
    const auto launch_chunks = [&](const Space<2> &results) {
        work.results = results;
        if (!grouping.columns)
            launch(target, dim3(parts_of(results.count * work.chunks, block_threads / work.lanes)),
                   kernels.rows, work);
        else
            launch(target,
                   dim3(parts_of(results.count, block_threads / work.lanes * (wide ? across : 1)),
                        work.chunks),
                   wide ? kernels.wide_columns : kernels.columns, work);
        work.first_result += results.count;
    };

    for_each_space(core, [&](const Space<1> &elements) {
        work.all_chunks += parts_of(elements.count, work.chunk);
    });
    std::optional<Temporary> memory;
    if (work.all_chunks > 1) {
        memory.emplace(target, work.all_chunks * static_cast<std::uint64_t>(work.all_results) *
                                   kernels.accumulator_bytes);
        work.partials = memory->data();
    }
    work.lanes = grouping.lanes;
    for_each_space(core, [&](const Space<1> &elements) {
        work.elements = elements;
        work.part = elements.data[0] - core.data[0];
        work.chunks = parts_of(elements.count, work.chunk);
        work.by_chunks = Divisor(work.chunks);
        work.first_result = 0;
        for_each_space(loop, space_limit / 16 * 16, launch_chunks);
        work.first_chunk += work.chunks;
        work.first_element += elements.count;
    });
    if (!memory) return;
    const std::uint32_t side_by_side = work.all_results < 32 ? 1 : 32;
    work.lanes = block_threads / side_by_side;
    work.first_result = 0;
    for_each_space(loop, [&](const Space<2> &results) {
        work.results = results;
        launch(target, dim3(parts_of(results.count, side_by_side)), kernels.join, work);
        work.first_result += results.count;
    });
}

} // namespace Atoll::cuda
