// The device of `atoll new-plugin`, some functions later: what docs/vendor-guide.md leads to.
#include <atoll/convert.hpp>
#include <atoll/plugin.hpp>
#include <cmath>
#include <cstring>
#include <new>

ATOLL_PLUGIN_NOTE("grown_device", ATOLL_CONTAINS_DEVICES, 0);

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

void enumerate(State &, atoll_call &call) { sdk::params<atoll_enumerate_params>(call).count = 1; }

void properties(State &state, atoll_call &call) {
    auto &result = sdk::params<atoll_properties_params>(call);
    std::strcpy(result.name, "a device that has grown");
    result.units = static_cast<std::uint32_t>(state.units);
    result.alignment = alignment;
}

void allocate(State &, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
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

// ---- Functions ----------------------------------------------------------------------------------

constexpr atoll_dtype_set floats =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT16) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_BFLOAT16) |
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

void copy(State &, atoll_call &call) { sdk::copy(call); }

void fill(State &, atoll_call &call) {
    sdk::with_type<ATOLL_DOMAIN_ALL>(call.dtype, [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, call.attributes[0].value.bytes, sizeof value);
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

// Declared without capabilities: one dense vector at a time.
void sum(State &, atoll_call &call) {
    sdk::with_type<floats>(call.dtype, [&]<class T>(std::type_identity<T>) {
        const sdk::Operand<T> out(call, 0);
        const sdk::Operand<const T> in(call, 1);
        double total = 0;
        for (std::int64_t i = 0; i < call.shape[0]; ++i) total += static_cast<double>(in(i));
        *out.data() = static_cast<T>(static_cast<sdk::Value<T>>(total));
    });
}

// d = alpha a b + beta c. Declared without capabilities: one matrix at a time, the axes are
// (m, k, n).
void matmul(State &, atoll_call &call) {
    const double alpha = call.attributes[0].value.f64[0], beta = call.attributes[1].value.f64[0];
    const sdk::Operand<double> d(call, 0);
    const sdk::Operand<const double> a(call, 1), b(call, 2);
    const bool add_c = beta != 0 && !(call.operands[3].flags & ATOLL_OPERAND_ABSENT);
    for (std::int64_t j = 0; j < call.shape[2]; ++j)
        for (std::int64_t i = 0; i < call.shape[0]; ++i) {
            double total = 0;
            for (std::int64_t k = 0; k < call.shape[1]; ++k) total += a(i, k) * b(0, k, j);
            const double addend = add_c ? beta * sdk::Operand<const double>(call, 3)(i, 0, j) : 0;
            d(i, 0, j) = alpha * total + addend;
        }
}

constexpr std::uint64_t any_strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

constexpr atoll_function_decl core_functions[] = {
    sdk::declare<copy>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, sdk::copy_caps),
    sdk::declare<fill>(ATOLL_FN_fill, ATOLL_DOMAIN_ALL, any_strides),
    sdk::declare<add>(ATOLL_FN_add, floats, any_strides),
    sdk::declare<exp>(ATOLL_FN_exp, floats, any_strides),
    sdk::declare<less>(ATOLL_FN_less, floats, any_strides),
    sdk::declare<sum>(ATOLL_FN_sum, floats),
    // It knows alpha, beta and conjugation (of which reals have none), and c.
    sdk::declare<matmul>(ATOLL_FN_matmul, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64), 0,
                         {.attributes = 4, .inputs = 3}),
};

// ---- Descriptor ---------------------------------------------------------------------------------

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

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
