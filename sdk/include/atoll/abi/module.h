/* Modules (named, versioned lists of functions), their implementations, and interposers. */
#ifndef ATOLL_ABI_MODULE_H
#define ATOLL_ABI_MODULE_H

#include "atoll/abi/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Note [Signatures]
 * A function is a name, a signature, a rule, attributes and properties, all as text that the host
 * parses (in C++: atoll/signature_parser.hpp, which also works at compile time):
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
 * operates. All other axes of the tensors are loop axes, which broadcast with the first axes
 * aligned. A name that occurs twice in one operand denotes two axes of the same extent.
 *   n     one axis
 *   n*    a group of any number of axes, which the host sorts, flips and merges; but see `ordered`
 *   n?    one axis that an operand of lower rank may lack: its extent is then 1, and outputs with
 *         this axis lack it too. Must be last in the parentheses and occur in at least one input.
 *   3     an axis of this extent
 *   ?     after the parentheses: the operand may be absent
 *   &     an output or object that is also read
 * The operand's dtype follows a colon. Without one it is T. R: the real part of T; C: its complex
 * dtype; A: the dtype in which T is accumulated (float32 for halves); U: a second free dtype; any:
 * the operand's own dtype, never converted; the name of a dtype; `object` (then without
 * parentheses).
 *
 * Rule: derives T from the inputs without a type of their own; see enum atoll_rule.
 *
 * Attributes: `name: type = default`, separated by commas. Types: bool, int64, float64, T, A,
 * number (int64, uint64, float64 or complex128), int64[] (a list), or a choice of words:
 * `mode: reduced | complete = reduced`. With `?` instead of a default the attribute is optional;
 * with neither it is required. A list has no default. `p: float64 >= 0 = 2` accepts numbers from 0;
 * so does each number of a list. Numbers have no exponent and at most 18 digits after the decimal
 * point, and are read exactly; inf is allowed.
 *
 * Properties, separated by commas:
 *   axes all      the core axes are those that the caller names; all axes if the caller names none
 *   axes named    likewise, but the caller must name them unless the rank is 1 or 0. Without either
 *                 property the core axes are the first axes of the tensor.
 *   n ordered     the axes of group n stay in the caller's order, first axis fastest
 *   n separate    the axes of group n stay as the caller named them and are not merged or dropped
 *   x opaque      the operand is accessed in a way that the call does not describe (offsets)
 *   loop ordered  like `n ordered`, for the loop axes
 *   identity 0    the result over no elements. Without it a core axis of extent 0 is an error,
 *                 except for outputs that have such an axis themselves
 *   exact         compares true values: Note [Exact comparisons]
 *   in place a    outputs may be the same elements as input a. Functions without core axes may
 *                 always work in place.
 *   counts b      input b must not be negative if it is an integer
 *   domain 0 inf  the range of real numbers for which the function is defined, for its first input;
 *                 `domain divisor`: the last input is not 0; `domain power`: the first is not
 *                 negative, or the second is an integer
 *   c nonzero a   axis c, of outputs only, is as long as input a has non-zero elements: the host
 *                 waits for the device to count them; there are no loop axes
 *   status info   output info is 0 on success, and over no elements
 *   flop 2        floating-point operations per point of the call's iteration space */

