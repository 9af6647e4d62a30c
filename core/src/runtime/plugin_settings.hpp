// Settings of plugins: what the application and the environment say, and what plugins ask for.
#pragma once

#include "atoll/plugins.hpp"

#include <string>
#include <vector>

namespace Atoll::detail {

// The setting in force, which from now on counts as one that the plugin has.
std::string ask_setting(const std::string &plugin, const std::string &key,
                        const std::string &fallback);
// The settings that the application has made.
std::vector<PluginSetting> configured();
// True iff ATOLL_SAFE_MODE asks to ignore the environment's other variables.
bool safe_mode();

// Warns, once for each, of settings that the plugin has not asked for during its load, and of
// environment variables that nobody reads but that look like one of this plugin or of the host.
// `others`: names of plugins that are not loaded, to which a variable may belong.
void warn_of_unknown_settings(const std::string &plugin, const std::vector<std::string> &others);

} // namespace Atoll::detail
