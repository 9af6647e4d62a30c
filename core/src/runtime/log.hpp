// Messages to the application: the log, and warnings.
#pragma once

#include "atoll/abi/host.h"

#include <string>
#include <string_view>

namespace Atoll::detail {

// Whether messages of this level (enum atoll_log_level) go anywhere: a relaxed load.
bool logs(int level);
void log_message(int level, std::string_view text);

// Warns as the warning mode in force says: never, once per function and process, or always.
void warn(const std::string &function, std::string_view text);

} // namespace Atoll::detail
