/* One call: the iteration space, its operands, and the link it arrives through.
 *
 * Note [Iteration space]
 * Every computing function gets ONE shape and, per operand, one byte stride per axis of that shape.
 * An operand that does not vary along an axis has stride 0 there. Outputs come first.
 *
 * Axes [0, core) are the core axes that the function's signature names (Note [Signatures] in
 * abi/module.h): slot after slot, a slot being a name in the order of its first appearance, inputs
 * before outputs. `axes` says how many each slot has: 1, but for groups (`n*`), which have at least
 * 1, and opaque ones, which have none. Axes [core, rank) are loop axes.
 *
 *   signature                                  axes of the call         strides that are zero
 *   a (), b () -> c ()                         loop…                    broadcast axes of a, b
 *   a (n*) -> s ()                             n…, loop…                n of s
 *   a (n) -> b (n)                             n, loop…
 *   a (), sorted (n) -> at ()                  n, loop…                 n of a and at
 *   a (m*, k*), b (k*, n*), c (m*, n*)? -> d   m…, k…, n…, loop…        d, c: k; a: n; b: m
 *
 * The host has checked shapes, dtypes, read-only and overlap, has dropped loop axes of extent 1 and
 * merged what can be merged, and never calls with an extent of 0. The axes of a free group and the
 * loop axes are sorted by the absolute stride of the first operand, outputs first, that varies
 * there, smallest first, and that operand steps forward. Ordered groups, and the loop where the
 * function says so, stay in the order of the caller's tensor, first axis fastest, and neighbours
 * are merged only where that keeps the order; separate groups and plain axes stay as they are.
 *
 * An output overlaps an input only where both are the very same elements (same address and
 * strides), and then only in functions without core axes or where they say `in place`.
 *
 * Note [Without capabilities]
 * What an implementation gets that declares no capabilities (enum atoll_capability):
 *  - operands are native, aligned and of the dtype that the signature says;
 *  - every group is one axis;
 *  - functions without core axes have one loop axis, or none for one element; functions with core
 *    axes are called for each element of the loop and have no loop axes;
 *  - each operand is dense, its core axes first in the order of its parentheses, then the loop. An
 *    operand with core axes that does not vary over the loop has stride 0 there.
 *
 * Note [Positions]
 * argmin and argmax give an element's position among the reduced axes, counted with the first of
 * them fastest; find counts likewise; argsort gives the index along n. find's output has exactly as
 * many elements as are not zero: the host has counted them.
 *
 * Note [Offsets]
 * gather and scatter: `offsets` are int64 byte offsets, one per element. gather reads a's element
 * at its own address (data and strides) plus the offset; scatter writes to a's element at its own
 * address plus the offset, in the order of the axes. Both operands of elements are of the call's
 * dtype and of one byte order, whichever it is, and not flagged; offsets are native. All are within
 * the tensor. Without capabilities `a` has stride 0: all is in the offsets.
 */
#ifndef ATOLL_ABI_CALL_H
#define ATOLL_ABI_CALL_H

#include "atoll/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_operand_flag {
    ATOLL_OPERAND_SWAPPED = 1, /* the elements are in the other byte order */
    /* one value in HOST memory, all strides 0, valid during the call only */
    ATOLL_OPERAND_SCALAR = 2,
    /* an optional operand that was not given: data is NULL, the strides are 0 */
    ATOLL_OPERAND_ABSENT = 4,
    /* an input that was copied for this call: the implementation may overwrite it */
    ATOLL_OPERAND_DISPOSABLE = 8,
    /* `data` is an atoll_object *: see abi/object.h. The strides are 0. */
    ATOLL_OPERAND_OBJECT = 16
};

/* Frozen: 64 bytes, one cache line where the array is aligned to 64, as the host's are. */
typedef struct atoll_operand {
    void *data; /* address of the element at index (0, 0, …), in the device's memory */
    /* Bytes, one per axis of the iteration space; never NULL. Along an axis of extent 1: any. */
    const int64_t *strides;
    uint16_t dtype;   /* enum atoll_dtype; 0 for absent ones and objects */
    uint16_t flags;   /* ATOLL_OPERAND_* */
    int32_t device;   /* index of the device within its type */
    uint64_t storage; /* identity of the memory, never used again in the process; 0: none */
    void *base;       /* what `allocate` returned for it, or where borrowed memory begins */
    uint64_t reserved[3];
} atoll_operand;

enum atoll_call_flag {
    /* The call was inserted (a cast, a layout copy, a temporary) to serve another one, by the host
     * or by a plugin through atoll_host::dispatch; parent_module and parent_function name that one.
     */
    ATOLL_CALL_INSERTED = 1
};

/* Frozen: 128 bytes. */
typedef struct atoll_call {
    uint32_t struct_size;
    uint32_t flags;    /* ATOLL_CALL_* */
    uint16_t module;   /* 0 core, 1 device; the host numbers others while the process runs */
    uint16_t function; /* id within the module */
    uint16_t dtype;    /* T; 0 for functions with one slot */
    uint16_t output_count;
    uint16_t operand_count; /* outputs included, absent ones too */
    uint16_t attribute_count;
    uint16_t rank;          /* axes of the iteration space */
    uint16_t core;          /* of these, core axes */
    int32_t device;         /* index of the device within its type */
    uint16_t parent_module; /* with ATOLL_CALL_INSERTED */
    uint16_t parent_function;
    const int64_t *shape;    /* extents, in elements */
    atoll_operand *operands; /* in the order of the signature, outputs first */
    union {
        const atoll_scalar *attributes; /* in the order of the function's list */
        void *params;                   /* module `device`: the function's struct in abi/device.h */
    };
    void *stream;                  /* the device plugin's stream handle; NULL: the default stream */
    uint64_t correlation;          /* same for an API call and all that it caused; never 0 */
    atoll_error *error;            /* never NULL */
    uint8_t axes[ATOLL_MAX_SLOTS]; /* core axes of each slot; unspecified behind the last slot */
    uint64_t reserved[5];
} atoll_call;

struct atoll_link;

/* Every function of every module has this signature. Returns enum atoll_status; on anything but
 * ATOLL_STATUS_OK call->error says why. Enqueues and returns on asynchronous devices; called from
 * any thread, several at a time. The call, its arrays and its attributes live until it returns. */
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
