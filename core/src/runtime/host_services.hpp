// The services that plugins get.
#pragma once

#include "runtime/registry.hpp"

namespace Atoll::detail {

// Fills in plugin.host.
void make_host(PluginRecord &plugin);
// Forgets a pool that the plugin offered.
void withdraw_parallel_for(const PluginRecord &plugin);

} // namespace Atoll::detail
