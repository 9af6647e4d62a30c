// Reading a plugin's descriptor: nothing in it is trusted.
//
// Every struct is copied into a zeroed one of this host's size: a shorter one leaves a zero tail; a
// longer one is refused if its unknown tail holds anything but zeros.
#include "loader/descriptor.hpp"

#include "atoll/error.hpp"
#include "atoll/signature_parser.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// More than this of anything is taken for a broken descriptor.
constexpr std::uint32_t max_count = 10'000;
constexpr std::uint32_t max_struct_size = 4096;

[[noreturn]] void broken(const std::string &text) {
    throw Error(Status::plugin_fault, "load",
                text + "; the plugin's descriptor is broken: report it "
                       "to its vendor");
}

// Bytes of a struct in ABI 1.0, which every plugin has. They stay when a struct grows.
template <class T> constexpr std::size_t first_size = 0;
template <> constexpr std::size_t first_size<atoll_plugin> = 120;
template <> constexpr std::size_t first_size<atoll_module_decl> = 40;
template <> constexpr std::size_t first_size<atoll_function_info> = 64;
template <> constexpr std::size_t first_size<atoll_device_type_decl> = 16;
template <> constexpr std::size_t first_size<atoll_impl_decl> = 64;
template <> constexpr std::size_t first_size<atoll_function_decl> = 24;
template <> constexpr std::size_t first_size<atoll_interposer_decl> = 48;

template <class T> T copy_struct(const T *from, std::uint32_t size, const char *what) {
    static_assert(first_size<T> > 0 && first_size<T> <= sizeof(T));
    if (size < first_size<T> || size > max_struct_size)
        broken(fmt::format("{}: struct_size is {}, need {} to {}", what, size, first_size<T>,
                           max_struct_size));
    T copy{};
    std::memcpy(&copy, from, std::min<std::size_t>(size, sizeof copy));
    const char *bytes = reinterpret_cast<const char *>(from);
    if (size > sizeof copy &&
        std::any_of(bytes + sizeof copy, bytes + size, [](char c) { return c != 0; }))
        throw Error(Status::incompatible, "load",
                    fmt::format("{} uses fields that this host does not know: the plugin is too "
                                "new; update Atoll, or use an older build of the plugin",
                                what));
    return copy;
}

template <class T> T copy_pointed(const T *from, const char *what) {
    if (!from) broken(fmt::format("{} is NULL", what));
    return copy_struct(from, from->struct_size, what);
}

// Elements of an array whose stride the plugin gives.
template <class T> std::vector<T> copy_array(const T *from, std::uint32_t stride,
                                             std::uint32_t count, const char *what) {
    if (count > max_count) broken(fmt::format("{}: {} of them", what, count));
    if (count > 0 && !from) broken(fmt::format("{} is NULL", what));
    std::vector<T> copies;
    for (std::uint32_t i = 0; i < count; ++i)
        copies.push_back(
            copy_struct(reinterpret_cast<const T *>(reinterpret_cast<const char *>(from) +
                                                    std::size_t{i} * stride),
                        stride, what));
    return copies;
}

std::string checked_name(const char *name, const char *what) {
    if (!name) broken(fmt::format("{} has no name", what));
    const std::string_view text(name, strnlen(name, 64));
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (text.empty() || text.size() > 31 || text[0] < 'a' || text[0] > 'z' ||
        !std::all_of(text.begin(), text.end(), fits))
        broken(fmt::format("{} is named '{}', need [a-z][a-z0-9_-]*, at most 31 characters", what,
                           printable(text.substr(0, 40))));
    return std::string(text);
}

void check_count(std::uint32_t count, const void *list, const char *what) {
    if (count > max_count) broken(fmt::format("{} {}", count, what));
    if (count > 0 && !list) broken(fmt::format("the list of {} is NULL", what));
}

ModuleDecl copy_module(const atoll_module_decl *from) {
    ModuleDecl module{copy_pointed(from, "a module"), {}};
    const std::string name = checked_name(module.decl.name, "a module");
    // Names of modules, and of the plugins that define them: a path would be opened as one.
    for (const char *const *depends = module.decl.depends; depends && *depends; ++depends)
        checked_name(*depends, "a module's dependency");
    module.functions = copy_array(module.decl.functions, module.decl.function_size,
                                  module.decl.function_count, "a module's functions");
    std::set<std::string> names;
    std::vector<bool> seen(module.functions.size());
    for (const atoll_function_info &f : module.functions) {
        const std::string function = checked_name(f.name, "a function");
        if (f.id >= seen.size() || seen[f.id] || !names.insert(function).second)
            broken(fmt::format("module {}: function {} has id {}: ids must be 0 to {}, each once, "
                               "names too",
                               name, function, f.id, seen.size() - 1));
        seen[f.id] = true;
        if (f.family > ATOLL_FAMILY_SIGNATURE || f.family == ATOLL_FAMILY_DEVICE ||
            f.rule >= ATOLL_RULE_COUNT || (f.domain & ~ATOLL_DOMAIN_ALL))
            broken(fmt::format("module {}: function {} has family {}, rule {}, domain {:#x}: "
                               "unknown to this host",
                               name, function, f.family, f.rule, f.domain));
        if (!f.doc) broken(fmt::format("module {}: function {} has no doc", name, function));
        if ((f.family == ATOLL_FAMILY_CUSTOM) != (f.domain == 0) ||
            (f.family == ATOLL_FAMILY_CUSTOM) != !f.signature)
            broken(
                fmt::format("module {}: function {} must have a domain and a signature unless it "
                            "is CUSTOM",
                            name, function));
        if (!f.signature) continue;
        try {
            const auto text = [](const char *given) { return given ? given : ""; };
            sdk::parse_signature(f.signature, text(f.attributes), text(f.properties));
        } catch (const sdk::Error &e) {
            broken(fmt::format("module {}: function {}: {}", name, function, printable(e.what())));
        }
    }
    return module;
}

