// The module `hello` for the device type `dummy`. Its memory is opaque to this plugin, so it
// computes with what the device offers: it calls other functions through their slots, on the
// caller's stream, without waiting for anything.
#include "atoll/dtype_facts.hpp"
#include "implementation.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

ATOLL_PLUGIN_NOTE("hello_dummy", ATOLL_CONTAINS_IMPLS, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

// operands[0] = the core function of operands[1], … and an attribute, as a part of `parent`.
void compute(State &state, const atoll_call &parent, atoll_core_function function,
             std::initializer_list<atoll_operand> operands,
             std::span<const atoll_scalar> attributes = {}) {
    atoll_operand list[3];
    std::copy(operands.begin(), operands.end(), list);
    atoll_call call{};
    call.module = ATOLL_MODULE_CORE;
    call.function = static_cast<std::uint16_t>(function);
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

// t = a + a; out = t + b. Not out = a + a; out = out + b: out may be the very elements of b.
void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    const atoll_operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
    // Declared without capabilities, so all three are dense vectors: out's strides fit t.
    const std::int64_t bytes = (call.rank ? call.shape[0] : 1) * sdk::dtype_size(out.dtype);
    const sdk::DeviceBlock block(state.host, "dummy", call, static_cast<std::uint64_t>(bytes));
    atoll_operand t = out;
    t.data = t.base = block.data();
    t.storage = 0;
    compute(state, call, ATOLL_FN_add, {t, a, a});
    compute(state, call, ATOLL_FN_add, {out, t, b});
}

void calls(State &state, atoll_call &call) {
    const atoll_scalar count{ATOLL_DTYPE_INT64, 0, 0, {.i64 = state.count(call.device)}};
    compute(state, call, ATOLL_FN_fill, {call.operands[0]}, {&count, 1});
}

constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add>(ATOLL_HELLO_scale_add, ATOLL_DOMAIN_NUMERIC),
    sdk::declare<calls>(ATOLL_HELLO_calls),
};

constexpr atoll_impl_decl impl = implementation("dummy", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin =
    descriptor("hello_dummy", "example module: for the simulated accelerator", impls);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Hello::plugin; }
