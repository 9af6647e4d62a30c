// Loading, explaining and retiring plugins.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

// What became of one file that the search found or that was asked for.
struct PluginReport {
    std::filesystem::path path;
    std::string name;    // from its note; empty when it has none
    std::string version; // once loaded
    std::string description;
    std::vector<std::string> devices;    // "cpu", "dummy:0" …
    std::vector<std::string> modules;    // interfaces it defines
    std::vector<std::string> implements; // "core for cpu"
    std::vector<std::string> interposers;
    // What it declares and this host does not know, and so never calls: functions and dtypes of a
    // newer Atoll, declarations with an extension that this host would have to understand.
    std::vector<std::string> ignored;
    bool loaded = false;
    bool superseded = false; // nothing is wrong with it: another build or copy was chosen
    std::string reason;      // why it is not loaded, and what to do; or a remark ("no device: …")
};

// Loads a plugin by name (searched in ATOLL_PLUGIN_PATH, then in the folder `atoll` beside the
// library; never in the working directory) or by path (anything with a '/'). Loading what is loaded
// does nothing. Throws Error that names the file, the cause and the remedy. Thread-safe; blocks.
PluginReport load(std::string_view name_or_path);
// Loads all that the search finds, in sorted order, best ISA level first; what cannot be loaded is
// left out and explained in load_report(). Throws nothing for a single bad file.
std::vector<PluginReport> load_all();
// Every candidate seen so far: loaded, or why not.
std::vector<PluginReport> load_report();
// The folders that load and load_all search, first to last: those of ATOLL_PLUGIN_PATH that can be
// trusted, then the one beside the library. One that does not exist has no plugins.
std::vector<std::filesystem::path> plugin_search_path();
// Stops routing to the plugin, drains it and calls its shutdown; refuses (Error, busy) while
// storages, streams or events of its devices live, saying how many. The file stays mapped; load
// works again.
void retire(std::string_view name);

// With the probe on, a plugin that this process has not opened before is first loaded by a helper
// process, and refused if that does not live through it or takes longer than the deadline; verdicts
// are kept for the user until the file changes. Off by default; wins over ATOLL_PROBE and
// ATOLL_PROBE_DEADLINE from the environment. Thread-safe.
void set_probe(bool on, std::chrono::milliseconds deadline = std::chrono::seconds(20));

// A setting of a plugin ("dummy", "devices", "4"). Wins over ATOLL_<PLUGIN>_<KEY> from the
// environment. Plugins say which settings they read at load and which later. An empty value clears.
void configure(std::string_view plugin, std::string_view key, std::string_view value);

struct PluginSetting {
    std::string plugin, key, value;
    std::string source; // "application", the variable of the environment, or "default"
};
// What loaded plugins have asked for so far, as it is now, sorted by plugin and key. Thread-safe.
std::vector<PluginSetting> plugin_settings();

// Where log records go and from which level on ("trace" … "error", "off"); default: "warn" to
// standard error. The library never prints otherwise.
void set_log_level(std::string_view level);
void set_log_handler(std::function<void(int level, std::string_view text)> handler);

// Runs body(begin, end) over [0, count) on the host's pool: the application's if it set one, else
// one that a plugin offered, else the calling thread.
using ParallelFor =
    std::function<void(std::int64_t count, std::int64_t grain,
                       const std::function<void(std::int64_t, std::int64_t)> &body)>;
void set_parallel_for(ParallelFor run);

// The library's version, "0.1.0".
std::string_view version();

} // namespace Atoll
