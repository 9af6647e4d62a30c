// Loading and retiring plugins. Finding and checking files: candidates.hpp.
//
// The order of a load: file checks → note → lock → probe → open → query → copy → load → register →
// devices → device state of implementations. A failed step undoes the steps before it, and its
// reason is reported.
#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/list.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "loader/candidates.hpp"
#include "loader/descriptor.hpp"
#include "loader/environment_interposers.hpp"
#include "loader/lock_file.hpp"
#include "loader/open_library.hpp"
#include "loader/probe.hpp"
#include "loader/refusal.hpp"
#include "loader/registration.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"
#include "runtime/interpose.hpp"
#include "runtime/log.hpp"
#include "runtime/plugin_settings.hpp"

#include <algorithm>
#include <map>

namespace Atoll {

using namespace detail;

namespace {

PluginRecord *find_loaded(std::string_view name) {
    for (PluginRecord *plugin : Registry::get().plugins)
        if (plugin->loaded && plugin->name == name) return plugin;
    return nullptr;
}

PluginReport load(std::string_view name_or_path);

// The plugin that defines a module has the module's name.
void load_dependency(const std::string &plugin, const std::string &module) {
    static std::vector<std::string> loading; // plugins whose dependencies are being loaded
    if (Registry::get().find_module(module)) return;
    loading.push_back(plugin);
    const struct Pop {
        ~Pop() { loading.pop_back(); }
    } pop;
    if (std::find(loading.begin(), loading.end(), module) != loading.end())
        refuse(Status::incompatible, "module {} depends on itself, through {}", module,
               listed(loading));
    load(module);
    if (!Registry::get().find_module(module))
        refuse(Status::incompatible,
               "depends on module {}, but plugin {} does not define the module {}", module, module,
               module);
}

// The query function of the file, which is opened once.
atoll_plugin_query_fn open_file(const Candidate &candidate) {
    struct Library {
        atoll_plugin_query_fn query;
        FileIdentity identity; // when it was opened
    };
    static auto &all_opened = *new std::map<std::string, Library>; // by path
    const std::string &path = candidate.file.path;
    const FileIdentity &checked = candidate.file.identity;
    const auto same_inode = [&](const FileIdentity &opened) {
        return opened.device == checked.device && opened.inode == checked.inode;
    };
    // The system knows an open library by its name and by its inode: another name for the file
    // gives what was opened then.
    for (const auto &[name, library] : all_opened) {
        const FileIdentity &opened = library.identity;
        if (name != path && !same_inode(opened)) continue;
        if (!same_inode(opened) || opened.size != checked.size ||
            opened.modified != checked.modified)
            refuse(Status::refused, "the file has been replaced since this process opened it, and "
                                    "the old code stays mapped; restart the process");
        return library.query;
    }
    probe_if_asked(candidate.file, candidate.note.name, library_folder());
    const atoll_plugin_query_fn query = open_library(path);
    all_opened[path] = {query, checked};
    if (file_identity(path) != checked) // see Note [The file that was checked]
        refuse(Status::refused, "the file changed while it was opened; try again when nothing "
                                "writes to it any more");
    return query;
}

// The plugin's record; that of a retired plugin is reused, so that handles on its devices stay
// valid.
PluginRecord &record_for(const Descriptor &descriptor, const std::string &path) {
    const auto shown = [](const char *text) { return text ? printable(text) : ""; };
    auto &plugins = Registry::get().plugins;
    const auto known = std::find_if(plugins.begin(), plugins.end(), [&](PluginRecord *old) {
        return old->name == descriptor.name;
    });
    PluginRecord &plugin =
        known != plugins.end() ? **known : *plugins.emplace_back(new PluginRecord(descriptor.name));
    plugin.path = path;
    plugin.version = shown(descriptor.plugin.version);
    plugin.description = shown(descriptor.plugin.description);
    plugin.device_types.clear();
    plugin.modules.clear();
    plugin.ignored = descriptor.ignored;
    plugin.ctx = nullptr;
    plugin.unload = descriptor.plugin.unload;
    make_host(plugin);
    return plugin;
}

// Starts and registers the plugin of an open file.
PluginRecord *start(const Candidate &candidate, atoll_plugin_query_fn query) {
    if (!query)
        refuse(Status::incompatible, "it has the note of a plugin but does not export "
                                     "atoll_plugin_query_v0; link it with the SDK's plugin.map");
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, ATOLL_VERSION};
    const atoll_plugin *raw = query(&info);
    if (!raw) refuse(Status::refused, "its query declined this host (returned NULL)");
    Descriptor descriptor = copy_descriptor(raw, candidate.note.name);
    for (const auto &module : descriptor.modules)
        for (const std::string &name : module->depends) load_dependency(descriptor.name, name);
    PluginRecord &plugin = record_for(descriptor, candidate.file.path);
    try {
        run_callback("load_plugin", "it could not start", plugin, [&](atoll_error *error) {
            return descriptor.plugin.load(&plugin.host, &plugin.ctx, error);
        });
    } catch (...) {
        withdraw_parallel_for(plugin); // offered before load failed
        throw;
    }
    try {
        register_plugin(plugin, descriptor);
    } catch (...) {
        unregister_plugin(plugin);
        throw;
    }
    return &plugin;
}

// The plugins that were seen, other than `name`.
std::vector<std::string> names_of_others(const std::string &name) {
    std::vector<std::string> names;
    for (const auto &[path, report] : reports())
        if (!report.name.empty() && report.name != name) names.push_back(report.name);
    return names;
}

PluginReport open(const Candidate &candidate) {
    const std::string &path = candidate.file.path, &name = candidate.note.name;
    const auto explained = [&](Status status, const std::string &why, std::int64_t native_code) {
        explain(path, name, why);
        return Error(status, "load_plugin", fmt::format("{}: {}", path, why), {}, name,
                     native_code);
    };
    PluginRecord *plugin = find_loaded(name);
    if (plugin && plugin->path == path) return describe(*plugin);
    try {
        if (plugin)
            refuse(Status::refused, "a plugin '{}' is loaded already, from {}; retire it first",
                   plugin->name, plugin->path);
        const FloatModeKeeper keeper(name);
        require_unlocked(candidate.file, secure_environment("ATOLL_PLUGINS_LOCK"));
        plugin = start(candidate, open_file(candidate));
    } catch (const Error &e) {
        throw explained(e.status(), reason_of(e), e.native_code());
    } catch (...) {
        throw explained(Status::plugin_fault, border_crossed(), 0);
    }
    plugin->loaded = true;
    const PluginReport report = reports()[path] = describe(*plugin);
    warn_of_unknown_settings(name, names_of_others(name));
    push_environment_interposers([](const std::string &other) { load(other); });
    return report;
}

PluginReport load(std::string_view name_or_path) {
    if (name_or_path.find('/') != std::string_view::npos) {
        const std::string path(name_or_path);
        return open(examine(path, check_plugin_file(path)));
    }
    if (const PluginRecord *plugin = find_loaded(name_or_path)) return describe(*plugin);
    std::string known, refused;
    std::vector<std::string> names;
    for (const Candidate &candidate : find_candidates()) {
        if (candidate.note.name == name_or_path) return open(candidate);
        add_to_list(known, names.emplace_back(candidate.note.name));
    }
    for (const auto &[path, report] : reports())
        // Without a name: folders that cannot be searched, files that are not plugins.
        if ((report.name == name_or_path || report.name.empty()) && !report.loaded)
            refused += fmt::format("\n  {}: {}", path, report.reason);
    refuse(Status::not_found,
           "there is no usable plugin '{}' in {}; found: {}{}; {}, or give a path{}{}",
           name_or_path, listed(searched_folders(), ":"), known.empty() ? "none" : known,
           suggestion(name_or_path, names),
           safe_mode() ? "ATOLL_SAFE_MODE is set, so ATOLL_PLUGIN_PATH is ignored: unset it"
                       : "set ATOLL_PLUGIN_PATH",
           refused.empty() ? "" : "; refused:", refused);
}

std::vector<PluginReport> all_reports() {
    std::vector<PluginReport> all;
    for (auto &[path, report] : reports()) {
        for (const PluginRecord *plugin : Registry::get().plugins)
            if (plugin->loaded && plugin->path == path) report = describe(*plugin);
        all.push_back(report);
    }
    return all;
}

} // namespace

