// The reasons of inserted calls as text; for the tracer's table and the tools that read its
// timeline.
#pragma once

#include "atoll/abi/call.h"

#include <cstdint>
#include <string>

namespace Atoll::tracing {

struct Reason {
    std::uint32_t bit; // ATOLL_REASON_*
    const char *name, *capability, *text;
};
inline constexpr Reason all_reasons[] = {
#define ATOLL_CALL_REASON(bit, ENUM, name, capability, text)                                       \
    {ATOLL_REASON_##ENUM, name, capability, text},
#include "atoll/lists/call_reasons.inc"
};

// What each reason of the set is called, with the capability that is missing where that would help:
// "dtype (MIXED_INPUTS), overlap".
inline std::string reasons_text(std::uint32_t reasons) {
    std::string text;
    for (const Reason &reason : all_reasons) {
        if (!(reasons & reason.bit)) continue;
        text += text.empty() ? "" : ", ";
        text += reason.name;
        if (*reason.capability) text += std::string(" (") + reason.capability + ")";
    }
    return text.empty() ? "a plugin" : text;
}

} // namespace Atoll::tracing
