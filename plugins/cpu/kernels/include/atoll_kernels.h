/* The cpu kernels: dense loops over strided memory, without tensors and without Atoll's runtime.
 * C11 and C++; of Atoll it needs the ABI headers only, for the ids of dtypes and functions and for
 * the operand struct.
 *
 * Every function takes ONE shape (extents in elements) and per operand an address, a dtype and one
 * byte stride per axis: Note [Iteration space] in atoll/abi/call.h says which strides are zero for
 * each family. Outputs come first. All of this is taken as it is, in any mixture: any dtype per
 * operand, either byte order (ATOLL_OPERAND_SWAPPED), any strides, any address. Ranks up to
 * ATOLL_MAX_RANK; extents are at least 1 (the k of a matrix product may be 0).
 *
 * `dtype` is the compute dtype: inputs are converted to it, and the result of the function's rule
 * (atoll/lists/functions.inc) is converted to the output's dtype. float16, bfloat16 and complex32
 * compute in float32 parts and round once. Comparisons compare true values where `dtype` cannot
 * hold a 64-bit integer operand (Note [Exact comparisons] in atoll/abi/module.h).
 *
 * An output overlaps an input only where both are the very same elements. Calls run on the calling
 * thread and, above some 10^5 elements, on the pool given to atoll_kernels_set_pool; results do not
 * depend on the number of threads. Thread-safe. No C function here keeps what it is given.
 *
 * Returns ATOLL_STATUS_OK, ATOLL_STATUS_NOT_SUPPORTED (function, dtype) or
 * ATOLL_STATUS_OUT_OF_MEMORY (scratch). Nothing is written in the case of NOT_SUPPORTED.
 */
#ifndef ATOLL_KERNELS_H
#define ATOLL_KERNELS_H

#include "atoll/abi/call.h"
#include "atoll/abi/host.h"
#include "atoll/abi/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* operands: out, in */
int32_t atoll_kernels_copy(uint32_t rank, const int64_t *shape, const atoll_operand *operands);

/* operands: out. Zero strides are legal here. */
int32_t atoll_kernels_fill(uint32_t rank, const int64_t *shape, const atoll_operand *operands,
                           const atoll_scalar *value);

/* operands: out, of rank 1 (0: one element). See atoll_steps_params. */
int32_t atoll_kernels_steps(uint32_t rank, const int64_t *shape, const atoll_operand *operands,
                            const atoll_steps_params *params);

/* operands: out, in. `function`: ATOLL_FN_ of the family UNARY. */
int32_t atoll_kernels_unary(uint32_t function, uint32_t dtype, uint32_t rank, const int64_t *shape,
                            const atoll_operand *operands);

/* operands: out, a, b. `function`: ATOLL_FN_ of the family BINARY. */
int32_t atoll_kernels_binary(uint32_t function, uint32_t dtype, uint32_t rank, const int64_t *shape,
                             const atoll_operand *operands);

/* operands: out, a, b, c. `function`: ATOLL_FN_ of the family TERNARY. With the rule SELECT (where)
 * a is a mask of any dtype, true where it is not zero (NaN is true); b and c are converted to
 * `dtype` and keep their bits. */
int32_t atoll_kernels_ternary(uint32_t function, uint32_t dtype, uint32_t rank,
                              const int64_t *shape, const atoll_operand *operands);

/* operands: out, in. `function`: ATOLL_FN_ of the families REDUCE, REDUCE_ONE; axes
 * [params->kept, rank) are reduced, at least one. See atoll_reduce_params. */
int32_t atoll_kernels_reduce(uint32_t function, uint32_t dtype, uint32_t rank, const int64_t *shape,
                             const atoll_operand *operands, const atoll_reduce_params *params);

/* operands: out, in. `function`: ATOLL_FN_argmin or _argmax. Positions: Note [Positions] in
 * atoll/abi/call.h. */
int32_t atoll_kernels_arg_reduce(uint32_t function, uint32_t dtype, uint32_t rank,
                                 const int64_t *shape, const atoll_operand *operands,
                                 const atoll_reduce_params *params);

/* operands: out, in over (others…, n). `function`: ATOLL_FN_cumsum or _cumprod. */
int32_t atoll_kernels_scan(uint32_t function, uint32_t dtype, uint32_t rank, const int64_t *shape,
                           const atoll_operand *operands);

/* operands: out, in over (others…, n). `function`: ATOLL_FN_sort or _argsort. Takes scratch for a
 * few rows. */
int32_t atoll_kernels_sort(uint32_t function, uint32_t dtype, uint32_t rank, const int64_t *shape,
                           const atoll_operand *operands, const atoll_sort_params *params);

/* operands: out, values, sorted over (values…, n). */
int32_t atoll_kernels_search(uint32_t dtype, uint32_t rank, const int64_t *shape,
                             const atoll_operand *operands, const atoll_search_params *params);

/* operands: out (a vector), in. See Note [Find] in atoll/abi/call.h. */
int32_t atoll_kernels_find(uint32_t dtype, uint32_t rank, const int64_t *shape,
                           const atoll_operand *operands);

/* operands: out, in, offsets. See Note [Offsets] in atoll/abi/call.h. */
int32_t atoll_kernels_gather(uint32_t rank, const int64_t *shape, const atoll_operand *operands);
int32_t atoll_kernels_scatter(uint32_t rank, const int64_t *shape, const atoll_operand *operands);

/* operands: out, a, b over (m, n, k, stack…). See atoll_matmul_params. float32, float64 and complex
 * products go to OpenBLAS, which is looked for at the first such call; without it they are slow. */
int32_t atoll_kernels_matmul(uint32_t dtype, uint32_t rank, const int64_t *shape,
                             const atoll_operand *operands, const atoll_matmul_params *params);

/* The pool for large calls; NULL: the calling thread only. Not while calls run. */
void atoll_kernels_set_pool(atoll_parallel_for run, void *pool);

/* Threads for OpenBLAS; 0: its own choice. Before the first product; later calls change nothing. */
void atoll_kernels_set_blas_threads(int32_t threads);

/* Whether OpenBLAS can be used. Loads it. */
int32_t atoll_kernels_has_blas(void);

/* The processor core that OpenBLAS computes for ("SkylakeX"), or "" where it is missing. Loads it.
 */
const char *atoll_kernels_blas_core(void);

#ifdef __cplusplus
}
#endif
#endif
