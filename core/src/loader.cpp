// Finding, judging, opening, registering and retiring plugins.
//
// The order of a load: file checks → note → judgement → open → query → copy → load → register →
// devices → device state of implementations. Whatever fails undoes what was done and is explained.
#include "atoll/plugins.hpp"
#include "descriptor.hpp"
#include "dispatch.hpp"
#include "elf_note.hpp"
#include "error_buffer.hpp"
#include "host_services.hpp"
#include "interpose.hpp"
#include "lock_file.hpp"
#include "objects.hpp"
#include "open_library.hpp"
#include "plugin_files.hpp"
#include "probe.hpp"
#include "process_threads.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

std::string sanitizer_name(std::uint32_t bits) {
    if (bits == 0) return "no sanitizer";
    if (bits == ATOLL_SANITIZER_ADDRESS) return "the address sanitizer";
    if (bits == ATOLL_SANITIZER_THREAD) return "the thread sanitizer";
    return fmt::format("sanitizers {:#x}", bits);
}

// The folder of this library; "" if it cannot be told.
std::string library_folder() {
    Dl_info self;
    static const char anchor = 0;
    if (!dladdr(&anchor, &self) || !self.dli_fname) return "";
    std::error_code error;
    const auto library = std::filesystem::canonical(self.dli_fname, error);
    return error ? "" : library.parent_path().string();
}

// What set_probe says; where it was not called, the environment.
struct ProbeSwitch {
    bool set = false, on = false;
    std::chrono::milliseconds deadline = std::chrono::seconds(20);
    static ProbeSwitch now();
    static std::mutex mutex;
    static ProbeSwitch by_application;
};
std::mutex ProbeSwitch::mutex;
ProbeSwitch ProbeSwitch::by_application;

