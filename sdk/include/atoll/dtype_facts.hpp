// Facts of the dtypes, from their list: name, size, kind and part.
#pragma once

#include "atoll/abi/base.h"

#include <cstdint>

namespace Atoll::sdk {

struct DtypeFacts {
    const char *name;
    std::int64_t size; // bytes per element
    std::uint32_t kind, part;
};

// Indexed by dtype id; entry 0 is "none".
inline constexpr DtypeFacts dtype_facts[ATOLL_DTYPE_COUNT] = {
    {"none", 0, 0, 0},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    {name, size, ATOLL_DTYPE_KIND_##KIND, ATOLL_DTYPE_##PART},
#include "atoll/lists/dtypes.inc"
};

// Bytes per element of a dtype; 0 for an unknown id.
constexpr std::int64_t dtype_size(std::uint32_t dtype) {
    return dtype < ATOLL_DTYPE_COUNT ? dtype_facts[dtype].size : 0;
}

// Name of a dtype, for messages.
constexpr const char *dtype_name(std::uint32_t dtype) {
    return dtype < ATOLL_DTYPE_COUNT ? dtype_facts[dtype].name : "unknown";
}

} // namespace Atoll::sdk
