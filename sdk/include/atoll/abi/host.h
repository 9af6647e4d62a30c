/* The services a plugin gets from the host. A plugin links nothing of Atoll and never reads the
 * environment: it asks here. All services may be called from any thread, none throws. */
#ifndef ATOLL_ABI_HOST_H
#define ATOLL_ABI_HOST_H

#include "atoll/abi/call.h"
#include "atoll/abi/object.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atoll_log_level {
    ATOLL_LOG_TRACE = 0,
    ATOLL_LOG_DEBUG = 1,
    ATOLL_LOG_INFO = 2,
    ATOLL_LOG_WARN = 3,
    ATOLL_LOG_ERROR = 4
};

/* body(argument, begin, end) for a partition of [0, count). */
typedef void (*atoll_range_body)(void *argument, int64_t begin, int64_t end);
/* Runs a body over [0, count) in chunks of at least `grain`, blocks until all are done. The body
 * must not throw. */
typedef void (*atoll_parallel_for)(void *pool, int64_t count, int64_t grain, atoll_range_body body,
                                   void *argument);

/* What query is told before anything else happens. */
typedef struct atoll_host_info {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
    const char *version; /* of the host library, "0.1.0" */
} atoll_host_info;

typedef struct atoll_host {
    uint32_t struct_size;
    uint32_t reserved;
    void *self; /* the host's record of this plugin: first argument of the services */

    void (*log)(void *self, int32_t level, const char *text);
    /* Fills `error` without overrunning it; `text` is cut to fit. Returns `status`, so that a
     * function can end with `return host->set_error(…)`. */
    int32_t (*set_error)(atoll_error *error, int32_t status, int64_t native_code, const char *text);
    /* Host memory, aligned to 64 bytes; NULL when there is none. */
    void *(*allocate)(size_t bytes);
    void (*deallocate)(void *memory);
    /* Runs on the host's pool, or on the calling thread where no pool is set. */
    void (*parallel_for)(void *self, int64_t count, int64_t grain, atoll_range_body body,
                         void *argument);
    /* Makes `run` the host's pool where the application set none; withdrawn when the plugin
     * retires. */
    void (*offer_parallel_for)(void *self, atoll_parallel_for run, void *pool);
    /* This plugin's setting `key`, from the application or the environment (ATOLL_<PLUGIN>_<KEY>),
     * or `fallback`. The string is copied to `buffer` (cut to `capacity`, NUL-terminated). Returns
     * the full length without the NUL. */
    size_t (*config)(void *self, const char *key, const char *fallback, char *buffer,
                     size_t capacity);
    /* Sends a call through the slot of call->module, call->function and call->dtype on the given
     * device type. From inside a call, where it goes on the caller's stream under the caller's
     * correlation, or anywhere else between load and unload: in open_device, on a thread of the
     * plugin's own (which unload joins); then on the device's default stream (NULL) or one that the
     * plugin has made, with correlation 0, which the host fills in. Nothing is checked or
     * converted: pass what Note [Without capabilities] describes, which every implementation takes.
     * NOT_FOUND where there is no such device type or function, NOT_SUPPORTED where nothing
     * implements it. */
    int32_t (*dispatch)(void *self, const char *device_type, atoll_call *call);
    /* Names, for interposers: of a function ("core.add"; "?" if unknown), and of the plugin or
     * application that owns a link. Valid until that module or plugin is retired. */
    const char *(*function_name)(uint16_t module, uint16_t function);
    const char *(*owner_name)(const void *owner);
    /* Name of the device type whose slot a link belongs to. */
    const char *(*device_type_of)(const atoll_link *link);
    /* Its ATOLL_DEVICE_* flags: without ATOLL_DEVICE_INLINE, time in a call is enqueue time. */
    uint32_t (*device_flags_of)(const atoll_link *link);
    /* The ids of a function by name, "core.add". NOT_FOUND where it is not there (now: a module of
     * a third party is numbered while the process runs). */
    int32_t (*find_function)(const char *name, uint16_t *module, uint16_t *function);
    /* The file that this plugin was opened from. */
    const char *plugin_path;
    /* Objects: abi/object.h. create counts one handle; release lets one go. `type` must live as
     * long as the plugin is loaded. retain and release ignore what is no object. */
    int32_t (*object_create)(void *self, const atoll_object_type *type, const char *device_type,
                             int32_t device, void *value, atoll_object **object,
                             atoll_error *error);
    void (*object_retain)(atoll_object *object);
    void (*object_release)(atoll_object *object);
} atoll_host;

#ifdef __cplusplus
}
#endif
#endif
