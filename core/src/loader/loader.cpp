// Opening, registering and retiring plugins. Finding and judging files: candidates.hpp.
//
// The order of a load: file checks → note → judgement → open → query → copy → load → register →
// devices → device state of implementations. Whatever fails undoes what was done and is explained.
#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/error_buffer.hpp"
#include "base/printable.hpp"
#include "loader/candidates.hpp"
#include "loader/descriptor.hpp"
#include "loader/float_mode.hpp"
#include "loader/judgement.hpp"
#include "loader/lock_file.hpp"
#include "loader/open_library.hpp"
#include "loader/plugin_files.hpp"
#include "loader/probe.hpp"
#include "loader/process_threads.hpp"
#include "loader/registration.hpp"
#include "objects/objects.hpp"
#include "runtime/counted_objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"
#include "runtime/interpose.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

// A file that the system has opened, as it was then.
struct Library {
    OpenedLibrary opened; // half-made where a constructor threw
    FileIdentity identity;
};

// An entry of ATOLL_INTERPOSERS whose target, a module or device type, may come with a later
// plugin.
struct WantedInterposer {
    std::string item, name, target;
    bool told = false; // that it could not be pushed
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
    void read_environment();
    // What ATOLL_INTERPOSERS asks for, as soon as it can be had.
    void push_from_environment();
    PluginReport open(const Candidate &candidate);
    // Has the system open the file, once; `refuse` throws.
    const boost::dll::shared_library &
    open_file(const Candidate &candidate,
              const std::function<void(Status, const std::string &)> &refuse);
    void load_dependency(const std::string &plugin, const std::string &module);
    void unload(PluginRecord &plugin);
    PluginRecord *find_loaded(std::string_view name);
    PluginReport describe(const PluginRecord &plugin);

    std::vector<PluginRecord *> plugins_;      // never freed: chains and notes of errors name them
    std::vector<PluginRecord *> loaded_;       // in the order of loading
    std::map<std::string, Library> libraries_; // by path
    std::map<const PluginRecord *, std::vector<ThreadIdentity>> threads_; // begun during load
    Candidates candidates_;
    std::vector<std::string> opening_; // plugins whose dependencies are being loaded
    std::vector<WantedInterposer> wanted_;
    bool environment_read_ = false;
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
    std::string folders;
    for (const std::string &folder : candidates_.search_path())
        folders += (folders.empty() ? "" : ":") + folder;
    throw Error(
        Status::not_found, "load",
        fmt::format("there is no usable plugin '{}' in {}; found: {}; {}, or give a path{}{}",
                    name_or_path, folders, known.empty() ? "none" : known,
                    safe_mode() ? "ATOLL_SAFE_MODE is set, so ATOLL_PLUGIN_PATH is ignored: "
                                  "unset it"
                                : "set ATOLL_PLUGIN_PATH",
                    refused.empty() ? "" : "; refused:", refused));
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
        throw Error(Status::incompatible, "load",
                    fmt::format("module {} depends on itself, through {}", module,
                                fmt::join(opening_, ", ")));
    load(module);
    if (!Registry::get().find_module(module))
        throw Error(Status::incompatible, "load",
                    fmt::format("depends on module {}, but plugin {} does not define the module {}",
                                module, module, module));
}

// Whatever happens in it, the plugin is gone for the host.
void Loader::unload(PluginRecord &plugin) {
    ErrorBuffer error;
    std::string trouble;
    try {
        const std::int32_t status = plugin.unload(plugin.ctx, error.get());
        if (status != ATOLL_STATUS_OK || error.overrun()) trouble = error.words();
    } catch (...) {
        trouble = fmt::format("an exception crossed the plugin's border: {}", exception_text());
    }
    if (!trouble.empty())
        log_message(ATOLL_LOG_ERROR,
                    fmt::format("plugin {} did not shut down: {}", plugin.name, trouble));
    plugin.ctx = nullptr;
}

