// Taking a plugin that nothing uses out of the registry.
#include "atoll/error.hpp"
#include "loader/registration.hpp"
#include "objects/objects.hpp"
#include "runtime/counted_objects.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/host_services.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args &&...args) {
    throw Error(Status::busy, "retire", fmt::format(text, std::forward<Args>(args)...));
}

void refuse_while_modules_depend(const PluginRecord &plugin) {
    for (int m = 0; const ModuleRecord *module = Registry::get().module(m); ++m) {
        const PluginRecord *owner = module->owner;
        if (!module->live || owner == &plugin) continue;
        for (const ModuleRecord *own : plugin.modules)
            if (std::find(module->depends.begin(), module->depends.end(), own->name) !=
                module->depends.end())
                refuse("module {} of plugin {} depends on module {}; retire that plugin first",
                       module->name, owner ? owner->name : "core", own->name);
    }
}

void refuse_while_objects_live(const PluginRecord &plugin) {
    if (const std::string objects = living_objects(plugin); !objects.empty())
        refuse("plugin {} cannot go while objects live: {}; let go of them first", plugin.name,
               objects);
}

void refuse_while_memory_lives(const PluginRecord &plugin,
                               const std::vector<DeviceRecord *> &devices) {
    std::string alive;
    for (const DeviceRecord *device : devices)
        if (const std::int64_t count = live_count(device->slot))
            alive += fmt::format("{}{} of {}", alive.empty() ? "" : ", ", count, device->name);
    if (!alive.empty())
        refuse("plugin {} cannot go while storages, streams or events live: {}; let go of the "
               "tensors first",
               plugin.name, alive);
}

void finish_work(const PluginRecord &plugin, const DeviceRecord &device) {
    try {
        synchronize_within_deadline(device, nullptr);
    } catch (const Error &e) {
        if (e.status() == Status::not_ready)
            refuse("plugin {} cannot go: {}", plugin.name, e.what());
        log_message(ATOLL_LOG_WARN,
                    fmt::format("{}: work failed and was never asked for", device.name));
    }
}

} // namespace

void withdraw_plugin(PluginRecord &plugin) {
    refuse_while_modules_depend(plugin);
    refuse_while_objects_live(plugin);
    std::vector<DeviceRecord *> devices;
    for (const DeviceTypeRecord *type : plugin.device_types)
        for (int i = 0; i < type->device_count; ++i) devices.push_back(type->devices[i]);
    const auto set_live = [&](bool live) {
        for (DeviceRecord *device : devices) device->live.store(live, std::memory_order_release);
    };
    // No new storage after this; those under way have been counted when the readers are through.
    set_live(false);
    try {
        wait_for_readers();
        refuse_while_memory_lives(plugin, devices);
        for (const DeviceRecord *device : devices)
            if (!device->type->is_inline()) finish_work(plugin, *device);
        // Calls that were under way may have made objects; from here on there are none.
        set_routed(plugin, false);
        refuse_while_objects_live(plugin);
    } catch (...) {
        set_routed(plugin, true);
        set_live(true);
        throw;
    }
    unregister_plugin(plugin);
}

} // namespace Atoll::detail
