// Reading a plugin's descriptor: nothing in it is trusted.
//
// Every struct is copied into a zeroed one of this host's size: a shorter one leaves a zero tail; a
// longer one is refused if its unknown tail holds anything but zeros.
#include "loader/descriptor.hpp"

#include "atoll/signature_parser.hpp"
#include "base/printable.hpp"
#include "loader/refusal.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// More than this of anything is taken for a broken descriptor.
constexpr std::uint32_t max_count = 10'000;
constexpr std::uint32_t max_struct_size = 4096;

template <class... Args>
[[noreturn]] void broken(fmt::format_string<Args...> text, Args &&...args) {
    refuse(Status::plugin_fault, "{}; the plugin's descriptor is broken: report it to its vendor",
           fmt::format(text, std::forward<Args>(args)...));
}

// Bytes of a struct in the first draft, which every plugin has. They stay when a struct grows.
template <class T> constexpr std::size_t first_size = 0;
template <> constexpr std::size_t first_size<atoll_plugin> = 120;
template <> constexpr std::size_t first_size<atoll_module_decl> = 48;
template <> constexpr std::size_t first_size<atoll_function_info> = 64;
template <> constexpr std::size_t first_size<atoll_device_type_decl> = 32;
template <> constexpr std::size_t first_size<atoll_impl_decl> = 72;
template <> constexpr std::size_t first_size<atoll_function_decl> = 48;
template <> constexpr std::size_t first_size<atoll_interposer_decl> = 56;

template <class T> T copy_struct(const T *from, std::uint32_t size, const char *what) {
    static_assert(first_size<T> > 0 && first_size<T> <= sizeof(T));
    if (size < first_size<T> || size > max_struct_size)
        broken("{}: struct_size is {}, need {} to {}", what, size, first_size<T>, max_struct_size);
    T copy{};
    std::memcpy(&copy, from, std::min<std::size_t>(size, sizeof copy));
    const char *bytes = reinterpret_cast<const char *>(from);
    if (size > sizeof copy &&
        std::any_of(bytes + sizeof copy, bytes + size, [](char c) { return c != 0; }))
        refuse(Status::incompatible,
               "{} uses fields that this host does not know: the plugin is too new; update Atoll, "
               "or use an older build of the plugin",
               what);
    return copy;
}

// What the entries of a list point to. `one` and `many` name them: "a module", "modules".
template <class T> std::vector<T> copy_list(const T *const *list, std::uint32_t count,
                                            const char *one, const char *many) {
    if (count > max_count) broken("{} {}", count, many);
    if (count > 0 && !list) broken("the list of {} is NULL", many);
    std::vector<T> copies;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!list[i]) broken("{} is NULL", one);
        copies.push_back(copy_struct(list[i], list[i]->struct_size, one));
    }
    return copies;
}

// Elements of an array whose stride the plugin gives.
template <class T> std::vector<T> copy_array(const T *from, std::uint32_t stride,
                                             std::uint32_t count, const char *what) {
    if (count > max_count) broken("{}: {} of them", what, count);
    if (count > 0 && !from) broken("{} is NULL", what);
    std::vector<T> copies;
    for (std::uint32_t i = 0; i < count; ++i)
        copies.push_back(
            copy_struct(reinterpret_cast<const T *>(reinterpret_cast<const char *>(from) +
                                                    std::size_t{i} * stride),
                        stride, what));
    return copies;
}

// The extension that this host would have to know, as text; "": none.
std::string unknown_extension(const atoll_extension *next) {
    for (int i = 0; next; next = next->next, ++i) {
        if (i == 64) broken("a chain of extensions has more than 64");
        if (next->struct_size < sizeof *next || next->struct_size > max_struct_size)
            broken("an extension: struct_size is {}, need {} to {}", next->struct_size,
                   sizeof *next, max_struct_size);
        if (next->id & ATOLL_EXTENSION_REQUIRED)
            return fmt::format("needs extension {}", next->id & ~ATOLL_EXTENSION_REQUIRED);
    }
    return {};
}

std::string checked_name(const char *name, std::string_view what) {
    if (!name) broken("{} has no name", what);
    const std::string_view text(name, strnlen(name, 64));
    if (!valid_name(text))
        broken("{} is named '{}', need [a-z][a-z0-9_-]*, at most 31 characters", what,
               printable(text.substr(0, 40)));
    return std::string(text);
}