ProbeSwitch ProbeSwitch::now() {
    {
        const std::lock_guard lock(mutex);
        if (by_application.set) return by_application;
    }
    ProbeSwitch probe;
    const auto wanted = secure_environment("ATOLL_PROBE");
    probe.on = wanted && !wanted->empty() && *wanted != "0";
    if (const auto text = secure_environment("ATOLL_PROBE_DEADLINE"); probe.on && text) {
        double seconds = 0;
        const auto [end, error] =
            std::from_chars(text->data(), text->data() + text->size(), seconds);
        if (error != std::errc() || end != text->data() + text->size() ||
            !(seconds > 0 && seconds < 1e6))
            throw Error(
                Status::invalid_argument, "load",
                fmt::format("ATOLL_PROBE_DEADLINE is '{}', need a number of seconds", *text));
        probe.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return probe;
}

struct Candidate {
    CheckedPath file;
    PluginNote note;
};

// A file that the system has opened, as it was then.
struct Library {
    void *handle;      // never closed
    std::string threw; // what a constructor threw: it is half-made
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
    InterposerHandle push_named(std::string_view target, std::string_view name, int priority) {
        return detail::push_named(target, name, priority, false, loaded_);
    }

private:
    void push_from_environment();
    std::vector<std::string> search_path();
    // Notes what became of a file.
    void explain(const std::string &path, const std::string &name, const std::string &reason);
    // The file as a candidate; throws Error with the reason.
    Candidate examine(const std::string &path);
    // The best candidates that the search finds: one for each name, sorted by file.
    std::vector<Candidate> search();
    PluginReport open(const Candidate &candidate);
    // Has the system open the file, once; `refuse` throws.
    void *open_file(const Candidate &candidate,
                    const std::function<void(Status, const std::string &)> &refuse);
    void register_plugin(PluginRecord &plugin, const Descriptor &descriptor);
    void unregister_plugin(PluginRecord &plugin);
    void check_device_type(const DeviceTypeRecord &type);
    void enumerate(DeviceTypeRecord &type);
    void open_devices(const PluginRecord &loading);
    void open_device(ImplEntry &impl, const DeviceTypeRecord &type, int index);
    void close_devices(const std::function<bool(const ImplEntry &)> &which);
    void load_dependency(const std::string &plugin, const std::string &module);
    void unload(PluginRecord &plugin);
    PluginRecord *find_loaded(std::string_view name);
    PluginReport describe(const PluginRecord &plugin);

    std::vector<PluginRecord *> plugins_;      // never freed: chains and notes of errors name them
    std::vector<PluginRecord *> loaded_;       // in the order of loading
    std::map<std::string, Library> libraries_; // by path
    std::map<const PluginRecord *, std::vector<ThreadIdentity>> threads_; // begun during load
    std::map<std::string, PluginReport> reports_;
    std::vector<std::string> opening_; // plugins whose dependencies are being loaded
    bool environment_done_ = false;
};

std::vector<std::string> Loader::search_path() {
    std::vector<std::string> folders;
    if (!safe_mode())
        if (const auto list = secure_environment("ATOLL_PLUGIN_PATH"))
            for (const CheckedPath &entry : split_search_path(*list)) {
                if (entry.ok())
                    folders.push_back(entry.path);
                else
                    explain(entry.path.empty() ? "ATOLL_PLUGIN_PATH" : entry.path, "",
                            entry.refusal);
            }
    if (const std::string beside = library_folder(); !beside.empty())
        folders.push_back(fmt::format("{}/atoll", beside));
    return folders;
}

void Loader::explain(const std::string &path, const std::string &name, const std::string &reason) {
    PluginReport &report = reports_[path];
    if (report.loaded) return;
    report = {};
    report.path = path;
    report.name = name;
    report.reason = reason;
}

Candidate Loader::examine(const std::string &path) {
    const CheckedPath checked = check_plugin_file(path);
    const auto refuse = [&](const std::string &name, Status status, const std::string &why) {
        const std::string text = fmt::format("{}: {}", path, why);
        explain(checked.path.empty() ? path : checked.path, name, why);
        throw Error(status, "load", text);
    };
    if (!checked.ok()) refuse("", Status::refused, checked.refusal);
    std::string refusal;
    const std::optional<PluginNote> note = read_plugin_note(checked.path, refusal);
    if (!note) refuse("", Status::incompatible, refusal);
    if (note->abi_major != ATOLL_ABI_MAJOR)
        refuse(note->name, Status::incompatible,
               fmt::format("built for plugin ABI {}.{}, this host speaks {}.x; get a build of the "
                           "plugin for it, or another Atoll",
                           note->abi_major, note->abi_minor, ATOLL_ABI_MAJOR));
    if (note->min_host_minor > ATOLL_ABI_MINOR)
        refuse(note->name, Status::incompatible,
               fmt::format("needs a host of plugin ABI {}.{} or newer, this one is {}.{}; update "
                           "Atoll",
                           note->abi_major, note->min_host_minor, ATOLL_ABI_MAJOR,
                           ATOLL_ABI_MINOR));
    if (static_cast<int>(note->isa_level) > isa_level())
        refuse(note->name, Status::incompatible,
               fmt::format("built for x86-64-v{}, this processor is x86-64-v{}; use a build for a "
                           "lower level",
                           note->isa_level, isa_level()));
    if (note->sanitizers != ATOLL_SANITIZERS)
        refuse(note->name, Status::incompatible,
               fmt::format("built with {}, this host with {}; build both alike",
                           sanitizer_name(note->sanitizers), sanitizer_name(ATOLL_SANITIZERS)));
    if (const auto disabled = secure_environment("ATOLL_PLUGINS_DISABLE")) {
        const std::vector<std::string> globs = split_names(*disabled);
        if (const std::string *glob = matching_glob(note->name, globs))
            refuse(note->name, Status::refused,
                   fmt::format("disabled by '{}' in ATOLL_PLUGINS_DISABLE", *glob));
    }
    return {checked, *note};
}

std::vector<Candidate> Loader::search() {
    std::vector<Candidate> best;
    for (const std::string &folder : search_path()) {
        const FolderListing listing = list_plugin_files(folder);
        if (!listing.refusal.empty()) explain(folder, "", listing.refusal);
        std::vector<Candidate> here;
        for (const std::string &file : listing.files) {
            Candidate candidate;
            try {
                candidate = examine(file);
            } catch (const Error &) {
                continue; // explained already
            }
            const auto same_name = [&](const Candidate &c) {
                return c.note.name == candidate.note.name;
            };
            if (const auto earlier = std::find_if(best.begin(), best.end(), same_name);
                earlier != best.end()) {
                explain(candidate.file.path, candidate.note.name,
                        fmt::format("{} comes earlier in the search path", earlier->file.path));
                continue;
            }
            const auto variant = std::find_if(here.begin(), here.end(), same_name);
            if (variant == here.end()) {
                here.push_back(candidate);
                continue;
            }
            if (candidate.note.isa_level > variant->note.isa_level) std::swap(*variant, candidate);
            explain(candidate.file.path, candidate.note.name,
                    fmt::format("{} is built for a higher level of this processor",
                                variant->file.path));
        }
        best.insert(best.end(), here.begin(), here.end());
    }
    return best;
}

PluginRecord *Loader::find_loaded(std::string_view name) {
    for (PluginRecord *plugin : loaded_)
        if (plugin->name == name) return plugin;
    return nullptr;
}

PluginReport Loader::load(std::string_view name_or_path) {
    if (name_or_path.find('/') != std::string_view::npos)
        return open(examine(std::string(name_or_path)));
    if (const PluginRecord *plugin = find_loaded(name_or_path)) return describe(*plugin);
    std::string known;
    for (const Candidate &candidate : search()) {
        if (candidate.note.name == name_or_path) return open(candidate);
        known += (known.empty() ? "" : ", ") + candidate.note.name;
    }
    std::string refused;
    for (const auto &[path, report] : reports_)
        // Without a name: folders that cannot be searched, files that are no plugins.
        if ((report.name == name_or_path || report.name.empty()) && !report.loaded)
            refused += fmt::format("\n  {}: {}", path, report.reason);
    std::string folders;
    for (const std::string &folder : search_path())
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
    for (const Candidate &candidate : search()) {
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

// The note is what the plugin was chosen by, before any of it ran; the descriptor must not go
// beyond.
void check_agreement(const PluginNote &note, const Descriptor &descriptor) {
    const auto disagree = [](const std::string &what) {
        throw Error(Status::plugin_fault, "load",
                    fmt::format("its note and its descriptor disagree: {}; report it to the "
                                "plugin's vendor",
                                what));
    };
    const atoll_plugin &plugin = descriptor.plugin;
    if (descriptor.name != note.name)
        disagree(
            fmt::format("its note says '{}', its descriptor '{}'", note.name, descriptor.name));
    if (plugin.abi_minor != note.abi_minor || plugin.min_host_minor != note.min_host_minor)
        disagree(fmt::format("the note says ABI minor {} and a host of minor {} at least, the "
                             "descriptor {} and {}",
                             note.abi_minor, note.min_host_minor, plugin.abi_minor,
                             plugin.min_host_minor));
    const bool for_others =
        std::any_of(descriptor.impls.begin(), descriptor.impls.end(), [&](const ImplEntry &impl) {
            return std::none_of(
                descriptor.device_types.begin(), descriptor.device_types.end(),
                [&](const DeviceTypeDecl &own) { return own.name == impl.device_type; });
        });
    const std::tuple<bool, std::uint32_t, const char *> kinds[] = {
        {plugin.device_type_count > 0, ATOLL_KIND_DEVICES, "ATOLL_KIND_DEVICES"},
        {plugin.module_count > 0, ATOLL_KIND_MODULES, "ATOLL_KIND_MODULES"},
        {for_others, ATOLL_KIND_IMPLS, "ATOLL_KIND_IMPLS"},
        {plugin.interposer_count > 0, ATOLL_KIND_INTERPOSERS, "ATOLL_KIND_INTERPOSERS"},
    };
    for (const auto &[present, bit, name] : kinds)
        if (present && !(note.kinds & bit))
            disagree(fmt::format("the descriptor has what {} stands for, which the note's kinds "
                                 "({}) lack",
                                 name, note.kinds));
}

void *Loader::open_file(const Candidate &candidate,
                        const std::function<void(Status, const std::string &)> &refuse) {
    const std::string &path = candidate.file.path;
    const FileIdentity &checked = candidate.file.identity;
    const auto refuse_half_made = [&](const Library &library) {
        if (!library.threw.empty())
            refuse(Status::plugin_fault,
                   fmt::format("an exception left a constructor of the file ({}); report it to the "
                               "plugin's vendor",
                               library.threw));
    };
    if (const auto known = libraries_.find(path); known != libraries_.end()) {
        const FileIdentity &opened = known->second.identity;
        if (opened.device != checked.device || opened.inode != checked.inode ||
            opened.size != checked.size || opened.modified != checked.modified)
            refuse(Status::refused, "the file has been replaced since this process opened it, and "
                                    "its former code stays mapped; start the process anew");
        refuse_half_made(known->second);
        return known->second.handle;
    }
    if (const ProbeSwitch asked = ProbeSwitch::now(); asked.on) {
        const CheckedPath helper = find_probe_helper(library_folder());
        if (!helper.ok()) refuse(Status::not_found, helper.refusal);
        const std::string &plugin = candidate.note.name;
        if (const std::string why =
                probe(candidate.file, plugin, {helper.path, asked.deadline, configured(plugin)});
            !why.empty())
            refuse(Status::refused, why);
    }
    const OpenedLibrary opened = open_library(path);
    if (!opened.handle && !opened.constructor_threw)
        refuse(Status::incompatible,
               fmt::format("the system could not open it: {}; check what it links (ldd {})",
                           opened.refusal, path));
    libraries_[path] = {opened.handle, opened.constructor_threw ? opened.refusal : "", checked};
    refuse_half_made(libraries_[path]);
    if (file_identity(path) != checked) // see Note [The file that was checked]
        refuse(Status::refused, "the file changed while it was opened; try again when nobody "
                                "writes to it any more");
    return opened.handle;
}

PluginReport Loader::open(const Candidate &candidate) {
    const std::string &path = candidate.file.path;
    const auto refuse = [&](Status status, const std::string &why) {
        explain(path, candidate.note.name, why);
        throw Error(status, "load", fmt::format("{}: {}", path, why), {}, candidate.note.name);
    };
    if (PluginRecord *loaded = find_loaded(candidate.note.name)) {
        if (loaded->path == path) return describe(*loaded);
        refuse(Status::refused, fmt::format("a plugin '{}' is loaded already, from {}; retire it "
                                            "first",
                                            loaded->name, loaded->path));
    }
    if (const std::string why =
            locked_out(candidate.file, secure_environment("ATOLL_PLUGINS_LOCK"));
        !why.empty())
        refuse(Status::refused, why);
    const auto query = reinterpret_cast<atoll_plugin_query_fn>(
        dlsym(open_file(candidate, refuse), "atoll_plugin_query_v1"));
    if (!query)
        refuse(Status::incompatible, "it has the note of a plugin but does not export "
                                     "atoll_plugin_query_v1; link it with the SDK's plugin.map");
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
        plugin->version = descriptor.plugin.version ? descriptor.plugin.version : "";
        plugin->vendor = descriptor.plugin.vendor ? descriptor.plugin.vendor : "";
        plugin->description = descriptor.plugin.description ? descriptor.plugin.description : "";
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
            explain(path, candidate.note.name, why);
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
    reports_[path] = {};
    PluginReport report = describe(*plugin);
    reports_[path] = report;
    push_from_environment();
    return report;
}

void Loader::register_plugin(PluginRecord &plugin, const Descriptor &descriptor) {
    Registry &registry = Registry::get();
    for (const DeviceTypeDecl &decl : descriptor.device_types) {
        const DeviceTypeRecord *type = registry.find_device_type(decl.name);
        if (type && type->live)
            throw Error(Status::refused, "load",
                        fmt::format("device type '{}' comes from plugin {} already; retire that "
                                    "first",
                                    decl.name, type->plugin->name));
    }
    for (const ModuleDecl &module : descriptor.modules)
        if (const ModuleRecord *known = registry.find_module(module.decl.name))
            throw Error(Status::refused, "load",
                        known->owner
                            ? fmt::format("module '{}' comes from plugin {} already; retire that "
                                          "plugin first",
                                          module.decl.name, known->owner.load()->name)
                            : fmt::format("module '{}' comes from the core already; give it "
                                          "another name",
                                          module.decl.name));
    for (std::size_t i = 0; i < descriptor.interposers.size(); ++i) {
        plugin.interposers.push_back(descriptor.plugin.interposers[i]);
        plugin.interposer_names.push_back(descriptor.interposers[i].name);
    }
    for (const ImplEntry &from : descriptor.impls) {
        ImplEntry impl = from;
        impl.plugin = &plugin;
        impl.sequence = registry.next_sequence++;
        registry.impls.push_back(std::move(impl));
    }
    for (const ModuleDecl &module : descriptor.modules) {
        atoll_module_decl decl = module.decl;
        decl.functions = module.functions.data();
        plugin.modules.push_back(registry.add_module(decl, &plugin));
    }
    for (ImplEntry &impl : registry.impls) {
        const ModuleRecord *module = registry.find_module(impl.module);
        if (!module) continue;
        // The module may have come back in another version, the device with its power on.
        const bool anew =
            impl.plugin == &plugin || module->owner == &plugin ||
            std::any_of(descriptor.device_types.begin(), descriptor.device_types.end(),
                        [&](const DeviceTypeDecl &t) { return t.name == impl.device_type; });
        if (!anew) continue;
        impl.refused = false;
        for (const atoll_function_decl &f : impl.functions)
            if (f.id >= module->functions.size()) {
                impl.refused = true;
                if (impl.plugin == &plugin)
                    throw Error(Status::incompatible, "load",
                                fmt::format("implements function {} of module {}, which has {}; "
                                            "update the plugin that defines the module",
                                            f.id, impl.module, module->functions.size()));
            }
        impl.refused = impl.refused || impl.module_version > module->version;
        impl.refusal = impl.refused ? "made for another version of the module" : "";
        if (impl.module_version > module->version && impl.plugin == &plugin)
            throw Error(Status::incompatible, "load",
                        fmt::format("needs version {} of module {}, which is version {}; update "
                                    "what defines the module, or use an older build of the plugin",
                                    impl.module_version, impl.module, module->version.load()));
    }
    for (const DeviceTypeDecl &decl : descriptor.device_types)
        plugin.device_types.push_back(registry.add_device_type(decl.name, decl.flags, &plugin));
    registry.rebuild();
    registry.collect();
    for (DeviceTypeRecord *type : plugin.device_types) {
        check_device_type(*type);
        enumerate(*type);
        type->live.store(true, std::memory_order_release);
    }
    open_devices(plugin);
}

void Loader::check_device_type(const DeviceTypeRecord &type) {
    static constexpr bool required[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) REQUIRED != 0,
#include "atoll/lists/device_functions.inc"
    };
    for (int f = 0; f < ATOLL_DEVICE_FN_COUNT; ++f) {
        const bool asynchronous = f >= ATOLL_DEVICE_FN_stream_synchronize &&
                                  f <= ATOLL_DEVICE_FN_event_query && !type.is_inline();
        if ((required[f] || asynchronous) && !device_implements(type, f))
            throw Error(Status::incompatible, "load",
                        fmt::format("device type '{}' lacks {}, which {} needs", type.name,
                                    Registry::get().device_function(f).full_name,
                                    asynchronous ? "a device that is not inline" : "every device"));
    }
}

void Loader::enumerate(DeviceTypeRecord &type) {
    Registry &registry = Registry::get();
    DeviceRecord probe{&type, 0, 0, type.name, true};
    atoll_enumerate_params params{};
    params.struct_size = sizeof params;
    device_call(probe, ATOLL_DEVICE_FN_enumerate, &params);
    params.reason[sizeof params.reason - 1] = '\0';
    type.no_device_reason.set(params.reason);
    if (params.count > max_devices)
        throw Error(Status::plugin_fault, "load",
                    fmt::format("device type '{}' claims {} devices", type.name, params.count));
    registry.reserve_devices(type, static_cast<int>(params.count));
    for (int i = 0; i < static_cast<int>(params.count); ++i) {
        DeviceRecord *device = registry.add_device(type, i);
        device->name.set(params.count == 1 ? type.name : fmt::format("{}:{}", type.name, i));
        device->live.store(true, std::memory_order_release);
    }
    type.device_count.store(static_cast<int>(params.count), std::memory_order_release);
}

// Module-specific state of every implementation whose module and device exist by now. One that
// cannot be opened is refused: with its plugin if that is the one being loaded, else alone, for the
// plugin being loaded is not to blame.
void Loader::open_devices(const PluginRecord &loading) {
    Registry &registry = Registry::get();
    bool withdrawn = false;
    for (ImplEntry &impl : registry.impls) {
        const DeviceTypeRecord *type = registry.find_device_type(impl.device_type);
        if (!impl.open_device || impl.refused || !registry.find_module(impl.module) || !type ||
            !type->live)
            continue;
        try {
            for (int i = 0; i < type->device_count; ++i) open_device(impl, *type, i);
        } catch (const std::exception &e) { // unknown types were translated
            if (impl.plugin == &loading) throw;
            close_devices([&](const ImplEntry &other) { return &other == &impl; });
            impl.refused = withdrawn = true;
            impl.refusal = e.what();
            registry.rebuild({impl.module, "", impl.device_type, DType::none});
            log_message(ATOLL_LOG_WARN, fmt::format("{}; plugin {} is loaded without it",
                                                    impl.refusal, loading.name));
        }
    }
    if (withdrawn) registry.collect();
}

void Loader::open_device(ImplEntry &impl, const DeviceTypeRecord &type, int index) {
    if (std::find(impl.opened.begin(), impl.opened.end(), index) != impl.opened.end()) return;
    ErrorBuffer error;
    const auto refuse = [&](Status status, const std::string &why) {
        throw Error(status, "load",
                    fmt::format("plugin {} could not open {}:{} for module {}: {}",
                                impl.plugin->name, type.name, index, impl.module, why),
                    {}, impl.plugin->name);
    };
    std::int32_t status;
    try {
        status = impl.open_device(impl.plugin->ctx, index, error.get());
    } catch (...) {
        refuse(
            Status::plugin_fault,
            fmt::format("an exception crossed the plugin's border ({}); the plugin must catch it",
                        exception_text()));
    }
    if (status != ATOLL_STATUS_OK) refuse(Status::refused, error.words());
    impl.opened.push_back(index);
}

void Loader::close_devices(const std::function<bool(const ImplEntry &)> &which) {
    auto &impls = Registry::get().impls;
    for (auto impl = impls.rbegin(); impl != impls.rend(); ++impl) {
        if (!which(*impl)) continue;
        for (; !impl->opened.empty(); impl->opened.pop_back()) try {
                if (impl->close_device) impl->close_device(impl->plugin->ctx, impl->opened.back());
            } catch (...) {
                log_message(ATOLL_LOG_ERROR,
                            fmt::format("plugin {}, close_device: an exception crossed the "
                                        "plugin's border: {}",
                                        impl->plugin->name, exception_text()));
            }
    }
}

void Loader::unregister_plugin(PluginRecord &plugin) {
    Registry &registry = Registry::get();
    remove_interposers([&](const InterposerEntry &e) { return e.plugin == &plugin; });
    const auto mine = [&](const ImplEntry &impl) {
        const auto named = [](const std::string &name) {
            return [&](const auto *record) { return record->name == name; };
        };
        return impl.plugin == &plugin ||
               std::any_of(plugin.device_types.begin(), plugin.device_types.end(),
                           named(impl.device_type)) ||
               std::any_of(plugin.modules.begin(), plugin.modules.end(), named(impl.module));
    };
    // Unpublish first: no call may meet closed state.
    for (DeviceTypeRecord *type : plugin.device_types) {
        type->live.store(false, std::memory_order_release);
        for (int i = 0; i < type->device_count; ++i)
            type->devices[i].load()->live.store(false, std::memory_order_release);
    }
    for (ModuleRecord *module : plugin.modules)
        module->live.store(false, std::memory_order_release);
    for (ImplEntry &impl : registry.impls) impl.retiring = impl.plugin == &plugin;
    registry.rebuild();
    withdraw_parallel_for(plugin);
    registry.collect();
    close_devices(mine);
    std::erase_if(registry.impls, [&](const ImplEntry &impl) { return impl.plugin == &plugin; });
    for (DeviceTypeRecord *type : plugin.device_types) type->device_count = 0;
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
    unregister_plugin(*plugin);
    unload(*plugin);
    plugin->loaded = false;
    std::erase(loaded_, plugin);
    PluginReport &report = reports_[plugin->path];
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
        }
    report.interposers = plugin.interposer_names;
    return report;
}

std::vector<PluginReport> Loader::report() {
    std::vector<PluginReport> all;
    for (auto &[path, report] : reports_) {
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

void Loader::push_from_environment() {
    if (environment_done_) return;
    environment_done_ = true;
    const auto list = secure_environment("ATOLL_INTERPOSERS");
    if (!list || safe_mode()) return;
    for (const std::string &item : split_names(*list)) {
        const std::size_t equals = item.find('=');
        const std::string name = item.substr(0, equals);
        const std::string target = equals == std::string::npos ? "*" : item.substr(equals + 1);
        try {
            load(name);
            detail::push_named(target, name, 0, true, loaded_);
        } catch (const Error &e) {
            log_message(ATOLL_LOG_ERROR,
                        fmt::format("ATOLL_INTERPOSERS, '{}': {}", item, e.what()));
        }
    }
    std::atexit(print_reports_at_exit);
}

} // namespace

PluginReport load(std::string_view name_or_path) {
    refuse_inside_call("load");
    const std::lock_guard lock(Registry::get().mutex);
    return Loader::get().load(name_or_path);
}

std::vector<PluginReport> load_all() {
    refuse_inside_call("load_all");
    const std::lock_guard lock(Registry::get().mutex);
    Loader::get().load_all();
    return Loader::get().report();
}

std::vector<PluginReport> load_report() {
    refuse_inside_call("load_report");
    const std::lock_guard lock(Registry::get().mutex);
    return Loader::get().report();
}

void retire(std::string_view name) {
    refuse_inside_call("retire");
    const std::lock_guard lock(Registry::get().mutex);
    Loader::get().retire(name);
}

void set_probe(bool on, std::chrono::milliseconds deadline) {
    if (deadline <= deadline.zero())
        throw Error(Status::invalid_argument, "set_probe",
                    fmt::format("got a deadline of {} ms, need more than none", deadline.count()));
    const std::lock_guard lock(ProbeSwitch::mutex);
    ProbeSwitch::by_application = {true, on, deadline};
}

InterposerHandle push_interposer(std::string_view target, std::string_view name, int priority) {
    refuse_inside_call("push_interposer");
    const std::lock_guard lock(Registry::get().mutex);
    return Loader::get().push_named(target, name, priority);
}

} // namespace Atoll