const boost::dll::shared_library &
Loader::open_file(const Candidate &candidate,
                  const std::function<void(Status, const std::string &)> &refuse) {
    const std::string &path = candidate.file.path;
    const FileIdentity &checked = candidate.file.identity;
    const auto refuse_half_made = [&](const Library &library) {
        if (library.opened.constructor_threw)
            refuse(Status::plugin_fault,
                   fmt::format("an exception left a constructor of the file ({}); report it to the "
                               "plugin's vendor",
                               library.opened.refusal));
    };
    // The system knows an open library by its name and by its inode, so that another name for the
    // file gives what was opened then.
    const auto known = std::find_if(libraries_.begin(), libraries_.end(), [&](const auto &library) {
        const FileIdentity &opened = library.second.identity;
        return library.first == path ||
               (opened.device == checked.device && opened.inode == checked.inode);
    });
    if (known != libraries_.end()) {
        const FileIdentity &opened = known->second.identity;
        if (opened.device != checked.device || opened.inode != checked.inode ||
            opened.size != checked.size || opened.modified != checked.modified)
            refuse(Status::refused, "the file has been replaced since this process opened it, and "
                                    "its former code stays mapped; start the process anew");
        refuse_half_made(known->second);
        return known->second.opened.library;
    }
    if (const std::string why =
            probe_if_asked(candidate.file, candidate.note.name, library_folder());
        !why.empty())
        refuse(Status::refused, why);
    OpenedLibrary opened = open_library(path);
    if (!opened.library && !opened.constructor_threw)
        refuse(Status::incompatible,
               fmt::format("the system could not open it: {}; check what it links (ldd {})",
                           opened.refusal, path));
    const Library &library = libraries_[path] = {std::move(opened), checked};
    refuse_half_made(library);
    if (file_identity(path) != checked) // see Note [The file that was checked]
        refuse(Status::refused, "the file changed while it was opened; try again when nobody "
                                "writes to it any more");
    return library.opened.library;
}

PluginReport Loader::open(const Candidate &candidate) {
    const std::string &path = candidate.file.path;
    const auto refuse = [&](Status status, const std::string &why) {
        candidates_.explain(path, candidate.note.name, why);
        throw Error(status, "load", fmt::format("{}: {}", path, why), {}, candidate.note.name);
    };
    if (PluginRecord *loaded = find_loaded(candidate.note.name)) {
        if (loaded->path == path) return describe(*loaded);
        refuse(Status::refused, fmt::format("a plugin '{}' is loaded already, from {}; retire it "
                                            "first",
                                            loaded->name, loaded->path));
    }
    const FloatModeKeeper keeper(candidate.note.name);
    if (const std::string why =
            locked_out(candidate.file, secure_environment("ATOLL_PLUGINS_LOCK"));
        !why.empty())
        refuse(Status::refused, why);
    const boost::dll::shared_library &library = open_file(candidate, refuse);
    if (!library.has("atoll_plugin_query_v0"))
        refuse(Status::incompatible, "it has the note of a plugin but does not export "
                                     "atoll_plugin_query_v0; link it with the SDK's plugin.map");
    const auto query =
        library.get<const atoll_plugin *(const atoll_host_info *)>("atoll_plugin_query_v0");
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, ATOLL_VERSION};
    Descriptor descriptor{};
    PluginRecord *plugin = nullptr;
    bool running = false;
    try {
        const atoll_plugin *raw = query(&info);
        if (!raw) refuse(Status::refused, "its query declined this host (returned NULL)");
        descriptor = copy_descriptor(raw);
        check_agreement(candidate.note, descriptor);
        for (const ModuleDecl &module : descriptor.modules)
            for (const char *const *name = module.decl.depends; name && *name; ++name)
                load_dependency(descriptor.name, *name);
        // A retired plugin's record is used again, so that handles on its devices stay valid.
        for (PluginRecord *old : plugins_)
            if (old->name == descriptor.name && !old->loaded) plugin = old;
        if (!plugin) plugins_.push_back(plugin = new PluginRecord(descriptor.name));
        plugin->path = path;
        const auto shown = [](const char *text) { return text ? printable(text) : ""; };
        plugin->version = shown(descriptor.plugin.version);
        plugin->vendor = shown(descriptor.plugin.vendor);
        plugin->description = shown(descriptor.plugin.description);
        plugin->device_types.clear();
        plugin->modules.clear();
        plugin->interposers.clear();
        plugin->interposer_names.clear();
        make_host(*plugin);
        plugin->ctx = nullptr;
        ErrorBuffer error;
        const std::vector<int> before = threads_of_process();
        const std::int32_t status =
            descriptor.plugin.load(&plugin->host, &plugin->ctx, error.get());
        if (status != ATOLL_STATUS_OK)
            throw Error(status > 0 && status < ATOLL_STATUS_COUNT ? static_cast<Status>(status)
                                                                  : Status::plugin_fault,
                        "load", fmt::format("it could not start: {}", error.words()), {},
                        plugin->name, error.native_code());
        if (error.overrun())
            log_message(ATOLL_LOG_WARN,
                        fmt::format("plugin {}: load: {}", plugin->name, error.words()));
        threads_[plugin] = threads_since(before);
        running = true;
        plugin->unload = descriptor.plugin.unload;
        register_plugin(*plugin, descriptor);
    } catch (...) {
        if (running) {
            unregister_plugin(*plugin);
            unload(*plugin);
        } else if (plugin) {
            withdraw_parallel_for(*plugin); // offered before load failed
        }
        try {
            throw;
        } catch (const Error &known) {
            const std::string prefix = "[load] ";
            std::string why = known.what();
            if (why.find(path) != std::string::npos) throw; // explained already
            if (why.rfind(prefix, 0) == 0) why = why.substr(prefix.size());
            candidates_.explain(path, candidate.note.name, why);
            throw Error(known.status(), "load", fmt::format("{}: {}", path, why), {},
                        candidate.note.name, known.native_code());
        } catch (...) {
            refuse(Status::plugin_fault,
                   fmt::format("an exception crossed the plugin's border ({}); the plugin must "
                               "catch it",
                               exception_text()));
        }
    }
    plugin->loaded = true;
    loaded_.push_back(plugin);
    candidates_.reports[path] = {};
    PluginReport report = describe(*plugin);
    candidates_.reports[path] = report;
    push_from_environment();
    return report;
}

