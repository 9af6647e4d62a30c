// What the application is told of a loaded plugin.
#pragma once

#include "atoll/plugins.hpp"
#include "runtime/registry.hpp"

namespace Atoll::detail {

// Hold the registry's mutex.
PluginReport describe(const PluginRecord &plugin);

} // namespace Atoll::detail