// Whether nothing is of a dtype that follows from T.
bool all_fixed(const sdk::Signature &signature) {
    for (int o = 0; o < signature.operand_count; ++o) {
        const sdk::TypeOf type = signature.operand(o).type;
        if (type != sdk::TypeOf::dtype && type != sdk::TypeOf::object && type != sdk::TypeOf::any)
            return false;
    }
    return true;
}

ModuleDecl copy_module(const atoll_module_decl &decl, const std::string &name) {
    ModuleDecl module{decl, {}};
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
            broken("module {}: function {} has id {}: ids must be 0 to {}, each once, "
                   "names too",
                   name, function, f.id, seen.size() - 1);
        seen[f.id] = true;
        if (f.rule >= ATOLL_RULE_COUNT || (f.domain & ~ATOLL_DOMAIN_ALL))
            broken("module {}: function {} has rule {}, domain {:#x}: unknown to this "
                   "host",
                   name, function, f.rule, f.domain);
        if (!f.doc) broken("module {}: function {} has no doc", name, function);
        if (!f.signature) broken("module {}: function {} has no signature", name, function);
        try {
            const auto text = [](const char *given) { return given ? given : ""; };
            const sdk::Signature signature =
                sdk::parse_signature(f.signature, text(f.attributes), text(f.properties));
            if (f.domain == 0 && !all_fixed(signature))
                throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                 "domain 0 needs operands of fixed dtypes");
        } catch (const sdk::Error &e) {
            broken("module {}: function {}: {}", name, function, printable(e.what()));
        }
    }
    return module;
}

void copy_functions(const atoll_impl_decl &decl, ImplEntry &impl) {
    impl.priority = decl.priority;
    impl.module_version = decl.module_version;
    impl.open_device = decl.open_device;
    impl.close_device = decl.close_device;
    impl.functions = copy_array(decl.functions, decl.function_size, decl.function_count,
                                "an implementation's functions");
    std::erase_if(impl.functions, [&](const atoll_function_decl &f) {
        const std::string why = unknown_extension(f.next);
        if (!why.empty())
            impl.ignored.push_back(fmt::format("function {} of module {} for {}: {}", f.id,
                                               impl.module, impl.device_type, why));
        return !why.empty();
    });
    std::vector<std::pair<std::uint16_t, atoll_dtype_set>> seen;
    for (const atoll_function_decl &f : impl.functions) {
        if (!f.fn) broken("{} for {}: function {} is NULL", impl.module, impl.device_type, f.id);
        for (const auto &[id, dtypes] : seen)
            if (id == f.id && ((dtypes & f.dtypes) || (!dtypes && !f.dtypes)))
                broken("{} for {}: function {} is declared twice for one dtype", impl.module,
                       impl.device_type, f.id);
        seen.emplace_back(f.id, f.dtypes);
    }
}

// The note is what the plugin was chosen by, before any of it ran: the descriptor must not go
// beyond.
void check_agreement(const PluginNote &note, const Descriptor &descriptor) {
    const auto disagree = [](const std::string &what) {
        refuse(Status::plugin_fault,
               "its note and its descriptor disagree: {}; report it to the plugin's vendor", what);
    };
    const atoll_plugin &plugin = descriptor.plugin;
    if (descriptor.name != note.name)
        disagree(
            fmt::format("its note says '{}', its descriptor '{}'", note.name, descriptor.name));
    if (plugin.abi_minor != note.abi_minor || plugin.min_host_minor != note.min_host_minor)
        disagree(fmt::format("the note says ABI minor {} and a host of minor {} at least, the "
                             "descriptor {} and {}",
                             note.abi_minor, note.min_host_minor, plugin.abi_minor,
                             plugin.min_host_minor));
    const bool for_others =
        std::any_of(descriptor.impls.begin(), descriptor.impls.end(), [&](const ImplEntry &impl) {
            return std::none_of(
                descriptor.device_types.begin(), descriptor.device_types.end(),
                [&](const DeviceTypeDecl &own) { return own.name == impl.device_type; });
        });
    const std::tuple<bool, std::uint32_t, const char *> kinds[] = {
        {plugin.device_type_count > 0, ATOLL_CONTAINS_DEVICES, "ATOLL_CONTAINS_DEVICES"},
        {plugin.module_count > 0, ATOLL_CONTAINS_MODULES, "ATOLL_CONTAINS_MODULES"},
        {for_others, ATOLL_CONTAINS_IMPLS, "ATOLL_CONTAINS_IMPLS"},
        {plugin.interposer_count > 0, ATOLL_CONTAINS_INTERPOSERS, "ATOLL_CONTAINS_INTERPOSERS"},
    };
    for (const auto &[present, bit, name] : kinds)
        if (present && !(note.kinds & bit))
            disagree(fmt::format("the descriptor has what {} stands for, which the note's kinds "
                                 "({}) lack",
                                 name, note.kinds));
}

} // namespace