ImplEntry copy_impl(const atoll_impl_decl *from) {
    const atoll_impl_decl decl = copy_pointed(from, "an implementation");
    ImplEntry impl{};
    impl.module = checked_name(decl.module, "an implementation's module");
    impl.device_type = checked_name(decl.device_type, "an implementation's device type");
    impl.priority = decl.priority;
    impl.module_version = decl.module_version;
    impl.open_device = decl.open_device;
    impl.close_device = decl.close_device;
    impl.functions = copy_array(decl.functions, decl.function_size, decl.function_count,
                                "an implementation's functions");
    std::vector<std::pair<std::uint16_t, std::uint32_t>> seen;
    for (const atoll_function_decl &f : impl.functions) {
        if (!f.fn)
            broken(
                fmt::format("{} for {}: function {} is NULL", impl.module, impl.device_type, f.id));
        if (f.dtypes & ~ATOLL_DOMAIN_ALL)
            broken(fmt::format("{} for {}: function {} names unknown dtypes ({:#x})", impl.module,
                               impl.device_type, f.id, f.dtypes & ~ATOLL_DOMAIN_ALL));
        for (const auto &[id, dtypes] : seen)
            if (id == f.id && ((dtypes & f.dtypes) || (!dtypes && !f.dtypes)))
                broken(fmt::format("{} for {}: function {} is declared twice for one dtype",
                                   impl.module, impl.device_type, f.id));
        seen.emplace_back(f.id, f.dtypes);
    }
    return impl;
}

} // namespace

Descriptor copy_descriptor(const atoll_plugin *from) {
    Descriptor d{};
    if (from->magic != ATOLL_MAGIC)
        broken(
            fmt::format("the descriptor's magic is {:#x}, need {:#x}", from->magic, ATOLL_MAGIC));
    d.plugin = copy_struct(from, from->struct_size, "the descriptor");
    if (d.plugin.abi_major != ATOLL_ABI_MAJOR || d.plugin.min_host_minor > ATOLL_ABI_MINOR)
        throw Error(Status::incompatible, "load",
                    fmt::format("built for plugin ABI {}.{} and needs a host of {}.{} at least; "
                                "this host has {}.{}: update Atoll or the plugin",
                                d.plugin.abi_major, d.plugin.abi_minor, d.plugin.abi_major,
                                d.plugin.min_host_minor, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR));
    d.name = checked_name(d.plugin.name, "the plugin");
    check_count(d.plugin.module_count, d.plugin.modules, "modules");
    check_count(d.plugin.device_type_count, d.plugin.device_types, "device types");
    check_count(d.plugin.impl_count, d.plugin.impls, "implementations");
    check_count(d.plugin.interposer_count, d.plugin.interposers, "interposers");
    if (!d.plugin.load || !d.plugin.unload) broken("load or unload is NULL");
    std::set<std::string> names;
    const auto once = [&](const char *what, const char *name) {
        if (!names.insert(fmt::format("{} '{}'", what, name)).second)
            broken(fmt::format("{} '{}' comes twice", what, name));
    };
    for (std::uint32_t i = 0; i < d.plugin.module_count; ++i) {
        d.modules.push_back(copy_module(d.plugin.modules[i]));
        once("module", d.modules.back().decl.name);
    }
    for (std::uint32_t i = 0; i < d.plugin.device_type_count; ++i) {
        const atoll_device_type_decl decl = copy_pointed(d.plugin.device_types[i], "a device type");
        d.device_types.push_back(
            {checked_name(decl.name, "a device type"), decl.flags, decl.dlpack_type});
        once("device type", decl.name);
    }
    for (std::uint32_t i = 0; i < d.plugin.impl_count; ++i)
        d.impls.push_back(copy_impl(d.plugin.impls[i]));
    for (std::uint32_t i = 0; i < d.plugin.interposer_count; ++i) {
        d.interposers.push_back(copy_pointed(d.plugin.interposers[i], "an interposer"));
        once("interposer", checked_name(d.interposers.back().name, "an interposer").c_str());
        if (!d.interposers.back().fn) broken("an interposer's function is NULL");
    }
    return d;
}

} // namespace Atoll::detail
