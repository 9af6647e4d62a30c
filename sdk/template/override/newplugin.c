/* newplugin: its own `square` for two dtypes on the cpu. Every other function and dtype stays with
 * whoever had it before, and comes back when this plugin is retired. */
#include <atoll/plugin.h>

ATOLL_PLUGIN_NOTE("newplugin", ATOLL_CONTAINS_IMPLS, 0);

/* Made by load, gone at unload; every function gets it as self->ctx, from any thread. */
typedef struct state {
    const atoll_host *host; /* logging, settings, the pool, other functions: atoll/abi/host.h */
} state;
static state the_state;

/* Your faster kernel goes here. Declared without capabilities, so both operands are dense vectors.
 * Declare more (atoll/abi/module.h) when the kernel takes more: it saves the host copies. */
static int32_t square_float32(const atoll_link *self, atoll_call *call) {
    (void)self;
    float *out = call->operands[0].data;
    const float *in = call->operands[1].data;
    const int64_t count = call->rank ? call->shape[0] : 1;
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] * in[i];
    return ATOLL_STATUS_OK;
}

static int32_t square_float64(const atoll_link *self, atoll_call *call) {
    (void)self;
    double *out = call->operands[0].data;
    const double *in = call->operands[1].data;
    const int64_t count = call->rank ? call->shape[0] : 1;
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] * in[i];
    return ATOLL_STATUS_OK;
}

static const atoll_function_decl functions[] = {
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_square,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32),
     .fn = square_float32},
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_square,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = square_float64},
};

/* With a priority above 0 it comes first whatever the order of loading. */
static const atoll_impl_decl impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .priority = 10,
    .module = "core",
    .device_type = "cpu",
    .module_version = 1,
    .function_size = sizeof(atoll_function_decl),
    .functions = functions,
    .function_count = 2,
};
static const atoll_impl_decl *const impls[] = {&impl};

static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)error; /* host->set_error(error, …) says why the plugin cannot be loaded */
    the_state.host = host;
    *plugin = &the_state;
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
    .name = "newplugin",
    .version = "0.1.0",
    .vendor = "your name",
    .license = "your licence",
    .description = "its own square on the cpu",
    .impls = impls,
    .impl_count = 1,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