void Loader::retire(std::string_view name) {
    Registry &registry = Registry::get();
    PluginRecord *plugin = find_loaded(name);
    if (!plugin) {
        std::string known;
        for (const PluginRecord *other : loaded_)
            known += (known.empty() ? "" : ", ") + other->name;
        throw Error(Status::not_found, "retire",
                    fmt::format("no plugin '{}' is loaded; loaded: {}", name,
                                known.empty() ? "none" : known));
    }
    for (int m = 0; m < max_modules; ++m) {
        const ModuleRecord *module = registry.module(m);
        if (!module) break;
        if (!module->live || module->owner == plugin) continue;
        for (const ModuleRecord *own : plugin->modules)
            if (std::find(module->depends.begin(), module->depends.end(), own->name) !=
                module->depends.end())
                throw Error(Status::busy, "retire",
                            fmt::format("module {} of plugin {} depends on module {}; retire that "
                                        "plugin first",
                                        module->name,
                                        module->owner ? module->owner.load()->name : "core",
                                        own->name));
    }
    const auto refuse_while_objects_live = [&] {
        if (const std::string objects = living_objects(*plugin); !objects.empty())
            throw Error(Status::busy, "retire",
                        fmt::format("plugin {} cannot go while objects live: {}; let go of them "
                                    "first",
                                    name, objects));
    };
    refuse_while_objects_live();
    // No new storage after this; those under way have been counted when the readers are through.
    const auto set_live = [&](bool live) {
        for (DeviceTypeRecord *type : plugin->device_types)
            for (int i = 0; i < type->device_count; ++i)
                type->devices[i].load()->live.store(live, std::memory_order_release);
    };
    set_live(false);
    wait_for_readers();
    std::string alive;
    for (const DeviceTypeRecord *type : plugin->device_types)
        for (int i = 0; i < type->device_count; ++i)
            if (const std::int64_t count = live_count(type->devices[i].load()->slot))
                alive += fmt::format("{}{} of {}", alive.empty() ? "" : ", ", count,
                                     type->devices[i].load()->name);
    if (!alive.empty()) {
        set_live(true);
        throw Error(Status::busy, "retire",
                    fmt::format("plugin {} cannot go while storages, streams or events live: {}; "
                                "let go of the tensors first",
                                name, alive));
    }
    for (const DeviceTypeRecord *type : plugin->device_types)
        for (int i = 0; i < type->device_count && !type->is_inline(); ++i) {
            const DeviceRecord &device = *type->devices[i].load();
            try {
                synchronize_within_deadline(device, nullptr);
            } catch (const Error &e) {
                if (e.status() == Status::not_ready) {
                    set_live(true);
                    throw Error(Status::busy, "retire",
                                fmt::format("plugin {} cannot go: {}", name, e.what()));
                }
                log_message(ATOLL_LOG_WARN,
                            fmt::format("{}: work failed and was never asked for", device.name));
            }
        }
    // Calls that were under way may have made objects; from here on there are none.
    set_routed(*plugin, false);
    try {
        refuse_while_objects_live();
    } catch (...) {
        set_routed(*plugin, true);
        set_live(true);
        throw;
    }
    unregister_plugin(*plugin);
    unload(*plugin);
    plugin->loaded = false;
    std::erase(loaded_, plugin);
    PluginReport &report = candidates_.reports[plugin->path];
    report.loaded = false;
    report.reason = "retired";
    if (const std::size_t left = still_running(threads_[plugin])) {
        report.reason +=
            fmt::format("; {} thread(s) that began while it loaded still run: a plugin "
                        "joins its threads when it stops",
                        left);
        log_message(ATOLL_LOG_WARN, fmt::format("plugin {}: {}", name, report.reason));
    }
}

