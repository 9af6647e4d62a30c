/* An interposer that conforms: it counts calls and passes them on. Each macro breaks it in one way.
 */
#include "atoll/plugin.h"

#include <stdatomic.h>
#include <string.h>

ATOLL_PLUGIN_NOTE("counter", ATOLL_CONTAINS_INTERPOSERS, 0);

static atomic_uint calls;

static int32_t count(const atoll_link *self, atoll_call *call) {
    const unsigned now = atomic_fetch_add(&calls, 1);
    (void)now;
#ifdef DROPS_CALLS
    if (call->module == ATOLL_MODULE_CORE && call->function == ATOLL_FN_sum) return ATOLL_STATUS_OK;
#endif
    const int32_t status = self->next->fn(self->next, call);
#ifdef SWALLOWS_ERRORS
    if (status == ATOLL_STATUS_OUT_OF_MEMORY) return ATOLL_STATUS_INTERNAL;
#endif
    return status;
}

static void report(void *plugin, void *ctx, atoll_writer write, void *user) {
    (void)plugin, (void)ctx;
#ifdef SAYS_NOTHING
    (void)write, (void)user;
#else
    const char *text = atomic_load(&calls) ? "some calls\n" : "no call\n";
    write(user, text, strlen(text));
#endif
}

static const atoll_interposer_decl interposer = {
    .struct_size = sizeof(atoll_interposer_decl), .name = "counter", .fn = count, .report = report};
static const atoll_interposer_decl *const interposers[] = {&interposer};

static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)host, (void)error;
    *plugin = &calls;
    return ATOLL_STATUS_OK;
}
static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    return ATOLL_STATUS_OK;
}

static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = "counter",
    .version = "1.0",
    .vendor = "Atoll",
    .license = "Apache-2.0",
    .description = "for tests of the conformance kit",
    .interposers = interposers,
    .interposer_count = 1,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
