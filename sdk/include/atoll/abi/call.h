/* One call: the iteration space, its operands, and the link it arrives through.
 *
 * Note [Iteration space]
 * Every computing function gets ONE shape and, per operand, one byte stride per axis of that shape.
 * An operand that does not vary along an axis has stride 0 there. That covers every family:
 *
 *   family     shape              operands                     strides that are zero
 *   COPY       (…)                out, in
 *   FILL       (…)                out
 *   STEPS      (n)                out
 *   UNARY      (…)                out, in                      broadcast axes of in
 *   BINARY     (…)                out, a, b                    broadcast axes of a, b
 *   REDUCE     (kept…, reduced…)  out, in                      the reduced axes of out
 *   MATMUL     (m, n, k, stack…)  out, a, b                    out: k; a: n; b: m; broadcast stacks
 *   TERNARY    (…)                out, a, b, c                 broadcast axes of a, b, c
 *   SCAN       (others…, n)       out, in
 *   SORT       (others…, n)       out, in
 *   SEARCH     (values…, n)       out, values, sorted          out, values: n; sorted: all others
 *   ARG_REDUCE (kept…, reduced…)  out, in                      the reduced axes of out
 *   FIND       (…)                out, in                      see Note [Find]
 *   GATHER     (…)                out, in, offsets             see Note [Offsets]
 *   SCATTER    (…)                out, in, offsets             see Note [Offsets]
 *
 * REDUCE_ONE is REDUCE with a number in the params.
 *
 * Outputs come first. The host has checked shapes, dtypes, read-only and overlap, has dropped axes
 * of extent 1 and merged what can be merged (for MATMUL: only among the stack axes; for SCAN, SORT
 * and SEARCH: all but the last), and never calls with an extent of 0. Axes are in no
 * particular order and may run backwards, but for the last of SCAN and SORT, the reduced ones of
 * ARG_REDUCE and all of FIND and SCATTER: those stay in the order of the caller's tensor, first
 * axis fastest, and neighbours are merged only where that keeps the order. An output overlaps an
 * input only where both are the very same elements (same address and strides), and then only in
 * COPY, UNARY, BINARY, TERNARY, SCAN and SORT (of the same dtype).
 *
 * Note [Positions]
 * ARG_REDUCE gives an element's position among the reduced axes, counted with the first reduced
 * axis fastest; argsort its index along n.
 *
 * Note [Find]
 * out is a vector of int64 with the byte stride strides[0] and has exactly as many elements as
 * are non-zero in `in`: the host has counted them with `nnz`. Positions are counted with the first
 * axis fastest. Rank is at least 1.
 *
 * Note [Offsets]
 * `offsets` holds int64 byte offsets, one per element. GATHER reads in's element at its own
 * address (data and strides) plus the offset; SCATTER writes to out's element at its own address
 * plus the offset, in the order of the axes. in and out have the compute dtype and the same byte
 * order (whichever it is), offsets are native. All offsets are within the tensor.
 */
#ifndef ATOLL_ABI_CALL_H
#define ATOLL_ABI_CALL_H

#include "atoll/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of a call. Third-party functions use these too; CUSTOM passes `params` through. */
enum atoll_family {
    ATOLL_FAMILY_DEVICE = 0, /* module `device`: see abi/device.h */
    ATOLL_FAMILY_COPY = 1,
    ATOLL_FAMILY_FILL = 2,
    ATOLL_FAMILY_STEPS = 3,
    ATOLL_FAMILY_UNARY = 4,
    ATOLL_FAMILY_BINARY = 5,
    ATOLL_FAMILY_REDUCE = 6,
    ATOLL_FAMILY_MATMUL = 7,
    ATOLL_FAMILY_CUSTOM = 8, /* a third-party module's own: shape and strides are each operand's
                                own, see Note [Custom family] */
    ATOLL_FAMILY_TERNARY = 9,
    ATOLL_FAMILY_SCAN = 10,
    ATOLL_FAMILY_SORT = 11,
    ATOLL_FAMILY_SEARCH = 12,
    ATOLL_FAMILY_ARG_REDUCE = 13,
    ATOLL_FAMILY_REDUCE_ONE = 14,
    ATOLL_FAMILY_FIND = 16,
    ATOLL_FAMILY_GATHER = 17,
    ATOLL_FAMILY_SCATTER = 18,
    ATOLL_FAMILY_SIGNATURE = 19 /* what the signature says: see Note [Calls by signature] */
};

/* Note [Calls by signature]
 * Axes [0, core) of the space are the core axes, one for each name in the order of appearance in
 * the signature; the others are loop axes. `params` points to the attributes, one atoll_scalar for
 * each in the order of the list. Operands: outputs first, then inputs, as in the signature; one
 * that is absent is flagged ATOLL_OPERAND_ABSENT.
 *
 * Without capabilities operands are native, aligned and of the dtype that the signature says; each
 * is dense, its core axes first in the order of its parentheses, then the loop; the loop is one
 * axis, or none for one element. Without ATOLL_CAP_STACKS a function with core axes is called for
 * each element of the loop, and then there are no loop axes. An operand with core axes that does
 * not vary over the loop, beside others that do, has stride 0 there. */

