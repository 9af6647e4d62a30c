/* The kernels of one processor level, as the cpu plugin and the kernel library call them. Programs
 * use the library's header, atoll/kernels.h.
 *
 * Every function takes a call of the plugin ABI (Note [Iteration space] in atoll/abi/call.h), and
 * reads of it the function's id, dtype, rank, core, shape, operands and attributes, matmul also
 * axes: a caller without Atoll fills in these and nothing else, no module, stream or error buffer.
 * All operands are taken as they are, in any mixture: any dtype, either byte order
 * (ATOLL_OPERAND_SWAPPED), any strides, any address, groups of any number of axes. Ranks up to
 * ATOLL_MAX_RANK. Extents are at least 1; those of element-wise functions, gather, scatter and
 * matmul may be 0.
 *
 * The call's dtype is the compute dtype: inputs are converted to it, and what the function's
 * signature makes of it (atoll/lists/functions.inc) is converted to the output's dtype. float16,
 * bfloat16 and complex32 compute in float32 parts and round once. Comparisons compare true values
 * where the compute dtype cannot hold a 64-bit integer operand (Note [Exact comparisons] in
 * atoll/abi/module.h).
 *
 * An output overlaps an input only where both are the very same elements. Calls run on the calling
 * thread and, above some 10^5 elements, on the pool given to atoll_kernels_set_pool; results do not
 * depend on the number of threads, but for the bits of NaN. Thread-safe. No C function here keeps
 * what it is given.
 *
 * Returns ATOLL_STATUS_OK, ATOLL_STATUS_NOT_SUPPORTED (function, dtype) or
 * ATOLL_STATUS_OUT_OF_MEMORY (scratch). Nothing is written in the case of NOT_SUPPORTED.
 */
#ifndef ATOLL_KERNELS_ENTRIES_H
#define ATOLL_KERNELS_ENTRIES_H

#include "atoll/abi/call.h"
#include "atoll/abi/host.h"
#include "atoll/abi/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One entry for each kind of function; the functions' operands and attributes stand in
 * atoll/lists/functions.inc. The first three do not look at the function's id. */
int32_t atoll_kernels_copy(const atoll_call *call);
int32_t atoll_kernels_fill(const atoll_call *call); /* zero strides are legal here */
int32_t atoll_kernels_steps(const atoll_call *call);

/* Element-wise functions of one, two and three inputs. `where` takes a mask of any dtype, true
 * where it is not zero (NaN is); its other operands are converted to the compute dtype and keep
 * their bits. Large operands that are transposed may need 4 MiB of scratch per thread, which are
 * kept for later calls; without they take longer. */
int32_t atoll_kernels_unary(const atoll_call *call);
int32_t atoll_kernels_binary(const atoll_call *call);
int32_t atoll_kernels_ternary(const atoll_call *call);

int32_t atoll_kernels_reduce(const atoll_call *call);     /* all but those of the next line */
int32_t atoll_kernels_arg_reduce(const atoll_call *call); /* argmin, argmax */
int32_t atoll_kernels_scan(const atoll_call *call);       /* cumsum, cumprod */
int32_t atoll_kernels_sort(const atoll_call *call); /* sort, argsort; scratch for a few rows */
/* searchsorted; scratch for a sorted vector that is to be converted, or is of up to 2^23 elements
 * and searched for many values. */
int32_t atoll_kernels_search(const atoll_call *call);
int32_t atoll_kernels_find(const atoll_call *call);
int32_t atoll_kernels_compress(const atoll_call *call);
int32_t atoll_kernels_gather(const atoll_call *call);
int32_t atoll_kernels_scatter(const atoll_call *call);

/* Any number of axes of m, k and n. Matrices of floats that BLAS takes as they are go there; it is
 * opened at the first such call. Everything else is packed block by block: scratch is at most 16
 * MiB per thread, and is kept for later calls. */
int32_t atoll_kernels_matmul(const atoll_call *call);

/* The pool for large calls; NULL: the calling thread only. `threads`: about how many work on a
 * call; 0: not known. Not while calls run. */
void atoll_kernels_set_pool(atoll_parallel_for run, void *pool, int32_t threads);

/* Chooses the BLAS of the next products: a name or an absolute path for dlopen; "": OpenBLAS. The
 * number of its threads; 0: its own choice. Does not open it. */
void atoll_kernels_set_blas(const char *library, int32_t threads);

/* Opens it. NULL, or why it cannot be used, in words that stay valid. */
const char *atoll_kernels_open_blas(void);

/* What it is, the width of its sizes, and its file; "" before it is opened. Does not open it. */
const char *atoll_kernels_blas(void);

/* Whether products of bfloat16 and of bytes use AMX, and those of bfloat16 AVX512-BF16, where the
 * processor has it: 1 unless this says otherwise. Both take subnormal numbers for zero, products
 * of two and sums among them, and from the first product by AMX on signals take 8 KiB more of the
 * stack. Not while calls run. */
void atoll_kernels_use_amx(int32_t use);

/* Why this machine cannot make the call, which is otherwise right; NULL if it can. Products of
 * floats need a BLAS: without one some would be slow in silence. Opens it. */
const char *atoll_kernels_lack(const atoll_call *call);

#ifdef __cplusplus
}
#endif
#endif
