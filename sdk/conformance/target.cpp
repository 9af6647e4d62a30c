// Loading the plugin under check and reading what it declares.
#include "target.hpp"

#include "elf_file.hpp"

#include <algorithm>
#include <dlfcn.h>

#include <fmt/format.h>

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

// Those without a default count as known, and with them all that stand before.
bool Declared::knows_attribute(std::size_t i) const {
    const auto &list = function.signature.attributes;
    return i < attributes || std::any_of(list.begin() + static_cast<long>(i), list.end(),
                                         [](const auto &attribute) { return attribute.required; });
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

const atoll_plugin *query_plugin(const std::string &path) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return nullptr;
    const auto query =
        reinterpret_cast<atoll_plugin_query_fn>(::dlsym(library, "atoll_plugin_query_v0"));
    const std::string version(Atoll::version());
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, version.c_str()};
    return query ? query(&info) : nullptr;
}

namespace {

// The interface of a module: from the list, or from the plugin that defines it.
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
        for (std::uint32_t m = 0; descriptor && m < descriptor->module_count; ++m) {
            const atoll_module_decl &decl = *descriptor->modules[m];
            if (decl.name != module) continue;
            for (std::uint32_t i = 0; i < decl.function_count; ++i) {
                list.push_back(facts_of(decl, i));
            }
        }
    }
    return list;
}

bool has_module(const std::string &name) {
    const auto list = modules();
    return std::any_of(list.begin(), list.end(), [&](const Module &m) { return m.name() == name; });
}

bool has_device(const std::string &type) {
    const auto list = devices();
    return std::any_of(list.begin(), list.end(), [&](Device d) { return d.type() == type; });
}

} // namespace

Target::Target(const Options &options) : path(std::filesystem::absolute(options.plugin)) {
    try {
        open(options);
    } catch (const std::exception &e) {
        trouble = e.what();
    }
}

bool Target::try_load(const std::string &plugin) {
    if (plugin == name) return false;
    try {
        load(plugin);
        dependencies.push_back(plugin);
        return true;
    } catch (const Error &) {
        return false;
    }
}

void Target::open(const Options &options) {
    set_log_level("off"); // what is refused is told by the checks
    try {
        name = read_elf(path).note_name;
    } catch (const std::exception &) {
        // a check of the file tells
    }
    for (const std::string &plugin : options.with) {
        try {
            load(plugin);
        } catch (const Error &e) {
            throw std::runtime_error(
                fmt::format("nothing was checked, for the plugin '{}' that was "
                            "to be loaded before cannot be: {}",
                            plugin, e.what()));
        }
        dependencies.push_back(plugin);
    }
    const PluginReport report = load(path);
    name = report.name;
    version = report.version;
    descriptor = query_plugin(path);
    if (!descriptor) throw std::runtime_error("its query declines to answer once it is loaded");
    read_descriptor();
}

void Target::read_descriptor() {
    for (std::uint32_t i = 0; i < descriptor->device_type_count; ++i)
        device_types.emplace_back(descriptor->device_types[i]->name);
    for (std::uint32_t i = 0; i < descriptor->module_count; ++i)
        modules.emplace_back(descriptor->modules[i]->name);
    for (std::uint32_t i = 0; i < descriptor->interposer_count; ++i)
        interposers.emplace_back(descriptor->interposers[i]->name);
    for (std::uint32_t i = 0; i < descriptor->impl_count; ++i) {
        const std::string type = descriptor->impls[i]->device_type;
        if (!brings(type) && !has_device(type)) try_load(type);
        const std::string module = descriptor->impls[i]->module;
        if (module != "core" && module != "device" && !has_module(module)) try_load(module);
    }
    for (const std::string &type : device_types)
        if (!has_device(type))
            for (const PluginReport &report : load_report())
                if (report.name == name) absent.push_back(type + ": " + report.reason);
    // Whatever else computes is something to compare with; an interposer needs something to wrap.
    for (const char *other : {"cpu", "dummy"}) {
        if (!has_device(other) && !brings(other)) try_load(other);
        for (std::uint32_t i = 0; i < descriptor->impl_count; ++i) {
            const std::string module = descriptor->impls[i]->module;
            if (module != "core" && module != "device") try_load(module + "_" + other);
        }
        const bool own = std::any_of(
            descriptor->impls, descriptor->impls + descriptor->impl_count,
            [&](const atoll_impl_decl *impl) { return std::string(impl->device_type) == other; });
        if (reference_name.empty() && !own && !brings(other) && has_device(other))
            reference_name = device_of(other).name();
    }
    for (std::uint32_t i = 0; i < descriptor->impl_count; ++i) read_impl(*descriptor->impls[i]);
    for (const Declared &declared : functions)
        if (reference_name.empty())
            if (const auto own =
                    reference(declared.function, declared.device_type, usual_dtype(declared)))
                reference_name = "its own implementation on " + own->name();
}

void Target::read_impl(const atoll_impl_decl &impl) {
    const std::string module = impl.module, type = impl.device_type;
    const auto each = [&](auto &&body) {
        for (std::uint32_t i = 0; i < impl.function_count; ++i)
            body(reinterpret_cast<const atoll_function_decl *>(
                reinterpret_cast<const char *>(impl.functions) +
                std::size_t{i} * impl.function_size));
    };
    if (module == "device") return; // see RawDevice
    const std::vector<FunctionFacts> interface = interface_of(module);
    if (!interface.empty() && brings(type) && !has_device(type)) return; // see `absent`
    if (interface.empty() || !has_device(type)) {
        not_reached.push_back(fmt::format("{} for {}: {}", module, type,
                                          interface.empty() ? "the module is not loaded"
                                                            : "there is no such device"));
        return;
    }
    each([&](const atoll_function_decl *f) {
        for (const FunctionFacts &facts : interface)
            if (facts.id == f->id)
                if (const atoll_dtype_set dtypes = f->dtypes & facts.domain;
                    dtypes || !facts.domain)
                    functions.push_back({facts, type, dtypes, f->caps, f->attributes, f->inputs});
    });
}

bool Target::brings(const std::string &device_type) const {
    return std::find(device_types.begin(), device_types.end(), device_type) != device_types.end();
}

Device Target::device_of(const std::string &device_type) {
    for (const Device &device : devices())
        if (device.type() == device_type) return device;
    throw Failed(fmt::format("there is no device of type '{}'", device_type));
}

std::optional<Device> Target::reference(const FunctionFacts &function,
                                        const std::string &device_type, DType dtype) const {
    // Another plugin's, or the same plugin's for another device type where there is no other.
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
