// The interface of the module `activation`: names, families and type rules, no code for any device.
#include "activation.h"

#include <atoll/plugin.hpp>
#include <iterator>

ATOLL_PLUGIN_NOTE("activation", ATOLL_KIND_MODULES, 0);

namespace {

namespace sdk = Atoll::sdk;

// An interface needs no state; the host wants a context all the same.
struct State {
    explicit State(const atoll_host &) {}
};

constexpr atoll_function_info functions[] = {
    {.struct_size = sizeof(atoll_function_info),
     .id = ACTIVATION_sigmoid,
     .family = ATOLL_FAMILY_UNARY,
     .rule = ATOLL_RULE_FLOAT,
     .reserved = 0,
     .domain = ATOLL_DOMAIN_REAL_FLOATS,
     .name = "sigmoid",
     .doc = "1 / (1 + exp(-a))",
     .signature = "a () -> b ()",
     .attributes = nullptr,
     .properties = nullptr,
     .infer = nullptr},
    {.struct_size = sizeof(atoll_function_info),
     .id = ACTIVATION_dropout,
     .family = ATOLL_FAMILY_BINARY,
     .rule = ATOLL_RULE_COMMON,
     .reserved = 0,
     .domain = ATOLL_DOMAIN_REAL_FLOATS,
     .name = "dropout",
     .doc = "a, or 0 with probability b",
     .signature = "a (), b () -> c ()",
     .attributes = nullptr,
     .properties = nullptr,
     .infer = nullptr},
};

// Loaded by the host before this module is: plugins of these names, wherever it finds plugins.
constexpr const char *depends[] = {"core", "hello", nullptr};

constexpr atoll_module_decl module{.struct_size = sizeof(atoll_module_decl),
                                   .version = ACTIVATION_VERSION,
                                   .name = "activation",
                                   .functions = functions,
                                   .function_size = sizeof(atoll_function_info),
                                   .function_count = std::size(functions),
                                   .depends = depends};
constexpr const atoll_module_decl *modules[] = {&module};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"activation", "1.0.0", "a third party", "Apache-2.0", "example module: interface"}, modules);

} // namespace

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) { return &plugin; }
