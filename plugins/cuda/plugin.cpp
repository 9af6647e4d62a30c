// The plugin `cuda`: one device type, one device per GPU, asynchronous.
//
// The modules `device` and `core` as a whole.
#include "compiled_dtypes.hpp"
#include "kernels.hpp"

#include <array>
#include <utility>

namespace Atoll::cuda {
namespace {

constexpr atoll_function_decl device_functions[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<allocate>(ATOLL_DEVICE_FN_allocate),
    sdk::declare<free_memory>(ATOLL_DEVICE_FN_free),
    sdk::declare<transfer>(ATOLL_DEVICE_FN_transfer),
    sdk::declare<stream_create>(ATOLL_DEVICE_FN_stream_create),
    sdk::declare<stream_destroy>(ATOLL_DEVICE_FN_stream_destroy),
    sdk::declare<stream_synchronize>(ATOLL_DEVICE_FN_stream_synchronize),
    sdk::declare<event_create>(ATOLL_DEVICE_FN_event_create),
    sdk::declare<event_destroy>(ATOLL_DEVICE_FN_event_destroy),
    sdk::declare<event_record>(ATOLL_DEVICE_FN_event_record),
    sdk::declare<event_wait>(ATOLL_DEVICE_FN_event_wait),
    sdk::declare<event_synchronize>(ATOLL_DEVICE_FN_event_synchronize),
    sdk::declare(ATOLL_DEVICE_FN_event_query, event_query),
    sdk::declare<host_callback>(ATOLL_DEVICE_FN_host_callback),
    sdk::declare<stream_order>(ATOLL_DEVICE_FN_stream_order),
    sdk::declare<native_handle>(ATOLL_DEVICE_FN_native_handle),
    sdk::declare<allocate_host>(ATOLL_DEVICE_FN_allocate_host),
    sdk::declare<free_host>(ATOLL_DEVICE_FN_free_host),
    sdk::declare(ATOLL_DEVICE_FN_event_time, event_time),
    sdk::declare<facts>(ATOLL_DEVICE_FN_facts),
};

using Function = void (*)(State &, atoll_call &);

// Most functions share one with all that have such a signature.
constexpr Function function_of(std::uint16_t id) {
    switch (id) {
    case ATOLL_FN_copy: return &copy;
    case ATOLL_FN_fill: return &fill;
    case ATOLL_FN_steps: return &steps;
    case ATOLL_FN_matmul: return &matmul;
    case ATOLL_FN_mean:
    case ATOLL_FN_var:
    case ATOLL_FN_stddev:
    case ATOLL_FN_norm: return &moments;
    case ATOLL_FN_argmin:
    case ATOLL_FN_argmax: return &arg_reduce;
    case ATOLL_FN_cumsum:
    case ATOLL_FN_cumprod: return &scan;
    case ATOLL_FN_sort:
    case ATOLL_FN_argsort: return &sort;
    case ATOLL_FN_searchsorted: return &search;
    case ATOLL_FN_find: return &find;
    case ATOLL_FN_compress: return &compress;
    case ATOLL_FN_gather: return &gather;
    case ATOLL_FN_scatter: return &scatter;
    }
    const sdk::Signature &signature = sdk::core_functions[id].signature;
    if (!signature.elementwise()) return &reduce;
    constexpr Function by_inputs[] = {&unary, &binary, &ternary};
    return by_inputs[signature.input_count() - 1];
}

constexpr std::uint64_t any_layout =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;
constexpr std::uint64_t caps_of(std::uint16_t id) {
    if (id == ATOLL_FN_matmul) return any_layout | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS;
    if (id == ATOLL_FN_compress) return any_layout | ATOLL_CAP_UNALIGNED | ATOLL_CAP_GROUPS;
    // A number lies in host memory: element-wise kernels take it as a parameter, others read
    // devices'.
    const bool elementwise = sdk::core_functions[id].signature.elementwise();
    return any_layout | ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS | ATOLL_CAP_SWAPPED |
           ATOLL_CAP_UNALIGNED | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS |
           (elementwise ? ATOLL_CAP_SCALARS : 0);
}

template <std::uint16_t... id>
constexpr auto declare_all(std::integer_sequence<std::uint16_t, id...>) {
    return std::array{sdk::declare_core<function_of(id)>(id, caps_of(id), compiled_dtypes(id))...};
}
constexpr auto core_functions =
    declare_all(std::make_integer_sequence<std::uint16_t, ATOLL_FN_COUNT>());

// Devices open themselves: Note [Lazy devices].
constexpr atoll_impl_decl device_impl = sdk::implement("device", "cuda", device_functions);
constexpr atoll_impl_decl core_impl = sdk::implement("core", "cuda", core_functions);
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};

constexpr atoll_device_type_decl device_type =
    sdk::device_type("cuda", ATOLL_DEVICE_PEER, 2 /* kDLCUDA */);
constexpr const atoll_device_type_decl *device_types[] = {&device_type};

constexpr atoll_plugin descriptor = sdk::describe<State>(
    {"cuda", "0.1.0", "Atoll", "Apache-2.0", "NVIDIA GPUs through the CUDA runtime and cuBLAS"},
    impls, device_types);

} // namespace
} // namespace Atoll::cuda

ATOLL_PLUGIN_NOTE("cuda", ATOLL_CONTAINS_DEVICES, 0);

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    return &Atoll::cuda::descriptor;
}