PluginReport load_plugin(std::string_view name_or_path) {
    const RegistryChange change("load_plugin");
    return load(name_or_path);
}

std::vector<PluginReport> load_all_plugins() {
    const RegistryChange change("load_all_plugins");
    for (const Candidate &candidate : find_candidates()) {
        if (find_loaded(candidate.note.name)) continue;
        try {
            open(candidate);
        } catch (const Error &e) {
            log_message(ATOLL_LOG_WARN, e.what());
        }
    }
    return all_reports();
}

std::vector<std::filesystem::path> plugin_search_path() {
    const auto lock = lock_registry("plugin_search_path");
    const std::vector<std::string> folders = searched_folders();
    return {folders.begin(), folders.end()};
}

std::vector<PluginReport> load_report() {
    const auto lock = lock_registry("load_report");
    return all_reports();
}

void retire_plugin(std::string_view name) {
    const RegistryChange change("retire_plugin");
    PluginRecord *plugin = find_loaded(name);
    if (!plugin) {
        std::string known;
        for (const PluginRecord *other : Registry::get().plugins)
            if (other->loaded) add_to_list(known, other->name);
        throw_error(Status::not_found, "retire_plugin", "no plugin '{}' is loaded; loaded: {}",
                    name, known.empty() ? "none" : known);
    }
    withdraw_plugin(*plugin);
    plugin->loaded = false;
    PluginReport &report = reports()[plugin->path];
    report.loaded = false;
    report.reason = "retired";
}

} // namespace Atoll
