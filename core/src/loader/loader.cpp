// Loading and retiring plugins. Finding and judging files: candidates.hpp.
//
// The order of a load: file checks → note → lock → probe → open → query → copy → load → register →
// devices → device state of implementations. Whatever fails undoes what was done and is explained.
#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/printable.hpp"
#include "loader/candidates.hpp"
#include "loader/descriptor.hpp"
#include "loader/environment_interposers.hpp"
#include "loader/float_mode.hpp"
#include "loader/lock_file.hpp"
#include "loader/open_library.hpp"
#include "loader/plugin_files.hpp"
#include "loader/probe.hpp"
#include "loader/refusal.hpp"
#include "loader/registration.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"
#include "runtime/interpose.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

// A file that the system has opened, as it was then.
struct Library {
    boost::dll::shared_library opened;
    FileIdentity identity;
};

// What is known of files, under the registry's mutex. Never destroyed: plugins stay until the
// process ends.
struct Files {
    std::map<std::string, Library> opened; // by path
    Candidates candidates;
    std::vector<std::string> opening; // plugins whose dependencies are being loaded
};
Files &files() {
    static Files &value = *new Files;
    return value;
}

PluginRecord *find_loaded(std::string_view name) {
    for (PluginRecord *plugin : Registry::get().plugins)
        if (plugin->loaded && plugin->name == name) return plugin;
    return nullptr;
}

PluginReport load(std::string_view name_or_path);

// The plugin that defines a module has the module's name.
void load_dependency(const std::string &plugin, const std::string &module) {
    if (Registry::get().find_module(module)) return;
    files().opening.push_back(plugin);
    const struct Pop {
        std::vector<std::string> &list;
        ~Pop() { list.pop_back(); }
    } pop{files().opening};
    if (std::find(files().opening.begin(), files().opening.end(), module) != files().opening.end())
        refuse(Status::incompatible, "module {} depends on itself, through {}", module,
               fmt::join(files().opening, ", "));
    load(module);
    if (!Registry::get().find_module(module))
        refuse(Status::incompatible,
               "depends on module {}, but plugin {} does not define the module {}", module, module,
               module);
}

// Has the system open the file, once.
const boost::dll::shared_library &open_file(const Candidate &candidate) {
    const std::string &path = candidate.file.path;
    const FileIdentity &checked = candidate.file.identity;
    const auto same_inode = [&](const FileIdentity &opened) {
        return opened.device == checked.device && opened.inode == checked.inode;
    };
    // The system knows an open library by its name and by its inode, so that another name for the
    // file gives what was opened then.
    for (const auto &[name, library] : files().opened) {
        const FileIdentity &opened = library.identity;
        if (name != path && !same_inode(opened)) continue;
        if (!same_inode(opened) || opened.size != checked.size ||
            opened.modified != checked.modified)
            refuse(Status::refused, "the file has been replaced since this process opened it, and "
                                    "its former code stays mapped; start the process anew");
        return library.opened;
    }
    probe_if_asked(candidate.file, candidate.note.name, library_folder());
    const Library &library = files().opened[path] = {open_library(path), checked};
    if (file_identity(path) != checked) // see Note [The file that was checked]
        refuse(Status::refused, "the file changed while it was opened; try again when nobody "
                                "writes to it any more");
    return library.opened;
}

// The plugin's record; a retired plugin's is used again, so that handles on its devices stay valid.
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
    plugin.vendor = shown(descriptor.plugin.vendor);
    plugin.description = shown(descriptor.plugin.description);
    plugin.device_types.clear();
    plugin.modules.clear();
    plugin.ignored = descriptor.ignored;
    plugin.ctx = nullptr;
    plugin.unload = descriptor.plugin.unload;
    make_host(plugin);
    return plugin;
}

// From the open file to a plugin that runs and is registered.
PluginRecord *start(const Candidate &candidate, const boost::dll::shared_library &library) {
    if (!library.has("atoll_plugin_query_v0"))
        refuse(Status::incompatible, "it has the note of a plugin but does not export "
                                     "atoll_plugin_query_v0; link it with the SDK's plugin.map");
    const auto query =
        library.get<const atoll_plugin *(const atoll_host_info *)>("atoll_plugin_query_v0");
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, ATOLL_VERSION};
    const atoll_plugin *raw = query(&info);
    if (!raw) refuse(Status::refused, "its query declined this host (returned NULL)");
    const Descriptor descriptor = copy_descriptor(raw, candidate.note);
    for (const ModuleDecl &module : descriptor.modules)
        for (const char *const *name = module.decl.depends; name && *name; ++name)
            load_dependency(descriptor.name, *name);
    PluginRecord &plugin = record_for(descriptor, candidate.file.path);
    const CallbackResult loaded = run_callback([&](atoll_error *error) {
        return descriptor.plugin.load(&plugin.host, &plugin.ctx, error);
    });
    if (loaded.status != Status::ok) {
        withdraw_parallel_for(plugin); // offered before load failed
        throw Error(loaded.status, "load", fmt::format("it could not start: {}", loaded.words), {},
                    plugin.name, loaded.native_code);
    }
    try {
        register_plugin(plugin, descriptor);
    } catch (...) {
        unregister_plugin(plugin);
        throw;
    }
    return &plugin;
}

