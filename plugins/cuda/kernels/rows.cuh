// Functions along one core axis: the rows of a call, and their elements.
#pragma once

#include "map.cuh"

namespace Atoll::cuda {

// One operand of a call along axis 0, in the type that the kernel computes with.
template <class S> struct Row {
    std::int64_t step; // bytes
    Access access;
    bool direct;
    bool is_signed;

    __device__ S read(const char *row, std::int64_t i) const {
        const char *const from = row + i * step;
        if constexpr (kernels::is_bool<S>)
            return value_of(*reinterpret_cast<const S *>(from)); // 0 or 1
        else
            return direct ? *reinterpret_cast<const S *>(from)
                          : computed<S>(load(from, access), is_signed);
    }
    __device__ void write(char *row, std::int64_t i, S element) const {
        char *const to = row + i * step;
        if (direct)
            *reinterpret_cast<S *>(to) = element;
        else
            store(to, access, number_from(element, is_signed));
    }
};

template <class S> Row<S> row_of(const atoll_call &call, int operand, std::uint32_t dtype) {
    const atoll_operand &o = call.operands[operand];
    Row<S> row{o.strides[0], access_of(call.rank, o), false, is_signed_dtype(dtype)};
    row.direct = o.dtype == dtype && !row.access.swapped && aligned_to(call.rank, o, sizeof(S));
    return row;
}

// All axes but the core axes.
template <int Operands> Extents<Operands> rows_of(const atoll_call &call) {
    Extents<Operands> rows;
    rows.rank = static_cast<std::uint32_t>(call.rank - call.core);
    std::copy_n(call.shape + call.core, rows.rank, rows.shape);
    for (int k = 0; k < Operands; ++k) {
        rows.data[k] = static_cast<char *>(call.operands[k].data);
        rows.strides[k] = call.operands[k].strides + call.core;
    }
    return rows;
}

// The length of axis 0, which kernels count in 32 bits.
inline std::uint32_t row_length(const atoll_call &call) {
    if (call.shape[0] > space_limit)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         "rows of " + std::to_string(call.shape[0]) +
                             " elements: this function takes at most 2^31 - 1 on cuda");
    return static_cast<std::uint32_t>(call.shape[0]);
}

// Inclusive scan over a block's threads, in their order; join(a, b) where a stands before b.
template <class T, class Join> __device__ T scan_block(T value, const Join &join) {
    alignas(16) __shared__ unsigned char memory[2][block_threads * sizeof(T)];
    T *from = reinterpret_cast<T *>(memory[0]), *to = reinterpret_cast<T *>(memory[1]);
    from[threadIdx.x] = value;
    for (unsigned distance = 1; distance < block_threads; distance *= 2) {
        __syncthreads();
        to[threadIdx.x] = threadIdx.x < distance
                              ? from[threadIdx.x]
                              : join(from[threadIdx.x - distance], from[threadIdx.x]);
        T *const other = from;
        from = to;
        to = other;
    }
    value = from[threadIdx.x];
    __syncthreads(); // before the memory is used again
    return value;
}
// What the last thread has.
template <class T> __device__ T last_of_block(T value) {
    alignas(16) __shared__ unsigned char memory[sizeof(T)];
    T *const last = reinterpret_cast<T *>(memory);
    if (threadIdx.x == block_threads - 1) *last = value;
    __syncthreads();
    value = *last;
    __syncthreads();
    return value;
}

} // namespace Atoll::cuda
