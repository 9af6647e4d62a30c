/* The Atoll plugin ABI: everything that a plugin sees of Atoll. C11 and C++.
 *
 * A plugin is a shared object that exports exactly one symbol, atoll_plugin_query_v0, and carries
 * the note of abi/note.h. The life cycle of a plugin:
 *
 *   note        the host refuses a file of another ABI major or draft, of too new a minor, or of
 *               the wrong ISA level or sanitizer, without opening it
 *   query       pure and repeatable; does no device work; returns a static descriptor
 *   load        called once; the plugin receives the host's services and creates its context
 *   enumerate   for each device type; then open_device of each implementation
 *   calls       from any thread
 *   unload      after all its storages, streams and events are gone and no call is inside; joins
 *               its threads. The file stays mapped; load may follow again.
 *
 * Nothing is torn down at process exit. Exceptions must not cross the ABI: in C++ use
 * atoll/plugin.hpp, which catches them. */
#ifndef ATOLL_PLUGIN_H
#define ATOLL_PLUGIN_H

#include "atoll/abi/base.h"
#include "atoll/abi/call.h"
#include "atoll/abi/device.h"
#include "atoll/abi/host.h"
#include "atoll/abi/module.h"
#include "atoll/abi/note.h"
#include "atoll/abi/object.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_EXPORT __attribute__((visibility("default")))

/* The result of query. Arrays hold pointers, so that the structs may grow. */
typedef struct atoll_plugin {
    uint32_t struct_size;
    uint32_t magic; /* ATOLL_MAGIC */
    uint16_t abi_major;
    uint16_t abi_minor;      /* that the plugin was compiled against */
    uint16_t min_host_minor; /* lowest supported minor of a host */
    uint16_t reserved;
    const char *name; /* as in the note: [a-z][a-z0-9_-]*, at most 31 characters */
    const char *version;
    const char *vendor;
    const char *license;
    const char *description; /* one line */
    const atoll_module_decl *const *modules;
    const atoll_device_type_decl *const *device_types;
    const atoll_impl_decl *const *impls;
    const atoll_interposer_decl *const *interposers;
    uint32_t module_count;
    uint32_t device_type_count;
    uint32_t impl_count;
    uint32_t interposer_count;
    /* Neither function is NULL, nor is the `error` that they receive. `host` lives until unload
     * returns. *plugin becomes link->ctx of all functions of the plugin. */
    int32_t (*load)(const atoll_host *host, void **plugin, atoll_error *error);
    int32_t (*unload)(void *plugin, atoll_error *error);
} atoll_plugin;

typedef const atoll_plugin *(*atoll_plugin_query_fn)(const atoll_host_info *host);

ATOLL_EXPORT const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host);

#ifdef __cplusplus
}
#endif
#endif