PluginReport open(const Candidate &candidate) {
    const std::string &path = candidate.file.path, &name = candidate.note.name;
    const auto explained = [&](Status status, const std::string &why, std::int64_t native_code) {
        files().candidates.explain(path, name, why);
        return Error(status, "load", fmt::format("{}: {}", path, why), {}, name, native_code);
    };
    PluginRecord *plugin = find_loaded(name);
    if (plugin && plugin->path == path) return describe(*plugin);
    try {
        if (plugin)
            refuse(Status::refused, "a plugin '{}' is loaded already, from {}; retire it first",
                   plugin->name, plugin->path);
        const FloatModeKeeper keeper(name);
        if (const std::string why =
                locked_out(candidate.file, secure_environment("ATOLL_PLUGINS_LOCK"));
            !why.empty())
            refuse(Status::refused, "{}", why);
        plugin = start(candidate, open_file(candidate));
    } catch (const Error &e) {
        throw explained(e.status(), words_of(e), e.native_code());
    } catch (...) {
        throw explained(Status::plugin_fault, border_crossed(), 0);
    }
    plugin->loaded = true;
    const PluginReport report = files().candidates.reports[path] = describe(*plugin);
    push_environment_interposers([](const std::string &other) { load(other); });
    return report;
}

PluginReport load(std::string_view name_or_path) {
    if (name_or_path.find('/') != std::string_view::npos)
        return open(files().candidates.examine(std::string(name_or_path)));
    if (const PluginRecord *plugin = find_loaded(name_or_path)) return describe(*plugin);
    std::string known;
    for (const Candidate &candidate : files().candidates.search()) {
        if (candidate.note.name == name_or_path) return open(candidate);
        known += (known.empty() ? "" : ", ") + candidate.note.name;
    }
    std::string refused;
    for (const auto &[path, report] : files().candidates.reports)
        // Without a name: folders that cannot be searched, files that are no plugins.
        if ((report.name == name_or_path || report.name.empty()) && !report.loaded)
            refused += fmt::format("\n  {}: {}", path, report.reason);
    refuse(Status::not_found,
           "there is no usable plugin '{}' in {}; found: {}; {}, or give a path{}{}", name_or_path,
           fmt::join(files().candidates.search_path(), ":"), known.empty() ? "none" : known,
           safe_mode() ? "ATOLL_SAFE_MODE is set, so ATOLL_PLUGIN_PATH is ignored: unset it"
                       : "set ATOLL_PLUGIN_PATH",
           refused.empty() ? "" : "; refused:", refused);
}

std::vector<PluginReport> all_reports() {
    std::vector<PluginReport> all;
    for (auto &[path, report] : files().candidates.reports) {
        for (const PluginRecord *plugin : Registry::get().plugins)
            if (plugin->loaded && plugin->path == path) report = describe(*plugin);
        all.push_back(report);
    }
    return all;
}

} // namespace

PluginReport load_plugin(std::string_view name_or_path) {
    const RegistryChange change("load");
    return load(name_or_path);
}

std::vector<PluginReport> load_all_plugins() {
    const RegistryChange change("load_all");
    for (const Candidate &candidate : files().candidates.search()) {
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
    refuse_inside_call("plugin_search_path");
    const std::lock_guard lock(Registry::get().mutex);
    const std::vector<std::string> folders = files().candidates.search_path();
    return {folders.begin(), folders.end()};
}

std::vector<PluginReport> load_report() {
    refuse_inside_call("load_report");
    const std::lock_guard lock(Registry::get().mutex);
    return all_reports();
}

void retire_plugin(std::string_view name) {
    const RegistryChange change("retire");
    PluginRecord *plugin = find_loaded(name);
    if (!plugin) {
        std::string known;
        for (const PluginRecord *other : Registry::get().plugins)
            if (other->loaded) known += (known.empty() ? "" : ", ") + other->name;
        throw Error(Status::not_found, "retire",
                    fmt::format("no plugin '{}' is loaded; loaded: {}", name,
                                known.empty() ? "none" : known));
    }
    withdraw_plugin(*plugin);
    plugin->loaded = false;
    PluginReport &report = files().candidates.reports[plugin->path];
    report.loaded = false;
    report.reason = "retired";
}

} // namespace Atoll
