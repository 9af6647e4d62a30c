// The table of one level, the only symbol of its object in the kernel library: see one_object.sh.
#include "level.h"

#include "atoll/abi/note.h"
#include "kernel_of.h"

#include <array>
#include <new>
#include <utility>

namespace Atoll::kernels {
namespace {

template <std::uint16_t... function>
constexpr auto all_kernels(std::integer_sequence<std::uint16_t, function...>) {
    return std::array{kernel_of(function)...};
}
constexpr auto kernels = all_kernels(std::make_integer_sequence<std::uint16_t, ATOLL_FN_COUNT>());

std::int32_t run(const atoll_call &call, const Pool &pool) {
    const OwnPool own(pool);
    try {
        return kernels[call.function](&call);
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    } catch (...) {
        return ATOLL_STATUS_INTERNAL;
    }
}

} // namespace

extern "C" const Level ATOLL_KERNELS_LEVEL;
constinit const Level ATOLL_KERNELS_LEVEL = {ATOLL_ISA_LEVEL,          &run,
                                             &atoll_kernels_lack,      &atoll_kernels_set_blas,
                                             &atoll_kernels_open_blas, &atoll_kernels_blas,
                                             &atoll_kernels_use_amx};

} // namespace Atoll::kernels
