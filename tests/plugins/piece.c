/* One piece of a module, as the build asks: an interface (DEFINES, VERSION, perhaps DEPENDS), or an
 * implementation of one for DEVICE_TYPE (IMPLEMENTS, NEEDS). Everything that happens to its device
 * state goes to the host's log, where the tests read it. NAME is the plugin's name. */
#include "atoll/plugin.h"

#include <stddef.h>
#include <stdio.h>

#ifndef DEVICE_TYPE
#define DEVICE_TYPE "cpu"
#endif

static const atoll_host *host;

static void note(const char *what, int32_t device) {
    char text[64];
    snprintf(text, sizeof text, "%s %d", what, (int)device);
    host->log(host->self, ATOLL_LOG_INFO, text);
}

#ifdef DEFINES
ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_MODULES, 0);

static const atoll_function_info functions[] = {
    {.struct_size = sizeof(atoll_function_info),
     .id = 0,
     .name = "ping",
     .doc = "does nothing",
     .signature = "-> nothing (): int64"},
};
#ifdef DEPENDS
static const char *const depends[] = {DEPENDS, NULL};
#endif
static const atoll_module_decl module = {
    .struct_size = sizeof(atoll_module_decl),
    .version = VERSION,
    .name = DEFINES,
    .functions = functions,
    .function_size = sizeof(atoll_function_info),
    .function_count = 1,
#ifdef DEPENDS
    .depends = depends,
#endif
};
static const atoll_module_decl *const modules[] = {&module};
#else
ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_IMPLS, 0);

static int32_t ping(const atoll_link *self, atoll_call *call) {
    (void)self;
    note("ping", call->device);
    return ATOLL_STATUS_OK;
}
static int32_t open_device(void *plugin, int32_t device, atoll_error *error) {
    (void)plugin, (void)error;
    note("open", device);
    return ATOLL_STATUS_OK;
}
static void close_device(void *plugin, int32_t device) {
    (void)plugin;
    note("close", device);
}
static const atoll_function_decl functions[] = {
    {.struct_size = sizeof(atoll_function_decl), .id = 0, .fn = ping},
};
static const atoll_impl_decl impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .module = IMPLEMENTS,
    .device_type = DEVICE_TYPE,
    .module_version = NEEDS,
    .function_size = sizeof(atoll_function_decl),
    .functions = functions,
    .function_count = 1,
    .open_device = open_device,
    .close_device = close_device,
};
static const atoll_impl_decl *const impls[] = {&impl};
#endif

static int32_t load(const atoll_host *given, void **plugin, atoll_error *error) {
    (void)error;
    host = given;
    *plugin = &host;
    note("load", 0);
    return ATOLL_STATUS_OK;
}
static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    note("unload", 0);
    return ATOLL_STATUS_OK;
}

static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = NAME,
#ifdef DEFINES
    .modules = modules,
    .module_count = 1,
#else
    .impls = impls,
    .impl_count = 1,
#endif
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *info) {
    (void)info;
    return &plugin;
}
