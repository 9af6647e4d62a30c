// Reads a plugin's descriptor. Nothing in it is trusted: every struct is copied into a zeroed one
// of this host's size. A shorter struct leaves a zero tail; a longer one is refused if its unknown
// tail contains anything but zeros.
#include "loader/descriptor.hpp"

#include "atoll/signature_parser.hpp"
#include "base/printable.hpp"
#include "loader/elf_note.hpp"
#include "loader/refusal.hpp"

#include <algorithm>
#include <cstring>
#include <set>

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
template <> constexpr std::size_t first_size<atoll_interposer_decl> = 64;

template <class T> T copy_struct(const T *from, std::uint32_t size, std::string_view what) {
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

// "a module"
std::string one(std::string_view kind) {
    return fmt::format("{} {}", kind.front() == 'i' ? "an" : "a", kind);
}

template <class T>
std::vector<T> copy_list(const T *const *list, std::uint32_t count, std::string_view kind) {
    if (count > max_count) broken("{} {}s", count, kind);
    if (count > 0 && !list) broken("the list of {}s is NULL", kind);
    std::vector<T> copies;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!list[i]) broken("{} is NULL", one(kind));
        copies.push_back(copy_struct(list[i], list[i]->struct_size, one(kind)));
    }
    return copies;
}

// Elements of an array whose element size the plugin declares.
template <class T> std::vector<T> copy_array(const T *from, std::uint32_t stride,
                                             std::uint32_t count, std::string_view what) {
    if (count > max_count) broken("{}: {} of them", what, count);
    if (count > 0 && !from) broken("{} is NULL", what);
    std::vector<T> copies;
    const char *at = reinterpret_cast<const char *>(from);
    for (std::uint32_t i = 0; i < count; ++i, at += stride)
        copies.push_back(copy_struct(reinterpret_cast<const T *>(at), stride, what));
    return copies;
}

// Names an extension that the declaration requires, and this host does not know; "": none.
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

// Whether the dtype of no operand follows from T.
bool all_fixed(const sdk::Signature &signature) {
    return std::all_of(signature.operands.begin(),
                       signature.operands.begin() + signature.operand_count, [](const auto &spec) {
                           return spec.type == sdk::TypeOf::dtype ||
                                  spec.type == sdk::TypeOf::object || spec.type == sdk::TypeOf::any;
                       });
}

std::unique_ptr<ModuleRecord> copy_module(const atoll_module_decl &decl, const std::string &name) {
    auto module = std::make_unique<ModuleRecord>();
    module->name = name;
    module->version = decl.version;
    // Names of modules, and of the plugins that define them: a path would be opened as one.
    for (const char *const *depends = decl.depends; depends && *depends; ++depends)
        module->depends.push_back(checked_name(*depends, "a module's dependency"));
    const auto functions =
        copy_array(decl.functions, decl.function_size, decl.function_count, "a module's functions");
    module->functions.resize(functions.size());
    std::set<std::string> names;
    for (const atoll_function_info &f : functions) {
        const std::string function = checked_name(f.name, "a function");
        if (f.id >= functions.size() || !module->functions[f.id].name.empty() ||
            !names.insert(function).second)
            broken("module {}: function {} has id {}: ids must be 0 to {}, ids and names unique",
                   name, function, f.id, functions.size() - 1);
        if (f.rule >= ATOLL_RULE_COUNT || (f.domain & ~ATOLL_DOMAIN_ALL))
            broken("module {}: function {} has rule {}, domain {:#x}: unknown to this host", name,
                   function, f.rule, f.domain);
        if (!f.doc) broken("module {}: function {} has no doc", name, function);
        if (!f.signature) broken("module {}: function {} has no signature", name, function);
        FunctionRecord &record = module->functions[f.id];
        try {
            record.declare(f);
        } catch (const sdk::Error &e) {
            broken("module {}: function {}: {}", name, function, printable(e.what()));
        }
        if (f.domain == 0 && !all_fixed(record.signature))
            broken("module {}: function {}: domain 0 needs operands of fixed dtypes", name,
                   function);
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

Descriptor copy_descriptor(const atoll_plugin *from, const std::string &note_name) {
    Descriptor d{};
    if (from->magic != ATOLL_MAGIC)
        broken("the descriptor's magic is {:#x}, need {:#x}", from->magic, ATOLL_MAGIC);
    const atoll_plugin &plugin = d.plugin = copy_struct(from, from->struct_size, "the descriptor");
    check_abi(plugin.abi_major, plugin.abi_minor, plugin.min_host_minor);
    d.name = checked_name(plugin.name, "the plugin");
    if (d.name != note_name) broken("its note says '{}', its descriptor '{}'", note_name, d.name);
    if (!plugin.load || !plugin.unload) broken("load or unload is NULL");
    // Ask this before reading anything else that an extension may change.
    const auto understood = [&](const atoll_extension *next, const std::string &what) {
        const std::string why = unknown_extension(next);
        if (!why.empty()) d.ignored.push_back(fmt::format("{}: {}", what, why));
        return why.empty();
    };
    std::set<std::string> names;
    // The checked name of a declaration; unique within its kind.
    const auto name_of = [&](const auto &decl, const std::string &kind) {
        std::string name = checked_name(decl.name, one(kind));
        if (!names.insert(kind + name).second) broken("{} '{}' is declared twice", kind, name);
        return name;
    };
    for (const auto &decl : copy_list(plugin.modules, plugin.module_count, "module"))
        if (const std::string name = name_of(decl, "module");
            understood(decl.next, "module " + name))
            d.modules.push_back(copy_module(decl, name));
    std::set<std::string> ignored_types;
    for (const auto &decl : copy_list(plugin.device_types, plugin.device_type_count, "device type"))
        if (const std::string name = name_of(decl, "device type");
            understood(decl.next, "device type " + name))
            d.device_types.push_back({name, decl.flags, decl.dlpack_type});
        else
            ignored_types.insert(name);
    for (const auto &decl : copy_list(plugin.impls, plugin.impl_count, "implementation")) {
        ImplEntry impl{};
        impl.module = checked_name(decl.module, "an implementation's module");
        impl.device_type = checked_name(decl.device_type, "an implementation's device type");
        const std::string what =
            fmt::format("implementation {} for {}", impl.module, impl.device_type);
        if (!understood(decl.next, what)) continue;
        if (ignored_types.count(
                impl.device_type)) { // another plugin's type of that name is not meant
            d.ignored.push_back(what + ": its device type is ignored");
            continue;
        }
        copy_functions(decl, impl);
        d.impls.push_back(std::move(impl));
    }
    for (const auto &decl : copy_list(plugin.interposers, plugin.interposer_count, "interposer")) {
        const std::string name = name_of(decl, "interposer");
        if (!understood(decl.next, "interposer " + name)) continue;
        if (!decl.fn) broken("an interposer's function is NULL");
        d.interposers.push_back({name, decl});
    }
    return d;
}

} // namespace Atoll::detail
