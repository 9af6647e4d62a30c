// The interface of the module `activation`: names, signatures and type rules, no code for any
// device.
#include "activation.h"

#include <atoll/plugin.hpp>

ATOLL_PLUGIN_NOTE("activation", ATOLL_CONTAINS_MODULES, 0);

namespace {

namespace sdk = Atoll::sdk;

// An interface needs no state; the host wants a context all the same.
struct State {
    explicit State(const atoll_host &) {}
};

constexpr atoll_function_info functions[] = {
    sdk::function(ACTIVATION_sigmoid, "sigmoid", ATOLL_RULE_FLOAT, ATOLL_DOMAIN_REAL_FLOATS,
                  {"a () -> b ()", nullptr, nullptr, "1 / (1 + exp(-a))"}),
    sdk::function(ACTIVATION_dropout, "dropout", ATOLL_RULE_COMMON, ATOLL_DOMAIN_REAL_FLOATS,
                  {"a (), b () -> c ()", nullptr, nullptr, "a, or 0 with probability b"}),
};

// Loaded by the host before this module is: plugins of these names, wherever it finds plugins.
constexpr const char *depends[] = {"core", "hello", nullptr};

constexpr atoll_module_decl module = [] {
    atoll_module_decl decl = sdk::module("activation", ACTIVATION_VERSION, functions);
    decl.depends = depends;
    return decl;
}();
constexpr const atoll_module_decl *modules[] = {&module};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"activation", "1.0.0", "a third party", "Apache-2.0", "example module: interface"}, modules);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
