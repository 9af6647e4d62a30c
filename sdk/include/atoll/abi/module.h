/* Modules (named, versioned lists of functions), their implementations, and interposers. */
#ifndef ATOLL_ABI_MODULE_H
#define ATOLL_ABI_MODULE_H

#include "atoll/abi/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Note [Signatures]
 * A function is a name, a signature, a rule, attributes and properties, all text that the host
 * parses (in C++: atoll/signature_parser.hpp, also at compile time):
 *
 *   add     a (), b () -> c ()             COMMON
 *   sum     a (n*) -> s ()                 SUM       axes all, identity 0
 *   sort    a (n) -> b (n)                 COMMON    axes named, in place a
 *           descending: bool = false
 *   matmul  a (m*, k*), b (k*, n*), c (m*, n*)? -> d (m*, n*)   COMMON    identity 0, in place c
 *           alpha: A = 1, beta: A = 0, …
 *   solve   a (n, n), b (n, k?) -> x (n, k?), info (): int32    FLOAT           status info
 *
 * Signature: operands have names. The names in parentheses are core axes, on which the function
 * works; all other axes of the tensors are loop axes, which broadcast, first axes aligned. A name
 * that stands twice in one operand makes two axes of the same extent.
 *   n     one axis
 *   n*    a group of any number of axes, sorted, flipped and merged as suits; but see `ordered`
 *   n?    one axis that an operand of too low rank lacks: its extent is then 1, and outputs that
 *         have it lack it too. Only last in the parentheses, and in an input at least.
 *   3     an axis of this extent
 *   ?     behind the parentheses: the operand may be absent
 *   &     an output or object that is also read
 * After the colon the operand's dtype: nothing for T; R the real part of T, C its complex dtype, A
 * what T is accumulated in (float32 for halves), U a second free dtype, any: as it is, never
 * converted; the name of a dtype; `object` (then without parentheses).
 *
 * Rule: how T follows from the inputs without a type of their own; enum atoll_rule.
 *
 * Attributes: `name: type = default`, separated by commas. Types: bool, int64, float64, T, A,
 * number (int64, uint64, float64 or complex128), int64[] (a list), or words: `mode: reduced |
 * complete = reduced`. `?` instead of a default: may be absent. Neither: must be given, as lists
 * must that have no `?`. Numbers are written without exponent, with 18 digits behind the point at
 * most, and read exactly; or inf.
 *
 * Properties, separated by commas:
 *   axes all      core axes are those that the caller names; all axes where none is named
 *   axes named    likewise, but they must be named unless the rank is 1 or 0. Without either
 *                 property core axes are the tensor's first.
 *   n ordered     the axes of group n stay in the caller's order, first fastest
 *   n separate    the axes of group n are left as the caller named them, not merged or dropped
 *   x opaque      the operand is reached by means that the call does not describe (byte offsets)
 *   loop ordered  the same as `n ordered` for the loop axes
 *   identity 0    the result over no elements. Without it a core axis of extent 0 is an error, but
 *                 for outputs that have such an axis themselves
 *   exact         compares true values: Note [Exact comparisons]
 *   in place a    outputs may be the very elements of input a. Functions without core axes may
 *                 always work in place.
 *   counts b      input b must not be negative where it is an integer
 *   domain 0 inf  the real numbers for which the function is defined, of its first input; `domain
 *                 divisor`: the last input is not 0; `domain power`: the first is not negative, or
 *                 the second is an integer
 *   waits         the host waits for the device
 *   status info   output info is 0 where all went well, and over no elements
 *   flop 2        floating-point operations per point of the call's space */

/* How T follows from what the inputs without a type of their own promote to. */
enum atoll_rule {
    ATOLL_RULE_GIVEN = 0,   /* given by the caller */
    ATOLL_RULE_COMMON = 1,  /* that */
    ATOLL_RULE_FLOAT = 2,   /* that; bool and integers: float64 */
    ATOLL_RULE_SUM = 3,     /* that; bool and signed: int64, unsigned: uint64 */
    ATOLL_RULE_NUMBER = 4,  /* that; bool: int8 */
    ATOLL_RULE_COMPLEX = 5, /* the complex dtype of FLOAT */
    ATOLL_RULE_COUNT = 6
};

