// Registering and unregistering plugins: see registration.hpp.
#include "loader/registration.hpp"

#include "base/printable.hpp"
#include "loader/refusal.hpp"
#include "objects/objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"
#include "runtime/interpose.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

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

void close_devices(const std::function<bool(const ImplEntry &)> &which) {
    auto &impls = Registry::get().impls;
    for (auto impl = impls.rbegin(); impl != impls.rend(); ++impl) {
        if (!which(*impl)) continue;
        for (; !impl->opened.empty(); impl->opened.pop_back())
            if (impl->close_device)
                run_finaliser(fmt::format("plugin {}, close_device", impl->plugin->name),
                              [&] { impl->close_device(impl->plugin->ctx, impl->opened.back()); });
    }
}

void open_device(ImplEntry &impl, const DeviceTypeRecord &type, int index) {
    if (std::find(impl.opened.begin(), impl.opened.end(), index) != impl.opened.end()) return;
    const CallbackResult result = run_callback(
        [&](atoll_error *error) { return impl.open_device(impl.plugin->ctx, index, error); });
    if (result.status != Status::ok)
        throw Error(result.broken ? Status::plugin_fault : Status::refused, "load",
                    fmt::format("plugin {} could not open {}:{} for module {}: {}",
                                impl.plugin->name, type.name, index, impl.module, result.words),
                    {}, impl.plugin->name);
    impl.opened.push_back(index);
}

// Module-specific state of every implementation whose module and device exist by now. One that
// cannot be opened is refused: with its plugin if that is the one being loaded, else alone, for the
// plugin being loaded is not to blame.
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

// Why an implementation cannot be one of the module as it is now; "": it can.
std::string why_unfit(const ImplEntry &impl, const ModuleRecord &module) {
    if (impl.module_version > module.version)
        return fmt::format("needs version {} of module {}, which is version {}; update what "
                           "defines the module, or use an older build of the plugin",
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

// Whatever happens in it, the plugin is gone for the host.
void unload(PluginRecord &plugin) {
    const CallbackResult result =
        run_callback([&](atoll_error *error) { return plugin.unload(plugin.ctx, error); });
    if (result.status != Status::ok)
        log_message(ATOLL_LOG_ERROR,
                    fmt::format("plugin {} did not shut down: {}", plugin.name, result.words));
    plugin.ctx = nullptr;
}

} // namespace

void register_plugin(PluginRecord &plugin, const Descriptor &descriptor) {
    Registry &registry = Registry::get();
    for (const DeviceTypeDecl &decl : descriptor.device_types) {
        const DeviceTypeRecord *type = registry.find_device_type(decl.name);
        if (type && type->live)
            refuse(Status::refused,
                   "device type '{}' comes from plugin {} already; retire that "
                   "first",
                   decl.name, type->plugin->name);
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
    plugin.interposers = descriptor.interposers;
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
        impl.refusal = why_unfit(impl, *module);
        impl.refused = !impl.refusal.empty();
        if (impl.refused && impl.plugin == &plugin)
            throw Error(Status::incompatible, "load", impl.refusal);
    }
    for (const DeviceTypeDecl &decl : descriptor.device_types)
        plugin.device_types.push_back(
            registry.add_device_type(decl.name, decl.flags, decl.dlpack_type, &plugin));
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
    // First of all, and last: who looks without a lock must not take a part for the whole.
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
    for (const DeviceTypeRecord *type : plugin.device_types)
        for (int i = 0; i < type->device_count; ++i)
            type->devices[i].load()->live.store(false, std::memory_order_release);
    for (ModuleRecord *module : plugin.modules)
        module->live.store(false, std::memory_order_release);
    set_routed(plugin, false);
    withdraw_parallel_for(plugin);
    // What works on the plugin's devices gives back what it has there before their functions go.
    const auto its_devices = [&](const ImplEntry &impl) {
        return impl.plugin == &plugin && impl.module == device_module;
    };
    close_devices([&](const ImplEntry &impl) { return mine(impl) && !its_devices(impl); });
    for (ImplEntry &impl : registry.impls) impl.retiring |= its_devices(impl);
    registry.rebuild();
    registry.collect();
    close_devices(its_devices);
    std::erase_if(registry.impls, [&](const ImplEntry &impl) { return impl.plugin == &plugin; });
    for (DeviceTypeRecord *type : plugin.device_types) type->device_count = 0;
    unload(plugin);
}

} // namespace Atoll::detail