void check_abi(unsigned major, unsigned minor, unsigned min_host_minor) {
    const auto version = [](unsigned number, unsigned part) {
        return number == 0 ? fmt::format("draft {} of the plugin ABI", part)
                           : fmt::format("plugin ABI {}.{}", number, part);
    };
    const std::string host = major == ATOLL_ABI_MAJOR && major == 0
                                 ? fmt::format("draft {}", ATOLL_ABI_MINOR)
                                 : version(ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR);
    if (major != ATOLL_ABI_MAJOR || (major == 0 && minor != ATOLL_ABI_MINOR))
        refuse(Status::incompatible,
               "built for {}, this host has {}; rebuild the plugin against the headers of this "
               "Atoll, or get a build for it",
               version(major, minor), host);
    if (min_host_minor > ATOLL_ABI_MINOR)
        refuse(Status::incompatible, "needs a host of {} or newer, this host has {}; update Atoll",
               version(major, min_host_minor), host);
}

Descriptor copy_descriptor(const atoll_plugin *from, const PluginNote &note) {
    Descriptor d{};
    if (from->magic != ATOLL_MAGIC)
        broken("the descriptor's magic is {:#x}, need {:#x}", from->magic, ATOLL_MAGIC);
    const atoll_plugin &plugin = d.plugin = copy_struct(from, from->struct_size, "the descriptor");
    check_abi(plugin.abi_major, plugin.abi_minor, plugin.min_host_minor);
    d.name = checked_name(plugin.name, "the plugin");
    if (!plugin.load || !plugin.unload) broken("load or unload is NULL");
    // To be asked before anything else is read that an extension may change.
    const auto understood = [&](const atoll_extension *next, const std::string &what) {
        const std::string why = unknown_extension(next);
        if (!why.empty()) d.ignored.push_back(fmt::format("{}: {}", what, why));
        return why.empty();
    };
    std::set<std::string> names;
    // The checked name of what is declared once.
    const auto name_of = [&](const auto &decl, const char *article, const std::string &kind) {
        std::string name = checked_name(decl.name, fmt::format("{} {}", article, kind));
        if (!names.insert(kind + name).second) broken("{} '{}' comes twice", kind, name);
        return name;
    };
    for (const auto &decl : copy_list(plugin.modules, plugin.module_count, "a module", "modules"))
        if (const std::string name = name_of(decl, "a", "module");
            understood(decl.next, "module " + name))
            d.modules.push_back(copy_module(decl, name));
    std::set<std::string> ignored_types;
    for (const auto &decl :
         copy_list(plugin.device_types, plugin.device_type_count, "a device type", "device types"))
        if (const std::string name = name_of(decl, "a", "device type");
            understood(decl.next, "device type " + name))
            d.device_types.push_back({name, decl.flags, decl.dlpack_type});
        else
            ignored_types.insert(name);
    for (const auto &decl :
         copy_list(plugin.impls, plugin.impl_count, "an implementation", "implementations")) {
        ImplEntry impl{};
        impl.module = checked_name(decl.module, "an implementation's module");
        impl.device_type = checked_name(decl.device_type, "an implementation's device type");
        const std::string what =
            fmt::format("implementation {} for {}", impl.module, impl.device_type);
        if (!understood(decl.next, what)) continue;
        if (ignored_types.count(impl.device_type)) { // made for this one, not for a namesake
            d.ignored.push_back(what + ": its device type is ignored");
            continue;
        }
        copy_functions(decl, impl);
        d.impls.push_back(std::move(impl));
    }
    for (const auto &decl :
         copy_list(plugin.interposers, plugin.interposer_count, "an interposer", "interposers")) {
        const std::string name = name_of(decl, "an", "interposer");
        if (!understood(decl.next, "interposer " + name)) continue;
        if (!decl.fn) broken("an interposer's function is NULL");
        d.interposers.push_back({name, decl});
    }
    check_agreement(note, d);
    return d;
}

} // namespace Atoll::detail
