// The interface of the module `hello`: names, signatures and type rules, no code for any device.
#include "atoll/hello.h"

#include "atoll/plugin.hpp"

ATOLL_PLUGIN_NOTE("hello", ATOLL_CONTAINS_MODULES, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

// An interface needs no state; the host wants a context all the same.
struct State {
    explicit State(const atoll_host &) {}
};

constexpr atoll_function_info functions[] = {
    sdk::function(ATOLL_HELLO_scale_add, "scale_add", ATOLL_RULE_COMMON, ATOLL_DOMAIN_NUMERIC,
                  {"a (), b () -> c ()", nullptr, nullptr, "2*a + b"}),
    sdk::function(ATOLL_HELLO_calls, "calls", ATOLL_RULE_GIVEN, 0,
                  {"-> calls (): int64", nullptr, nullptr,
                   "how many calls of the module its device has had, this one included"}),
};

constexpr atoll_module_decl module = sdk::module("hello", ATOLL_HELLO_VERSION, functions);
constexpr const atoll_module_decl *modules[] = {&module};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"hello", "0.1.0", "Atoll", "Apache-2.0", "example module: interface"}, modules);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Hello::plugin; }
