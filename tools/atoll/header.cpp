// `atoll header`: C++ declarations of a module's functions, written from its compiled descriptor.
#include "atoll/atoll.hpp"
#include "atoll/core_functions.hpp"
#include "commands.hpp"
#include "declaration.hpp"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

std::vector<ListedFunction> core_list() {
    std::vector<ListedFunction> list;
    for (const sdk::FunctionLine &f : sdk::core_functions)
        list.push_back({f.name, f.doc, f.text, f.rule, f.domain, f.signature, false});
    return list;
}

ListedFunction listed(const atoll_function_info &f) {
    const auto text = [](const char *given) { return given ? given : ""; };
    return {f.name,
            text(f.doc),
            f.signature,
            f.rule,
            f.domain,
            sdk::parse_signature(f.signature, text(f.attributes), text(f.properties)),
            f.infer != nullptr};
}

// The only module that a plugin declares. Loading it first checks what it declares.
const atoll_module_decl &module_of(const std::string &plugin) {
    const std::string path = load_plugin(plugin).path.string();
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const auto query = reinterpret_cast<atoll_plugin_query_fn>(
        library ? ::dlsym(library, "atoll_plugin_query_v0") : nullptr);
    const std::string version(Atoll::version());
    const atoll_host_info info{sizeof info, ATOLL_ABI_MAJOR, ATOLL_ABI_MINOR, version.c_str()};
    const atoll_plugin *descriptor = query ? query(&info) : nullptr;
    if (!descriptor || descriptor->module_count != 1)
        throw std::runtime_error(fmt::format("header: {} declares {} modules, needs one", path,
                                             descriptor ? descriptor->module_count : 0));
    return *descriptor->modules[0];
}

} // namespace

int run_header(const HeaderOptions &options) {
    HeaderOf header{options.module, options.name_space, {}};
    if (options.module == "core") {
        header.functions = core_list();
    } else {
        const atoll_module_decl &module = module_of(options.module);
        header.module = module.name;
        for (std::uint32_t i = 0; i < module.function_count; ++i)
            header.functions.push_back(listed(*reinterpret_cast<const atoll_function_info *>(
                reinterpret_cast<const char *>(module.functions) +
                std::size_t{i} * module.function_size)));
    }
    for (const std::string &name : options.without)
        if (std::erase_if(header.functions,
                          [&](const ListedFunction &f) { return f.name == name; }) == 0)
            throw UsageError(
                fmt::format("header: module {} has no function '{}'", header.module, name));
    std::fputs(header_text(header).c_str(), stdout);
    return 0;
}

} // namespace Atoll::tools
