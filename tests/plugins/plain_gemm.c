/* Somebody's product of dense float64 matrices in place of the cpu's core.matmul: three loops, no
 * capability, no attribute, no third operand. Says at its end how often it was called. */
#include "atoll/plugin.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

ATOLL_PLUGIN_NOTE("plain_gemm", ATOLL_CONTAINS_IMPLS, 0);

static atomic_int calls;

static int32_t multiply(const atoll_link *self, atoll_call *call) {
    (void)self;
    if (call->core != 3 || call->rank != 3) return ATOLL_STATUS_INTERNAL; /* no stacks, no groups */
    const int64_t m = call->shape[0], k = call->shape[1], n = call->shape[2];
    double *const d = call->operands[0].data;
    const double *const a = call->operands[1].data, *const b = call->operands[2].data;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
            double sum = 0;
            for (int64_t p = 0; p < k; ++p) sum += a[i + p * m] * b[p + j * k];
            d[i + j * m] = sum;
        }
    atomic_fetch_add(&calls, 1);
    return ATOLL_STATUS_OK;
}

static const atoll_function_decl functions[] = {
    {.struct_size = sizeof(atoll_function_decl),
     .id = ATOLL_FN_matmul,
     .dtypes = ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
     .fn = multiply},
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
__attribute__((destructor)) static void report(void) {
    fprintf(stderr, "plain_gemm multiplied %d times\n", atomic_load(&calls));
}

static const atoll_impl_decl *const impls[] = {&impl};
static const atoll_plugin plugin = {
    .struct_size = sizeof(atoll_plugin),
    .magic = ATOLL_MAGIC,
    .abi_major = ATOLL_ABI_MAJOR,
    .abi_minor = ATOLL_ABI_MINOR,
    .name = "plain_gemm",
    .impls = impls,
    .impl_count = 1,
    .load = load,
    .unload = unload,
};

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *host) {
    (void)host;
    return &plugin;
}
