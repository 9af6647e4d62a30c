/* What libtapp-atoll adds to TAPP, in the ranges that the standard leaves to implementations. A
 * program that uses it needs this library; tapp.h does not include it.
 */
#ifndef TAPP_ATOLL_H
#define TAPP_ATOLL_H

/* Types: 0x1000 plus the number of Atoll's dtype. Those that TAPP names have both names. */
enum {
    TAPP_ATOLL_BOOL = 0x1001,
    TAPP_ATOLL_INT8 = 0x1002,
    TAPP_ATOLL_INT16 = 0x1003,
    TAPP_ATOLL_INT32 = 0x1004,
    TAPP_ATOLL_INT64 = 0x1005,
    TAPP_ATOLL_UINT8 = 0x1006,
    TAPP_ATOLL_UINT16 = 0x1007,
    TAPP_ATOLL_UINT32 = 0x1008,
    TAPP_ATOLL_UINT64 = 0x1009,
    TAPP_ATOLL_FLOAT16 = 0x100a,
    TAPP_ATOLL_BFLOAT16 = 0x100b,
    TAPP_ATOLL_FLOAT32 = 0x100c,
    TAPP_ATOLL_FLOAT64 = 0x100d,
    TAPP_ATOLL_COMPLEX32 = 0x100e, /* two binary16 */
    TAPP_ATOLL_COMPLEX64 = 0x100f,
    TAPP_ATOLL_COMPLEX128 = 0x1010
};

/* Keys of attributes. */
enum {
    /* Of an executor and of a status: the device's name, a text. Setting it loads the plugin that
     * it begins with, "dummy" for "dummy:1". */
    TAPP_ATOLL_DEVICE = 0x1000,
    /* Of an executor: where the tensors are, a text. "host" (as in the beginning): in host memory;
     * for a device with memory of its own, A, B and C are copied there and D back. "device": in the
     * memory of the device, ready for work on its default stream. */
    TAPP_ATOLL_MEMORY = 0x1001,
    /* Of a status: how long the execution took. */
    TAPP_ATOLL_NANOSECONDS = 0x1002,
    /* Of a status: multiplications and additions, 2 for each combination of indices; at most
     * 2^63 - 1. */
    TAPP_ATOLL_OPERATIONS = 0x1003,
    /* Of a status: what the execution returned. */
    TAPP_ATOLL_ERROR = 0x1004,
    /* Of a handle: the version of Atoll, a text. */
    TAPP_ATOLL_VERSION = 0x1005
};

/* Error codes. 1001 to 1099 are errors of Atoll: 1000 plus the status of the call. */
enum {
    TAPP_ATOLL_INVALID_ARGUMENT = 1001,
    TAPP_ATOLL_NOT_SUPPORTED = 1002,
    TAPP_ATOLL_OUT_OF_MEMORY = 1003,
    TAPP_ATOLL_NOT_FOUND = 1007, /* no such device or plugin */
    TAPP_ATOLL_OVERFLOW = 1013,  /* sizes or strides beyond 63 bits */
    TAPP_ATOLL_INTERNAL = 1014,

    TAPP_ATOLL_BAD_OBJECT = 1100,    /* not an object of the kind that is needed */
    TAPP_ATOLL_NULL_ARGUMENT = 1101, /* NULL where there must be memory */
    TAPP_ATOLL_BAD_DATATYPE = 1102,
    TAPP_ATOLL_BAD_OPERATION = 1103, /* neither TAPP_IDENTITY nor TAPP_CONJUGATE */
    TAPP_ATOLL_BAD_PRECISION = 1104,
    TAPP_ATOLL_BAD_KEY = 1105,   /* the object has no such attribute, or it cannot be set */
    TAPP_ATOLL_BAD_VALUE = 1106, /* of an attribute */
    TAPP_ATOLL_EXPIRED_STATUS = 1107,
    TAPP_ATOLL_BAD_COUNT = 1108, /* a negative number of products */
    TAPP_ATOLL_TOO_MANY_INDICES = 1109
};

#endif