/* Sets of dtypes. */
#define ATOLL_DOMAIN_INTEGERS UINT64_C(0x003fc)
#define ATOLL_DOMAIN_REAL_FLOATS UINT64_C(0x03c00)
#define ATOLL_DOMAIN_COMPLEXES UINT64_C(0x1c000)
#define ATOLL_DOMAIN_FLOATING (ATOLL_DOMAIN_REAL_FLOATS | ATOLL_DOMAIN_COMPLEXES)
#define ATOLL_DOMAIN_NUMERIC (ATOLL_DOMAIN_INTEGERS | ATOLL_DOMAIN_FLOATING)
#define ATOLL_DOMAIN_STEPPED ATOLL_DOMAIN_NUMERIC
#define ATOLL_DOMAIN_BITS (ATOLL_DTYPE_BIT(ATOLL_DTYPE_BOOL) | ATOLL_DOMAIN_INTEGERS)
#define ATOLL_DOMAIN_REALS (ATOLL_DOMAIN_INTEGERS | ATOLL_DOMAIN_REAL_FLOATS)
#define ATOLL_DOMAIN_ALL (ATOLL_DTYPE_BIT(ATOLL_DTYPE_BOOL) | ATOLL_DOMAIN_NUMERIC)
#define ATOLL_DOMAIN_ORDERED                                                                       \
    (ATOLL_DTYPE_BIT(ATOLL_DTYPE_BOOL) | ATOLL_DOMAIN_INTEGERS | ATOLL_DOMAIN_REAL_FLOATS)
#define ATOLL_DOMAIN_SUMMED                                                                        \
    (ATOLL_DTYPE_BIT(ATOLL_DTYPE_INT64) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_UINT64) |                    \
     ATOLL_DOMAIN_FLOATING)

enum atoll_core_function {
#define ATOLL_FUNCTION(id, name, ...) ATOLL_FN_##name = (id),
#include "atoll/lists/functions.inc"
    ATOLL_FN_COUNT = 0
#define ATOLL_FUNCTION(id, name, ...) +1
#include "atoll/lists/functions.inc"
};

#define ATOLL_MODULE_CORE 0
#define ATOLL_MODULE_DEVICE 1

/* What is known of a call's core axes, and what is asked for. */
typedef struct atoll_infer {
    uint32_t struct_size;
    uint16_t dtype; /* T */
    uint16_t attribute_count;
    const atoll_scalar *attributes;
    uint8_t axes[ATOLL_MAX_SLOTS]; /* axes that each slot of the signature has */
    int64_t *extents;              /* one per core axis, slot after slot; -1: to be filled in */
} atoll_infer;
/* Fills in the extents that are -1, or says what is wrong. Pure; on the host only. `plugin` is what
 * load returned. */
typedef int32_t (*atoll_infer_fn)(void *plugin, atoll_infer *infer, atoll_error *error);

/* One function of a module's interface. */
typedef struct atoll_function_info {
    uint32_t struct_size;
    uint16_t id;
    uint16_t rule; /* enum atoll_rule */
    atoll_dtype_set
        domain; /* of T; 0: nothing is of a dtype that follows from T, there is one slot */
    const char *name;
    const char *doc;
    const char *signature;  /* Note [Signatures] */
    const char *attributes; /* NULL: none */
    const char *properties; /* NULL: none */
    /* NULL: extents that stand in outputs only are given by the caller. */
    atoll_infer_fn infer;
} atoll_function_info;

/* A module's interface. Loads independently of its implementations, in any order. */
typedef struct atoll_module_decl {
    uint32_t struct_size;
    uint32_t version; /* an implementation names the lowest that it works with */
    const char *name;
    const atoll_function_info *functions;
    uint32_t function_size; /* sizeof(atoll_function_info) where this was compiled */
    uint32_t function_count;
    const char *const *depends; /* names of other modules, NULL-terminated, or NULL */
    const atoll_extension *next;
} atoll_module_decl;

/* What an implementation takes as it is. What it does not declare, the host converts before the
 * call: Note [Without capabilities] in abi/call.h.
 *
 * Note [Exact comparisons]
 * Comparisons (equal … greater_equal) compare true values. Where the common dtype cannot hold a
 * 64-bit integer operand (int64 with uint64 or with floats), an implementation that declares
 * ATOLL_CAP_MIXED_INPUTS gets the operands as they are, with the common dtype as T, and must not
 * compare in that one. For the others the host takes such comparisons apart.
 */
