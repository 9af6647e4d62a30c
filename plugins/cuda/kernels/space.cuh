// Iteration spaces on the device.
//
// A piece of work is a struct that is copied to the device as a kernel's argument: `space.count`
// elements, and `operator()(i)`, which does element i.
#pragma once

#include "device.hpp"
#include "once.cuh"

#include <algorithm>
#include <cstdint>

namespace Atoll::cuda {

// Division of numbers below 2^31 by a number that the host knows: a multiplication and a shift.
struct Divisor {
    std::uint32_t extent, multiplier, shift;

    Divisor() = default;
    explicit Divisor(std::uint32_t divisor) : extent(divisor), shift(31) {
        while (std::uint64_t{1} << (shift - 31) < divisor) ++shift;
        multiplier = static_cast<std::uint32_t>((std::uint64_t{1} << shift) / divisor + 1);
    }
    __host__ __device__ std::uint32_t quotient(std::uint32_t number) const {
        return static_cast<std::uint32_t>(std::uint64_t{number} * multiplier >> shift);
    }
};

inline constexpr int space_rank = 8;
inline constexpr std::int64_t space_limit = (std::int64_t{1} << 31) - 1;

// Operands are addresses and byte strides; their axes come in the order of the call.
template <int Operands> struct Space {
    std::uint32_t count; // elements
    int rank;            // at least 1
    char *data[Operands];
    Divisor shape[space_rank];
    std::int64_t strides[Operands][space_rank];

    // How far from its data element i of each operand is, in bytes.
    __host__ __device__ void offsets(std::uint32_t i, std::int64_t (&to)[Operands]) const {
        for (int operand = 0; operand < Operands; ++operand) to[operand] = 0;
        ATOLL_ROLLED
        for (int axis = 0; axis + 1 < rank; ++axis) {
            const std::uint32_t rest = shape[axis].quotient(i);
            const std::int64_t index = i - rest * shape[axis].extent;
            for (int operand = 0; operand < Operands; ++operand)
                to[operand] += index * strides[operand][axis];
            i = rest;
        }
        for (int operand = 0; operand < Operands; ++operand)
            to[operand] += std::int64_t{i} * strides[operand][rank - 1];
    }
    // Where element i of each operand is.
    __host__ __device__ void locate(std::uint32_t i, char *(&at)[Operands]) const {
        std::int64_t offset[Operands];
        offsets(i, offset);
        for (int operand = 0; operand < Operands; ++operand)
            at[operand] = data[operand] + offset[operand];
    }
};

// How far from its data element i is.
__device__ ATOLL_OUT_OF_LINE inline std::int64_t offset_in(const Space<1> &space, std::uint32_t i) {
    std::int64_t offset[1];
    space.offsets(i, offset);
    return offset[0];
}

// The space of a call, or a part of it, in the numbers of the call.
template <int Operands> struct Extents {
    std::uint32_t rank;
    std::int64_t shape[ATOLL_MAX_RANK];
    char *data[Operands];
    const std::int64_t *strides[Operands];

    std::int64_t count() const {
        std::int64_t product = 1;
        for (std::uint32_t axis = 0; axis < rank; ++axis) product *= shape[axis];
        return product;
    }
};

template <int Operands> Extents<Operands> extents_of(std::uint32_t rank, const std::int64_t *shape,
                                                     const atoll_operand *operands) {
    Extents<Operands> all;
    all.rank = rank;
    std::copy_n(shape, rank, all.shape);
    for (int k = 0; k < Operands; ++k) {
        all.data[k] = static_cast<char *>(operands[k].data);
        all.strides[k] = operands[k].strides;
    }
    return all;
}

// body(space) for parts that fit into a Space and have at most `limit` elements, in the order of
// the elements.
template <int Operands, class Body>
void for_each_space(const Extents<Operands> &all, std::int64_t limit, const Body &body) {
    const std::int64_t count = all.count();
    if (all.rank > space_rank || count > limit) {
        const std::uint32_t last = all.rank - 1;
        const std::int64_t extent = all.shape[last];
        const std::int64_t step =
            all.rank > space_rank ? 1 : std::max<std::int64_t>(1, limit / (count / extent));
        Extents<Operands> part = all;
        for (std::int64_t begin = 0; begin < extent; begin += step) {
            part.shape[last] = std::min(step, extent - begin);
            if (step == 1) part.rank = last;
            for (int k = 0; k < Operands; ++k)
                part.data[k] = all.data[k] + begin * all.strides[k][last];
            for_each_space(part, limit, body);
        }
        return;
    }
    Space<Operands> space{};
    space.count = static_cast<std::uint32_t>(count);
    space.rank = static_cast<int>(std::max(all.rank, 1u));
    space.shape[0] = Divisor(1);
    for (std::uint32_t axis = 0; axis < all.rank; ++axis)
        space.shape[axis] = Divisor(static_cast<std::uint32_t>(all.shape[axis]));
    for (int k = 0; k < Operands; ++k) {
        space.data[k] = all.data[k];
        std::copy_n(all.strides[k], all.rank, space.strides[k]);
    }
    body(space);
}

template <int Operands, class Body>
void for_each_space(const Extents<Operands> &all, const Body &body) {
    for_each_space(all, space_limit, body);
}

inline constexpr unsigned block_threads = 256;

constexpr std::uint32_t parts_of(std::uint32_t count, std::uint32_t size) {
    return (count + size - 1) / size;
}

template <class... Parameters, class... Arguments> void launch(const Target &target, dim3 blocks,
                                                               void (*kernel)(Parameters...),
                                                               const Arguments &...arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(block_threads);
    config.stream = target.stream.handle;
    target.check(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx");
}

// body(i) for the elements of a thread, among so many.
template <class Body> __device__ void walk_elements(std::uint32_t count, const Body &body) {
    const std::uint32_t step = gridDim.x * block_threads;
    for (std::uint32_t i = blockIdx.x * block_threads + threadIdx.x; i < count; i += step) body(i);
}
template <class Work> __global__ void __launch_bounds__(block_threads)
    walk(const __grid_constant__ Work work) {
    walk_elements(work.space.count, work);
}

// Launches a kernel that walks the elements of work.space.
template <class Work>
void launch_elements(const Target &target, void (*kernel)(Work), const Work &work) {
    // Enough blocks to fill the device several times over; the kernel loops over the rest.
    const std::int64_t wanted =
        (std::int64_t{work.space.count} + block_threads - 1) / block_threads;
    const std::int64_t most = std::int64_t{target.device.units} * 32;
    launch(target, dim3(static_cast<unsigned>(std::min(wanted, most))), kernel, work);
}
template <class Work> void enqueue(const Target &target, const Work &work) {
    launch_elements(target, &walk<Work>, work);
}

} // namespace Atoll::cuda
