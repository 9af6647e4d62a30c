// Which entry computes a function of the list.
#pragma once

#include "atoll/core_functions.hpp"
#include "entries.h"

namespace Atoll::kernels {

using Kernel = std::int32_t (*)(const atoll_call *);

// Most functions share a kernel with all that have such a signature.
constexpr Kernel kernel_of(std::uint16_t function) {
    switch (function) {
    case ATOLL_FN_copy: return &atoll_kernels_copy;
    case ATOLL_FN_fill: return &atoll_kernels_fill;
    case ATOLL_FN_steps: return &atoll_kernels_steps;
    case ATOLL_FN_argmin:
    case ATOLL_FN_argmax: return &atoll_kernels_arg_reduce;
    case ATOLL_FN_cumsum:
    case ATOLL_FN_cumprod: return &atoll_kernels_scan;
    case ATOLL_FN_sort:
    case ATOLL_FN_argsort: return &atoll_kernels_sort;
    case ATOLL_FN_searchsorted: return &atoll_kernels_search;
    case ATOLL_FN_find: return &atoll_kernels_find;
    case ATOLL_FN_compress: return &atoll_kernels_compress;
    case ATOLL_FN_gather: return &atoll_kernels_gather;
    case ATOLL_FN_scatter: return &atoll_kernels_scatter;
    case ATOLL_FN_matmul: return &atoll_kernels_matmul;
    }
    const sdk::Signature &signature = sdk::core_functions[function].signature;
    if (!signature.elementwise()) return &atoll_kernels_reduce;
    constexpr Kernel by_inputs[] = {&atoll_kernels_unary, &atoll_kernels_binary,
                                    &atoll_kernels_ternary};
    return by_inputs[signature.input_count() - 1];
}

} // namespace Atoll::kernels
