/* One call: the iteration space, its operands, and the link through which it arrives.
 *
 * Note [Iteration space]
 * A computing function receives ONE shape and, per operand, one byte stride per axis of that shape.
 * An operand that does not vary along an axis has stride 0 there. Outputs come first.
 *
 * Axes [0, core) are the core axes that the function's signature names (Note [Signatures] in
 * abi/module.h), slot after slot. A slot is a name, in the order of first appearance, inputs before
 * outputs. `axes` contains the number of axes of each slot: 1 in general, at least 1 for groups
 * (`n*`), 0 for opaque slots. Axes [core, rank) are loop axes.
 *
 *   signature                                  axes of the call         strides that are zero
 *   a (), b () -> c ()                         loop…                    broadcast axes of a, b
 *   a (n*) -> s ()                             n…, loop…                n of s
 *   a (n) -> b (n)                             n, loop…
 *   a (), sorted (n) -> at ()                  n, loop…                 n of a and at
 *   a (m*, k*), b (k*, n*), c (m*, n*)? -> d   m…, k…, n…, loop…        d, c: k; a: n; b: m
 *
 * The host has checked shapes, dtypes, read-only flags and overlap, has dropped loop axes of extent
 * 1 and merged axes where possible. It never makes a call with an extent of 0. It sorts the axes of
 * an unordered group and the loop axes by absolute stride, smallest first, of the first operand
 * (outputs first) that varies along the axis, and makes that operand step forward. Ordered groups,
 * and the loop if the function says so, stay in the order of the caller's tensor, first axis
 * fastest, and neighbouring axes are merged only where that preserves the order. Separate groups
 * and plain axes are not changed.
 *
 * An output overlaps an input only if both consist of the same elements (same address and strides),
 * and only in functions without core axes or in functions declared `in place`.
 *
 * Note [Without capabilities]
 * An implementation that declares no capabilities (enum atoll_capability) receives these calls:
 *  - operands are native, aligned and of the dtype that the signature specifies;
 *  - every group is one axis;
 *  - functions without core axes have one loop axis, or none for a single element; functions with
 *    core axes are called for each element of the loop and have no loop axes;
 *  - each operand is dense, its core axes first in the order of its parentheses, then the loop. An
 *    operand with core axes that does not vary over the loop has stride 0 there.
 *
 * Note [Positions]
 * argmin and argmax return the position of an element among the reduced axes, counted with the
 * first of them fastest. find counts in the same way, and compress takes elements in that order.
 * argsort returns the index along n. The outputs of find and compress have exactly as many elements
 * as there are non-zero elements: the host has counted them.
 *
 * Note [Offsets]
 * gather and scatter: `offsets` are int64, one per element, in multiples of the attribute `unit`,
 * which is in bytes and may be negative or 0. gather reads a's element at its own address (data and
 * strides) plus offset times unit; scatter writes a's element at the address formed in the same
 * way, in the order of the axes. `a` and the other data operand both have the call's dtype and the
 * same byte order, which may be either and is not flagged; offsets are native. All addresses are
 * within the tensor. Without capabilities `a` has stride 0, and only the offsets vary.
 */
#ifndef ATOLL_ABI_CALL_H
#define ATOLL_ABI_CALL_H

#include "atoll/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_operand_flag {
    ATOLL_OPERAND_SWAPPED = 1, /* the elements are not in native byte order */
    /* one value in HOST memory; all strides are 0; valid only during the call */
    ATOLL_OPERAND_SCALAR = 2,
    /* an absent optional operand: data is NULL, the strides are 0 */
    ATOLL_OPERAND_ABSENT = 4,
    /* an input that was copied for this call; the implementation may overwrite it */
    ATOLL_OPERAND_DISPOSABLE = 8,
    /* `data` is an atoll_object *, see abi/object.h; the strides are 0 */
    ATOLL_OPERAND_OBJECT = 16
};

/* Frozen at 64 bytes: one cache line if the array is aligned to 64, as the host's arrays are. */
typedef struct atoll_operand {
    void *data; /* address of the element at index (0, 0, …), in the device's memory */
    /* In bytes, one per axis of the iteration space; never NULL. Any value along axes of extent
     * 1. */
    const int64_t *strides;
    uint16_t dtype;   /* enum atoll_dtype; 0 for absent operands and objects */
    uint16_t flags;   /* ATOLL_OPERAND_* */
    int32_t device;   /* index of the device within its type */
    uint64_t storage; /* identity of the memory, never reused in the process; 0: none */
    void *base;       /* the address that `allocate` returned, or start of borrowed memory */
    uint64_t reserved[3];
} atoll_operand;

enum atoll_call_flag {
    /* The host, or a plugin through atoll_host::dispatch, inserted this call (a cast, a layout
     * copy, a temporary) to serve another call, which parent_module and parent_function name.
     */
    ATOLL_CALL_INSERTED = 1
};

/* Why the host inserted a call: a set of these. */
enum atoll_call_reason {
#define ATOLL_CALL_REASON(bit, ENUM, name, capability, text) ATOLL_REASON_##ENUM = 1 << (bit),
#include "atoll/lists/call_reasons.inc"
    ATOLL_CALL_REASON_COUNT = 0
#define ATOLL_CALL_REASON(bit, ENUM, name, capability, text) +1
#include "atoll/lists/call_reasons.inc"
};

/* Frozen at 128 bytes. */
typedef struct atoll_call {
    uint32_t struct_size;
    uint32_t flags;    /* ATOLL_CALL_* */
    uint16_t module;   /* 0 core, 1 device; the host numbers other modules at run time */
    uint16_t function; /* id within the module */
    uint16_t dtype;    /* T; 0 for functions with one slot */
    uint16_t output_count;
    uint16_t operand_count; /* including outputs and absent operands */
    uint16_t attribute_count;
    uint16_t rank;          /* axes of the iteration space */
    uint16_t core;          /* core axes among them */
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
    uint64_t correlation;          /* shared by an API call and all calls it causes; never 0 */
    atoll_error *error;            /* never NULL */
    uint8_t axes[ATOLL_MAX_SLOTS]; /* core axes of each slot; unspecified after the last slot */
    uint32_t reasons;              /* ATOLL_REASON_*, with ATOLL_CALL_INSERTED; 0: a plugin's own */
    uint32_t reserved_word;
    uint64_t reserved[4];
} atoll_call;

struct atoll_link;

/* Every function of every module has this signature. Returns enum atoll_status; for every status
 * except ATOLL_STATUS_OK, call->error describes the error. On asynchronous devices it enqueues work
 * and returns. May be called from several threads at once. The call, its arrays and its attributes
 * live until it returns; an implementation writes only to the error and to results in params. */
typedef int32_t (*atoll_fn)(const struct atoll_link *self, atoll_call *call);

/* One element of a slot's chain. A slot holds the head of the chain: interposers come first, then
 * the implementations by priority, then the host's stub, which returns NOT_SUPPORTED. A link is
 * immutable once published and lives while any call is inside it. Frozen at 32 bytes. An interposer
 * passes a call on with `self->next->fn(self->next, call)`. */
typedef struct atoll_link {
    atoll_fn fn;
    void *ctx;                     /* the value that the owner's load or create returned */
    const struct atoll_link *next; /* NULL only in the stub */
    const void *owner;             /* the host's record: see atoll_host::owner_name */
} atoll_link;

#ifdef __cplusplus
}
#endif
#endif
