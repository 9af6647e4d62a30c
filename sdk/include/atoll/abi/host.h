/* The services that a plugin receives from the host. A plugin links nothing of Atoll and never
 * reads the environment; it uses these services. They may be called from any thread and do not
 * throw. */
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

/* body(argument, begin, end) processes a part of [0, count). */
typedef void (*atoll_range_body)(void *argument, int64_t begin, int64_t end);
/* Runs a body over [0, count) in chunks of at least `grain`, each once. Blocks until all chunks are
 * done. The body must not throw. It may wait for a chunk that has begun on another thread. */
typedef void (*atoll_parallel_for)(void *pool, int64_t count, int64_t grain, atoll_range_body body,
                                   void *argument);

/* The argument of query, which the host calls before anything else. */
typedef struct atoll_host_info {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
    const char *version; /* version of the host library, "0.1.0" */
} atoll_host_info;

typedef struct atoll_host {
    uint32_t struct_size;
    uint32_t reserved;
    void *self; /* the host's record of this plugin: first argument of the services */

    void (*log)(void *self, int32_t level, const char *text);
    /* Fills in `error` without overrunning it; truncates `text` to fit. Returns `status`, so that a
     * function can end with `return host->set_error(…)`. */
    int32_t (*set_error)(atoll_error *error, int32_t status, int64_t native_code, const char *text);
    /* Allocates host memory, aligned to 64 bytes; returns NULL if there is none. */
    void *(*allocate)(size_t bytes);
    void (*deallocate)(void *memory);
    /* Runs `body` on the host's pool, or on the calling thread if there is no pool. */
    void (*parallel_for)(void *self, int64_t count, int64_t grain, atoll_range_body body,
                         void *argument);
    /* Makes `run` the host's pool unless the application set one. Withdrawn when the plugin
     * retires. */
    void (*offer_parallel_for)(void *self, atoll_parallel_for run, void *pool);
    /* Reads this plugin's setting `key` from the application or the environment
     * (ATOLL_<PLUGIN>_<KEY>); uses `fallback` if it is not set. Copies the string to `buffer`,
     * truncated to `capacity` and NUL-terminated. Returns the full length without the NUL. Ask for
     * every setting during load, also for one that is read again later: the host warns of settings
     * that the plugin has not asked for. */
    size_t (*config)(void *self, const char *key, const char *fallback, char *buffer,
                     size_t capacity);
    /* Sends a call through the slot of call->module, call->function and call->dtype on the given
     * device type. Inside a call, pass the stream and correlation of that call. Elsewhere between
     * load and unload (in open_device, or on the plugin's own threads, which unload joins), pass
     * the device's default stream (NULL) or a stream that the plugin created, and correlation 0,
     * which the host fills in. The host checks and converts nothing: pass operands as
     * Note [Without capabilities] describes, which every implementation accepts. NOT_FOUND: no such
     * device type or function. NOT_SUPPORTED: nothing implements it. */
    int32_t (*dispatch)(void *self, const char *device_type, atoll_call *call);
    /* Names, for interposers: of a function ("core.add"; "?" if unknown), and of the plugin or
     * application that owns a link. Valid until that module or plugin is retired. */
    const char *(*function_name)(uint16_t module, uint16_t function);
    const char *(*owner_name)(const void *owner);
    /* The name of the device type to whose slot a link belongs. */
    const char *(*device_type_of)(const atoll_link *link);
    /* The ATOLL_DEVICE_* flags of that device type. Without ATOLL_DEVICE_INLINE, the time in a call
     * is enqueue time. */
    uint32_t (*device_flags_of)(const atoll_link *link);
    /* Finds the ids of a function by name, "core.add". Returns NOT_FOUND if it does not exist at
     * present (the host numbers the modules of third parties at run time). */
    int32_t (*find_function)(const char *name, uint16_t *module, uint16_t *function);
    /* The path of the file from which this plugin was opened. */
    const char *plugin_path;
    /* Objects: see abi/object.h. create counts one handle; release drops one. `type` must live as
     * long as the plugin is loaded. retain and release ignore arguments that are not objects. */
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
