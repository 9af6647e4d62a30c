// The plugin `cuda`: one device type, one device per GPU, asynchronous.
//
// What is here proves the ABI on a real asynchronous device API: the whole module `device`, and of
// the module `core` copy, fill, matmul and simple arithmetic and comparisons. For all else the host
// says that it is not supported here.
#include "atoll/plugin.hpp"

#include "kernels.hpp"

namespace Atoll::cuda {
namespace {

constexpr std::uint32_t any_layout =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;
constexpr std::uint32_t any_elements = ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS |
                                       ATOLL_CAP_SWAPPED | ATOLL_CAP_UNALIGNED | any_layout;

constexpr std::uint32_t elementwise = any_layout | ATOLL_CAP_SCALARS;

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
    {sizeof(atoll_function_decl), ATOLL_DEVICE_FN_event_query, 0, 0, 0, event_query},
    sdk::declare<host_callback>(ATOLL_DEVICE_FN_host_callback),
};

constexpr atoll_function_decl core_functions[] = {
    sdk::declare<copy>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, any_elements | ATOLL_CAP_SCALARS),
    sdk::declare<fill>(ATOLL_FN_fill, ATOLL_DOMAIN_ALL, any_elements),
    sdk::declare<add>(ATOLL_FN_add, ATOLL_DOMAIN_ALL, elementwise),
    sdk::declare<subtract>(ATOLL_FN_subtract, ATOLL_DOMAIN_NUMERIC, elementwise),
    sdk::declare<multiply>(ATOLL_FN_multiply, ATOLL_DOMAIN_ALL, elementwise),
    sdk::declare<divide>(ATOLL_FN_divide, ATOLL_DOMAIN_FLOATING, elementwise),
    sdk::declare<negative>(ATOLL_FN_negative, ATOLL_DOMAIN_NUMERIC, elementwise),
    sdk::declare<square>(ATOLL_FN_square, ATOLL_DOMAIN_ALL, elementwise),
    sdk::declare<reciprocal>(ATOLL_FN_reciprocal, ATOLL_DOMAIN_FLOATING, elementwise),
    sdk::declare<sqrt>(ATOLL_FN_sqrt, sqrt_dtypes, elementwise),
    sdk::declare<equal>(ATOLL_FN_equal, ATOLL_DOMAIN_ALL, elementwise),
    sdk::declare<not_equal>(ATOLL_FN_not_equal, ATOLL_DOMAIN_ALL, elementwise),
    sdk::declare<less>(ATOLL_FN_less, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<less_equal>(ATOLL_FN_less_equal, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<greater>(ATOLL_FN_greater, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<greater_equal>(ATOLL_FN_greater_equal, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<minimum>(ATOLL_FN_minimum, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<maximum>(ATOLL_FN_maximum, ATOLL_DOMAIN_ORDERED, elementwise),
    sdk::declare<matmul>(ATOLL_FN_matmul, matmul_dtypes, any_layout | ATOLL_CAP_STACKS),
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

ATOLL_PLUGIN_NOTE("cuda", ATOLL_KIND_DEVICES, 0);

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) {
    return &Atoll::cuda::descriptor;
}
