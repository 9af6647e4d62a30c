// The module `activation` for the device type `cpu`, and a tanh of its own: loops over memory that
// this code may touch.
#include "state.hpp"

#include <atoll/operand.hpp>
#include <cmath>

ATOLL_PLUGIN_NOTE("activation_cpu", ATOLL_CONTAINS_IMPLS, 0);

namespace Activation {

namespace {

namespace sdk = Atoll::sdk;

constexpr atoll_dtype_set dtypes =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

void sigmoid(State &, atoll_call &call) {
    sdk::with_type<dtypes>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<T, T>(call, [](T a) { return 1 / (1 + std::exp(-a)); });
    });
}

void dropout(State &state, atoll_call &call) {
    const std::vector<float> numbers =
        state.uniform(call.device, call.rank ? static_cast<std::size_t>(call.shape[0]) : 1);
    const float *number = numbers.data();
    sdk::with_type<dtypes>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<T, T, T>(call, [&](T a, T b) { return *number++ < b ? T(0) : a; });
    });
}

// Cheaper than the library's: good to an ulp of 1, not of the result.
void tanh(State &, atoll_call &call) {
    sdk::with_type<dtypes>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<T, T>(call, [](T a) { return 2 / (1 + std::exp(-2 * a)) - 1; });
    });
}

constexpr std::uint64_t any_strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

constexpr atoll_function_decl functions[] = {
    sdk::declare<sigmoid>(ACTIVATION_sigmoid, dtypes, any_strides),
    sdk::declare<dropout>(ACTIVATION_dropout, dtypes), // dense: in the order of the elements
};
constexpr atoll_function_decl overrides[] = {
    sdk::declare<tanh>(ATOLL_FN_tanh, dtypes, any_strides),
};

constexpr atoll_impl_decl own = implementation("cpu", functions);
constexpr atoll_impl_decl core = override_core("cpu", overrides);
constexpr const atoll_impl_decl *impls[] = {&own, &core};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"activation_cpu", "1.0.0", "a third party", "Apache-2.0", "example module: for the cpu"},
    impls);

} // namespace

} // namespace Activation

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Activation::plugin; }
