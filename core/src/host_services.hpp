// The services that plugins get, the log, and the settings of plugins.
#pragma once

#include "registry.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace Atoll::detail {

// Fills in plugin.host.
void make_host(PluginRecord &plugin);
// Forgets a pool that the plugin offered.
void withdraw_parallel_for(const PluginRecord &plugin);
void log_message(int level, std::string_view text); // level: enum atoll_log_level
// What the application has configured for a plugin: keys and values.
std::vector<std::pair<std::string, std::string>> configured(std::string_view plugin);
// True iff ATOLL_SAFE_MODE asks to ignore the environment's other variables.
bool safe_mode();

} // namespace Atoll::detail
