// The module `core` on the cpu: every function on every dtype of its domain.
#include "atoll/core_functions.hpp"
#include "kernels/kernel_of.h"
#include "state.h"

#include <array>
#include <utility>

namespace Atoll::cpu {
namespace {

using kernels::Kernel, kernels::kernel_of;

[[noreturn, gnu::cold, gnu::noinline]] void fail(std::int32_t status) {
    throw sdk::Error(static_cast<atoll_status>(status),
                     status == ATOLL_STATUS_NOT_SUPPORTED   ? "the cpu kernels have no such dtype"
                     : status == ATOLL_STATUS_OUT_OF_MEMORY ? "no host memory for scratch"
                                                            : "the cpu kernels refused the call");
}

// By type: GCC with the undefined-behaviour sanitizer takes no comparison of functions for
// constant.
template <Kernel kernel> constexpr bool multiplies =
    std::is_same_v<std::integral_constant<Kernel, kernel>,
                   std::integral_constant<Kernel, &atoll_kernels_matmul>>;

template <Kernel kernel> void run(State &, atoll_call &call) {
    if constexpr (multiplies<kernel>)
        if (const char *why = atoll_kernels_lack(&call)) [[unlikely]]
            throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED, why);
    const std::int32_t status = kernel(&call);
    if (status != ATOLL_STATUS_OK) [[unlikely]]
        fail(status);
}

constexpr std::uint64_t every_call =
    ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS | ATOLL_CAP_SWAPPED | ATOLL_CAP_STRIDED |
    ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES | ATOLL_CAP_UNALIGNED | ATOLL_CAP_SCALARS |
    ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS;

template <std::uint16_t... function>
constexpr auto declare_all(std::integer_sequence<std::uint16_t, function...>) {
    return std::array{sdk::declare_core<run<kernel_of(function)>>(function, every_call)...};
}
constexpr auto functions = declare_all(std::make_integer_sequence<std::uint16_t, ATOLL_FN_COUNT>());

} // namespace

std::span<const atoll_function_decl> core_functions() { return functions; }

} // namespace Atoll::cpu
