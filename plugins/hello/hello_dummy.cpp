// The module `hello` for the device type `dummy`. Its memory is opaque to this plugin, so it
// computes with what the device offers: it calls other functions through their slots, on the
// caller's stream, without waiting for anything.
#include "implementation.hpp"

#include <iterator>

ATOLL_PLUGIN_NOTE("hello_dummy", ATOLL_KIND_IMPLS, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

void add(State &state, const atoll_call &parent, const atoll_operand &out, const atoll_operand &a,
         const atoll_operand &b) {
    atoll_operand operands[] = {out, a, b};
    atoll_call call{};
    call.module = ATOLL_MODULE_CORE;
    call.function = ATOLL_FN_add;
    call.family = ATOLL_FAMILY_BINARY;
    call.dtype = parent.dtype;
    call.output_count = 1;
    call.operand_count = 3;
    call.rank = parent.rank;
    call.shape = parent.shape;
    call.operands = operands;
    sdk::dispatch(state.host, "dummy", parent, call);
}

// t = a + a; out = t + b. Not out = a + a; out = out + b: out may be the very elements of b.
void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    const atoll_operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
    // Declared without capabilities, so all operands are dense and lie alike: out's strides fit t.
    std::int64_t elements = 1;
    for (std::uint32_t axis = 0; axis < call.rank; ++axis) elements *= call.shape[axis];
    const auto bytes = static_cast<std::uint64_t>(elements * sdk::dtype_size(out.dtype));

    const sdk::DeviceBlock block(state.host, "dummy", call, bytes);
    atoll_operand t = out;
    t.data = block.data();
    add(state, call, t, a, a);
    add(state, call, out, t, b);
}

void greet_dummy(State &state, atoll_call &call) { greet(state, call, "dummy"); }

constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add>(ATOLL_HELLO_scale_add, ATOLL_DOMAIN_NUMERIC),
    sdk::declare<greet_dummy>(ATOLL_HELLO_greet),
};

constexpr atoll_impl_decl impl = implementation("dummy", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin =
    descriptor("hello_dummy", "example module: for the simulated accelerator", impls);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) { return &Hello::plugin; }
