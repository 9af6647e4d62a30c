// Texts of others made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace Atoll::detail {

// The text with `\x1b` and the like for what would steer a terminal, forge what stands before it or
// break JSON: control characters but line feed and tab, and bytes that are not UTF-8. What plugins
// say goes through this, and the whole of the log.
std::string printable(std::string_view text);

} // namespace Atoll::detail
