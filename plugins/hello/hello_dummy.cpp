// The module `hello` for the device type `dummy`. Its memory is opaque to this plugin, so it
// computes with what the device offers: it calls other functions through their slots, on the
// caller's stream, without waiting for anything.
#include "implementation.hpp"

#include <iterator>

ATOLL_PLUGIN_NOTE("hello_dummy", ATOLL_KIND_IMPLS, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

// Calls (module, function) as a part of `parent`. `call` says what is particular to it.
void dispatch(State &state, const atoll_call &parent, atoll_call call) {
    call.struct_size = sizeof call;
    call.flags = ATOLL_CALL_INSERTED;
    call.parent_module = parent.module;
    call.parent_function = parent.function;
    call.device = parent.device;
    call.stream = parent.stream;
    call.correlation = parent.correlation;
    call.error = parent.error;
    const std::int32_t status = state.host.dispatch(state.host.self, "dummy", &call);
    // What went wrong stands in the error buffer already; throwing it again would write the buffer
    // from itself, so the text is copied.
    if (status != ATOLL_STATUS_OK)
        throw sdk::Error(static_cast<atoll_status>(status),
                         std::string(parent.error->text ? parent.error->text : ""),
                         parent.error->native_code);
}

void memory(State &state, const atoll_call &parent, std::uint16_t function,
            atoll_memory_params &params) {
    atoll_call call{};
    call.module = ATOLL_MODULE_DEVICE;
    call.function = function;
    call.family = ATOLL_FAMILY_DEVICE;
    call.params = &params;
    dispatch(state, parent, call);
}

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
    dispatch(state, parent, call);
}

// t = a + a; out = t + b. Not out = a + a; out = out + b: out may be the very elements of b.
void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    const atoll_operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
    // Declared without capabilities, so all operands are dense and lie alike: out's strides fit t.
    std::int64_t elements = 1;
    for (std::uint32_t axis = 0; axis < call.rank; ++axis) elements *= call.shape[axis];
    const auto bytes = static_cast<std::uint64_t>(elements * sdk::dtype_size(out.dtype));

    atoll_memory_params block{sizeof block, 0, bytes, nullptr};
    memory(state, call, ATOLL_DEVICE_FN_allocate, block);
    atoll_operand t = out;
    t.data = block.data;
    try {
        add(state, call, t, a, a);
        add(state, call, out, t, b);
    } catch (...) {
        // Freeing may overwrite the error buffer; the exception still has the first error.
        memory(state, call, ATOLL_DEVICE_FN_free, block);
        throw;
    }
    memory(state, call, ATOLL_DEVICE_FN_free, block); // takes effect after the work above
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
