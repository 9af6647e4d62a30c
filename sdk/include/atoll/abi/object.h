/* Objects: what a function keeps between calls and is no tensor, such as the state of a generator,
 * a plan or a communicator. The plugin owns the value, the host counts the handles.
 *
 * A function makes one where its signature has a result of type `object`: it calls
 * atoll_host::object_create and stores the object in the operand's `data`, which is NULL before.
 * From then on the object's count is the host's, whether the call succeeds or fails: after an
 * error the host releases the objects that it finds in the results. So a function that fails
 * leaves them there; one that releases an object itself first sets `data` back to NULL.
 *
 * Other functions get it as an operand (`state: object`, or `state: object&` where they change it)
 * flagged ATOLL_OPERAND_OBJECT. Only implementations of the plugin that made an object are called
 * with it, on the device where it was made. Work with an object is ordered between streams as work
 * with a tensor is.
 */
#ifndef ATOLL_ABI_OBJECT_H
#define ATOLL_ABI_OBJECT_H

#include "atoll/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atoll_object_type {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "generator"; applications see it behind the plugin's: "linalg.generator" */
    /* Once, from any thread, when no handle is left and the work enqueued with the object is done.
     * `plugin` is what load returned. Must not fail. */
    void (*destroy)(void *plugin, void *value);
} atoll_object_type;

/* Made by the host. */
typedef struct atoll_object {
    uint32_t struct_size;
    int32_t device; /* index within the device type */
    const atoll_object_type *type;
    void *value;       /* the plugin's */
    uint64_t identity; /* as atoll_operand::storage */
} atoll_object;

#ifdef __cplusplus
}
#endif
#endif
