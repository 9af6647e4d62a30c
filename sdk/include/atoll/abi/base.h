/* Version, status codes, dtypes, scalars and the error buffer of the plugin ABI.
 *
 * Rules for every header in this folder:
 *  - The headers are valid C11 and C++. They contain layouts and constants only: no allocation and
 *    no function bodies.
 *  - Every struct that crosses the ABI starts with `struct_size`, the sender's sizeof, and grows
 *    only at its end. Members that a shorter sender omits read as zero. In what a plugin declares,
 *    an unknown tail of a longer struct must be zero, otherwise the plugin is refused as too new; a
 *    plugin ignores members that later hosts append. Exceptions, frozen because they are array
 *    elements or on the hot path: atoll_scalar, atoll_operand, atoll_call, atoll_link.
 *  - Ids (functions, dtypes, status, flags) are explicit and append-only.
 *  - Sizes and strides are in BYTES, extents in ELEMENTS; all are signed 64-bit integers.
 *  - Strings are UTF-8, NUL-terminated, and live as long as the plugin is loaded.
 *  - Reserved fields must be zero in declarations. In an atoll_scalar, atoll_operand and atoll_call
 *    they are unspecified, because writing them would cost several nanoseconds per call.
 */
#ifndef ATOLL_ABI_BASE_H
#define ATOLL_ABI_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major is part of the query symbol's name and must match. While the major is 0, the ABI is a
 * draft, the minor is the number of the draft, and host and plugin of different drafts refuse each
 * other. From major 1 on, a minor adds functions, struct tails and ids, and host and plugin of
 * different minors work together. */
#define ATOLL_ABI_MAJOR 0
#define ATOLL_ABI_MINOR 2

#define ATOLL_MAGIC 0x4c4f5441u /* "ATOL", little endian */

/* Maximum rank of a call's iteration space. Host and plugins share it so that a plugin can size its
 * scratch arrays; the host refuses tensors of higher rank. */
#define ATOLL_MAX_RANK 64

/* Maximum number of operands of a function (outputs and inputs together), and maximum number of
 * core axes and groups in its signature. */
#define ATOLL_MAX_OPERANDS 8
#define ATOLL_MAX_SLOTS 8

enum atoll_status {
#define ATOLL_STATUS(value, ENUM, identifier, text) ATOLL_STATUS_##ENUM = (value),
#include "atoll/lists/status.inc"
    ATOLL_STATUS_COUNT = 0
#define ATOLL_STATUS(value, ENUM, identifier, text) +1
#include "atoll/lists/status.inc"
};

/* A bool element is true if its byte is not 0: memory from elsewhere contains any bytes, and an
 * implementation must read all of them. It writes 0 or 1; only copy may keep the bytes of bool. */
enum atoll_dtype {
    ATOLL_DTYPE_NONE = 0,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) ATOLL_DTYPE_##ENUM = (id),
#include "atoll/lists/dtypes.inc"
    ATOLL_DTYPE_COUNT = 1 /* includes `none`, so that arrays of this size can be indexed by dtype */
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

/* A set of dtypes: bit number = id. */
typedef uint64_t atoll_dtype_set;
#define ATOLL_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

/* Values of atoll_scalar::dtype for values that are not an element of a dtype. */
enum atoll_value_kind {
    ATOLL_VALUE_ABSENT = 0,      /* an optional attribute without a value */
    ATOLL_VALUE_INTS = 0x10000,  /* value.ints points to `count` numbers */
    ATOLL_VALUE_CHOICE = 0x10001 /* value.i64: index into the attribute's list of words */
};

/* One value with its dtype, in native byte order, at the start of `bytes`. Frozen at 32 bytes, so
 * that `value` is aligned to 16 in an array: a complex128 can be passed to libraries in place. */
typedef struct atoll_scalar {
    uint32_t dtype; /* enum atoll_dtype or atoll_value_kind */
    uint32_t count; /* for ATOLL_VALUE_INTS */
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

/* An optional addition to a declaration. The host skips unknown ids. If an unknown id has
 * ATOLL_EXTENSION_REQUIRED, the host ignores the declaration that carries it and says so in its
 * report on the plugin. There are no extensions yet. */
typedef struct atoll_extension {
    uint32_t struct_size;
    uint32_t id;
    const struct atoll_extension *next;
} atoll_extension;
#define ATOLL_EXTENSION_REQUIRED UINT32_C(0x80000000)

/* Receives the error of a call. The host owns it; `text` has room for `capacity` bytes including
 * the NUL. A plugin fills it in before it returns a status other than OK, preferably with
 * atoll_host::set_error, which never overruns the buffer. */
typedef struct atoll_error {
    uint32_t struct_size;
    int32_t status;      /* enum atoll_status */
    int64_t native_code; /* the device library's own code (cudaError_t, errno …), 0 if none */
    uint32_t capacity;   /* bytes at `text` */
    uint32_t reserved;
    char *text;
    /* The function that failed, if it is not the current call: an asynchronous error is reported by
     * a later synchronisation, which names here the function that caused it. "" otherwise. */
    char function[64];
} atoll_error;

#ifdef __cplusplus
}
#endif
#endif
