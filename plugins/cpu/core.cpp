// The module `core` on the cpu: every function on every dtype of its domain, one entry point per
// function, chosen by its family from the list.
#include "atoll_kernels.h"
#include "state.h"

namespace Atoll::cpu {
namespace {

__attribute__((cold, noinline)) std::int32_t failed(atoll_call *call, std::int32_t status) {
    const char *text = status == ATOLL_STATUS_NOT_SUPPORTED   ? "the cpu kernels have no such dtype"
                       : status == ATOLL_STATUS_OUT_OF_MEMORY ? "no host memory for scratch"
                                                              : "the cpu kernels refused the call";
    return sdk::set_error(call->error, status, text);
}

// Kernels throw nothing themselves; the pool might.
template <class Body> std::int32_t kernel(atoll_call *call, Body &&body) noexcept {
    try {
        const std::int32_t status = body();
        return status == ATOLL_STATUS_OK ? status : failed(call, status);
    } catch (...) {
        return sdk::guarded(call->error, [] { throw; });
    }
}

template <std::uint16_t Id, std::uint16_t Family>
std::int32_t entry(const atoll_link *, atoll_call *call) {
    return kernel(call, [&]() -> std::int32_t {
        if constexpr (Family == ATOLL_FAMILY_COPY) {
            return atoll_kernels_copy(call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_FILL) {
            return atoll_kernels_fill(call->rank, call->shape, call->operands,
                                      &sdk::params<atoll_fill_params>(*call).value);
        } else if constexpr (Family == ATOLL_FAMILY_STEPS) {
            return atoll_kernels_steps(call->rank, call->shape, call->operands,
                                       &sdk::params<atoll_steps_params>(*call));
        } else if constexpr (Family == ATOLL_FAMILY_UNARY) {
            return atoll_kernels_unary(Id, call->dtype, call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_BINARY) {
            return atoll_kernels_binary(Id, call->dtype, call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_TERNARY) {
            return atoll_kernels_ternary(Id, call->dtype, call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_REDUCE || Family == ATOLL_FAMILY_REDUCE_ONE) {
            return atoll_kernels_reduce(Id, call->dtype, call->rank, call->shape, call->operands,
                                        &sdk::params<atoll_reduce_params>(*call));
        } else if constexpr (Family == ATOLL_FAMILY_ARG_REDUCE) {
            return atoll_kernels_arg_reduce(Id, call->dtype, call->rank, call->shape,
                                            call->operands,
                                            &sdk::params<atoll_reduce_params>(*call));
        } else if constexpr (Family == ATOLL_FAMILY_SCAN) {
            return atoll_kernels_scan(Id, call->dtype, call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_SORT) {
            return atoll_kernels_sort(Id, call->dtype, call->rank, call->shape, call->operands,
                                      &sdk::params<atoll_sort_params>(*call));
        } else if constexpr (Family == ATOLL_FAMILY_SEARCH) {
            return atoll_kernels_search(call->dtype, call->rank, call->shape, call->operands,
                                        &sdk::params<atoll_search_params>(*call));
        } else if constexpr (Family == ATOLL_FAMILY_FIND) {
            return atoll_kernels_find(call->dtype, call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_GATHER) {
            return atoll_kernels_gather(call->rank, call->shape, call->operands);
        } else if constexpr (Family == ATOLL_FAMILY_SCATTER) {
            return atoll_kernels_scatter(call->rank, call->shape, call->operands);
        } else {
            static_assert(Family == ATOLL_FAMILY_MATMUL);
            if ((ATOLL_DOMAIN_FLOATING >> call->dtype & 1) && !atoll_kernels_has_blas())
                throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                                 "products of floats need OpenBLAS, and libopenblas.so.0 could not "
                                 "be opened: install it (Debian: libopenblas0)");
            return atoll_kernels_matmul(call->dtype, call->rank, call->shape, call->operands,
                                        &sdk::params<atoll_matmul_params>(*call));
        }
    });
}

constexpr std::uint32_t every_cap = ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS |
                                    ATOLL_CAP_SWAPPED | ATOLL_CAP_STRIDED |
                                    ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES |
                                    ATOLL_CAP_UNALIGNED | ATOLL_CAP_SCALARS | ATOLL_CAP_STACKS;

constexpr atoll_function_decl functions[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)     \
    {sizeof(atoll_function_decl), id,        0,                                                    \
     ATOLL_DOMAIN_##DOMAIN,       every_cap, &entry<id, ATOLL_FAMILY_##FAMILY>},
#include "atoll/lists/functions.inc"
};

} // namespace

std::span<const atoll_function_decl> core_functions() { return functions; }

} // namespace Atoll::cpu
