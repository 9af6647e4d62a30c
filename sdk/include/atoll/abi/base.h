/* Version, status codes, dtypes, scalars and the error buffer of the plugin ABI.
 *
 * Contracts of every header in this folder:
 *  - C11, and C++ too. No allocation, no function bodies: layouts and constants only.
 *  - Every struct that crosses the border starts with `struct_size`, the sender's sizeof, and only
 *    grows at its end. What a shorter sender left out reads as zero. Of what a plugin declares, a
 *    longer sender's unknown tail must be zero or the plugin is refused as too new; a plugin
 *    ignores what later hosts append. Exceptions, frozen for ever because they are used as array
 *    elements or on the hot path: atoll_scalar, atoll_operand, atoll_call, atoll_link.
 *  - ids (functions, dtypes, status, flags) are explicit and append-only.
 *  - Sizes and strides are in BYTES, extents in ELEMENTS; both are signed 64 bit.
 *  - Strings are UTF-8, NUL-terminated, and live as long as the plugin is loaded.
 *  - Reserved fields are zero in what is declared. In an atoll_scalar, atoll_operand and atoll_call
 *    they are unspecified: writing them would cost each call some nanoseconds.
 */
#ifndef ATOLL_ABI_BASE_H
#define ATOLL_ABI_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major stands in the query symbol's name and must match. Major 0: the ABI is a draft, the
 * minor is its number, and host and plugin of different drafts refuse each other. From major 1 on a
 * minor adds functions, struct tails and ids; host and plugin of different minors work together. */
#define ATOLL_ABI_MAJOR 0
#define ATOLL_ABI_MINOR 1

#define ATOLL_MAGIC 0x4c4f5441u /* "ATOL", little endian */

/* Deepest iteration space a call may have. Shared by host and plugins so that a plugin can size its
 * scratch arrays; tensors of higher rank are refused by the host. */
#define ATOLL_MAX_RANK 64

/* Operands of a function, outputs and inputs together, and the core axes and groups that its
 * signature may name. */
#define ATOLL_MAX_OPERANDS 8
#define ATOLL_MAX_SLOTS 8

enum atoll_status {
#define ATOLL_STATUS(value, ENUM, identifier, text) ATOLL_STATUS_##ENUM = (value),
#include "atoll/lists/status.inc"
    ATOLL_STATUS_COUNT = 0
#define ATOLL_STATUS(value, ENUM, identifier, text) +1
#include "atoll/lists/status.inc"
};

enum atoll_dtype {
    ATOLL_DTYPE_NONE = 0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_##ENUM = (id),
#include "atoll/lists/dtypes.inc"
    ATOLL_DTYPE_COUNT = 1 /* `none` counts: an array of this size can be indexed by dtype */
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) +1
#include "atoll/lists/dtypes.inc"
};

enum atoll_dtype_kind {
    ATOLL_DTYPE_KIND_BOOL = 1,
    ATOLL_DTYPE_KIND_SIGNED = 2,
    ATOLL_DTYPE_KIND_UNSIGNED = 3,
    ATOLL_DTYPE_KIND_FLOAT = 4,
    ATOLL_DTYPE_KIND_BRAIN = 5,
    ATOLL_DTYPE_KIND_COMPLEX = 6
};

/* A set of dtypes, bit = id. */
typedef uint64_t atoll_dtype_set;
#define ATOLL_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

/* What atoll_scalar::dtype says where the value is no element of a dtype. */
enum atoll_value_kind {
    ATOLL_VALUE_ABSENT = 0,      /* an optional attribute that was not given */
    ATOLL_VALUE_INTS = 0x10000,  /* `count` numbers at value.ints */
    ATOLL_VALUE_CHOICE = 0x10001 /* value.i64: the position in the attribute's list of words */
};

/* One value with its dtype, in native byte order, at the start of `bytes`. Frozen: 32 bytes, so
 * that `value` lies on a multiple of 16 in every array of them: a complex128 can be handed to
 * libraries as it lies. */
typedef struct atoll_scalar {
    uint32_t dtype; /* enum atoll_dtype or atoll_value_kind */
    uint32_t count; /* of ATOLL_VALUE_INTS */
    uint64_t reserved;
    union {
        uint8_t bytes[16];
        int64_t i64;
        uint64_t u64;
        float f32[2];
        double f64[2];
        const int64_t *ints;
    } value;
} atoll_scalar;

/* An optional addition to a declaration. The host skips ids that it does not know; one with
 * ATOLL_EXTENSION_REQUIRED makes it ignore the declaration that carries it, and say so in what it
 * reports of the plugin. There are none yet. */
typedef struct atoll_extension {
    uint32_t struct_size;
    uint32_t id;
    const struct atoll_extension *next;
} atoll_extension;
#define ATOLL_EXTENSION_REQUIRED UINT32_C(0x80000000)

/* Where a call says what went wrong. Owned by the host; `text` has room for `capacity` bytes with
 * the NUL. A plugin fills it before it returns a status other than OK, best through
 * atoll_host::set_error, which cannot overrun it. */
typedef struct atoll_error {
    uint32_t struct_size;
    int32_t status;      /* enum atoll_status */
    int64_t native_code; /* the device library's own code (cudaError_t, errno …), 0 if none */
    uint32_t capacity;   /* bytes at `text` */
    uint32_t reserved;
    char *text;
    /* Which function failed, when that is not the call at hand: an asynchronous error surfaces at
     * a later synchronisation, and names here the function that caused it. "" otherwise. */
    char function[64];
} atoll_error;

#ifdef __cplusplus
}
#endif
#endif
