/* Replaces core.sqrt and core.max for float64 on the cpu, and nothing else: it writes -1, to be
 * told apart, and knows no attributes. FORWARDS: core.sqrt alone, and only for dense vectors that
 * begin with 4; it passes every other call on, and declares so, and the host then honours what both
 * take. Without: always, and it takes nothing. */
#include "atoll/plugin.h"

#include <stddef.h>

#ifdef FORWARDS
#define NAME "override_forwards"
#else
#define NAME "override"
#endif
ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_IMPLS, 0);

static int32_t square_root(const atoll_link *self, atoll_call *call) {
    double *out = call->operands[0].data;
#ifdef FORWARDS
    const double *in = call->operands[1].data;
    if (call->rank != 1 || call->operands[1].dtype != ATOLL_DTYPE_FLOAT64 ||
        call->operands[0].strides[0] != 8 || call->operands[1].strides[0] != 8 || in[0] != 4)
        return self->next->fn(self->next, call);
#else
    (void)self;
    if (call->rank > 1 || (call->rank == 1 && (call->operands[0].strides[0] != 8 ||
                                               call->operands[1].strides[0] != 8)))
        return ATOLL_STATUS_INTERNAL; /* no capability declared, so this must not come */
#endif
    for (int64_t i = 0; i < (call->rank ? call->shape[0] : 1); ++i) out[i] = -1;
    return ATOLL_STATUS_OK;
}

#ifndef FORWARDS
static int32_t largest(const atoll_link *self, atoll_call *call) {
    (void)self;
    if (call->rank != call->core) return ATOLL_STATUS_INTERNAL;
    *(double *)call->operands[0].data = -1;
    return ATOLL_STATUS_OK;
}
#endif

static const atoll_function_decl functions[] = {
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_sqrt,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
#ifdef FORWARDS
     /* MIXED_INPUTS but not SWAPPED: what both take is mixed inputs and strides, no swapped bytes
      */
     .caps = ATOLL_CAP_FORWARDS | ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES |
             ATOLL_CAP_ZERO_STRIDES | ATOLL_CAP_MIXED_INPUTS,
#endif
     .fn = square_root},
#ifndef FORWARDS
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_max,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = largest},
#endif
};
static const atoll_impl_decl impl = {
    .struct_size = sizeof(atoll_impl_decl),
    .priority = 10,
    .module = "core",
    .device_type = "cpu",
    .function_size = sizeof(atoll_function_decl),
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};

static int32_t load(const atoll_host *host, void **plugin, atoll_error *error) {
    (void)host, (void)error;
    *plugin = NULL;
    return ATOLL_STATUS_OK;
}
static int32_t unload(void *plugin, atoll_error *error) {
    (void)plugin, (void)error;
    return ATOLL_STATUS_OK;
}

static const atoll_impl_decl *const impls[] = {&impl};
static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = NAME,
    .impls = impls,
    .impl_count = 1,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
