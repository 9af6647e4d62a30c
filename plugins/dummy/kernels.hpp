// The kernels: one plain function per function of the module `core`.
#pragma once

#include "atoll/plugin.h"

#include <array>
#include <cstdint>

namespace Dummy {

// Works on a copy of the call whose addresses the calling thread can dereference. Runs on a worker,
// may throw.
using Kernel = void (*)(const atoll_call &call);

namespace Kernels {
#define ATOLL_FUNCTION(id, name, ...) void name(const atoll_call &call);
#include "atoll/lists/functions.inc"
} // namespace Kernels

// Where the operands' current elements are.
using Pointers = std::array<char *, 4>;

inline Pointers first_elements(const atoll_call &call) {
    Pointers at{};
    for (std::uint32_t o = 0; o < call.operand_count; ++o)
        at[o] = static_cast<char *>(call.operands[o].data);
    return at;
}

// body(pointers) for every index over the axes [begin, end), the first axis fastest, starting from
// `at`. The other axes stand still.
template <class Body> void for_each(const atoll_call &call, std::uint32_t begin, std::uint32_t end,
                                    Pointers at, const Body &body) {
    if (begin == end) return body(at);
    const std::uint32_t slowest = end - 1;
    for (std::int64_t i = 0; i < call.shape[slowest]; ++i) {
        for_each(call, begin, slowest, at, body);
        for (std::uint32_t o = 0; o < call.operand_count; ++o)
            at[o] += call.operands[o].strides[slowest];
    }
}

// Over the whole space; over the loop alone; over the core axes alone.
template <class Body> void for_each(const atoll_call &call, const Body &body) {
    for_each(call, 0, call.rank, first_elements(call), body);
}
template <class Body> void for_each_loop(const atoll_call &call, const Body &body) {
    for_each(call, call.core, call.rank, first_elements(call), body);
}
template <class Body> void for_each_core(const atoll_call &call, Pointers at, const Body &body) {
    for_each(call, 0, call.core, at, body);
}

} // namespace Dummy