enum atoll_capability {
    ATOLL_CAP_MIXED_INPUTS = 1,  /* inputs of any dtype */
    ATOLL_CAP_MIXED_OUTPUTS = 2, /* outputs of any dtype */
    ATOLL_CAP_SWAPPED = 4,       /* any operand in the other byte order */
    ATOLL_CAP_STRIDED = 8,       /* any positive strides, any number of loop axes */
    ATOLL_CAP_NEGATIVE_STRIDES = 16,
    ATOLL_CAP_ZERO_STRIDES = 32, /* inputs that are broadcast */
    ATOLL_CAP_UNALIGNED = 64,    /* addresses and strides that are no multiple of the alignment */
    ATOLL_CAP_SCALARS = 128,     /* inputs flagged ATOLL_OPERAND_SCALAR */
    /* Functions with core axes: loop axes, as many as STRIDED says, so one without it. */
    ATOLL_CAP_LOOPS = 256,
    /* This implementation may pass calls on to the next one, so both must take them: the host
     * honours what both declare. */
    ATOLL_CAP_FORWARDS = 512,
    ATOLL_CAP_GROUPS = 1024, /* with STRIDED: groups of several axes */
    /* As STRIDED, but the first core axis of each operand is dense, as BLAS wants matrices. */
    ATOLL_CAP_INNER_DENSE = 2048,
    /* Values that the function does not allow (`counts`) are reported as OUT_OF_RANGE by the next
     * synchronisation, so the host need not wait to look at them. */
    ATOLL_CAP_REPORTS_RANGE = 4096
};

/* One function of an implementation. The same function may come several times for different dtypes.
 * A call that needs an attribute or an input which the implementation does not know never reaches
 * it: the host does without (core.matmul), or says what is missing. */
typedef struct atoll_function_decl {
    uint32_t struct_size;
    uint16_t id;
    uint16_t attributes; /* how many of the list it knows; those without a default count as known */
    atoll_dtype_set dtypes; /* T; ignored for functions with one slot */
    uint64_t caps;          /* ATOLL_CAP_* */
    atoll_fn fn;
    uint16_t inputs;   /* likewise how many inputs; those that are not optional count as known */
    uint16_t max_rank; /* axes of the space that it takes, no fewer than there are core axes; 0:
                          ATOLL_MAX_RANK. The host copies what has more, so that axes merge */
    uint32_t reserved;
    const atoll_extension *next;
} atoll_function_decl;

/* Functions of one module for one device type. Declared by the plugin that brings the device type,
 * or by any other: then it replaces, function by function and dtype by dtype, what has a lower
 * priority, or the same and was loaded earlier. Retiring it brings the former back. */
typedef struct atoll_impl_decl {
    uint32_t struct_size;
    int32_t priority;
    const char *module;
    const char *device_type;
    uint32_t module_version; /* lowest version of the interface that this works with */
    uint32_t function_size;  /* sizeof(atoll_function_decl) where this was compiled */
    const atoll_function_decl *functions;
    uint32_t function_count;
    uint32_t reserved;
    /* Module-specific state per device, or NULL. Opened when both interface and device exist,
     * closed in reverse order. `plugin` is what load returned. */
    int32_t (*open_device)(void *plugin, int32_t device, atoll_error *error);
    void (*close_device)(void *plugin, int32_t device);
    const atoll_extension *next;
} atoll_impl_decl;

/* Writes `size` bytes of text somewhere; given to report. */
typedef void (*atoll_writer)(void *user, const char *text, size_t size);

/* An interposer that the host can push by name over a function, a module or everything. */
typedef struct atoll_interposer_decl {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    atoll_fn fn;
    /* State of one push; becomes link->ctx. NULL: the plugin's own context is used. */
    int32_t (*create)(void *plugin, void **ctx, atoll_error *error);
    /* After the pop, when no call is inside any more. */
    void (*destroy)(void *plugin, void *ctx);
    /* Writes what was gathered as text; from any thread, while calls run. NULL: nothing to say. */
    void (*report)(void *plugin, void *ctx, atoll_writer write, void *user);
    const atoll_extension *next;
} atoll_interposer_decl;

#ifdef __cplusplus
}
#endif
#endif
