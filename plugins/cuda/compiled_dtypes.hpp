// The dtypes that the functions of `core` are compiled for: all of them, but for quick tests.
#pragma once

#include "atoll/core_functions.hpp"

namespace Atoll::cuda {

constexpr atoll_dtype_set compiled_dtypes(std::uint16_t function) {
#if defined(ATOLL_CUDA_DTYPES)
    // The host asks for the smallest of any integers: exponents, and counts of shifts.
    if (function != ATOLL_FN_min)
        return sdk::core_functions[function].domain & atoll_dtype_set{ATOLL_CUDA_DTYPES};
#endif
    return sdk::core_functions[function].domain;
}
constexpr bool is_compiled(std::uint16_t function, std::uint32_t dtype) {
    return compiled_dtypes(function) >> dtype & 1;
}

} // namespace Atoll::cuda
