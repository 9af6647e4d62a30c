// `atoll info`: plugins, devices, modules, functions and settings, as the runtime finds them.
//
// Each section is a list of JSON objects; the tables are made of the same objects.
#include "atoll/atoll.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "libraries.hpp"
#include "terminal.hpp"
#include "trial.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

std::string joined(const Json &list, const char *between = ", ") {
    return fmt::format("{}", fmt::join(list.get<std::vector<std::string>>(), between));
}

// A value as a cell: lists separated by commas, yes and no.
std::string cell(const Json &value) {
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_array()) return joined(value);
    return value.is_string() ? value.get<std::string>() : dump(value);
}

// The text of a table, with the members `keys` of each object as columns.
std::string table_text(const Json &rows, std::vector<std::string> header,
                       const std::vector<const char *> &keys) {
    Table table(std::move(header));
    for (const Json &row : rows) {
        std::vector<std::string> cells;
        for (const char *key : keys) cells.push_back(cell(row[key]));
        table.add(std::move(cells));
    }
    return table.text();
}

// ---- Plugins ------------------------------------------------------------------------------------

Json plugins() {
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

std::string plugins_text(const Json &plugins) {
    std::vector<std::string> folders, absent;
    for (const std::filesystem::path &folder : plugin_search_path()) {
        folders.push_back(folder.string());
        std::error_code error; // a name may be too long
        if (std::filesystem::exists(folder, error)) continue;
        absent.push_back(folder.string());
        folders.back() += styled(" (does not exist)", Style::dim);
    }
    Table table({"plugin", "version", "state", "contents, or why it is not loaded"});
    for (const Json &plugin : plugins) {
        const std::string path = plugin["path"], name = plugin["name"];
        if (std::find(absent.begin(), absent.end(), path) != absent.end()) continue;
        std::vector<std::string> parts;
        for (const char *key : {"devices", "modules", "implements", "interposers", "ignored"})
            if (!plugin[key].empty())
                parts.push_back(fmt::format("{}: {}", key, joined(plugin[key])));
        if (const std::string reason = plugin["reason"]; !reason.empty()) parts.push_back(reason);
        table.add({name.empty() ? "?" : name, plugin["version"],
                   plugin["loaded"]       ? styled("loaded", Style::good)
                   : plugin["superseded"] ? styled("not needed", Style::dim)
                                          : styled("refused", Style::bad),
                   fmt::format("{}", fmt::join(parts, "; "))});
        table.add({"", "", "", styled(path, Style::dim)});
    }
    return fmt::format("{}\n  {}\n\n{}", styled("search path:", Style::bold),
                       fmt::join(folders, "\n  "), table.text());
}

// ---- Devices and modules ------------------------------------------------------------------------

Json device_list() {
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
                        {"modules", device.modules()},
                        {"facts", Json::object()}});
        Json &entry = list.back();
        try {
            for (const DeviceFact &fact : device.facts()) entry["facts"][fact.name] = fact.value;
        } catch (const Error &error) { // one plugin's fault hides no other device
            entry["facts_error"] = error.what();
        }
    }
    return list;
}

std::string devices_text(Json list) {
    for (Json &device : list)
        for (Json *memory : {&device["total_memory"], &device["free_memory"]})
            *memory = *memory == 0 ? "?" : bytes_text(memory->get<double>());
    const std::string properties =
        table_text(list,
                   {"device", "model", ">units", ">memory", ">free", "host memory", "inline",
                    "byteswap", "mixed dtypes", "modules"},
                   {"name", "model", "units", "total_memory", "free_memory", "host_memory",
                    "inline", "byteswap", "mixed_dtypes", "modules"});
    Table facts({"device", "fact", "value"});
    bool any = false;
    for (const Json &device : list) {
        std::string label = device["name"];
        const auto add = [&](const std::string &name, const std::string &value) {
            facts.add({std::exchange(label, ""), name, value});
            any = true;
        };
        for (const auto &[name, value] : device["facts"].items()) add(name, value);
        if (device.contains("facts_error"))
            add(styled("refused", Style::bad), device["facts_error"]);
    }
    return any ? properties + "\n" + facts.text() : properties;
}

Json module_list() {
    Json list = Json::array();
    for (const Module &module : modules())
        list.push_back({{"name", module.name()},
                        {"version", module.version()},
                        {"plugin", module.plugin()},
                        {"functions", module.functions().size()}});
    return list;
}

