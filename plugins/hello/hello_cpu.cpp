// The module `hello` for the device type `cpu`: loops over memory that this code may touch.
// Only float32 and float64: for other dtypes the host says what is missing and what there is.
#include "atoll/operand.hpp"
#include "implementation.hpp"

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

// One id may come several times: a function of its own for each dtype.
constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add<float>>(ATOLL_HELLO_scale_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32),
                                   caps),
    sdk::declare<scale_add<double>>(ATOLL_HELLO_scale_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64),
                                    caps),
    sdk::declare<calls>(ATOLL_HELLO_calls),
};

constexpr atoll_impl_decl impl = implementation("cpu", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = descriptor("hello_cpu", "example module: for the cpu", impls);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Hello::plugin; }
