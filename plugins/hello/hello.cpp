// The interface of the module `hello`: names, families and type rules, no code for any device.
#include "atoll/hello.h"

#include "atoll/plugin.hpp"

#include <iterator>

ATOLL_PLUGIN_NOTE("hello", ATOLL_KIND_MODULES, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

// An interface needs no state; the host wants a context all the same.
struct State {
    explicit State(const atoll_host &) {}
};

constexpr atoll_function_info functions[] = {
    {.struct_size = sizeof(atoll_function_info),
     .id = ATOLL_HELLO_scale_add,
     .family = ATOLL_FAMILY_BINARY,
     .rule = ATOLL_RULE_COMMON,
     .reserved = 0,
     .domain = ATOLL_DOMAIN_NUMERIC,
     .name = "scale_add",
     .doc = "2*a + b",
     .signature = "a (), b () -> c ()",
     .attributes = nullptr,
     .properties = nullptr,
     .infer = nullptr},
    {.struct_size = sizeof(atoll_function_info),
     .id = ATOLL_HELLO_greet,
     .family = ATOLL_FAMILY_CUSTOM,
     .rule = ATOLL_RULE_GIVEN,
     .reserved = 0,
     .domain = 0,
     .name = "greet",
     .doc = "writes a greeting that names the device and counts the module's calls on it",
     .signature = nullptr,
     .attributes = nullptr,
     .properties = nullptr,
     .infer = nullptr},
};

constexpr const char *depends[] = {"core", nullptr};

constexpr atoll_module_decl module{.struct_size = sizeof(atoll_module_decl),
                                   .version = ATOLL_HELLO_VERSION,
                                   .name = "hello",
                                   .functions = functions,
                                   .function_size = sizeof(atoll_function_info),
                                   .function_count = std::size(functions),
                                   .depends = depends};
constexpr const atoll_module_decl *modules[] = {&module};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"hello", "0.1.0", "Atoll", "Apache-2.0", "example module: interface"}, modules);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) { return &Hello::plugin; }