std::string modules_text(Json list) {
    for (Json &module : list) {
        const std::string plugin = module["plugin"];
        module["plugin"] = plugin.empty() ? "the library" : "plugin " + plugin;
    }
    return table_text(list, {"module", ">version", "defined by", ">functions"},
                      {"name", "version", "plugin", "functions"});
}

// ---- Functions ----------------------------------------------------------------------------------

Json function_list() {
    Json list = Json::array();
    for (const Module &module : modules())
        for (const Function &function : module.functions()) {
            Json support = Json::array();
            for (const FunctionSupport &own : function.support()) {
                Json dtypes = Json::array();
                for (const DType dtype : own.dtypes) dtypes.push_back(name(dtype));
                support.push_back(
                    {{"device", own.device_type}, {"plugin", own.plugin}, {"dtypes", dtypes}});
            }
            list.push_back({{"name", function.name()}, {"doc", function.doc()}, {"on", support}});
        }
    return list;
}

// float16 → f16, complex128 → c128, bool → b.
std::string short_name(std::string_view dtype) {
    const std::size_t digits = std::min(dtype.find_first_of("0123456789"), dtype.size());
    return std::string(dtype.substr(0, dtype.starts_with("bfloat") ? 2 : 1)) +
           std::string(dtype.substr(digits));
}

std::string functions_text(const Json &functions) {
    std::vector<std::string> header{"function", "device", "plugin"}, dtypes;
    for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
        dtypes.emplace_back(name(static_cast<DType>(d)));
        header.push_back(short_name(dtypes.back()));
    }
    Table table(header, 2);
    for (const Json &function : functions) {
        std::string label = function["name"];
        for (const Json &own : function["on"]) {
            const Json &list = own["dtypes"]; // empty: of a function without a compute dtype
            std::vector<std::string> row{label, own["device"], own["plugin"]};
            for (const std::string &dtype : dtypes) {
                const bool has = list.empty() || std::count(list.begin(), list.end(), dtype) > 0;
                row.push_back(has ? styled("x", Style::good) : styled(".", Style::dim));
            }
            table.add(std::move(row));
            label.clear();
        }
        if (!label.empty()) table.add({label, styled("nowhere", Style::warn)});
    }
    return table.text() + "\nThe columns are the dtypes that functions compute in;\n"
                          "operands of other dtypes are converted.\n";
}

// ---- Libraries ----------------------------------------------------------------------------------

Json library_list() {
    Json list = Json::array();
    // Plugins open their BLAS with the first product.
    for (const Device &device : devices()) try {
            const Tensor a = ones({64, 64}, {float32, device});
            matmul(a, a).device().synchronize();
        } catch (const Error &) { // a device that has none
        }
    const std::vector<libraries::Library> mapped = libraries::mapped();
    for (const libraries::Library &library : mapped) list.push_back(json_of(library));
    return {{"mapped", list}, {"warnings", libraries::warnings(mapped)}};
}

std::string libraries_text(Json lists) {
    std::string text;
    for (Json &library : lists["mapped"])
        if (library["needed_by"].empty()) library["needed_by"] = "(opened at run time)";
    text =
        lists["mapped"].empty()
            ? "no BLAS, OpenMP, oneTBB, CUDA or NCCL is loaded\n"
            : table_text(lists["mapped"], {"library", "version", "needed by", "path", "build id"},
                         {"library", "version", "needed_by", "path", "build_id"});
    for (const Json &warning : lists["warnings"])
        text += styled("warning: ", Style::warn) + warning.get<std::string>() + "\n";
    return text;
}

// ---- Settings -----------------------------------------------------------------------------------

// Those of the library, then those that plugins have read.
Json setting_list() {
    Json list = Json::array();
    const auto add = [&](const std::string &name, const std::string &value,
                         const std::string &source) {
        list.push_back({{"name", name}, {"value", value}, {"source", source}});
    };
    const Settings now = settings();
    static constexpr const char *compute_modes[] = {"standard", "warning", "error", "complex"},
                                *warning_modes[] = {"off", "once", "always"},
                                *lossy[] = {"error", "warn", "allow"};
    add("default_dtype", std::string(name(now.default_dtype)), "default");
    add("default_device",
        now.default_device.empty() ? "the first with host memory" : now.default_device, "default");
    add("auto_cast", now.auto_cast ? "on" : "off", "default");
    add("auto_broadcast", now.auto_broadcast ? "on" : "off", "default");
    add("compute_mode", compute_modes[static_cast<int>(now.compute_mode)], "default");
    add("lossy", lossy[static_cast<int>(now.lossy)], "default");
    add("warning_mode", warning_modes[static_cast<int>(now.warning_mode)], "default");
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
            add(variable, value,
                is_safe && risky ? "environment, ignored: ATOLL_SAFE_MODE is set" : "environment");
    for (const PluginSetting &setting : plugin_settings())
        add(setting.plugin + "." + setting.key, setting.value, setting.source);
    return list;
}

