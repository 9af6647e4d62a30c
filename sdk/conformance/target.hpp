// The loaded plugin under test: what it declares, and the devices that it is compared with.
#pragma once

#include "atoll/atoll.hpp"
#include "atoll/conformance.hpp"
#include "atoll/core_functions.hpp"
#include "atoll/plugin.h"
#include "check.hpp"
#include "process_state.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace Atoll::conformance {

// A function of a module's interface.
struct FunctionFacts {
    std::string name; // "core.add"
    std::string doc;
    int id = 0;
    std::uint32_t rule = 0;
    atoll_dtype_set domain = 0;
    sdk::Signature signature; // views of the plugin's texts
    bool infers = false;      // computes the extents that only outputs have

    bool is_core() const { return name.starts_with("core."); }
    // Whether equal calls give equal results: others, as counters, are made from nothing.
    bool repeats() const { return signature.input_count() > 0 || signature.attribute_count > 0; }
};

// Function `i` of a module's interface.
FunctionFacts facts_of(const atoll_module_decl &module, std::uint32_t i);

// One function as an implementation of the plugin declares it.
struct Declared {
    FunctionFacts function;
    std::string device_type;
    atoll_dtype_set dtypes = 0;
    std::uint64_t caps = 0;
    std::uint32_t attributes = 0, inputs = 0; // how many of the lists it knows

    Device device() const; // one of the type
    // "core.add@mine"
    std::string subject() const { return function.name + "@" + device_type; }
    bool takes(std::uint64_t caps_asked) const { return (caps & caps_asked) == caps_asked; }
    bool has(DType dtype) const { return dtypes >> static_cast<int>(dtype) & 1; }
    // Whether calls that give it reach the implementation.
    bool knows_attribute(int i) const;
    bool knows_input(int i) const;
    // T of the calls that it takes; none: of a function with one slot.
    std::vector<DType> all_dtypes() const;
};

// The name of a dtype in the names of checks; empty for none.
std::string word(DType dtype);

// The dtype for checks that use only one.
DType usual_dtype(const Declared &declared);

// The options do not allow any check.
struct Unusable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Target {
public:
    // Loads the plugin, its dependencies and a device to compare with. If the plugin cannot be
    // loaded, `trouble` contains the reason. Throws Unusable if one of options.with cannot.
    explicit Target(const Options &options);

    const ProcessState state = process_state(); // before anything was loaded
    const HostLog log;
    const bool isolated;
    std::string path, name, version;
    std::string trouble, warnings; // while it was loaded: why it failed; what the host logged
    const atoll_plugin *descriptor = nullptr;
    std::vector<std::string> device_types; // that it brings
    std::vector<std::string> absent;       // of these, those without a device, and why
    std::vector<Declared> functions;       // on existing devices, without the module `device`
    std::vector<std::string> not_reached;  // implementations whose module or device is missing

    bool brings(const std::string &device_type) const;
    // A device of this type.
    static Device device_of(const std::string &device_type);
    // One of another type that has the function for the dtype; else nothing.
    std::optional<Device> reference(const FunctionFacts &function, const std::string &device_type,
                                    DType dtype) const;
    // That most results are compared with; empty: none.
    std::string reference_name;

private:
    void load_others(const std::vector<std::string> &with);
    void open();
    void read_descriptor();
    void read_impl(const atoll_impl_decl &impl);
    void try_load(const std::string &plugin);
};

// Those of a type, now.
std::vector<Device> devices_of(const std::string &type);

// Those of the module `core`, in the order of their ids.
const std::vector<FunctionFacts> &core_functions();

inline constexpr const char *query_name = "atoll_plugin_query_v0";
// The plugin's query, and what it returns to this host. Null where the file cannot be opened.
atoll_plugin_query_fn query_of(const std::string &path);
const atoll_plugin *query_plugin(const std::string &path);

// The lists of a descriptor, and of an implementation, whose entries may be longer than this header
// knows.
inline auto device_types_of(const atoll_plugin &plugin) {
    return std::span(plugin.device_types, plugin.device_type_count);
}
inline auto modules_of(const atoll_plugin &plugin) {
    return std::span(plugin.modules, plugin.module_count);
}
inline auto impls_of(const atoll_plugin &plugin) {
    return std::span(plugin.impls, plugin.impl_count);
}
inline auto interposers_of(const atoll_plugin &plugin) {
    return std::span(plugin.interposers, plugin.interposer_count);
}
inline const atoll_function_decl &function_of(const atoll_impl_decl &impl, std::size_t i) {
    return *reinterpret_cast<const atoll_function_decl *>(
        reinterpret_cast<const char *>(impl.functions) + i * impl.function_size);
}

} // namespace Atoll::conformance
