// The plugin `cuda`: one device type, one device per GPU, asynchronous.
//
// What is here proves the ABI on a real asynchronous device API: the whole module `device`, and of
// the module `core` copy, fill, matmul and simple arithmetic and comparisons. For all else the host
// says that it is not supported here.
#include "atoll/core_functions.hpp"
#include "kernels.hpp"

namespace Atoll::cuda {
namespace {

constexpr std::uint64_t any_layout =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;
constexpr std::uint64_t any_elements = any_layout | ATOLL_CAP_SWAPPED | ATOLL_CAP_UNALIGNED;

constexpr std::uint64_t elementwise = any_layout | ATOLL_CAP_SCALARS;

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
};

constexpr atoll_function_decl core_functions[] = {
    sdk::declare_core<copy>(ATOLL_FN_copy, any_elements | ATOLL_CAP_MIXED_INPUTS |
                                               ATOLL_CAP_MIXED_OUTPUTS | ATOLL_CAP_SCALARS),
    sdk::declare_core<fill>(ATOLL_FN_fill, any_elements),
    sdk::declare_core<add>(ATOLL_FN_add, elementwise),
    sdk::declare_core<subtract>(ATOLL_FN_subtract, elementwise),
    sdk::declare_core<multiply>(ATOLL_FN_multiply, elementwise),
    sdk::declare_core<divide>(ATOLL_FN_divide, elementwise),
    sdk::declare_core<negative>(ATOLL_FN_negative, elementwise),
    sdk::declare_core<square>(ATOLL_FN_square, elementwise),
    sdk::declare_core<reciprocal>(ATOLL_FN_reciprocal, elementwise),
    sdk::declare_core<sqrt>(ATOLL_FN_sqrt, elementwise, sqrt_dtypes),
    sdk::declare_core<equal>(ATOLL_FN_equal, elementwise),
    sdk::declare_core<not_equal>(ATOLL_FN_not_equal, elementwise),
    sdk::declare_core<less>(ATOLL_FN_less, elementwise),
    sdk::declare_core<less_equal>(ATOLL_FN_less_equal, elementwise),
    sdk::declare_core<greater>(ATOLL_FN_greater, elementwise),
    sdk::declare_core<greater_equal>(ATOLL_FN_greater_equal, elementwise),
    sdk::declare_core<minimum>(ATOLL_FN_minimum, elementwise),
    sdk::declare_core<maximum>(ATOLL_FN_maximum, elementwise),
    sdk::declare_core<matmul>(ATOLL_FN_matmul, any_layout | ATOLL_CAP_LOOPS, matmul_dtypes),
};

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
