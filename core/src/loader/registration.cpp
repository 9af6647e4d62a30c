// Adds plugins to the registry, reports on them and removes them: see registration.hpp.
#include "loader/registration.hpp"

#include "base/list.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "loader/refusal.hpp"
#include "objects/objects.hpp"
#include "runtime/counted_objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"
#include "runtime/interpose.hpp"
#include "runtime/log.hpp"

#include <algorithm>

namespace Atoll::detail {
namespace {

constexpr std::string_view device_module = "device";

void check_device_type(const DeviceTypeRecord &type) {
    static constexpr bool required[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) REQUIRED != 0,
#include "atoll/lists/device_functions.inc"
    };
    for (int f = 0; f < ATOLL_DEVICE_FN_COUNT; ++f) {
        const bool asynchronous = f >= ATOLL_DEVICE_FN_stream_synchronize &&
                                  f <= ATOLL_DEVICE_FN_event_query && !type.is_inline();
        if ((required[f] || asynchronous) && !device_implements(type, f))
            refuse(Status::incompatible, "device type '{}' lacks {}, which {} needs", type.name,
                   Registry::get().device_function(f).full_name,
                   asynchronous ? "a device that is not inline" : "every device");
    }
}

void enumerate(DeviceTypeRecord &type) {
    Registry &registry = Registry::get();
    DeviceRecord probe{&type, 0, 0, type.name, true};
    atoll_enumerate_params params{};
    params.struct_size = sizeof params;
    device_call(probe, ATOLL_DEVICE_FN_enumerate, &params);
    params.reason[sizeof params.reason - 1] = '\0';
    type.no_device_reason.set(printable(params.reason));
    if (params.count > max_devices)
        refuse(Status::plugin_fault, "device type '{}' claims {} devices", type.name, params.count);
    registry.reserve_devices(type, static_cast<int>(params.count));
    for (int i = 0; i < static_cast<int>(params.count); ++i) {
        DeviceRecord *device = registry.add_device(type, i);
        device->name.set(params.count == 1 ? type.name : fmt::format("{}:{}", type.name, i));
        device->live.store(true, std::memory_order_release);
    }
    type.device_count.store(static_cast<int>(params.count), std::memory_order_release);
}

void close_devices(ImplEntry &impl) {
    for (; !impl.opened.empty(); impl.opened.pop_back())
        if (impl.close_device)
            run_finaliser(fmt::format("plugin {}, close_device", impl.plugin->name),
                          [&] { impl.close_device(impl.plugin->ctx, impl.opened.back()); });
}

void open_device(ImplEntry &impl, const DeviceTypeRecord &type, int index) {
    if (std::find(impl.opened.begin(), impl.opened.end(), index) != impl.opened.end()) return;
    run_callback(
        "load_plugin",
        fmt::format("plugin {} could not open {}:{} for module {}", impl.plugin->name, type.name,
                    index, impl.module),
        *impl.plugin,
        [&](atoll_error *error) { return impl.open_device(impl.plugin->ctx, index, error); },
        Status::refused);
    impl.opened.push_back(index);
}

// Opens the module-specific state of every implementation whose module and device exist by now. One
// that cannot be opened is refused: with its plugin if that is being loaded, else alone, because
// the plugin being loaded is not to blame.
void open_devices(const PluginRecord &loading) {
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
            close_devices(impl);
            impl.refused = withdrawn = true;
            impl.refusal = e.what();
            registry.rebuild({impl.module, "", impl.device_type, DType::none});
            log_message(ATOLL_LOG_WARN, fmt::format("{}; plugin {} is loaded without it",
                                                    impl.refusal, loading.name));
        }
    }
    if (withdrawn) registry.collect();
}

// Why an implementation does not fit the module's current version; "": it does.
std::string why_unfit(const ImplEntry &impl, const ModuleRecord &module) {
    if (impl.module_version > module.version)
        return fmt::format("needs version {} of module {}, which is version {}; update the plugin "
                           "that defines the module, or use an older build of this one",
                           impl.module_version, impl.module, module.version.load());
    for (const atoll_function_decl &decl : impl.functions) {
        if (decl.id >= module.functions.size()) continue;
        const FunctionRecord &function = module.functions[decl.id];
        int axes = 0; // that every call has
        for (int s = 0; s < function.signature.slot_count; ++s)
            axes += !function.signature.slot(s).opaque;
        if (decl.max_rank > 0 && decl.max_rank < axes)
            return fmt::format("declares max_rank {} for {}, whose calls have {} core axes",
                               decl.max_rank, function.full_name, axes);
    }
    return {};
}

