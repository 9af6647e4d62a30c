// The interposers that ATOLL_INTERPOSERS asks for.
#pragma once

#include <functional>
#include <string>

namespace Atoll::detail {

// Pushes those that can be had of the loaded plugins. When called first, has their plugins loaded,
// which may call this again. Under the registry's mutex.
void push_environment_interposers(const std::function<void(const std::string &)> &load);

} // namespace Atoll::detail
