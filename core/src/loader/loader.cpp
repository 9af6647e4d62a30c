// Loading and retiring plugins. Finding and judging files: candidates.hpp.
//
// The order of a load: file checks → note → judgement → open → query → copy → load → register →
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

class Loader {
public:
    static Loader &get() {
        static Loader &loader = *new Loader; // plugins stay until the process ends
        return loader;
    }

    PluginReport load(std::string_view name_or_path);
    void load_all();
    void retire(std::string_view name);
    std::vector<PluginReport> report();
    std::vector<std::string> search_path() { return candidates_.search_path(); }
    InterposerHandle push_named(std::string_view target, std::string_view name, int priority) {
        return detail::push_named(target, name, priority, false, loaded_);
    }

private:
    PluginReport open(const Candidate &candidate);
    // Has the system open the file, once.
    const boost::dll::shared_library &open_file(const Candidate &candidate);
    // From the open file to a plugin that runs and is registered.
    PluginRecord *start(const Candidate &candidate, const boost::dll::shared_library &library);
    // The plugin's record; a retired plugin's is used again, so that handles on its devices stay
    // valid.
    PluginRecord &record_for(const Descriptor &descriptor, const std::string &path);
    void load_dependency(const std::string &plugin, const std::string &module);
    PluginRecord *find_loaded(std::string_view name);

    std::vector<PluginRecord *> plugins_;      // never freed: chains and notes of errors name them
    std::vector<PluginRecord *> loaded_;       // in the order of loading
    std::map<std::string, Library> libraries_; // by path
    Candidates candidates_;
    std::vector<std::string> opening_; // plugins whose dependencies are being loaded
    EnvironmentInterposers environment_;
};

PluginRecord *Loader::find_loaded(std::string_view name) {
    for (PluginRecord *plugin : loaded_)
        if (plugin->name == name) return plugin;
    return nullptr;
}

PluginReport Loader::load(std::string_view name_or_path) {
    if (name_or_path.find('/') != std::string_view::npos)
        return open(candidates_.examine(std::string(name_or_path)));
    if (const PluginRecord *plugin = find_loaded(name_or_path)) return describe(*plugin);
    std::string known;
    for (const Candidate &candidate : candidates_.search()) {
        if (candidate.note.name == name_or_path) return open(candidate);
        known += (known.empty() ? "" : ", ") + candidate.note.name;
    }
    std::string refused;
    for (const auto &[path, report] : candidates_.reports)
        // Without a name: folders that cannot be searched, files that are no plugins.
        if ((report.name == name_or_path || report.name.empty()) && !report.loaded)
            refused += fmt::format("\n  {}: {}", path, report.reason);
    refuse(Status::not_found,
           "there is no usable plugin '{}' in {}; found: {}; {}, or give a path{}{}", name_or_path,
           fmt::join(candidates_.search_path(), ":"), known.empty() ? "none" : known,
           safe_mode() ? "ATOLL_SAFE_MODE is set, so ATOLL_PLUGIN_PATH is ignored: unset it"
                       : "set ATOLL_PLUGIN_PATH",
           refused.empty() ? "" : "; refused:", refused);
}

void Loader::load_all() {
    for (const Candidate &candidate : candidates_.search()) {
        if (find_loaded(candidate.note.name)) continue;
        try {
            open(candidate);
        } catch (const Error &e) {
            log_message(ATOLL_LOG_WARN, e.what());
        }
    }
}

// The plugin that defines a module has the module's name.
void Loader::load_dependency(const std::string &plugin, const std::string &module) {
    if (Registry::get().find_module(module)) return;
    opening_.push_back(plugin);
    const struct Pop {
        std::vector<std::string> &list;
        ~Pop() { list.pop_back(); }
    } pop{opening_};
    if (std::find(opening_.begin(), opening_.end(), module) != opening_.end())
        refuse(Status::incompatible, "module {} depends on itself, through {}", module,
               fmt::join(opening_, ", "));
    load(module);
    if (!Registry::get().find_module(module))
        refuse(Status::incompatible,
               "depends on module {}, but plugin {} does not define the module {}", module, module,
               module);
}

