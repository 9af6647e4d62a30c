// Names in generated declarations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace Atoll::tools {

using Words = std::vector<std::string>;

std::string joined(const Words &words, std::string_view between = ", ");
// "a, b and c"
std::string listed(const Words &words);

// The name, or one with an underscore where C++ takes it.
std::string identifier(std::string_view name);
// The same where declarations take it for a parameter of their own.
std::string parameter(std::string_view name);
// "count_nonzero" → "CountNonzero"
std::string camel(std::string_view name);

} // namespace Atoll::tools
