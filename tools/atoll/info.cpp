// `atoll info`: plugins, devices, modules, functions, as the runtime finds them here.
#include "atoll/atoll.hpp"
#include "command.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

struct Options {
    bool plugins = false, devices = false, modules = false, functions = false, settings = false,
         interposers = false;
    bool all() const {
        return !plugins && !devices && !modules && !functions && !settings && !interposers;
    }
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
                        {"superseded", plugin.superseded},
                        {"version", plugin.version},
                        {"description", plugin.description},
                        {"devices", plugin.devices},
                        {"modules", plugin.modules},
                        {"implements", plugin.implements},
                        {"interposers", plugin.interposers},
                        {"ignored", plugin.ignored},
                        {"reason", plugin.reason}});
    return list;
}

void print_plugins() {
    std::vector<std::string> folders;
    std::vector<std::filesystem::path> absent;
    for (const std::filesystem::path &folder : plugin_search_path()) {
        folders.push_back(folder.string());
        std::error_code error; // a name may be too long
        if (std::filesystem::exists(folder, error)) continue;
        folders.back() += styled(" (not there)", Style::dim);
        absent.push_back(folder);
    }
    fmt::print("{} {}\n\n", styled("search path:", Style::bold), joined(folders));
    Table table({"plugin", "version", "state", "what it brings, or why it is not loaded"});
    for (const PluginReport &plugin : load_report()) {
        if (std::find(absent.begin(), absent.end(), plugin.path) != absent.end()) continue;
        std::vector<std::string> parts;
        for (const auto &[what, names] : {std::pair{"devices", &plugin.devices},
                                          {"modules", &plugin.modules},
                                          {"implements", &plugin.implements},
                                          {"interposers", &plugin.interposers},
                                          {"ignored", &plugin.ignored}})
            if (!names->empty()) parts.push_back(fmt::format("{}: {}", what, joined(*names)));
        std::string text = fmt::format("{}", fmt::join(parts, "; "));
        if (!plugin.reason.empty()) text += (text.empty() ? "" : "; ") + plugin.reason;
        table.add({plugin.name.empty() ? "?" : plugin.name, plugin.version,
                   plugin.loaded       ? styled("loaded", Style::good)
                   : plugin.superseded ? styled("not needed", Style::dim)
                                       : styled("refused", Style::bad),
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
                        {"mixed_dtypes", device.supports_mixed_dtypes()},
                        {"modules", device.modules()}});
    }
    return list;
}

void print_devices() {
    Table table({"device", "model", ">units", ">memory", ">free", "host memory", "inline",
                 "byteswap", "mixed dtypes", "modules"});
    const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
    const auto bytes = [](std::uint64_t n) {
        return n ? bytes_text(static_cast<double>(n)) : std::string("?");
    };
    for (const Device &device : devices()) {
        const DeviceProperties facts = device.properties();
        table.add({device.name(), facts.name, fmt::to_string(facts.units),
                   bytes(facts.total_memory), bytes(facts.free_memory),
                   yes_no(device.is_host_memory()), yes_no(device.is_inline()),
                   yes_no(device.supports_byteswap()), yes_no(device.supports_mixed_dtypes()),
                   joined(device.modules())});
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

// float16 → f16, complex128 → c128, bool → b.
std::string short_name(DType dtype) {
    std::string text(name(dtype));
    const std::size_t digits = text.find_first_of("0123456789");
    const std::string number = digits == std::string::npos ? "" : text.substr(digits);
    return (text.starts_with("bfloat") ? "bf" : text.substr(0, 1)) + number;
}

void print_functions() {
    std::vector<std::string> header{"function", "device", "plugin"};
    for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) header.push_back(short_name(static_cast<DType>(d)));
    Table table(header);
    for (const Module &module : modules())
        for (const Function &function : module.functions()) {
            std::string label(function.name());
            for (const FunctionSupport &own : function.support()) {
                std::vector<std::string> row{label, own.device_type, own.plugin};
                for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
                    const bool has =
                        own.dtypes.empty() ||
                        std::count(own.dtypes.begin(), own.dtypes.end(), static_cast<DType>(d)) > 0;
                    row.push_back(has ? styled("x", Style::good) : styled(".", Style::dim));
                }
                table.add(std::move(row));
                label.clear();
            }
            if (!label.empty()) table.add({label, styled("nowhere", Style::warn)});
        }
    fmt::print("{}\nColumns are the dtypes that functions compute in; operands of others are "
               "converted.\n\n",
               table.text());
}

struct SettingLine {
    std::string name, value, source;
};

// The library's own, then those that plugins have asked for.
std::vector<SettingLine> all_settings() {
    const Settings now = settings();
    const auto choice = [](auto value, std::initializer_list<const char *> names) {
        return std::string(names.begin()[static_cast<int>(value)]);
    };
    const auto on_off = [](bool on) { return std::string(on ? "on" : "off"); };
    std::vector<SettingLine> list{
        {"default_dtype", std::string(name(now.default_dtype)), "default"},
        {"default_device",
         now.default_device.empty() ? "the first with host memory" : now.default_device, "default"},
        {"auto_cast", on_off(now.auto_cast), "default"},
        {"auto_broadcast", on_off(now.auto_broadcast), "default"},
        {"compute_mode", choice(now.compute_mode, {"standard", "warning", "error", "complex"}),
         "default"},
        {"warning_mode", choice(now.warning_mode, {"off", "once", "always"}), "default"},
    };
    const char *safe = std::getenv("ATOLL_SAFE_MODE");
    const bool is_safe = safe && *safe && std::string_view(safe) != "0";
    for (const auto &[variable, risky] : {std::pair{"ATOLL_PLUGIN_PATH", true},
                                          {"ATOLL_PLUGINS_DISABLE", false},
                                          {"ATOLL_PLUGINS_LOCK", false},
                                          {"ATOLL_PROBE", false},
                                          {"ATOLL_PROBE_DEADLINE", false},
                                          {"ATOLL_INTERPOSERS", true},
                                          {"ATOLL_SAFE_MODE", false}})
        if (const char *value = std::getenv(variable))
            list.push_back({variable, value,
                            is_safe && risky ? "environment, ignored: ATOLL_SAFE_MODE is set"
                                             : "environment"});
    for (PluginSetting &setting : plugin_settings())
        list.push_back(
            {fmt::format("{}.{}", setting.plugin, setting.key), setting.value, setting.source});
    return list;
}

