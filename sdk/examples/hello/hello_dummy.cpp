// The module `hello` for the device type `dummy`, whose memory is opaque to this code. It calls
// other functions of the device, on the caller's stream and without waiting.
#include "state.hpp"

#include <algorithm>
#include <atoll/dtype_facts.hpp>
#include <initializer_list>
#include <span>

ATOLL_PLUGIN_NOTE("hello_dummy", ATOLL_CONTAINS_IMPLS, 0);

namespace Hello {
namespace {

namespace sdk = Atoll::sdk;

// operands[0] = function(operands[1], …), as a part of `parent`.
void compute(State &state, const atoll_call &parent, const char *function,
             std::initializer_list<atoll_operand> operands,
             std::span<const atoll_scalar> attributes = {}) {
    const sdk::FunctionId id = sdk::find_function(state.host, function);
    atoll_operand list[3];
    std::copy(operands.begin(), operands.end(), list);
    atoll_call call{};
    call.module = id.module;
    call.function = id.function;
    call.dtype = list[0].dtype;
    call.output_count = 1;
    call.operand_count = static_cast<std::uint16_t>(operands.size());
    call.attribute_count = static_cast<std::uint16_t>(attributes.size());
    call.rank = parent.rank;
    call.shape = parent.shape;
    call.operands = list;
    call.attributes = attributes.data();
    sdk::dispatch(state.host, "dummy", parent, call);
}

// t = a + a; out = t + b. Writing a + a to `out` would destroy b if both are the same memory.
void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    const atoll_operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
    // Without capabilities all operands are dense vectors, so t has the strides of `out`.
    const std::int64_t bytes = (call.rank ? call.shape[0] : 1) * sdk::dtype_size(out.dtype);
    const sdk::DeviceBlock block(state.host, "dummy", call, static_cast<std::uint64_t>(bytes));
    atoll_operand t = out;
    t.data = t.base = block.data();
    t.storage = 0;
    compute(state, call, "core.add", {t, a, a});
    compute(state, call, "core.add", {out, t, b});
}

void calls(State &state, atoll_call &call) {
    const atoll_scalar count{ATOLL_DTYPE_INT64, 0, 0, {.i64 = state.count(call.device)}};
    compute(state, call, "core.fill", {call.operands[0]}, {&count, 1});
}

constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add>(HELLO_scale_add, ATOLL_DOMAIN_NUMERIC),
    sdk::declare<calls>(HELLO_calls),
};

constexpr atoll_impl_decl impl = implementation("dummy", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"hello_dummy", "0.1.0", "a third party", "Apache-2.0", "example module: for the dummy"},
    impls);

} // namespace
} // namespace Hello

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Hello::plugin; }
