// Tables by dtype of what runs a function.
#pragma once

#include "compiled_dtypes.hpp"
#include "device.hpp"

#include <array>
#include <type_traits>

namespace Atoll::cuda {

using Launcher = void (*)(const Target &target, const atoll_call &call);
template <class L> using LauncherRow = std::array<L, ATOLL_DTYPE_COUNT>;

// of(dtype) for every dtype that the function is compiled for; null for others. `dtype` is an
// integral_constant, so that dtype() is an argument of a template.
template <std::uint16_t function, class L = Launcher, class Of>
constexpr LauncherRow<L> launchers_of(Of of) {
    LauncherRow<L> row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (is_compiled(function, id))                                                       \
        row[id] = of(std::integral_constant<std::uint32_t, id>());
#include "atoll/lists/dtypes.inc"
    return row;
}

} // namespace Atoll::cuda
