// Loading the plugin under check and reading what it declares.
#include "target.hpp"

#include "elf_file.hpp"

#include <algorithm>
#include <dlfcn.h>

namespace Atoll::conformance {

FunctionFacts facts_of(const atoll_module_decl &decl, std::uint32_t i) {
    const auto &f = *reinterpret_cast<const atoll_function_info *>(
        reinterpret_cast<const char *>(decl.functions) + std::size_t{i} * decl.function_size);
    const auto text = [](const char *given) { return given ? given : ""; };
    return {std::string(decl.name) + "." + f.name,
            f.doc,
            f.id,
            f.rule,
            f.domain,
            sdk::parse_signature(f.signature, text(f.attributes), text(f.properties)),
            f.infer != nullptr};
}

const std::vector<FunctionFacts> &core_functions() {
    static const auto list = [] {
        std::vector<FunctionFacts> facts;
        for (const sdk::FunctionLine &f : sdk::core_functions)
            facts.push_back(
                {std::string("core.") + f.name, f.doc, f.id, f.rule, f.domain, f.signature, false});
        return facts;
    }();
    return list;
}

std::string word(DType dtype) {
    return dtype == DType::none ? "" : std::string(Atoll::name(dtype));
}

std::vector<DType> Declared::all_dtypes() const {
    if (function.domain == 0) return {DType::none};
    std::vector<DType> list;
    for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d)
        if (has(static_cast<DType>(d))) list.push_back(static_cast<DType>(d));
    return list;
}

Device Declared::device() const { return Target::device_of(device_type); }

// Required attributes and inputs count as known, and so do all before them.
bool Declared::knows_attribute(int i) const {
    const sdk::Signature &s = function.signature;
    bool known = i < static_cast<int>(attributes);
    for (; i < s.attribute_count && !known; ++i) known = s.attribute(i).required;
    return known;
}
bool Declared::knows_input(int i) const {
    const sdk::Signature &s = function.signature;
    bool known = i < static_cast<int>(inputs);
    for (; i < s.input_count() && !known; ++i) known = !s.input(i).optional;
    return known;
}

DType usual_dtype(const Declared &declared) {
    for (const DType dtype : {float32, float64, int32, int64})
        if (declared.has(dtype)) return dtype;
    return declared.all_dtypes().front();
}

std::vector<Device> devices_of(const std::string &type) {
    std::vector<Device> list = devices();
    std::erase_if(list, [&](const Device &device) { return device.type() != type; });
    return list;
}

atoll_plugin_query_fn query_of(const std::string &path) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return reinterpret_cast<atoll_plugin_query_fn>(library ? ::dlsym(library, query_name)
                                                           : nullptr);
}

const atoll_plugin *query_plugin(const std::string &path) {
    const atoll_plugin_query_fn query = query_of(path);
    const std::string version(Atoll::version());
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, version.c_str()};
    return query ? query(&info) : nullptr;
}

namespace {

// The functions of a module: from the list, or from the plugin that defines it.
std::vector<FunctionFacts> interface_of(const std::string &module) {
    if (module == "core") return core_functions();
    std::vector<FunctionFacts> list;
    std::string owner;
    try {
        owner = Module(module).plugin();
    } catch (const Error &) {
        return list;
    }
    for (const PluginReport &report : load_report()) {
        if (report.name != owner || !report.loaded) continue;
        const atoll_plugin *descriptor = query_plugin(report.path.string());
        if (!descriptor) continue;
        for (const auto *decl : modules_of(*descriptor))
            for (std::uint32_t i = 0; decl->name == module && i < decl->function_count; ++i)
                list.push_back(facts_of(*decl, i));
    }
    return list;
}

bool has_module(const std::string &name) {
    const auto list = modules();
    return std::any_of(list.begin(), list.end(), [&](const Module &m) { return m.name() == name; });
}

bool has_device(const std::string &type) { return !devices_of(type).empty(); }

} // namespace

Target::Target(const Options &options)
    : isolated(options.isolate), path(std::filesystem::absolute(options.plugin)) {
    load_others(options.with);
    try {
        open();
    } catch (const std::exception &e) {
        trouble = e.what();
    }
    warnings = HostLog::take(name);
}

