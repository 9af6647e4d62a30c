// What the application is told of a loaded plugin.
#include "loader/registration.hpp"

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

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

} // namespace

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