// Whether it is the plugin's, implements one of its modules or is for one of its device types.
bool concerns(const PluginRecord &plugin, const ImplEntry &impl) {
    const auto named = [](const std::string &name) {
        return [&](const auto *record) { return record->name == name; };
    };
    return impl.plugin == &plugin ||
           std::any_of(plugin.modules.begin(), plugin.modules.end(), named(impl.module)) ||
           std::any_of(plugin.device_types.begin(), plugin.device_types.end(),
                       named(impl.device_type));
}

// --- retiring ------------------------------------------------------------------------------------

template <class... Args>
[[noreturn]] void refuse_retire(fmt::format_string<Args...> text, Args &&...args) {
    throw_error(Status::busy, "retire_plugin", text, std::forward<Args>(args)...);
}

void refuse_while_modules_depend(const PluginRecord &plugin) {
    for (int m = 0; const ModuleRecord *module = Registry::get().module(m); ++m) {
        const PluginRecord *owner = module->owner;
        if (!module->live || owner == &plugin) continue;
        for (const ModuleRecord *own : plugin.modules)
            if (std::find(module->depends.begin(), module->depends.end(), own->name) !=
                module->depends.end())
                refuse_retire(
                    "module {} of plugin {} depends on module {}; retire that plugin first",
                    module->name, owner ? owner->name : "core", own->name);
    }
}

void refuse_while_objects_live(const PluginRecord &plugin) {
    if (const std::string objects = living_objects(plugin); !objects.empty())
        refuse_retire(
            "plugin {} cannot be retired while its objects are alive: {}; release them first",
            plugin.name, objects);
}

void refuse_while_memory_lives(const PluginRecord &plugin,
                               const std::vector<DeviceRecord *> &devices) {
    std::string alive;
    for (const DeviceRecord *device : devices)
        if (const std::int64_t count = live_count(device->slot))
            add_to_list(alive, fmt::format("{} of {}", count, device->name));
    if (!alive.empty())
        refuse_retire(
            "plugin {} cannot be retired while its storages, streams or events are alive: {}; "
            "release the tensors first",
            plugin.name, alive);
}

void finish_work(const PluginRecord &plugin, const DeviceRecord &device) {
    try {
        synchronize_within_deadline(device, nullptr);
    } catch (const Error &e) {
        if (e.status() == Status::not_ready)
            refuse_retire("plugin {} cannot be retired: {}", plugin.name, e.what());
        log_message(ATOLL_LOG_WARN,
                    fmt::format("{}: work failed whose result was never used", device.name));
    }
}

// --- reports -------------------------------------------------------------------------------------

// Adds the declarations of an implementation that this host does not know.
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

} // namespace

void register_plugin(PluginRecord &plugin, Descriptor &descriptor) {
    Registry &registry = Registry::get();
    for (const DeviceTypeDecl &decl : descriptor.device_types) {
        const DeviceTypeRecord *type = registry.find_device_type(decl.name);
        if (type && type->live)
            refuse(Status::refused,
                   "device type '{}' comes from plugin {} already; retire that first", decl.name,
                   type->plugin->name);
    }
    for (const auto &module : descriptor.modules)
        if (const ModuleRecord *known = registry.find_module(module->name)) {
            const PluginRecord *owner = known->owner;
            refuse(Status::refused, "module '{}' comes from {}{} already; {}", module->name,
                   owner ? "plugin " : "the core", owner ? owner->name : "",
                   owner ? "retire that plugin first" : "give it another name");
        }
    plugin.interposers = descriptor.interposers;
    for (ImplEntry &impl : descriptor.impls) {
        impl.plugin = &plugin;
        impl.sequence = registry.next_sequence++;
        registry.impls.push_back(std::move(impl));
    }
    for (auto &module : descriptor.modules)
        plugin.modules.push_back(registry.add_module(std::move(module), &plugin));
    for (const DeviceTypeDecl &decl : descriptor.device_types)
        plugin.device_types.push_back(
            registry.add_device_type(decl.name, decl.flags, decl.dlpack_type, &plugin));
    for (ImplEntry &impl : registry.impls) {
        // Others are judged again: their module may have returned in another version, their device
        // may work now.
        const ModuleRecord *module = registry.find_module(impl.module);
        if (!module || !concerns(plugin, impl)) continue;
        impl.refusal = why_unfit(impl, *module);
        impl.refused = !impl.refusal.empty();
        if (impl.refused && impl.plugin == &plugin)
            refuse(Status::incompatible, "{}", impl.refusal);
    }
    registry.rebuild();
    registry.collect();
    for (DeviceTypeRecord *type : plugin.device_types) {
        check_device_type(*type);
        enumerate(*type);
        type->live.store(true, std::memory_order_release);
    }
    open_devices(plugin);
}

