// For the tracer's table and for the tools that read its timeline.
#pragma once

#include <string_view>

namespace Atoll::trace {

// Does its number of bytes go through it? Allocating and freeing touches none.
inline bool moves_bytes(std::string_view function) {
    return function != "device.allocate" && function != "device.free";
}

} // namespace Atoll::trace