/* How T follows from the common dtype, to which the inputs without a type of their own promote. */
enum atoll_rule {
    ATOLL_RULE_GIVEN = 0,   /* the caller specifies T */
    ATOLL_RULE_COMMON = 1,  /* the common dtype */
    ATOLL_RULE_FLOAT = 2,   /* the common dtype; bool and integers: float64 */
    ATOLL_RULE_SUM = 3,     /* the common dtype; bool and signed: int64, unsigned: uint64 */
    ATOLL_RULE_NUMBER = 4,  /* the common dtype; bool: int8 */
    ATOLL_RULE_COMPLEX = 5, /* the complex dtype of the result of FLOAT */
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

/* The known and the requested extents of a call's core axes. */
typedef struct atoll_infer {
    uint32_t struct_size;
    uint16_t dtype; /* T */
    uint16_t attribute_count;
    const atoll_scalar *attributes;
    uint8_t axes[ATOLL_MAX_SLOTS]; /* number of axes of each slot of the signature */
    int64_t *extents;              /* one per core axis, slot after slot; -1: to fill in */
} atoll_infer;
/* Fills in the extents that are -1, or returns an error. Pure; runs only on the host. `plugin` is
 * the value that load returned. */
typedef int32_t (*atoll_infer_fn)(void *plugin, atoll_infer *infer, atoll_error *error);

/* One function of a module's interface. */
typedef struct atoll_function_info {
    uint32_t struct_size;
    uint16_t id;
    uint16_t rule; /* enum atoll_rule */
    atoll_dtype_set
        domain; /* dtypes that T may be; 0: no operand depends on T and the function has one slot */
    const char *name;
    const char *doc;
    const char *signature;  /* Note [Signatures] */
    const char *attributes; /* NULL: none */
    const char *properties; /* NULL: none */
    /* NULL: the caller specifies extents that occur only in outputs. */
    atoll_infer_fn infer;
} atoll_function_info;

/* A module's interface. It loads independently of its implementations, in any order. */
typedef struct atoll_module_decl {
    uint32_t struct_size;
    uint32_t version; /* an implementation declares the lowest that it supports */
    const char *name;
    const atoll_function_info *functions;
    uint32_t function_size; /* the plugin's sizeof(atoll_function_info) */
    uint32_t function_count;
    const char *const *depends; /* names of other modules, NULL-terminated, or NULL */
    const atoll_extension *next;
} atoll_module_decl;

/* The operands that an implementation accepts unchanged. The host converts all others before the
 * call:
 * Note [Without capabilities] in abi/call.h.
 *
 * Note [Exact comparisons]
 * Comparisons (equal … greater_equal) compare true values. If the common dtype cannot represent a
 * 64-bit integer operand (int64 with uint64 or with floats), an implementation that declares
 * ATOLL_CAP_MIXED_INPUTS receives the operands unconverted, with the common dtype as T, and must
 * not compare in T. For other implementations the host decomposes such comparisons.
 */
enum atoll_capability {
    ATOLL_CAP_MIXED_INPUTS = 1,  /* inputs of any dtype */
    ATOLL_CAP_MIXED_OUTPUTS = 2, /* outputs of any dtype */
    ATOLL_CAP_SWAPPED = 4,       /* any operand in the other byte order */
    ATOLL_CAP_STRIDED = 8,       /* any positive strides, any number of loop axes */
    ATOLL_CAP_NEGATIVE_STRIDES = 16,
    ATOLL_CAP_ZERO_STRIDES = 32, /* broadcast inputs */
    ATOLL_CAP_UNALIGNED = 64,    /* addresses and strides that are not multiples of the alignment */
    ATOLL_CAP_SCALARS = 128,     /* inputs with the flag ATOLL_OPERAND_SCALAR */
    /* For functions with core axes: loop axes; any number with STRIDED, one without it. */
    ATOLL_CAP_LOOPS = 256,
    /* This implementation may pass calls on to the next one, so both must accept them: the host
     * uses only the capabilities that both declare. */
    ATOLL_CAP_FORWARDS = 512,
    ATOLL_CAP_GROUPS = 1024, /* with STRIDED: groups of several axes */
    /* Like STRIDED, but the first core axis of each operand is dense, as BLAS requires of
     * matrices. */
    ATOLL_CAP_INNER_DENSE = 2048,
    /* The next synchronisation reports invalid values (`counts`) as OUT_OF_RANGE, so the host need
     * not wait to check them. */
    ATOLL_CAP_REPORTS_RANGE = 4096
};

/* One function of an implementation. A function may occur several times for different dtypes. A
 * call that needs an attribute or an input that the implementation does not know never reaches it:
 * the host computes without it (core.matmul) or reports what is missing. */
typedef struct atoll_function_decl {
    uint32_t struct_size;
    uint16_t id;
    uint16_t attributes;    /* number of known attributes; those without a default count as known */
    atoll_dtype_set dtypes; /* of T; ignored for functions with one slot */
    uint64_t caps;          /* ATOLL_CAP_* */
    atoll_fn fn;
    uint16_t inputs; /* number of known inputs; inputs that are not optional count as known */
    /* Maximum number of axes of a call, at least the number of core axes; 0: ATOLL_MAX_RANK. The
     * host copies operands of higher rank until axes merge. */
    uint16_t max_rank;
    uint32_t reserved;
    const atoll_extension *next;
} atoll_function_decl;

/* The functions of one module for one device type. Any plugin may declare them. If the plugin does
 * not provide the device type, it replaces, function by function and dtype by dtype,
 * implementations of lower priority, or of the same priority that were loaded earlier. Retiring the
 * plugin restores the previous implementations. */
typedef struct atoll_impl_decl {
    uint32_t struct_size;
    int32_t priority;
    const char *module;
    const char *device_type;
    uint32_t module_version; /* lowest supported version of the interface */
    uint32_t function_size;  /* the plugin's sizeof(atoll_function_decl) */
    const atoll_function_decl *functions;
    uint32_t function_count;
    uint32_t reserved;
    /* Module-specific state per device, or NULL. Opened when both interface and device exist,
     * closed in reverse order. `plugin` is the value that load returned. */
    int32_t (*open_device)(void *plugin, int32_t device, atoll_error *error);
    void (*close_device)(void *plugin, int32_t device);
    const atoll_extension *next;
} atoll_impl_decl;

/* Writes `size` bytes of text; passed to report. */
typedef void (*atoll_writer)(void *user, const char *text, size_t size);

/* An interposer that the host can push by name over a function, a module or all functions. */
typedef struct atoll_interposer_decl {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    atoll_fn fn;
    /* Creates the state of one push, which becomes link->ctx. NULL: use the plugin's own
     * context. */
    int32_t (*create)(void *plugin, void **ctx, atoll_error *error);
    /* Called after the pop, when no call is inside the interposer any more. */
    void (*destroy)(void *plugin, void *ctx);
    /* Writes the collected data as text. May be called from any thread, while calls run. NULL: no
     * report. */
    void (*report)(void *plugin, void *ctx, atoll_writer write, void *user);
    /* Told that a range of the application begins (`name`, UTF-8, valid during the call) or that
     * the newest one of the thread ends (NULL), on its thread, whatever the target of the push; see
     * atoll/range.h. A range that was open before the push ends without having begun. NULL: not
     * told. */
    void (*range)(void *plugin, void *ctx, const char *name);
    const atoll_extension *next;
} atoll_interposer_decl;

#ifdef __cplusplus
}
#endif
#endif
