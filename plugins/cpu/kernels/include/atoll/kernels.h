/* The kernels of Atoll's cpu plugin as a library of their own, for C11 and C++: dense loops over
 * strided memory. A caller describes memory by rank, extents, byte strides and addresses; there is
 * no tensor type, no runtime, and nothing to initialise. It needs no other part of Atoll than the
 * lists that this header includes.
 *
 *   int64_t extents[] = {rows, columns}, strides[] = {8, 8 * rows};
 *   atoll_kernel_operand operands[] = {{c, strides, ATOLL_DTYPE_FLOAT64, 0},
 *                                      {a, strides, ATOLL_DTYPE_FLOAT64, 0},
 *                                      {b, strides, ATOLL_DTYPE_FLOAT64, 0}};
 *   atoll_kernel_call call = {.struct_size = sizeof call, .function = ATOLL_KERNEL_add,
 *                             .dtype = ATOLL_DTYPE_FLOAT64, .rank = 2, .extents = extents,
 *                             .operand_count = 3, .operands = operands};
 *   int32_t status = atoll_kernel_run(&call);   (c = a + b)
 *
 * Functions are those of atoll/lists/functions.inc, which says what each computes, on which dtypes,
 * and with which operands and attributes. The names in the parentheses of a signature are core
 * axes: `a (n) -> b (n)` works along one axis, `a (n*) -> s ()` reduces any number of axes (n*).
 * All other axes are loop axes, over which the function is repeated.
 *
 * Note [One space]
 * A call has ONE list of extents, and each operand one byte stride per axis: first the core axes,
 * name after name in the order in which the signature mentions them, then the loop axes. The stride
 * is 0 where an operand does not vary: that is how one broadcasts. What stands at core axes that an
 * operand does not have (n of s above) is ignored. Loop axes, and those of a group such as n*, may
 * come in any order, unless the list calls them `ordered`: the kernels sort them by stride.
 *
 *   signature                                         extents of a call
 *   a (), b () -> c ()                                loop…
 *   a (n*) -> s ()                                    n…, loop…
 *   a (m*, k*), b (k*, n*), c (m*, n*)? -> d (m*, n*) m…, k…, n…, loop…
 *
 * Dtypes: `dtype` is what the function computes in, one of its domain. Inputs are converted to it
 * and the result to the dtype of the output, so operands may be of any dtype, mixed, at any address
 * and in either byte order; gather and scatter only move elements, whose dtype is that of the call.
 * float16, bfloat16 and complex32 are computed in float32 and rounded once. Comparisons of 64-bit
 * integers with floats compare the true values.
 *
 * The caller sees to it that addresses and strides stay within its memory, that an output overlaps
 * an input only where both are the very same elements (for functions with core axes: only if the
 * list says `in place`), and that what the list calls `counts` is not negative.
 *
 * Threads: any number may call at once. A call runs on its thread, and from some 10^5 elements on
 * in pieces on what `parallel_for` offers; its results do not depend on that. Products of large
 * matrices of floats are BLAS's, on threads of its own. No function keeps what it is given.
 */
#ifndef ATOLL_KERNELS_H
#define ATOLL_KERNELS_H

#include "atoll/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ATOLL_KERNEL_add and so on. */
enum atoll_kernel {
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)             \
    ATOLL_KERNEL_##name = (id),
#include "atoll/lists/functions.inc"
    ATOLL_KERNEL_COUNT = 0
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc) +1
#include "atoll/lists/functions.inc"
};

enum atoll_kernel_flag {
    ATOLL_KERNEL_SWAPPED = 1 /* the elements are not in native byte order */
};

/* Frozen: an element of an array. */
typedef struct atoll_kernel_operand {
    void *data;             /* address of the element at index (0, 0, …) */
    const int64_t *strides; /* in bytes, one per axis of the call; any sign */
    uint32_t dtype;         /* enum atoll_dtype */
    uint32_t flags;         /* ATOLL_KERNEL_SWAPPED */
} atoll_kernel_operand;

/* body(argument, begin, end) works on a part of [0, count). It does not throw. */
typedef void (*atoll_kernel_body)(void *argument, int64_t begin, int64_t end);
/* Runs a body over [0, count), in parts of at least `grain`, each once, on any threads, and returns
 * when all of it is done. The body may wait for a part that has begun on another thread. */
