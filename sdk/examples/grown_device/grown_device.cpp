// The device of `atoll new-plugin`, some functions later: what docs/vendor-guide.md leads to.
#include <atoll/convert.hpp>
#include <atoll/plugin.hpp>
#include <cmath>
#include <cstring>
#include <new>

ATOLL_PLUGIN_NOTE("grown_device", ATOLL_KIND_DEVICES, 0);

namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &services)
        : host(services), units(std::stoi(sdk::config(services, "units", "4"))) {
        if (units < 1) throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "units: need at least 1");
    }
    const atoll_host &host;
    const int units;
};

// ---- The device ---------------------------------------------------------------------------------

constexpr std::size_t alignment = 64; // bytes

void enumerate(State &, atoll_call &call) { sdk::results<atoll_enumerate_params>(call).count = 1; }

void properties(State &state, atoll_call &call) {
    auto &result = sdk::results<atoll_properties_params>(call);
    std::strcpy(result.name, "a device that has grown");
    result.units = static_cast<std::uint32_t>(state.units);
    result.alignment = alignment;
}

void allocate(State &, atoll_call &call) {
    auto &memory = sdk::results<atoll_memory_params>(call);
    memory.data = ::operator new(memory.bytes, std::align_val_t(alignment));
}

void free(State &, atoll_call &call) {
    ::operator delete(sdk::params<atoll_memory_params>(call).data, std::align_val_t(alignment));
}

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

// ---- What it computes ---------------------------------------------------------------------------

constexpr std::uint32_t floats = ATOLL_BIT(ATOLL_FLOAT16) | ATOLL_BIT(ATOLL_BFLOAT16) |
                                 ATOLL_BIT(ATOLL_FLOAT32) | ATOLL_BIT(ATOLL_FLOAT64);

void copy(State &, atoll_call &call) { sdk::copy(call); }

void fill(State &, atoll_call &call) {
    const atoll_scalar &number = sdk::params<atoll_fill_params>(call).value;
    sdk::with_type<ATOLL_DOMAIN_ALL>(call.dtype, [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, number.value.bytes, sizeof value);
        sdk::for_each<T>(call, [&](T &out) { out = value; });
    });
}

void add(State &, atoll_call &call) {
    sdk::with_type<floats>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<T, T, T>(call, [](auto a, auto b) { return a + b; });
    });
}

void exp(State &, atoll_call &call) {
    sdk::with_type<floats>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<T, T>(call, [](auto a) { return std::exp(a); });
    });
}

void less(State &, atoll_call &call) {
    sdk::with_type<floats>(call.dtype, [&]<class T>(std::type_identity<T>) {
        sdk::elementwise<bool, T, T>(call, [](auto a, auto b) { return a < b; });
    });
}

// Declared without capabilities: the axes are (kept, reduced), and dense.
void sum(State &, atoll_call &call) {
    sdk::with_type<floats>(call.dtype, [&]<class T>(std::type_identity<T>) {
        const sdk::Operand<T> out(call, 0);
        const sdk::Operand<const T> in(call, 1);
        for (std::int64_t i = 0; i < call.shape[0]; ++i) {
            double total = 0;
            for (std::int64_t j = 0; j < call.shape[1]; ++j) total += static_cast<double>(in(i, j));
            out(i) = static_cast<T>(static_cast<sdk::Value<T>>(total));
        }
    });
}

// Declared without capabilities: the axes are (m, n, k), one matrix at a time.
void matmul(State &, atoll_call &call) {
    const auto &params = sdk::params<atoll_matmul_params>(call);
    sdk::with_type<ATOLL_BIT(ATOLL_FLOAT64)>(call.dtype, [&]<class T>(std::type_identity<T>) {
        const T alpha = params.alpha.value.f64[0], beta = params.beta.value.f64[0];
        const sdk::Operand<T> out(call, 0);
        const sdk::Operand<const T> a(call, 1), b(call, 2);
        for (std::int64_t j = 0; j < call.shape[1]; ++j)
            for (std::int64_t i = 0; i < call.shape[0]; ++i) {
                T total = 0;
                for (std::int64_t k = 0; k < call.shape[2]; ++k) total += a(i, 0, k) * b(0, j, k);
                out(i, j) = alpha * total + (beta == 0 ? 0 : beta * out(i, j));
            }
    });
}

constexpr std::uint32_t any_strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

constexpr atoll_function_decl core_functions[] = {
    sdk::declare<copy>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, sdk::copy_caps),
    sdk::declare<fill>(ATOLL_FN_fill, ATOLL_DOMAIN_ALL, any_strides),
    sdk::declare<add>(ATOLL_FN_add, floats, any_strides),
    sdk::declare<exp>(ATOLL_FN_exp, floats, any_strides),
    sdk::declare<less>(ATOLL_FN_less, floats, any_strides),
    sdk::declare<sum>(ATOLL_FN_sum, floats),
    sdk::declare<matmul>(ATOLL_FN_matmul, ATOLL_BIT(ATOLL_FLOAT64)),
};

// ---- What the plugin says of itself -------------------------------------------------------------

constexpr atoll_device_type_decl device_type =
    sdk::device_type("grown_device", ATOLL_DEVICE_INLINE);
constexpr const atoll_device_type_decl *device_types[] = {&device_type};

constexpr atoll_impl_decl device_impl = sdk::implement("device", "grown_device", device_functions);
constexpr atoll_impl_decl core_impl = sdk::implement("core", "grown_device", core_functions);
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"grown_device", "0.1.0", "a third party", "Apache-2.0", "the guide's device"}, device_types,
    impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) { return &plugin; }
