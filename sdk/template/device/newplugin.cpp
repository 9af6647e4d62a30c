// newplugin: a device type that computes on tensors. It uses host memory
// and loops in place of your hardware; each function below describes what to replace them with.
//
// The host may not look into this device's memory: it moves data with `transfer`. The device is
// inline: a call has taken effect when it returns, so it needs no streams and no events yet.
#include <atoll/convert.hpp>
#include <atoll/plugin.hpp>
#include <cstring>
#include <new>

ATOLL_PLUGIN_NOTE("newplugin", ATOLL_CONTAINS_DEVICES, 0);

namespace {

namespace sdk = Atoll::sdk;

// Created when the plugin is loaded, destroyed when it is retired, passed to every function.
// Handles of your driver go here. What the constructor throws is why the plugin was not loaded.
struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host; // logging, settings, other functions: atoll/abi/host.h
};

// ---- The device: five functions are required ----------------------------------------------------

constexpr std::size_t alignment = 64; // bytes

void enumerate(State &, atoll_call &call) {
    sdk::params<atoll_enumerate_params>(call).count = 1; // 0 and a reason where there is none
}

void properties(State &, atoll_call &call) {
    auto &result = sdk::params<atoll_properties_params>(call);
    std::strcpy(result.name, "newplugin's first device");
    result.alignment = alignment;
}

void allocate(State &, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = ::operator new(memory.bytes, std::align_val_t(alignment));
}

void free(State &, atoll_call &call) {
    ::operator delete(sdk::params<atoll_memory_params>(call).data, std::align_val_t(alignment));
}

// Host to device, device to host and device to device do not differ here.
void transfer(State &, atoll_call &call) {
    const auto &asked = sdk::params<atoll_transfer_params>(call);
    std::memmove(asked.destination, asked.source, asked.bytes);
}

constexpr atoll_function_decl device_functions[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<allocate>(ATOLL_DEVICE_FN_allocate),
    sdk::declare<free>(ATOLL_DEVICE_FN_free),
    sdk::declare<transfer>(ATOLL_DEVICE_FN_transfer),
};

// ---- What it computes: one function at a time ---------------------------------------------------

// The host converts with `copy` whatever the other functions do not take, so it takes everything.
void copy(State &, atoll_call &call) { sdk::copy(call); }

void fill(State &, atoll_call &call) {
    sdk::with_type<ATOLL_DOMAIN_ALL>(call.dtype, [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, call.attributes[0].value.bytes, sizeof value);
        sdk::for_each<T>(call, [&](T &out) { out = value; });
    });
}

// Declared without capabilities, so all three are dense vectors of the compute dtype.
template <class T> void add(State &, atoll_call &call) {
    const auto out = sdk::Operand<T>(call, 0).span();
    const auto a = sdk::Operand<const T>(call, 1).span(), b = sdk::Operand<const T>(call, 2).span();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
}

constexpr std::uint64_t any_strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

constexpr atoll_function_decl core_functions[] = {
    sdk::declare<copy>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, sdk::copy_caps),
    sdk::declare<fill>(ATOLL_FN_fill, ATOLL_DOMAIN_ALL, any_strides),
    sdk::declare<add<float>>(ATOLL_FN_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32)),
    sdk::declare<add<double>>(ATOLL_FN_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64)),
};

// ---- Descriptor ---------------------------------------------------------------------------------

constexpr atoll_device_type_decl device_type = sdk::device_type("newplugin", ATOLL_DEVICE_INLINE);
constexpr const atoll_device_type_decl *device_types[] = {&device_type};

constexpr atoll_impl_decl device_impl = sdk::implement("device", "newplugin", device_functions);
constexpr atoll_impl_decl core_impl = sdk::implement("core", "newplugin", core_functions);
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"newplugin", "0.1.0", "your name", "your licence", "a device that adds"}, device_types, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