typedef void (*atoll_kernel_parallel_for)(void *pool, int64_t count, int64_t grain,
                                          atoll_kernel_body body, void *argument);

/* Grows at its end only; members that a caller's older struct lacks are 0. */
typedef struct atoll_kernel_call {
    uint32_t struct_size; /* sizeof(atoll_kernel_call) */
    uint16_t function;    /* enum atoll_kernel */
    uint16_t dtype;       /* enum atoll_dtype: what is computed in */
    uint16_t rank;        /* axes, at most ATOLL_MAX_RANK */
    uint16_t operand_count;
    uint16_t attribute_count;
    uint16_t reserved; /* 0 */
    /* How many axes each name of the signature has, in the order of Note [One space]; 0 means 1.
     * More than one is for groups. */
    uint8_t axes[ATOLL_MAX_SLOTS];
    const int64_t *extents; /* in elements, one per axis; any may be 0 */
    /* Outputs first, then inputs as the signature names them. Optional ones at the end may be left
     * out; in the middle they have no data. */
    const atoll_kernel_operand *operands;
    /* In the order of the list. Those left out, and those of the dtype 0, have their default.
     * Values are converted to what the list says (T: the call's dtype; A: that in which T is
     * accumulated: float32 for the 16-bit floats). */
    const atoll_scalar *attributes;
    atoll_kernel_parallel_for parallel_for; /* NULL: the calling thread only */
    void *pool;                             /* its first argument */
    char *error;                            /* receives what went wrong; may be NULL */
    size_t error_capacity;                  /* bytes at `error`, with the NUL */
} atoll_kernel_call;

/* Returns ATOLL_STATUS_OK or
 *   INVALID_ARGUMENT  the call is not as described above
 *   NOT_SUPPORTED     there is no such function, not on this dtype, or not on this machine
 *   OUT_OF_MEMORY     no scratch
 * and then writes a sentence to `error`. Nothing but that is written in the first two cases. An
 * output without elements is no error, nor is a result over none if the list gives its identity.
 * Does not throw. */
int32_t atoll_kernel_run(const atoll_kernel_call *call);

/* A line of the list. */
typedef struct atoll_kernel_info {
    const char *name;
    const char *signature;
    const char *attributes; /* "" if it has none */
    const char *properties; /* "" if it has none */
    const char *doc;
    atoll_dtype_set dtypes; /* what `dtype` of a call may be: a set of ATOLL_DTYPE_BIT */
} atoll_kernel_info;

/* NULL if the library has no such function. */
const atoll_kernel_info *atoll_kernel_describe(int32_t function);
/* The function of this name, -1 if there is none. */
int32_t atoll_kernel_find(const char *name);

/* Chooses the BLAS that multiplies matrices of floats in this process, and opens it. `library` is a
 * name or an absolute path, as for dlopen; NULL: OpenBLAS, libopenblas.so.0, which the first
 * product opens if nothing is chosen before; where that one has no kernels for this processor and
 * would use those of an earlier one, the library multiplies itself. `threads`: how many it uses; 0:
 * its own choice. Sizes
 * of 32 (LP64) and of 64 bits (ILP64) are recognised. Returns ATOLL_STATUS_OK, or NOT_FOUND and a
 * sentence in `error`, which may be NULL: then products of floats are not supported until another
 * one is chosen. Not while products run. */
int32_t atoll_kernel_use_blas(const char *library, int32_t threads, char *error,
                              size_t error_capacity);
/* What it is and where; "" before it is opened. */
const char *atoll_kernel_blas(void);

/* Whether products of bfloat16 and of 8-bit integers may use AMX, the tile instructions of Intel's
 * processors, and those of bfloat16 AVX512-BF16: 1 by default, 0: no. With both, subnormal numbers
 * count as zero: elements, products of two and their sums in float32, before alpha. After the first
 * product by AMX signals take 8 KiB more of the stack, so an alternative stack for signals must
 * have sysconf(_SC_MINSIGSTKSZ) bytes. Not while products run. */
void atoll_kernel_use_amx(int32_t use);

/* The level of instructions that the kernels use, the best of those built that this processor has:
 * "x86-64-v3". "" if it has none of them: then no call is supported. */
const char *atoll_kernel_level(void);

#ifdef __cplusplus
}
#endif
#endif
