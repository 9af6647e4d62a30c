// The interface of the module `hello`: names, signatures and type rules. Each implementation is a
// plugin of its own; they may be loaded in any order.
#include "hello.h"

#include <atoll/plugin.hpp>

ATOLL_PLUGIN_NOTE("hello", ATOLL_CONTAINS_MODULES, 0);

namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &) {}
};

constexpr atoll_function_info functions[] = {
    sdk::function(HELLO_scale_add, "scale_add", ATOLL_RULE_COMMON, ATOLL_DOMAIN_NUMERIC,
                  {"a (), b () -> c ()", nullptr, nullptr, "2*a + b"}),
    sdk::function(HELLO_calls, "calls", ATOLL_RULE_GIVEN, 0,
                  {"-> calls (): int64", nullptr, nullptr,
                   "the number of calls of this module on the device, including this one"}),
};

constexpr atoll_module_decl module = sdk::module("hello", HELLO_VERSION, functions);
constexpr const atoll_module_decl *modules[] = {&module};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"hello", "0.1.0", "a third party", "Apache-2.0", "example module: interface"}, modules);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
