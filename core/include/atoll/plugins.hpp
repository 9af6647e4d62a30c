// Loading, inspecting and retiring plugins.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

// The result for one file that the search found or the program requested.
struct PluginReport {
    std::filesystem::path path;
    std::string name;    // from its note; empty if it has none
    std::string version; // if loaded
    std::string description;
    std::vector<std::string> devices;    // "cpu", "dummy:0" …
    std::vector<std::string> modules;    // interfaces it defines
    std::vector<std::string> implements; // "core for cpu"
    std::vector<std::string> interposers;
    // Declarations that this host does not know and therefore never calls: functions and dtypes of
    // a newer Atoll, declarations with an extension that this host would have to understand.
    std::vector<std::string> ignored;
    bool loaded = false;
    bool superseded = false; // valid, but another build or copy was chosen
    std::string reason;      // why it is not loaded and what to do; or a remark ("no device: …")
};

// Loads a plugin by name (searched in ATOLL_PLUGIN_PATH, then in the folder `atoll` beside the
// library; never in the working directory) or by path (anything with a '/'). Has no effect if the
// plugin is already loaded, but refuses another file of it. Throws Error that names the file, the
// cause and, where there is one, the remedy.
// Thread-safe; blocks.
PluginReport load_plugin(std::string_view name_or_path);
// Loads all plugins that the search finds, in sorted order, highest ISA level first. Plugins that
// cannot be loaded are skipped and explained in load_report(). A single bad file does not throw.
std::vector<PluginReport> load_all_plugins();
// All candidates examined so far: loaded, or the reason why not.
std::vector<PluginReport> load_report();
// The folders that load_plugin and load_all_plugins search, first to last: the absolute ones of
// ATOLL_PLUGIN_PATH, then the one beside the library. A folder that does not exist has no plugins;
// whether a file may be opened is decided file by file.
std::vector<std::filesystem::path> plugin_search_path();
// Stops routing calls to the plugin, waits for its work, and calls its unload function. The file
// stays mapped; load works again. Throws Error (busy) while storages, streams or events of its
// devices are alive; the error gives their number.
void retire_plugin(std::string_view name);

// Turns the probe on or off; off by default. With the probe on, a helper process first loads each
// plugin that this process has not opened before. The plugin is refused if the helper does not
// survive or exceeds the deadline. Overrides ATOLL_PROBE and ATOLL_PROBE_DEADLINE. Thread-safe.
void set_probe(bool on, std::chrono::milliseconds deadline = std::chrono::seconds(20));

// Sets a setting of a plugin ("dummy", "devices", "4"). Overrides ATOLL_<PLUGIN>_<KEY> in the
// environment. Plugins document which settings they read at load and which later. An empty value
// removes the setting.
void configure(std::string_view plugin, std::string_view key, std::string_view value);

struct PluginSetting {
    std::string plugin, key, value;
    std::string source; // "application", the environment variable, or "default"
};
// The settings that loaded plugins have read so far, with their current values, sorted by plugin
// and key. Thread-safe.
std::vector<PluginSetting> plugin_settings();

// The level from which on the library logs ("trace" … "critical", "off"), and the handler of log
// records. Default: "warn" to standard error. The library never prints otherwise.
void set_log_level(std::string_view level);
void set_log_handler(std::function<void(int level, std::string_view text)> handler);

// Sets the application's pool, which runs body(begin, end) over [0, count), each part once; body
// may wait for a part that has begun on another thread. The host uses this pool if it is set, else
// one that a plugin offered, else the calling thread.
using ParallelFor =
    std::function<void(std::int64_t count, std::int64_t grain,
                       const std::function<void(std::int64_t, std::int64_t)> &body)>;
void set_parallel_for(ParallelFor run);

// The library's version, "0.1.0".
std::string_view version();

} // namespace Atoll
