/* A third party's plugin in plain C: its own square root for float64 on the cpu, which counts its
 * calls, and a module of its own to ask for the count. It needs the installed headers, nothing else
 * of Atoll. Everything that it does not name stays with whoever had it before. */
#include "fast_sqrt.h"

#include "atoll/plugin.h"

#include <math.h>
#include <stdatomic.h>

ATOLL_PLUGIN_NOTE("fast_sqrt", ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, 0);

/* Calls come from any thread. Static, because the file stays mapped: the count outlives a retire,
 * so that a program can see that nothing was counted in between. */
static atomic_int_least64_t calls;

/* Declared without capabilities, so the host sees to it that both operands are float64, native,
 * aligned and dense along the one axis; one element alone has no axis. Declaring more saves the
 * host's copies; nothing else changes. A speed-up would go here. */
static int32_t fast_sqrt(const atoll_link *self, atoll_call *call) {
    (void)self;
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    double *out = call->operands[0].data;
    const double *in = call->operands[1].data;
    const int64_t count = call->rank == 0 ? 1 : call->shape[0];
    for (int64_t i = 0; i < count; ++i) out[i] = sqrt(in[i]);
    return ATOLL_STATUS_OK;
}

static int32_t count(const atoll_link *self, atoll_call *call) {
    (void)self;
    int64_t *out = call->operands[0].data, left = call->rank == 0 ? 1 : call->shape[0];
    while (left-- > 0) out[left] = atomic_load_explicit(&calls, memory_order_relaxed);
    return ATOLL_STATUS_OK;
}

/* The interface of the plugin's own module. */
static const atoll_function_info interface[] = {
    {.struct_size = sizeof(atoll_function_info),
     .id = FAST_SQRT_count,
     .name = "count",
     .doc = "calls of core.sqrt that this plugin has served, over all its loads",
     .signature = "-> calls (): int64"},
};
static const atoll_module_decl module = {
    .struct_size = sizeof(atoll_module_decl),
    .version = FAST_SQRT_VERSION,
    .name = "fast_sqrt",
    .functions = interface,
    .function_size = sizeof(atoll_function_info),
    .function_count = 1,
};

/* What it implements on the device type `cpu`, which another plugin brings. The priority puts it
 * before that one's square root whatever the order of loading. */
static const atoll_function_decl core_functions[] = {
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_sqrt,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = fast_sqrt},
};
static const atoll_function_decl own_functions[] = {
    {.struct_size = sizeof(atoll_function_decl), .id = FAST_SQRT_count, .fn = count},
};
static const atoll_impl_decl core_impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .priority = 10,
    .module = "core",
    .device_type = "cpu",
    .function_size = sizeof(atoll_function_decl),
    .functions = core_functions,
    .function_count = 1,
};
static const atoll_impl_decl own_impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .module = "fast_sqrt",
    .device_type = "cpu",
    .module_version = FAST_SQRT_VERSION,
    .function_size = sizeof(atoll_function_decl),
    .functions = own_functions,
    .function_count = 1,
};

/* A plugin with state would make it in load and find it again in self->ctx. */
static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)host, (void)error;
    *plugin = &calls;
    return ATOLL_STATUS_OK;
}

static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    return ATOLL_STATUS_OK;
}

static const atoll_module_decl *const modules[] = {&module};
static const atoll_impl_decl *const impls[] = {&core_impl, &own_impl};
static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = "fast_sqrt",
    .version = "1.0.0",
    .vendor = "a third party",
    .license = "Apache-2.0",
    .description = "example: replaces sqrt for float64 on the cpu and counts its calls",
    .modules = modules,
    .module_count = 1,
    .impls = impls,
    .impl_count = 2,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
