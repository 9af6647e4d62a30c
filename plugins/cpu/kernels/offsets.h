// What gather and scatter share: elements of fixed size at any address.
#pragma once

#include "types.h"

namespace Atoll::kernels {

template <std::int64_t Size> inline void move_one(char *out, const char *in) {
    std::memcpy(out, in, static_cast<std::size_t>(Size));
}

// run(std::integral_constant<std::int64_t, size>) for the size of a dtype's elements.
template <class Run> void with_size(std::int64_t size, Run &&run) {
    switch (size) {
    case 1: return run(std::integral_constant<std::int64_t, 1>{});
    case 2: return run(std::integral_constant<std::int64_t, 2>{});
    case 4: return run(std::integral_constant<std::int64_t, 4>{});
    case 8: return run(std::integral_constant<std::int64_t, 8>{});
    default: return run(std::integral_constant<std::int64_t, 16>{});
    }
}

} // namespace Atoll::kernels