const boost::dll::shared_library &Loader::open_file(const Candidate &candidate) {
    const std::string &path = candidate.file.path;
    const FileIdentity &checked = candidate.file.identity;
    const auto same_inode = [&](const FileIdentity &opened) {
        return opened.device == checked.device && opened.inode == checked.inode;
    };
    // The system knows an open library by its name and by its inode, so that another name for the
    // file gives what was opened then.
    for (const auto &[name, library] : libraries_) {
        const FileIdentity &opened = library.identity;
        if (name != path && !same_inode(opened)) continue;
        if (!same_inode(opened) || opened.size != checked.size ||
            opened.modified != checked.modified)
            refuse(Status::refused, "the file has been replaced since this process opened it, and "
                                    "its former code stays mapped; start the process anew");
        return library.opened;
    }
    probe_if_asked(candidate.file, candidate.note.name, library_folder());
    const Library &library = libraries_[path] = {open_library(path), checked};
    if (file_identity(path) != checked) // see Note [The file that was checked]
        refuse(Status::refused, "the file changed while it was opened; try again when nobody "
                                "writes to it any more");
    return library.opened;
}

PluginRecord &Loader::record_for(const Descriptor &descriptor, const std::string &path) {
    const auto shown = [](const char *text) { return text ? printable(text) : ""; };
    const auto known = std::find_if(plugins_.begin(), plugins_.end(), [&](PluginRecord *old) {
        return old->name == descriptor.name && !old->loaded;
    });
    PluginRecord &plugin = known != plugins_.end()
                               ? **known
                               : *plugins_.emplace_back(new PluginRecord(descriptor.name));
    plugin.path = path;
    plugin.version = shown(descriptor.plugin.version);
    plugin.vendor = shown(descriptor.plugin.vendor);
    plugin.description = shown(descriptor.plugin.description);
    plugin.device_types.clear();
    plugin.modules.clear();
    plugin.interposers = descriptor.interposers;
    plugin.ignored = descriptor.ignored;
    plugin.ctx = nullptr;
    plugin.unload = descriptor.plugin.unload;
    make_host(plugin);
    return plugin;
}

PluginRecord *Loader::start(const Candidate &candidate, const boost::dll::shared_library &library) {
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

PluginReport Loader::open(const Candidate &candidate) {
    const std::string &path = candidate.file.path, &name = candidate.note.name;
    const auto explained = [&](Status status, const std::string &why, std::int64_t native_code) {
        candidates_.explain(path, name, why);
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
    loaded_.push_back(plugin);
    const PluginReport report = candidates_.reports[path] = describe(*plugin);
    environment_.push(loaded_, [this](const std::string &other) { load(other); });
    return report;
}

void Loader::retire(std::string_view name) {
    PluginRecord *plugin = find_loaded(name);
    if (!plugin) {
        std::string known;
        for (const PluginRecord *other : loaded_)
            known += (known.empty() ? "" : ", ") + other->name;
        throw Error(Status::not_found, "retire",
                    fmt::format("no plugin '{}' is loaded; loaded: {}", name,
                                known.empty() ? "none" : known));
    }
    withdraw_plugin(*plugin);
    plugin->loaded = false;
    std::erase(loaded_, plugin);
    PluginReport &report = candidates_.reports[plugin->path];
    report.loaded = false;
    report.reason = "retired";
}

std::vector<PluginReport> Loader::report() {
    std::vector<PluginReport> all;
    for (auto &[path, report] : candidates_.reports) {
        for (const PluginRecord *plugin : loaded_)
            if (plugin->path == path) report = describe(*plugin);
        all.push_back(report);
    }
    return all;
}

} // namespace

PluginReport load_plugin(std::string_view name_or_path) {
    const RegistryChange change("load");
    return Loader::get().load(name_or_path);
}

std::vector<PluginReport> load_all_plugins() {
    const RegistryChange change("load_all");
    Loader::get().load_all();
    return Loader::get().report();
}

std::vector<std::filesystem::path> plugin_search_path() {
    refuse_inside_call("plugin_search_path");
    const std::lock_guard lock(Registry::get().mutex);
    const std::vector<std::string> folders = Loader::get().search_path();
    return {folders.begin(), folders.end()};
}

std::vector<PluginReport> load_report() {
    refuse_inside_call("load_report");
    const std::lock_guard lock(Registry::get().mutex);
    return Loader::get().report();
}

void retire_plugin(std::string_view name) {
    const RegistryChange change("retire");
    Loader::get().retire(name);
}

InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority) {
    const RegistryChange change("push_interposer");
    return Loader::get().push_named(target, name, priority);
}

} // namespace Atoll