std::string settings_text(Json list) {
    for (Json &setting : list)
        if (setting["source"] == "default") setting["source"] = styled("default", Style::dim);
    return table_text(list, {"setting", "value", "source"}, {"name", "value", "source"});
}

// ---- Interposers --------------------------------------------------------------------------------

// Chains with more than one implementation: interposers, replaced functions. Dtypes with the same
// chain are one entry.
Json chains() {
    Json list = Json::array();
    for (const Module &module : modules())
        for (const Function &function : module.functions())
            for (const FunctionSupport &own : function.support()) {
                std::vector<Json> entries;
                const auto add = [&](std::string_view dtype) {
                    std::vector<std::string> links = chain(function.name(), own.device_type, dtype);
                    std::erase(links, "stub");
                    if (links.size() < 2) return;
                    auto entry = std::find_if(entries.begin(), entries.end(), [&](const Json &e) {
                        return e["links"] == Json(links);
                    });
                    if (entry == entries.end()) {
                        entries.push_back({{"function", function.name()},
                                           {"device", own.device_type},
                                           {"dtypes", Json::array()},
                                           {"links", links}});
                        entry = entries.end() - 1;
                    }
                    if (!dtype.empty()) (*entry)["dtypes"].push_back(dtype);
                };
                if (own.dtypes.empty()) add("");
                for (const DType dtype : own.dtypes) add(name(dtype));
                for (Json &entry : entries) list.push_back(std::move(entry));
            }
    return list;
}

Json interposer_lists() {
    Json pushed = Json::array();
    for (const InterposerInfo &info : interposers())
        pushed.push_back(
            {{"name", info.name}, {"target", info.target}, {"priority", info.priority}});
    return {{"pushed", pushed}, {"chains", chains()}};
}

std::string interposers_text(Json lists) {
    std::string text = lists["pushed"].empty()
                           ? "no interposer is pushed\n"
                           : table_text(lists["pushed"], {"interposer", "target", ">priority"},
                                        {"name", "target", "priority"});
    if (lists["chains"].empty()) return text;
    for (Json &entry : lists["chains"]) entry["links"] = joined(entry["links"], " > ");
    return text + "\n" +
           table_text(lists["chains"], {"function", "device", "chain, outermost first", "dtypes"},
                      {"function", "device", "links", "dtypes"});
}

std::string info_text(const InfoOptions &options) {
    {
        const OutputAside aside;
        load_all_plugins();
    }
    std::string output;
    const bool all = !options.plugins && !options.devices && !options.modules &&
                     !options.functions && !options.settings && !options.interposers &&
                     !options.libraries;
    Json document = Json::object();
    if (options.plugins || all) {
        document["search_path"] = Json::array();
        for (const std::filesystem::path &folder : plugin_search_path())
            document["search_path"].push_back(folder.string());
    }
    const auto section = [&](bool wanted, const char *name, Json (*list)(), auto text) {
        if (!wanted) return;
        Json &values = document[name] = list();
        if (!options.json) output += text(values) + "\n";
    };
    section(options.plugins || all, "plugins", plugins, plugins_text);
    section(options.devices || all, "devices", device_list, devices_text);
    section(options.modules || all, "modules", module_list, modules_text);
    section(options.functions, "functions", function_list, functions_text);
    section(options.settings || all, "settings", setting_list, settings_text);
    section(options.libraries, "libraries", library_list, libraries_text);
    section(options.interposers, "interposers", interposer_lists, interposers_text);
    return options.json ? dump(document, 2) + "\n" : output;
}

} // namespace

int run_info(const InfoOptions &options) {
    // A plugin may end the process that loads it, and be what the user asks about. Probing each one
    // costs a process each, so it is left to a second attempt.
    const auto collect = [&] { return info_text(options); };
    std::optional<std::string> text = text_of_child(collect, std::chrono::seconds(20));
    if (!text) {
        set_probe(true);
        text = collect();
    }
    (void)std::fwrite(text->data(), 1, text->size(), stdout); // main reports errors
    return 0;
}

} // namespace Atoll::tools
