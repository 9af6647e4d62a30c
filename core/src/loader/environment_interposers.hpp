// Interposers from ATOLL_INTERPOSERS.
#pragma once

#include <functional>
#include <string>

namespace Atoll::detail {

// Pushes the interposers whose targets exist. The first call loads their plugins by `load`, which
// may call this again. Under the registry's mutex.
void push_environment_interposers(const std::function<void(const std::string &)> &load);

} // namespace Atoll::detail
