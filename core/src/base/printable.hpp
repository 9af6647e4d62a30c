// Makes foreign texts safe to show.
#pragma once

#include <string>
#include <string_view>

namespace Atoll::detail {

// The text with escapes such as `\x1b` for what would control a terminal, imitate other output or
// break JSON: control characters except line feed and tab, and bytes that are not UTF-8. Applied to
// all texts of plugins, and to the whole log.
std::string printable(std::string_view text);

} // namespace Atoll::detail