// What an implementation declares that this host does not know.
void describe_ignored(const ImplEntry &impl, std::vector<std::string> &ignored) {
    ignored.insert(ignored.end(), impl.ignored.begin(), impl.ignored.end());
    const ModuleRecord *module = Registry::get().find_module(impl.module);
    for (const atoll_function_decl &f : impl.functions) {
        const bool known = module && f.id < module->functions.size();
        if (module && !known)
            ignored.push_back(fmt::format("function {} of module {} for {}, which has {}", f.id,
                                          impl.module, impl.device_type, module->functions.size()));
        for (int dtype = ATOLL_DTYPE_COUNT; known && dtype < 64; ++dtype)
            if (f.dtypes >> dtype & 1)
                ignored.push_back(fmt::format("{} for {} on dtype {}",
                                              module->functions[f.id].full_name, impl.device_type,
                                              dtype));
    }
}

PluginReport Loader::describe(const PluginRecord &plugin) {
    PluginReport report;
    report.path = plugin.path;
    report.name = plugin.name;
    report.version = plugin.version;
    report.description = plugin.description;
    report.loaded = true;
    for (const DeviceTypeRecord *type : plugin.device_types) {
        for (int i = 0; i < type->device_count; ++i)
            report.devices.push_back(type->devices[i].load()->name);
        if (type->device_count == 0)
            report.reason = fmt::format("no device: {}", type->no_device_reason);
    }
    for (const ModuleRecord *module : plugin.modules) report.modules.push_back(module->name);
    for (const ImplEntry &impl : Registry::get().impls)
        if (impl.plugin == &plugin) {
            std::string text = fmt::format("{} for {}", impl.module, impl.device_type);
            const DeviceTypeRecord *type = Registry::get().find_device_type(impl.device_type);
            if (!Registry::get().find_module(impl.module))
                text += " (waits for the module)";
            else if (!type || !type->live)
                text += " (waits for the device type)";
            else if (impl.refused)
                text += fmt::format(" (refused: {})", impl.refusal);
            report.implements.push_back(std::move(text));
            describe_ignored(impl, report.ignored);
        }
    report.interposers = plugin.interposer_names;
    report.ignored.insert(report.ignored.end(), plugin.ignored.begin(), plugin.ignored.end());
    return report;
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

void print_reports_at_exit() {
    // exit() may have been called while another thread, or this one, holds the registry.
    std::unique_lock lock(Registry::get().mutex, std::defer_lock);
    for (int i = 0; i < 100 && !lock.try_lock(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!lock) return;
    for (const InterposerEntry &entry : Registry::get().interposer_entries) {
        if (!entry.from_environment) continue;
        try {
            const std::string text = report_of(entry);
            std::fwrite(text.data(), 1, text.size(), stderr);
        } catch (const Error &e) {
            log_message(ATOLL_LOG_ERROR, e.what());
        }
    }
}

void Loader::read_environment() {
    environment_read_ = true;
    const auto list = secure_environment("ATOLL_INTERPOSERS");
    if (!list || safe_mode()) return;
    for (const std::string &item : split_names(*list)) {
        const std::size_t equals = item.find('=');
        const std::string name = item.substr(0, equals);
        try {
            load(name);
            wanted_.push_back(
                {item, name, equals == std::string::npos ? "*" : item.substr(equals + 1)});
        } catch (const Error &e) {
            log_message(ATOLL_LOG_ERROR,
                        fmt::format("ATOLL_INTERPOSERS, '{}': {}", item, e.what()));
        }
    }
    std::atexit(print_reports_at_exit);
}

void Loader::push_from_environment() {
    if (!environment_read_) read_environment();
    std::erase_if(wanted_, [&](WantedInterposer &wanted) {
        try {
            detail::push_named(wanted.target, wanted.name, 0, true, loaded_);
        } catch (const Error &e) {
            const bool may_come = e.status() == Status::not_found;
            if (!std::exchange(wanted.told, true))
                log_message(
                    ATOLL_LOG_ERROR,
                    fmt::format("ATOLL_INTERPOSERS, '{}': {}{}", wanted.item, e.what(),
                                may_come ? "; tried again whenever a plugin is loaded" : ""));
            return !may_come;
        }
        return true;
    });
}

} // namespace

PluginReport load(std::string_view name_or_path) {
    const RegistryChange change("load");
    return Loader::get().load(name_or_path);
}

std::vector<PluginReport> load_all() {
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

void retire(std::string_view name) {
    const RegistryChange change("retire");
    Loader::get().retire(name);
}

InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority) {
    const RegistryChange change("push_interposer");
    return Loader::get().push_named(target, name, priority);
}

} // namespace Atoll
