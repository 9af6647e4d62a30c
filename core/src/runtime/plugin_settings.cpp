#include "runtime/plugin_settings.hpp"

#include "base/environment.hpp"
#include "base/list.hpp"
#include "base/nearest.hpp"
#include "runtime/log.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

namespace {

struct PluginSettings {
    using Name = std::pair<std::string, std::string>; // plugin, key
    std::mutex mutex;
    std::map<Name, std::string> values; // of the application
    std::map<Name, std::string> asked;  // by plugins, with their fallbacks
    std::set<std::string> warned;
    static PluginSettings &get() {
        static PluginSettings &settings = *new PluginSettings;
        return settings;
    }

    std::vector<std::string> keys_of(const std::string &plugin) const {
        std::vector<std::string> keys;
        for (const auto &[name, fallback] : asked)
            if (name.first == plugin) keys.push_back(name.second);
        return keys;
    }
    void warn(const std::string &text) {
        if (warned.insert(text).second) log_message(ATOLL_LOG_WARN, text);
    }
    void warn_of_key(const std::string &plugin, const std::string &key, std::string_view source) {
        const std::vector<std::string> keys = keys_of(plugin);
        std::string list;
        for (const std::string &known : keys) add_to_list(list, known);
        warn(fmt::format("{}: the plugin {} has no setting '{}'{}{}", source, plugin, key,
                         list.empty() ? "" : ", but " + list, suggestion(key, keys)));
    }
};

// Variables of the host. See loading.md.
const std::vector<std::string> host_variables = {
    "ATOLL_PLUGIN_PATH",  "ATOLL_PLUGINS_DISABLE", "ATOLL_INTERPOSERS",
    "ATOLL_PLUGINS_LOCK", "ATOLL_PROBE",           "ATOLL_PROBE_DEADLINE",
    "ATOLL_SAFE_MODE",    "ATOLL_TAPP_DEVICE",     "ATOLL_TAPP_PLUGINS"};

std::string environment_name(std::string_view plugin, std::string_view key) {
    std::string text = "ATOLL_" + std::string(plugin) + "_" + std::string(key);
    for (char &c : text)
        c = std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
    return text;
}

// Hold the settings' mutex.
PluginSetting look_up(const PluginSettings &settings, const std::string &plugin,
                      const std::string &key, std::string fallback) {
    const auto found = settings.values.find({plugin, key});
    if (found != settings.values.end()) return {plugin, key, found->second, "application"};
    if (!safe_mode()) {
        const std::string variable = environment_name(plugin, key);
        if (const auto text = secure_environment(variable.c_str()))
            return {plugin, key, *text, variable};
    }
    return {plugin, key, std::move(fallback), "default"};
}

} // namespace

bool safe_mode() { return environment_switch("ATOLL_SAFE_MODE"); }

std::string ask_setting(const std::string &plugin, const std::string &key,
                        const std::string &fallback) {
    PluginSettings &settings = PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    settings.asked[{plugin, key}] = fallback;
    return look_up(settings, plugin, key, fallback).value;
}

std::vector<PluginSetting> configured() {
    PluginSettings &settings = PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    std::vector<PluginSetting> found;
    for (const auto &[name, value] : settings.values)
        found.push_back({name.first, name.second, value, "application"});
    return found;
}

void warn_of_unknown_settings(const std::string &plugin, const std::vector<std::string> &others) {
    PluginSettings &settings = PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    for (const auto &[name, value] : settings.values)
        if (name.first == plugin && !settings.asked.count(name))
            settings.warn_of_key(plugin, name.second, "configure");
        else if (std::find(others.begin(), others.end(), name.first) == others.end() &&
                 settings.keys_of(name.first).empty() && name.first != plugin &&
                 !nearest(name.first, {plugin}).empty())
            settings.warn(fmt::format("configure: no plugin '{}' is loaded{}", name.first,
                                      suggestion(name.first, {plugin})));
    if (safe_mode() || !environment_trusted()) return;

    std::vector<std::string> known = host_variables;
    for (const auto &[name, fallback] : settings.asked)
        known.push_back(environment_name(name.first, name.second));
    const std::string prefix = environment_name(plugin, "");
    for (char **entry = ::environ; entry && *entry; ++entry) {
        const std::string_view text(*entry);
        const std::string variable(text.substr(0, text.find('=')));
        if (!variable.starts_with("ATOLL_") ||
            std::find(known.begin(), known.end(), variable) != known.end())
            continue;
        const bool of_other = std::any_of(others.begin(), others.end(), [&](const auto &other) {
            return variable.starts_with(environment_name(other, ""));
        });
        if (of_other) continue;
        if (variable.starts_with(prefix)) {
            std::string key = variable.substr(prefix.size());
            for (char &c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            settings.warn_of_key(plugin, key, variable);
        } else if (const std::string best = nearest(variable, known);
                   !best.empty() && edit_distance(variable, best) <= 2)
            settings.warn(fmt::format("{} has no effect; did you mean {}?", variable, best));
    }
}

} // namespace detail

void configure(std::string_view plugin, std::string_view key, std::string_view value) {
    detail::PluginSettings &settings = detail::PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    detail::PluginSettings::Name name(plugin, key);
    if (!settings.keys_of(name.first).empty() && !settings.asked.count(name))
        settings.warn_of_key(name.first, name.second, "configure");
    if (value.empty())
        settings.values.erase(name);
    else
        settings.values[std::move(name)] = std::string(value);
}

std::vector<PluginSetting> plugin_settings() {
    detail::PluginSettings &settings = detail::PluginSettings::get();
    const std::lock_guard lock(settings.mutex);
    std::vector<PluginSetting> list;
    for (const auto &[name, fallback] : settings.asked)
        list.push_back(detail::look_up(settings, name.first, name.second, fallback));
    return list;
}

} // namespace Atoll
