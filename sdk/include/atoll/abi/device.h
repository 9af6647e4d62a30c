/* Parameters of the module `device`: enumeration, memory, transfers, streams, events.
 *
 * Note [Order]
 * Calls on one stream take effect in the order of arrival, whatever thread they came from;
 * different streams run concurrently unless an event orders them. A device type flagged
 * ATOLL_DEVICE_INLINE executes on the calling thread: a call has taken effect when it returns, from
 * any thread, and the stream and event functions need not exist. Errors of enqueued work stick to
 * the stream and are returned once, by the next synchronisation, with atoll_error::function naming
 * the culprit. An error may follow an event into the streams that wait for it. A
 * synchronisation that returns an error has waited all the same.
 */
#ifndef ATOLL_ABI_DEVICE_H
#define ATOLL_ABI_DEVICE_H

#include "atoll/abi/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_device_flag {
    ATOLL_DEVICE_HOST_MEMORY =
        1, /* its memory is ordinary host memory: the host may read and write it */
    ATOLL_DEVICE_INLINE = 2, /* executes on the calling thread, see Note [Order] */
    ATOLL_DEVICE_PEER = 4    /* transfers between two devices of this type need no host staging */
};

typedef struct atoll_enumerate_params {
    uint32_t struct_size;
    uint32_t count;   /* out */
    char reason[256]; /* out: why count is 0, e.g. "no driver" */
} atoll_enumerate_params;

typedef struct atoll_properties_params {
    uint32_t struct_size;
    uint32_t units;        /* out: cores, multiprocessors …; 0 if unknown */
    char name[128];        /* out: the model */
    uint64_t total_memory; /* out: bytes; 0 if unknown */
    uint64_t free_memory;  /* out: bytes, at the time of the call; 0 if unknown */
    uint64_t alignment;    /* out: bytes, of what allocate returns; at least 64 */
} atoll_properties_params;

/* allocate, allocate_host: bytes > 0 in, data out, aligned to at least 64 bytes. free, free_host:
 * data and the same bytes. */
typedef struct atoll_memory_params {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t bytes;
    void *data;
} atoll_memory_params;

enum atoll_transfer_kind {
    /* The source may be reused when the call returns (copy or stage it). */
    ATOLL_TRANSFER_HOST_TO_DEVICE = 1,
    /* The destination is valid after the stream is synchronised. */
    ATOLL_TRANSFER_DEVICE_TO_HOST = 2,
    /* Same type; `peer` is the index of the source's device, call->device the destination's. */
    ATOLL_TRANSFER_DEVICE_TO_DEVICE = 3
};

enum atoll_transfer_flag {
    /* HOST_TO_DEVICE: the source comes from allocate_host and stays as it is until the stream has
     * passed: read it then, and do not stage it. */
    ATOLL_TRANSFER_KEPT = 1
};

typedef struct atoll_transfer_params {
    uint32_t struct_size;
    uint32_t kind; /* enum atoll_transfer_kind */
    void *destination;
    const void *source;
    uint64_t bytes;
    int32_t peer;
    uint32_t flags; /* ATOLL_TRANSFER_* */
} atoll_transfer_params;

/* stream_create: `stream` out. stream_destroy: in. stream_synchronize: call->stream, this ignored.
 */
typedef struct atoll_stream_params {
    uint32_t struct_size;
    uint32_t reserved;
    void *stream;
} atoll_stream_params;

/* stream_order: `done` is a stream of the device `done_device` (NULL: its default stream). */
typedef struct atoll_stream_order_params {
    uint32_t struct_size;
    int32_t done_device;
    void *done;
} atoll_stream_order_params;

/* native_handle: of call->stream on call->device. Which kinds there are a device type says in a
 * header of its own; INVALID_ARGUMENT for others. The handle is good while the stream lives; work
 * that an implementation puts on it inside a call counts as that call's. */
typedef struct atoll_native_handle_params {
    uint32_t struct_size;
    uint32_t kind;  /* from 1 on; from 0x80000000 on for experiments */
    uint64_t value; /* out: a pointer or a number */
} atoll_native_handle_params;

/* event_time: nanoseconds on a clock of the device that only steps forward, the same for all events
 * of the device. */
typedef struct atoll_event_time_params {
    uint32_t struct_size;
    uint32_t reserved;
    void *event;
    int64_t nanoseconds; /* out */
} atoll_event_time_params;

/* event_create: `event` out; the others: in. record and wait act on call->stream. */
typedef struct atoll_event_params {
    uint32_t struct_size;
    uint32_t reserved;
    void *event;
} atoll_event_params;

/* The function runs on a thread of the device's choosing and must neither block nor call Atoll. If
 * host_callback returns OK it is called exactly once, also after a failure of the work before it
 * (`status` is then not OK); if it returns an error it is never called. */
typedef struct atoll_callback_params {
    uint32_t struct_size;
    uint32_t reserved;
    void (*function)(void *argument, int32_t status);
    void *argument;
} atoll_callback_params;

enum atoll_device_function {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) ATOLL_DEVICE_FN_##name = (id),
#include "atoll/lists/device_functions.inc"
    ATOLL_DEVICE_FN_COUNT = 0
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) +1
#include "atoll/lists/device_functions.inc"
};

/* A device type that a plugin brings. Its functions come as an implementation (atoll_impl_decl) of
 * the module "device" for this type. */
typedef struct atoll_device_type_decl {
    uint32_t struct_size;
    uint32_t flags;   /* ATOLL_DEVICE_* */
    const char *name; /* [a-z][a-z0-9_]*, at most 31 characters */
    /* What DLPack calls this memory (DLDeviceType: 1 CPU, 2 CUDA, 10 ROCm …), so that tensors can
     * be exchanged with other libraries. 0: nothing of its own (kDLExtDev). */
    int32_t dlpack_type;
    uint32_t reserved;
    const atoll_extension *next;
} atoll_device_type_decl;

#ifdef __cplusplus
}
#endif
#endif
