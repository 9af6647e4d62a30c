// Used by the tracer's table and by the tools that read its timeline.
#pragma once

#include <string_view>

namespace Atoll::tracing {

// Whether the function reads or writes its bytes, unlike allocating and freeing.
inline bool moves_bytes(std::string_view function) {
    return !function.starts_with("device.allocate") && !function.starts_with("device.free");
}

} // namespace Atoll::tracing
