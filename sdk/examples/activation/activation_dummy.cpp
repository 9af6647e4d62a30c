// The module `activation` for the device type `dummy`, and a tanh of its own. The device's memory
// is opaque to this plugin, so it computes with what the device offers: other functions, of the
// core and of the module `hello`, called through their slots on the caller's stream, without
// waiting.
#include "atoll/dtype_facts.hpp"
#include "state.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

ATOLL_PLUGIN_NOTE("activation_dummy", ATOLL_CONTAINS_IMPLS, 0);

namespace Activation {

namespace {

namespace sdk = Atoll::sdk;

constexpr const char *dummy = "dummy";
constexpr atoll_dtype_set dtypes =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

// All here is declared without capabilities, so operands are dense vectors.
std::size_t count(const atoll_call &call) {
    return call.rank ? static_cast<std::size_t>(call.shape[0]) : 1;
}

// A dense vector of the call's length, gone after the work that is enqueued on it.
class Temporary {
public:
    Temporary(State &state, const atoll_call &call, std::uint16_t dtype)
        : stride_(sdk::dtype_size(dtype)),
          block_(state.host, dummy, call, count(call) * static_cast<std::uint64_t>(stride_)),
          operand_{block_.data(), &stride_, dtype, 0, call.device, 0, block_.data(), {}} {}
    operator const atoll_operand &() const { return operand_; }

private:
    std::int64_t stride_;
    sdk::DeviceBlock block_;
    atoll_operand operand_;
};

// operands[0] = function(operands[1], …) as a part of `parent`, computed in its dtype.
void compute(State &state, const atoll_call &parent, sdk::FunctionId id,
             std::initializer_list<atoll_operand> operands,
             std::span<const atoll_scalar> attributes = {}) {
    atoll_operand list[4];
    std::copy(operands.begin(), operands.end(), list);
    atoll_call call{};
    call.module = id.module;
    call.function = id.function;
    call.dtype = parent.dtype;
    call.output_count = 1;
    call.operand_count = static_cast<std::uint16_t>(operands.size());
    call.attribute_count = static_cast<std::uint16_t>(attributes.size());
    call.rank = parent.rank;
    call.shape = parent.shape;
    call.operands = list;
    call.attributes = attributes.data();
    sdk::dispatch(state.host, dummy, parent, call);
}

constexpr sdk::FunctionId core(std::uint16_t function) { return {ATOLL_MODULE_CORE, function}; }

void fill(State &state, const atoll_call &parent, const atoll_operand &out, int value) {
    atoll_scalar number{parent.dtype, 0, 0, {}};
    if (parent.dtype == ATOLL_DTYPE_FLOAT32)
        number.value.f32[0] = static_cast<float>(value);
    else
        number.value.f64[0] = value;
    compute(state, parent, core(ATOLL_FN_fill), {out}, {&number, 1});
}

void sigmoid(State &state, atoll_call &call) {
    const atoll_operand &out = call.operands[0], &a = call.operands[1];
    const Temporary t(state, call, call.dtype), one(state, call, call.dtype);
    fill(state, call, one, 1);
    compute(state, call, core(ATOLL_FN_negative), {t, a});
    compute(state, call, core(ATOLL_FN_exp), {t, t});
    compute(state, call, core(ATOLL_FN_add), {t, t, one});
    compute(state, call, core(ATOLL_FN_divide), {out, one, t});
}

// The random numbers come from the host; the device compares and selects.
void dropout(State &state, atoll_call &call) {
    const atoll_operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
    const std::vector<float> numbers = state.uniform(call.device, count(call));
    const std::vector<double> wide(numbers.begin(), numbers.end());
    const Temporary u(state, call, call.dtype), zero(state, call, call.dtype);
    const Temporary chosen(state, call, ATOLL_DTYPE_BOOL);
    const atoll_operand &destination = u;
    const void *source = call.dtype == ATOLL_DTYPE_FLOAT32
                             ? static_cast<const void *>(numbers.data())
                             : static_cast<const void *>(wide.data());
    atoll_transfer_params params{sizeof params,
                                 ATOLL_TRANSFER_HOST_TO_DEVICE,
                                 destination.data,
                                 source,
                                 count(call) *
                                     static_cast<std::uint64_t>(sdk::dtype_size(call.dtype)),
                                 0,
                                 0};
    sdk::dispatch_device(state.host, dummy, call, ATOLL_DEVICE_FN_transfer, params);
    fill(state, call, zero, 0);
    compute(state, call, core(ATOLL_FN_less), {chosen, u, b});
    compute(state, call, core(ATOLL_FN_where), {out, chosen, zero, a});
}

// 2 * sigmoid(2 a) - 1. hello.scale_add computes 2 x + y.
void tanh(State &state, atoll_call &call) {
    const atoll_operand &out = call.operands[0], &a = call.operands[1];
    const Temporary t(state, call, call.dtype), minus_one(state, call, call.dtype);
    fill(state, call, minus_one, -1);
    compute(state, call, core(ATOLL_FN_add), {t, a, a});
    compute(state, call, sdk::find_function(state.host, "activation.sigmoid"), {t, t});
    compute(state, call, sdk::find_function(state.host, "hello.scale_add"), {out, t, minus_one});
}

constexpr atoll_function_decl functions[] = {
    sdk::declare<sigmoid>(ACTIVATION_sigmoid, dtypes),
    sdk::declare<dropout>(ACTIVATION_dropout, dtypes),
};
constexpr atoll_function_decl overrides[] = {
    sdk::declare<tanh>(ATOLL_FN_tanh, dtypes),
};

constexpr atoll_impl_decl own = implementation(dummy, functions);
constexpr atoll_impl_decl core_impl = override_core(dummy, overrides);
constexpr const atoll_impl_decl *impls[] = {&own, &core_impl};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"activation_dummy", "1.0.0", "a third party", "Apache-2.0", "example module: for the dummy"},
    impls);

} // namespace

} // namespace Activation

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Activation::plugin; }