void set_routed(const PluginRecord &plugin, bool routed) {
    Registry &registry = Registry::get();
    const auto set_live = [&](bool live) {
        for (DeviceTypeRecord *type : plugin.device_types)
            type->live.store(live, std::memory_order_release);
    };
    // First of all, or last: readers without a lock must not see a part of the implementations.
    if (!routed) set_live(false);
    for (ImplEntry &impl : registry.impls)
        if (impl.plugin == &plugin && impl.module != device_module) impl.retiring = !routed;
    registry.rebuild();
    registry.collect();
    if (routed) set_live(true);
}

void unregister_plugin(PluginRecord &plugin) {
    Registry &registry = Registry::get();
    remove_interposers([&](const InterposerEntry &e) { return e.plugin == &plugin; });
    plugin.interposers.clear();
    // Unpublish first: no call may meet closed state.
    for (const DeviceTypeRecord *type : plugin.device_types)
        for (int i = 0; i < type->device_count; ++i)
            type->devices[i].load()->live.store(false, std::memory_order_release);
    for (ModuleRecord *module : plugin.modules)
        module->live.store(false, std::memory_order_release);
    set_routed(plugin, false);
    withdraw_parallel_for(plugin);
    // What works on the plugin's devices returns its memory there before their functions go.
    const auto of_its_devices = [&](const ImplEntry &impl) {
        return impl.plugin == &plugin && impl.module == device_module;
    };
    const auto close = [&](bool devices) {
        for (auto impl = registry.impls.rbegin(); impl != registry.impls.rend(); ++impl)
            if (concerns(plugin, *impl) && of_its_devices(*impl) == devices) close_devices(*impl);
    };
    close(false);
    for (ImplEntry &impl : registry.impls) impl.retiring |= of_its_devices(impl);
    registry.rebuild();
    registry.collect();
    close(true);
    std::erase_if(registry.impls, [&](const ImplEntry &impl) { return impl.plugin == &plugin; });
    for (DeviceTypeRecord *type : plugin.device_types) type->device_count = 0;
    try {
        run_callback("unload", fmt::format("plugin {} did not shut down", plugin.name), plugin,
                     [&](atoll_error *error) { return plugin.unload(plugin.ctx, error); });
    } catch (const Error &e) {
        log_message(ATOLL_LOG_ERROR, e.what());
    }
    plugin.ctx = nullptr;
}

void withdraw_plugin(PluginRecord &plugin) {
    refuse_while_modules_depend(plugin);
    refuse_while_objects_live(plugin);
    std::vector<DeviceRecord *> devices;
    for (const DeviceTypeRecord *type : plugin.device_types)
        for (int i = 0; i < type->device_count; ++i) devices.push_back(type->devices[i]);
    const auto set_live = [&](bool live) {
        for (DeviceRecord *device : devices) device->live.store(live, std::memory_order_release);
    };
    // No new storage after this; those being made are counted once the readers are done.
    set_live(false);
    try {
        wait_for_readers();
        refuse_while_memory_lives(plugin, devices);
        for (const DeviceRecord *device : devices)
            if (!device->type->is_inline()) finish_work(plugin, *device);
        // Calls that were running may have made objects; after this, no call can.
        set_routed(plugin, false);
        refuse_while_objects_live(plugin);
    } catch (...) {
        set_routed(plugin, true);
        set_live(true);
        throw;
    }
    unregister_plugin(plugin);
}

PluginReport describe(const PluginRecord &plugin) {
    PluginReport report;
    report.path = plugin.path;
    report.name = plugin.name;
    report.version = plugin.version;
    report.description = plugin.description;
    for (const InterposerDecl &own : plugin.interposers) report.interposers.push_back(own.name);
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
    report.ignored.insert(report.ignored.end(), plugin.ignored.begin(), plugin.ignored.end());
    return report;
}

} // namespace Atoll::detail