Json settings_json() {
    Json list = Json::array();
    for (const SettingLine &line : all_settings())
        list.push_back({{"name", line.name}, {"value", line.value}, {"source", line.source}});
    return list;
}

void print_settings() {
    Table table({"setting", "value", "comes from"});
    for (const SettingLine &line : all_settings())
        table.add({line.name, line.value,
                   line.source == "default" ? styled(line.source, Style::dim) : line.source});
    fmt::print("{}\n", table.text());
}

// The chains that hold more than one implementation: interposers, replaced functions.
struct ChainLine {
    std::string function, device;
    std::vector<std::string> dtypes, links;
};
std::vector<ChainLine> chains() {
    std::vector<ChainLine> list;
    for (const Module &module : modules())
        for (const Function &function : module.functions())
            for (const FunctionSupport &own : function.support()) {
                std::vector<ChainLine> lines;
                const auto add = [&](std::string dtype) {
                    std::vector<std::string> links = chain(function.name(), own.device_type, dtype);
                    std::erase(links, "stub");
                    if (links.size() < 2) return;
                    const auto same = [&](const ChainLine &line) { return line.links == links; };
                    auto line = std::find_if(lines.begin(), lines.end(), same);
                    if (line == lines.end())
                        line = lines.insert(
                            lines.end(),
                            {std::string(function.name()), own.device_type, {}, links});
                    if (!dtype.empty()) line->dtypes.push_back(std::move(dtype));
                };
                if (own.dtypes.empty()) add("");
                for (const DType dtype : own.dtypes) add(std::string(name(dtype)));
                list.insert(list.end(), lines.begin(), lines.end());
            }
    return list;
}

Json interposers_json() {
    Json pushed = Json::array(), list = Json::array();
    for (const InterposerInfo &info : interposers())
        pushed.push_back(
            {{"name", info.name}, {"target", info.target}, {"priority", info.priority}});
    for (const ChainLine &line : chains())
        list.push_back({{"function", line.function},
                        {"device", line.device},
                        {"dtypes", line.dtypes},
                        {"links", line.links}});
    return {{"pushed", pushed}, {"chains", list}};
}

void print_interposers() {
    Table pushed({"interposer", "target", ">priority"});
    for (const InterposerInfo &info : interposers())
        pushed.add({info.name, info.target, fmt::to_string(info.priority)});
    fmt::print("{}\n", pushed.empty() ? "no interposer is pushed\n" : pushed.text());
    Table table({"function", "device", "chain, outermost first", "dtypes"});
    for (const ChainLine &line : chains())
        table.add({line.function, line.device, fmt::format("{}", fmt::join(line.links, " > ")),
                   joined(line.dtypes)});
    if (!table.empty()) fmt::print("{}\n", table.text());
}

int run(const Options &options, bool json) {
    load_all_plugins();
    Json document = Json::object();
    const auto section = [&](bool wanted, const char *name, Json (*as_json)(), void (*print)()) {
        if (!wanted) return;
        if (json)
            document[name] = as_json();
        else
            print();
    };
    if (json && (options.plugins || options.all())) {
        document["search_path"] = Json::array();
        for (const std::filesystem::path &folder : plugin_search_path())
            document["search_path"].push_back(folder.string());
    }
    section(options.plugins || options.all(), "plugins", plugins_json, print_plugins);
    section(options.devices || options.all(), "devices", devices_json, print_devices);
    section(options.modules || options.all(), "modules", modules_json, print_modules);
    section(options.functions, "functions", functions_json, print_functions);
    section(options.settings || options.all(), "settings", settings_json, print_settings);
    section(options.interposers, "interposers", interposers_json, print_interposers);
    // Names of files need not be UTF-8.
    if (json) fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
    return 0;
}

} // namespace

void add_info(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "info", "Show plugins, devices, modules, functions, settings");
    const auto options = std::make_shared<Options>();
    command->add_flag("--plugins", options->plugins, "Every file found: loaded, or why not");
    command->add_flag("--devices", options->devices, "Devices and their properties");
    command->add_flag("--modules", options->modules, "Modules whose interface is loaded");
    command->add_flag("--functions", options->functions,
                      "Functions, where they run, for which dtypes");
    command->add_flag("--settings", options->settings, "Settings and where each comes from");
    command->add_flag("--interposers", options->interposers,
                      "Interposers, and the chains of functions that have more than one link");
    command->footer("Without a choice: plugins, devices, modules and settings.\n"
                    "Examples:\n"
                    "  atoll info --plugins\n"
                    "  ATOLL_INTERPOSERS=trace=core.add atoll info --interposers");
    run_on_parse(command, request, options, run);
}

} // namespace Atoll::tools
