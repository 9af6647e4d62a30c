// The functions of the module `core`, and what they lend each other.
#pragma once

#include "device.hpp"

namespace Atoll::cuda {

struct Constant;

void copy(State &state, atoll_call &call);
void fill(State &state, atoll_call &call);
void steps(State &state, atoll_call &call);
void scan(State &state, atoll_call &call);
void sort(State &state, atoll_call &call);
void search(State &state, atoll_call &call);
void find(State &state, atoll_call &call);
void compress(State &state, atoll_call &call);
void gather(State &state, atoll_call &call);
void scatter(State &state, atoll_call &call);
void matmul(State &state, atoll_call &call);
// matmul of the dtypes that cuBLAS has.
void blas_product(const Target &target);
// sum, prod, min, max and what tests elements; mean, var, stddev, norm; argmin, argmax.
void reduce(State &state, atoll_call &call);
void moments(State &state, atoll_call &call);
void arg_reduce(State &state, atoll_call &call);
// All element-wise functions with so many inputs.
void unary(State &state, atoll_call &call);
void binary(State &state, atoll_call &call);
void ternary(State &state, atoll_call &call);

constexpr atoll_dtype_set blas_dtypes =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT16) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) |
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX64) |
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX128);

// Enqueues out = in over one iteration space, any dtypes, layouts and byte orders.
void copy_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_operand &in);

} // namespace Atoll::cuda
