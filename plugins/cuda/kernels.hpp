// The functions of the module `core` that this plugin has, and what they lend each other.
#pragma once

#include "device.hpp"

namespace Atoll::cuda {

void copy(State &state, atoll_call &call);
void fill(State &state, atoll_call &call);
void matmul(State &state, atoll_call &call);
// elementwise.cu
void add(State &state, atoll_call &call);
void subtract(State &state, atoll_call &call);
void multiply(State &state, atoll_call &call);
void divide(State &state, atoll_call &call);
void negative(State &state, atoll_call &call);
void square(State &state, atoll_call &call);
void reciprocal(State &state, atoll_call &call);
void sqrt(State &state, atoll_call &call);
// compare.cu
void equal(State &state, atoll_call &call);
void not_equal(State &state, atoll_call &call);
void less(State &state, atoll_call &call);
void less_equal(State &state, atoll_call &call);
void greater(State &state, atoll_call &call);
void greater_equal(State &state, atoll_call &call);
void minimum(State &state, atoll_call &call);
void maximum(State &state, atoll_call &call);

// The dtypes that matmul has: those that cuBLAS has in full precision.
constexpr atoll_dtype_set matmul_dtypes =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64) |
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX64) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX128);
// The dtypes that sqrt has: complex roots need more than a line.
constexpr atoll_dtype_set sqrt_dtypes = ATOLL_DOMAIN_REAL_FLOATS;

// Enqueues out = in over one iteration space, any dtypes, layouts and byte orders.
void copy_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_operand &in);
// Enqueues out = value, which is in the operand's dtype.
void fill_elements(const Target &target, std::uint32_t rank, const std::int64_t *shape,
                   const atoll_operand &out, const atoll_scalar &value);

} // namespace Atoll::cuda
