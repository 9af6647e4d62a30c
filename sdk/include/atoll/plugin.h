/* The Atoll plugin ABI: all that a plugin sees of Atoll. C11 and C++.
 *
 * A plugin is a shared object that exports exactly one symbol, atoll_plugin_query_v0, and carries
 * the note of abi/note.h. The life of a plugin:
 *
 *   note read   the host refuses a file of another ABI major or draft, too new a minor, a wrong ISA
 *               level or sanitizer, without opening it
 *   query       pure and repeatable; no device work; returns a static descriptor
 *   load        once; the plugin gets the host's services and makes its context
 *   enumerate   for each device type; then open_device of each implementation
 *   calls       from any thread
 *   unload      after all its storages, streams and events are gone and no call is inside; joins
 *               its threads. The file stays mapped; load may follow again.
 *
 * Nothing is torn down at process exit. Exceptions never cross: in C++ use atoll/plugin.hpp, which
 * catches at the border. */
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

/* What query returns. Arrays are of pointers, so that the structs in them may grow. */
typedef struct atoll_plugin {
    uint32_t struct_size;
    uint32_t magic; /* ATOLL_MAGIC */
    uint16_t abi_major;
    uint16_t abi_minor;      /* what the plugin was compiled against */
    uint16_t min_host_minor; /* lowest minor of a host that it works with */
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
    /* Neither is NULL, nor is their `error`. `host` lives until unload returns. *plugin becomes
     * link->ctx of all the plugin's functions. */
    int32_t (*load)(const atoll_host *host, void **plugin, atoll_error *error);
    int32_t (*unload)(void *plugin, atoll_error *error);
} atoll_plugin;

typedef const atoll_plugin *(*atoll_plugin_query_fn)(const atoll_host_info *host);

ATOLL_EXPORT const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host);

#ifdef __cplusplus
}
#endif
#endif