/* Note [Custom family]
 * call->shape is NULL and call->rank 0; each operand's `strides` points to 2 * n numbers, its n
 * extents and then its n byte strides, with n in `rank`. `params` is the caller's struct. */

enum atoll_operand_flag {
    ATOLL_OPERAND_SWAPPED = 1, /* the elements are in the other byte order */
    /* one value in HOST memory, all strides 0, valid during the call only */
    ATOLL_OPERAND_SCALAR = 2,
    /* an optional operand that was not given: data is NULL, the strides are 0 */
    ATOLL_OPERAND_ABSENT = 4
};

/* Frozen: 32 bytes. */
typedef struct atoll_operand {
    void *data; /* address of the element at index (0, 0, …), in the device's memory */
    const int64_t *strides; /* bytes, one per axis of the iteration space */
    uint16_t dtype;         /* enum atoll_dtype */
    uint16_t flags;         /* ATOLL_OPERAND_* */
    uint32_t rank;          /* CUSTOM family only, 0 otherwise */
    uint64_t reserved;
} atoll_operand;

enum atoll_call_flag {
    /* The call was inserted (a cast, a layout copy, a temporary) to serve another one, by the host
     * or by a plugin through atoll_host::dispatch; parent_module and parent_function name that one.
     */
    ATOLL_CALL_INSERTED = 1
};

typedef struct atoll_call {
    uint32_t struct_size;
    uint16_t module;   /* 0 core, 1 device; the host numbers others while the process runs */
    uint16_t function; /* id within the module */
    uint16_t family;   /* enum atoll_family */
    uint16_t dtype;    /* compute dtype; for COPY: the source's; 0 for DEVICE */
    uint16_t output_count;
    uint16_t operand_count; /* outputs included */
    uint32_t rank;          /* axes of the iteration space */
    uint32_t flags;         /* ATOLL_CALL_* */
    int32_t device;         /* index of the device within its type */
    uint16_t parent_module; /* with ATOLL_CALL_INSERTED */
    uint16_t parent_function;
    const int64_t *shape;    /* extents, in elements */
    atoll_operand *operands; /* outputs first */
    const void *params;      /* the family's struct below, or NULL */
    void *stream;            /* the plugin's stream handle; NULL: the default stream */
    uint64_t correlation;    /* same for an API call and all that it caused; never 0 */
    atoll_error *error;      /* never NULL */
} atoll_call;

/* FILL */
typedef struct atoll_fill_params {
    uint32_t struct_size;
    uint32_t reserved;
    atoll_scalar value; /* in the output's dtype */
} atoll_fill_params;

/* STEPS. Element i is start + i * step, computed in int64 or uint64 (wrapping), or in float64 or
 * complex128, whichever `start` is in; then converted. With `has_last`, element n - 1 is `last`. */
typedef struct atoll_steps_params {
    uint32_t struct_size;
    uint32_t has_last;
    atoll_scalar start, step, last;
} atoll_steps_params;

/* REDUCE, REDUCE_ONE, ARG_REDUCE. Axes [0, kept) are kept, [kept, rank) are reduced; at least one
 * axis is reduced. `number`: a float64, the ddof of var and stddev, the p of the norms. */
typedef struct atoll_reduce_params {
    uint32_t struct_size;
    uint32_t kept;
    atoll_scalar number;
} atoll_reduce_params;

/* SORT. Stable also when descending: equals keep their order. NaN is last either way; a complex
 * number with a NaN part counts as NaN. */
typedef struct atoll_sort_params {
    uint32_t struct_size;
    uint32_t descending;
} atoll_sort_params;

/* SEARCH. The position is the number of elements of `sorted` that come before the value; with
 * `right` those that equal it count too. */
typedef struct atoll_search_params {
    uint32_t struct_size;
    uint32_t right;
} atoll_search_params;

/* MATMUL: out = alpha * op(a) op(b) + beta * out; with beta == 0 out is not read. Transposition is
 * in the strides, conjugation in the flags. alpha and beta are in the compute dtype, for float16,
 * bfloat16 and complex32 in float32 or complex64. */
typedef struct atoll_matmul_params {
    uint32_t struct_size;
    uint32_t conj; /* bit 0: a, bit 1: b */
    atoll_scalar alpha, beta;
} atoll_matmul_params;

struct atoll_link;

/* Every function of every module has this signature. Returns enum atoll_status; on anything but
 * ATOLL_STATUS_OK call->error says why. Enqueues and returns on asynchronous devices; called from
 * any thread, several at a time. The call, its arrays and its params live until it returns. */
typedef int32_t (*atoll_fn)(const struct atoll_link *self, atoll_call *call);

/* One element of a slot's chain. A slot holds the head; interposers come first, then the
 * implementations by priority, then the host's stub, which returns NOT_SUPPORTED. Immutable once
 * published; alive while any call is inside it. Frozen: 32 bytes.
 * An interposer passes a call on with `self->next->fn(self->next, call)`. */
typedef struct atoll_link {
    atoll_fn fn;
    void *ctx;                     /* what the owner's load or create returned */
    const struct atoll_link *next; /* NULL only in the stub */
    const void *owner;             /* the host's record: see atoll_host::owner_name */
} atoll_link;

#ifdef __cplusplus
}
#endif
#endif
