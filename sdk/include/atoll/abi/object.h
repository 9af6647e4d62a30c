/* Objects: state that a function keeps between calls and that is not a tensor, such as the state of
 * a generator, a plan or a communicator. The plugin owns the value; the host counts the handles.
 *
 * A function with a result of type `object` creates one: it calls atoll_host::object_create and
 * stores the object in the operand's `data`, which is NULL before. From then on the host owns the
 * reference count, whether the call succeeds or fails: after an error the host releases the objects
 * that it finds in the results. A function that fails therefore leaves them there, or sets `data`
 * back to NULL before it releases an object itself.
 *
 * Other functions receive the object as an operand (`state: object`, or `state: object&` if they
 * change it) with the flag ATOLL_OPERAND_OBJECT. Only implementations of the plugin that created an
 * object are called with it, on the device where it was created. Work with an object is ordered
 * between streams like work with a tensor.
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
    const char *name; /* "generator"; applications see it as "linalg.generator" (plugin first) */
    /* Called once, from any thread, when no handle is left and the work enqueued with the object is
     * done. `plugin` is the value that load returned. Must not fail. */
    void (*destroy)(void *plugin, void *value);
} atoll_object_type;

/* Created by the host. */
typedef struct atoll_object {
    uint32_t struct_size;
    int32_t device; /* index within the device type */
    const atoll_object_type *type;
    void *value;       /* owned by the plugin */
    uint64_t identity; /* like atoll_operand::storage */
} atoll_object;

#ifdef __cplusplus
}
#endif
#endif
