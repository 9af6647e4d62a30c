// Raising warnings.
#pragma once

#include "runtime/registry.hpp"

#include <string_view>

namespace Atoll::detail {

// As the warning mode in force says: nothing, once per function and process, or always.
void warn(const FunctionRecord &function, std::string_view text);

} // namespace Atoll::detail
