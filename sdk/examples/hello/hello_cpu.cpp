// The module `hello` for the device type `cpu`, whose memory this code may access. It implements
// float32 and float64; the host reports other dtypes as not supported.
#include "state.hpp"

#include <atoll/operand.hpp>

ATOLL_PLUGIN_NOTE("hello_cpu", ATOLL_CONTAINS_IMPLS, 0);

namespace Hello {
namespace {

namespace sdk = Atoll::sdk;

template <class T> void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    sdk::elementwise<T, T, T>(call, [](T a, T b) { return 2 * a + b; });
}

void calls(State &state, atoll_call &call) {
    const std::int64_t count = state.count(call.device);
    sdk::elementwise<std::int64_t>(call, [&] { return count; });
}

// What sdk::elementwise handles.
constexpr std::uint64_t caps =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

// An id may occur several times: here each dtype has its own function.
constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add<float>>(HELLO_scale_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32), caps),
    sdk::declare<scale_add<double>>(HELLO_scale_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64), caps),
    sdk::declare<calls>(HELLO_calls),
};

constexpr atoll_impl_decl impl = implementation("cpu", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"hello_cpu", "0.1.0", "a third party", "Apache-2.0", "example module: for the cpu"}, impls);

} // namespace
} // namespace Hello

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Hello::plugin; }
