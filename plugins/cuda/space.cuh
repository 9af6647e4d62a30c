// Iteration spaces on the device, and the one kernel that walks them.
//
// A piece of work is a struct that is copied to the device as the kernel's argument: `space.count`
// elements, and `operator()(i)`, which does element i.
#pragma once

#include "device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace Atoll::cuda {

template <int Operands> struct Space {
    std::int64_t count; // elements
    bool is_narrow;     // count fits in 32 bits, where division is several times faster
    int rank;           // at least 1
    char *data[Operands];
    std::int64_t shape[ATOLL_MAX_RANK];
    std::int64_t strides[Operands][ATOLL_MAX_RANK]; // bytes

    // Where element i of each operand is.
    __host__ __device__ void locate(std::int64_t i, char *(&at)[Operands]) const {
        for (int operand = 0; operand < Operands; ++operand) at[operand] = data[operand];
        for (int axis = 0; axis + 1 < rank; ++axis) {
            const std::int64_t rest =
                is_narrow ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(shape[axis])
                          : i / shape[axis];
            const std::int64_t index = i - rest * shape[axis];
            for (int operand = 0; operand < Operands; ++operand)
                at[operand] += index * strides[operand][axis];
            i = rest;
        }
        for (int operand = 0; operand < Operands; ++operand)
            at[operand] += i * strides[operand][rank - 1];
    }
};

// Axes come out sorted by the first operand's stride, so that neighbouring threads write
// neighbouring elements. A scalar operand keeps its host address: nobody may go there.
template <int Operands>
Space<Operands> make_space(std::uint32_t rank, const std::int64_t *shape,
                           const atoll_operand *const (&operands)[Operands]) {
    Space<Operands> space{};
    space.rank = static_cast<int>(std::max(rank, 1u));
    space.count = 1;
    space.shape[0] = 1;
    for (int operand = 0; operand < Operands; ++operand)
        space.data[operand] = static_cast<char *>(operands[operand]->data);
    std::uint32_t order[ATOLL_MAX_RANK];
    for (std::uint32_t axis = 0; axis < rank; ++axis) order[axis] = axis;
    std::stable_sort(order, order + rank, [&](std::uint32_t a, std::uint32_t b) {
        return std::abs(operands[0]->strides[a]) < std::abs(operands[0]->strides[b]);
    });
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
        space.shape[axis] = shape[order[axis]];
        space.count *= space.shape[axis];
        for (int operand = 0; operand < Operands; ++operand)
            space.strides[operand][axis] = operands[operand]->strides[order[axis]];
    }
    space.is_narrow = space.count <= INT64_C(0xffffffff);
    return space;
}

template <class Work> __global__ void walk(const __grid_constant__ Work work) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < work.space.count; i += step)
        work(i);
}

template <class Work> void enqueue(const Target &target, const Work &work) {
    static_assert(sizeof(Work) <= 4096, "the limit for kernel arguments on every device");
    constexpr std::int64_t threads = 256;
    const std::int64_t wanted = (work.space.count + threads - 1) / threads;
    // Enough blocks to fill the device several times over; the kernel loops over the rest.
    const std::int64_t most = std::int64_t{target.device.units} * 32;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most)));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = target.stream.handle;
    target.check(cudaLaunchKernelEx(&config, walk<Work>, work), "cudaLaunchKernelEx");
}

} // namespace Atoll::cuda
