// `atoll info`: plugins, devices, modules, functions, as the runtime finds them here.
#include "atoll/atoll.hpp"
#include "command.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

struct Options {
    bool plugins = false, devices = false, modules = false, functions = false;
    bool all() const { return !plugins && !devices && !modules && !functions; }
};

std::string joined(const std::vector<std::string> &list) {
    return fmt::format("{}", fmt::join(list, ", "));
}

Json plugins_json() {
    Json list = Json::array();
    for (const PluginReport &plugin : load_report())
        list.push_back({{"path", plugin.path.string()},
                        {"name", plugin.name},
                        {"loaded", plugin.loaded},
                        {"version", plugin.version},
                        {"description", plugin.description},
                        {"devices", plugin.devices},
                        {"modules", plugin.modules},
                        {"implements", plugin.implements},
                        {"interposers", plugin.interposers},
                        {"reason", plugin.reason}});
    return list;
}

void print_plugins() {
    Table table({"plugin", "version", "state", "what it brings, or why it is not loaded"});
    for (const PluginReport &plugin : load_report()) {
        std::vector<std::string> parts;
        for (const auto &[what, names] : {std::pair{"devices", &plugin.devices},
                                          {"modules", &plugin.modules},
                                          {"implements", &plugin.implements},
                                          {"interposers", &plugin.interposers}})
            if (!names->empty()) parts.push_back(fmt::format("{}: {}", what, joined(*names)));
        std::string text = fmt::format("{}", fmt::join(parts, "; "));
        if (!plugin.reason.empty()) text += (text.empty() ? "" : "; ") + plugin.reason;
        table.add({plugin.name.empty() ? "?" : plugin.name, plugin.version,
                   plugin.loaded ? styled("loaded", Style::good) : styled("refused", Style::bad),
                   text});
        table.add({"", "", "", styled(plugin.path.string(), Style::dim)});
    }
    fmt::print("{}\n", table.text());
}

Json devices_json() {
    Json list = Json::array();
    for (const Device &device : devices()) {
        const DeviceProperties facts = device.properties();
        list.push_back({{"name", device.name()},
                        {"model", facts.name},
                        {"units", facts.units},
                        {"total_memory", facts.total_memory},
                        {"free_memory", facts.free_memory},
                        {"alignment", facts.alignment},
                        {"host_memory", device.is_host_memory()},
                        {"inline", device.is_inline()},
                        {"byteswap", device.supports_byteswap()},
                        {"modules", device.modules()}});
    }
    return list;
}

void print_devices() {
    Table table({"device", "model", ">units", ">memory", ">free", "host memory", "inline",
                 "byteswap", "modules"});
    const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
    const auto bytes = [](std::uint64_t n) {
        return n ? bytes_text(static_cast<double>(n)) : std::string("?");
    };
    for (const Device &device : devices()) {
        const DeviceProperties facts = device.properties();
        table.add({device.name(), facts.name, fmt::to_string(facts.units),
                   bytes(facts.total_memory), bytes(facts.free_memory),
                   yes_no(device.is_host_memory()), yes_no(device.is_inline()),
                   yes_no(device.supports_byteswap()), joined(device.modules())});
    }
    fmt::print("{}\n", table.text());
}

Json modules_json() {
    Json list = Json::array();
    for (const Module &module : modules())
        list.push_back({{"name", module.name()},
                        {"version", module.version()},
                        {"plugin", module.plugin()},
                        {"functions", module.functions().size()}});
    return list;
}

void print_modules() {
    Table table({"module", ">version", "defined by", ">functions"});
    for (const Module &module : modules())
        table.add({module.name(), fmt::to_string(module.version()),
                   module.plugin().empty() ? "the library" : "plugin " + module.plugin(),
                   fmt::to_string(module.functions().size())});
    fmt::print("{}\n", table.text());
}

std::vector<std::string> names_of(const std::vector<DType> &dtypes) {
    std::vector<std::string> names;
    for (const DType dtype : dtypes) names.emplace_back(name(dtype));
    return names;
}

Json functions_json() {
    Json list = Json::array();
    for (const Module &module : modules())
        for (const Function &function : module.functions()) {
            Json support = Json::array();
            for (const FunctionSupport &own : function.support())
                support.push_back({{"device", own.device_type},
                                   {"plugin", own.plugin},
                                   {"dtypes", names_of(own.dtypes)}});
            list.push_back({{"name", function.name()}, {"doc", function.doc()}, {"on", support}});
        }
    return list;
}

void print_functions() {
    Table table({"function", "device", "from plugin", "compute dtypes"});
    for (const Module &module : modules())
        for (const Function &function : module.functions()) {
            std::string label(function.name());
            for (const FunctionSupport &own : function.support()) {
                table.add({label, own.device_type, own.plugin, joined(names_of(own.dtypes))});
                label.clear();
            }
            if (!label.empty()) table.add({label, styled("nowhere", Style::warn), "", ""});
        }
    fmt::print("{}\n", table.text());
}

int run(const Options &options, bool json) {
    load_all();
    Json document = Json::object();
    const auto section = [&](bool wanted, const char *name, Json (*as_json)(), void (*print)()) {
        if (!wanted) return;
        if (json)
            document[name] = as_json();
        else
            print();
    };
    section(options.plugins || options.all(), "plugins", plugins_json, print_plugins);
    section(options.devices || options.all(), "devices", devices_json, print_devices);
    section(options.modules || options.all(), "modules", modules_json, print_modules);
    section(options.functions, "functions", functions_json, print_functions);
    if (json) fmt::print("{}\n", document.dump(2));
    return 0;
}

} // namespace

void add_info(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "info", "Show plugins, devices, modules and functions");
    const auto options = std::make_shared<Options>();
    command->add_flag("--plugins", options->plugins, "Every file found: loaded, or why not");
    command->add_flag("--devices", options->devices, "Devices and their properties");
    command->add_flag("--modules", options->modules, "Modules whose interface is loaded");
    command->add_flag("--functions", options->functions,
                      "Functions, where they run, for which dtypes");
    command->callback([&request, options] {
        request.run = [&request, options] { return run(*options, request.json); };
    });
}

} // namespace Atoll::tools