void Target::try_load(const std::string &plugin) {
    if (plugin == name) return;
    try {
        load_plugin(plugin);
    } catch (const Error &) {
        // the checks report what needs it
    }
}

void Target::load_others(const std::vector<std::string> &with) {
    for (const std::string &plugin : with) try {
            load_plugin(plugin);
        } catch (const Error &e) {
            throw Unusable(fmt::format("nothing was checked, because the plugin '{}' of --with "
                                       "cannot be loaded: {}",
                                       plugin, e.what()));
        }
}

void Target::open() {
    try {
        name = read_elf(path).note_name;
    } catch (const std::exception &) {
        // a check of the file reports it
    }
    const PluginReport report = load_plugin(path);
    name = report.name;
    version = report.version;
    descriptor = query_plugin(path);
    if (!descriptor) throw std::runtime_error("its query declines to answer once it is loaded");
    read_descriptor();
}

void Target::read_descriptor() {
    for (const auto *type : device_types_of(*descriptor)) device_types.emplace_back(type->name);
    const auto impls = impls_of(*descriptor);
    for (const atoll_impl_decl *impl : impls) {
        const std::string type = impl->device_type, module = impl->module;
        if (!brings(type) && !has_device(type)) try_load(type);
        if (module != "core" && module != "device" && !has_module(module)) try_load(module);
    }
    for (const std::string &type : device_types)
        if (!has_device(type))
            for (const PluginReport &report : load_report())
                if (report.name == name) absent.push_back(type + ": " + report.reason);
    // Other devices are the reference; an interposer needs functions to wrap.
    for (const char *other : {"cpu", "dummy"}) {
        if (!has_device(other) && !brings(other)) try_load(other);
        for (const atoll_impl_decl *impl : impls) {
            const std::string module = impl->module;
            if (module != "core" && module != "device") try_load(module + "_" + other);
        }
        const bool own = std::any_of(impls.begin(), impls.end(), [&](const auto *impl) {
            return std::string_view(impl->device_type) == other;
        });
        if (reference_name.empty() && !own && !brings(other) && has_device(other))
            reference_name = device_of(other).name();
    }
    for (const atoll_impl_decl *impl : impls) read_impl(*impl);
    for (const Declared &declared : functions)
        if (reference_name.empty())
            if (const auto own =
                    reference(declared.function, declared.device_type, usual_dtype(declared)))
                reference_name = "its own implementation on " + own->name();
}

void Target::read_impl(const atoll_impl_decl &impl) {
    const std::string module = impl.module, type = impl.device_type;
    if (module == "device") return; // see RawDevice
    const std::vector<FunctionFacts> interface = interface_of(module);
    if (!interface.empty() && brings(type) && !has_device(type)) return; // see `absent`
    if (interface.empty() || !has_device(type)) {
        not_reached.push_back(fmt::format("{} for {}: {}", module, type,
                                          interface.empty() ? "the module is not loaded"
                                                            : "there is no such device"));
        return;
    }
    for (std::uint32_t i = 0; i < impl.function_count; ++i) {
        const atoll_function_decl &f = function_of(impl, i);
        for (const FunctionFacts &facts : interface)
            if (const atoll_dtype_set dtypes = f.dtypes & facts.domain;
                facts.id == f.id && (dtypes || !facts.domain))
                functions.push_back({facts, type, dtypes, f.caps, f.attributes, f.inputs});
    }
}

bool Target::brings(const std::string &device_type) const {
    return std::find(device_types.begin(), device_types.end(), device_type) != device_types.end();
}

Device Target::device_of(const std::string &device_type) {
    for (const Device &device : devices_of(device_type)) return device;
    fail("there is no device of type '{}'", device_type);
}

std::optional<Device> Target::reference(const FunctionFacts &function,
                                        const std::string &device_type, DType dtype) const {
    // Prefer the implementation of another plugin to this plugin's own for another device type.
    const auto found = Function(function.name).support();
    for (const bool own : {false, true})
        for (const FunctionSupport &support : found) {
            if (support.device_type == device_type || (support.plugin == name) != own) continue;
            const auto &list = support.dtypes; // empty: of a function with one slot
            if (list.empty() || std::find(list.begin(), list.end(), dtype) != list.end())
                return device_of(support.device_type);
        }
    return {};
}

} // namespace Atoll::conformance
