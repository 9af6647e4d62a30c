// Elements as they are.
#pragma once

#include <cstdint>

namespace Atoll::cuda {

// Any address: elements of a tensor that is not aligned are read byte by byte.
__device__ inline void move_bytes(char *to, const char *from, std::uint32_t size, bool is_bool) {
    const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    if (is_bool)
        *to = *from != 0;
    else if (size == 8 && both % 8 == 0)
        *reinterpret_cast<std::uint64_t *>(to) = *reinterpret_cast<const std::uint64_t *>(from);
    else if (size == 4 && both % 4 == 0)
        *reinterpret_cast<std::uint32_t *>(to) = *reinterpret_cast<const std::uint32_t *>(from);
    else if (size == 2 && both % 2 == 0)
        *reinterpret_cast<std::uint16_t *>(to) = *reinterpret_cast<const std::uint16_t *>(from);
    else if (size % 8 == 0 && both % 8 == 0)
        for (std::uint32_t k = 0; k < size; k += 8)
            *reinterpret_cast<std::uint64_t *>(to + k) =
                *reinterpret_cast<const std::uint64_t *>(from + k);
    else
        for (std::uint32_t k = 0; k < size; ++k) to[k] = from[k];
}

} // namespace Atoll::cuda
