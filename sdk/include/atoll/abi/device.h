/* Parameters of the module `device`: enumeration, memory, transfers, streams, events.
 *
 * Note [Order]
 * Calls on one stream take effect in the order of arrival, from whatever thread they came;
 * different streams run concurrently unless an event orders them. A device type with the flag
 * ATOLL_DEVICE_INLINE executes on the calling thread: a call has taken effect when it returns, on
 * any thread, and the stream and event functions may be absent. An error of enqueued work stays
 * with the stream and is returned once, by the next synchronisation, with the failed function in
 * atoll_error::function. An error may propagate through an event to the streams that wait for it. A
 * synchronisation that returns an error has still waited.
 *
 * Note [Events]
 * event_record marks the end of call->stream, a stream of the device that created the event. Every
 * other function refers to the latest record at the time of its call. So an event may be recorded
 * again while streams wait for it: they go on waiting for the record that they were told to wait
 * for. An event that was never recorded is done. An event may outlive the streams that it was
 * recorded on: stream_destroy drains the stream, and the event is then done. It may be destroyed
 * while streams wait for it, which does not end the wait.
 */
#ifndef ATOLL_ABI_DEVICE_H
#define ATOLL_ABI_DEVICE_H

#include "atoll/abi/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_device_flag {
    ATOLL_DEVICE_HOST_MEMORY =
        1,                   /* device memory is host memory that the host may read and write */
    ATOLL_DEVICE_INLINE = 2, /* executes on the calling thread: Note [Order] */
    ATOLL_DEVICE_PEER = 4    /* transfers between two devices of this type need no host staging */
};

typedef struct atoll_enumerate_params {
    uint32_t struct_size;
    uint32_t count;   /* out */
    char reason[256]; /* out: the reason if count is 0, e.g. "no driver" */
} atoll_enumerate_params;

typedef struct atoll_properties_params {
    uint32_t struct_size;
    uint32_t units;        /* out: cores, multiprocessors …; 0 if unknown */
    char name[128];        /* out: the model */
    uint64_t total_memory; /* out: bytes; 0 if unknown */
    uint64_t free_memory;  /* out: bytes, at the time of the call; 0 if unknown */
    uint64_t alignment;    /* out: bytes, of the addresses that allocate returns; at least 64 */
} atoll_properties_params;

/* facts: the implementation calls `add` once per fact, on the calling thread, before it returns;
 * the host copies both texts. The facts are for people and reports: versions, clocks, statistics. A
 * device has the same names in the same order at every call, and the header of a device type
 * documents them. At most 256 facts.
 *   name   [a-z][a-z0-9_]*, at most 63 bytes, unique; ends in its unit where it has one: clock_mhz
 *   value  1 to 255 bytes of UTF-8 without control characters; numbers in decimal digits */
typedef struct atoll_facts_params {
    uint32_t struct_size;
    uint32_t reserved;
    void (*add)(void *argument, const char *name, const char *value);
    void *argument;
} atoll_facts_params;

/* allocate, allocate_host: `bytes` > 0 is input; `data` is output, aligned to at least 64 bytes.
 * free, free_host: `data` and the same `bytes` are inputs. */
typedef struct atoll_memory_params {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t bytes;
    void *data;
} atoll_memory_params;

enum atoll_transfer_kind {
    /* The caller may reuse the source when the call returns (copy or stage it). */
    ATOLL_TRANSFER_HOST_TO_DEVICE = 1,
    /* The destination is valid after the stream is synchronised. */
    ATOLL_TRANSFER_DEVICE_TO_HOST = 2,
    /* Both devices are of this type; `peer` is the index of the source device, call->device that of
     * the destination device. */
    ATOLL_TRANSFER_DEVICE_TO_DEVICE = 3
};

enum atoll_transfer_flag {
    /* HOST_TO_DEVICE: the source comes from allocate_host and does not change until the stream has
     * completed the transfer. Read it then, without staging. */
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

/* stream_create: `stream` is output. stream_destroy: input. stream_synchronize uses call->stream
 * and ignores this struct.
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

/* native_handle: a native handle of call->stream on call->device. A device type documents its kinds
 * in a header of its own; other kinds return INVALID_ARGUMENT. The handle is valid while the stream
 * lives. Work that an implementation enqueues on it during a call belongs to that call. */
typedef struct atoll_native_handle_params {
    uint32_t struct_size;
    uint32_t kind;  /* 1 and above; 0x80000000 and above are for experiments */
    uint64_t value; /* out: a pointer or a number */
} atoll_native_handle_params;

/* event_time: nanoseconds on a monotonic clock of the device, which all its events share. */
typedef struct atoll_event_time_params {
    uint32_t struct_size;
    uint32_t reserved;
    void *event;
    int64_t nanoseconds; /* out */
} atoll_event_time_params;

/* event_create: `event` is output; others: input. record and wait act on call->stream: Note
 * [Events]. */
typedef struct atoll_event_params {
    uint32_t struct_size;
    uint32_t reserved;
    void *event;
} atoll_event_params;

/* host_callback: the device calls `function` on any thread; it must neither block nor call Atoll.
 * If host_callback returns OK, the function is called exactly once, even if the work before it
 * failed (`status` is then not OK). If host_callback returns an error, it is never called. */
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

/* A device type that a plugin provides. Its functions are an implementation (atoll_impl_decl) of
 * the module "device" for this type. */
typedef struct atoll_device_type_decl {
    uint32_t struct_size;
    uint32_t flags;   /* ATOLL_DEVICE_* */
    const char *name; /* [a-z][a-z0-9_]*, at most 31 characters */
    /* DLPack's code for this memory (DLDeviceType: 1 CPU, 2 CUDA, 10 ROCm …), for exchanging
     * tensors with other libraries. 0: no code of its own (kDLExtDev). */
    int32_t dlpack_type;
    uint32_t reserved;
    const atoll_extension *next;
} atoll_device_type_decl;

#ifdef __cplusplus
}
#endif
#endif
