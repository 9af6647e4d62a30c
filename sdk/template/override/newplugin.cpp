// newplugin: its own `square` for two dtypes on the cpu. Every other function and dtype stays with
// whoever had it before, and comes back when this plugin is retired.
#include <atoll/operand.hpp>
#include <atoll/plugin.hpp>

ATOLL_PLUGIN_NOTE("newplugin", ATOLL_CONTAINS_IMPLS, 0);

namespace {

namespace sdk = Atoll::sdk;

// Created when the plugin is loaded and destroyed when it is retired; passed to every function,
// from any thread.
struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host; // logging, settings, the pool, other functions: atoll/abi/host.h
};

// Your faster kernel goes here. Declared without capabilities, so both operands are dense vectors
// of T. Declare more (atoll/abi/module.h) when the kernel takes more: it saves the host copies.
template <class T> std::int32_t square(State &, const atoll_link &self, atoll_call &call) {
    const auto out = sdk::Operand<T>(call, 0).span();
    const auto in = sdk::Operand<const T>(call, 1).span();
    // What yours is not made for goes to the implementation that it replaces (ATOLL_CAP_FORWARDS).
    if (out.size() > 100'000'000) return sdk::forward(self, call);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[i] * in[i];
    return ATOLL_STATUS_OK;
}

constexpr atoll_function_decl functions[] = {
    sdk::declare<square<float>>(ATOLL_FN_square, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32),
                                ATOLL_CAP_FORWARDS),
    sdk::declare<square<double>>(ATOLL_FN_square, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
                                 ATOLL_CAP_FORWARDS),
};

// With a priority above 0 it comes first whatever the order of loading.
constexpr atoll_impl_decl with_priority(std::int32_t priority) {
    atoll_impl_decl impl = sdk::implement("core", "cpu", functions);
    impl.priority = priority;
    return impl;
}
constexpr atoll_impl_decl impl = with_priority(10);
constexpr const atoll_impl_decl *impls[] = {&impl};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"newplugin", "0.1.0", "your name", "your licence", "its own square on the cpu"}, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
