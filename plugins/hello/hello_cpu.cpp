// The module `hello` for the device type `cpu`: loops over memory that this code may touch.
// Only float32 and float64: for other dtypes the host says what is missing and what there is.
#include "implementation.hpp"

#include <iterator>

ATOLL_PLUGIN_NOTE("hello_cpu", ATOLL_KIND_IMPLS, 0);

namespace Hello {

namespace {

namespace sdk = Atoll::sdk;

// out = 2 * a + b over the axes [axis, rank); strides of any sign, zero for broadcast inputs.
template <class T>
void loop(const atoll_call &call, std::uint32_t axis, char *out, const char *a, const char *b) {
    if (axis == call.rank) {
        *reinterpret_cast<T *>(out) =
            2 * *reinterpret_cast<const T *>(a) + *reinterpret_cast<const T *>(b);
        return;
    }
    for (std::int64_t i = 0; i < call.shape[axis]; ++i)
        loop<T>(call, axis + 1, out + i * call.operands[0].strides[axis],
                a + i * call.operands[1].strides[axis], b + i * call.operands[2].strides[axis]);
}

template <class T> void scale_add(State &state, atoll_call &call) {
    state.count(call.device);
    loop<T>(call, 0, static_cast<char *>(call.operands[0].data),
            static_cast<const char *>(call.operands[1].data),
            static_cast<const char *>(call.operands[2].data));
}

void greet_cpu(State &state, atoll_call &call) { greet(state, call, "cpu"); }

// Nothing more than `loop` really handles.
constexpr std::uint32_t caps =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

// One id may come several times: a function of its own for each dtype.
constexpr atoll_function_decl functions[] = {
    sdk::declare<scale_add<float>>(ATOLL_HELLO_scale_add, ATOLL_BIT(ATOLL_FLOAT32), caps),
    sdk::declare<scale_add<double>>(ATOLL_HELLO_scale_add, ATOLL_BIT(ATOLL_FLOAT64), caps),
    sdk::declare<greet_cpu>(ATOLL_HELLO_greet),
};

constexpr atoll_impl_decl impl = implementation("cpu", functions);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = descriptor("hello_cpu", "example module: for the cpu", impls);

} // namespace

} // namespace Hello

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) { return &Hello::plugin; }
