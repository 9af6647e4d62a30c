// The services that plugins get, the log, and the settings of plugins.
#pragma once

#include "atoll/plugins.hpp"
#include "runtime/registry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Fills in plugin.host.
void make_host(PluginRecord &plugin);
// Forgets a pool that the plugin offered.
void withdraw_parallel_for(const PluginRecord &plugin);
// Whether messages of this level go anywhere: a relaxed load.
bool logs(int level);
void log_message(int level, std::string_view text); // level: enum atoll_log_level
// What the application has configured.
std::vector<PluginSetting> configured();
// True iff ATOLL_SAFE_MODE asks to ignore the environment's other variables.
bool safe_mode();

} // namespace Atoll::detail
