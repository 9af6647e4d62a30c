// What an implementation takes as it is.
#pragma once

#include "atoll/abi/module.h"

#include <cstdint>

namespace Atoll::detail {

struct Capabilities {
    std::uint64_t bits; // ATOLL_CAP_*
    bool take(std::uint64_t wanted) const { return (bits & wanted) == wanted; }
};

} // namespace Atoll::detail
