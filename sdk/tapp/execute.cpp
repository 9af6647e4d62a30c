// Executions of planned products, one or many.
#include "plan.hpp"
#include "status.hpp"

#include <atoll/half.h>
#include <atoll/scalar.hpp>
#include <chrono>
#include <complex>
#include <cstring>
#include <limits>

namespace Atoll::Tapp {

namespace {

template <class T> T load(const void *from, std::size_t at = 0) {
    T value;
    std::memcpy(&value, static_cast<const char *>(from) + at * sizeof value, sizeof value);
    return value;
}
float load_half(const void *from, std::size_t at = 0) {
    return atoll_half_to_float(load<std::uint16_t>(from, at));
}

Scalar load_scalar(const void *from, DType dtype) {
    switch (dtype) {
    case DType::bool_: return load<std::uint8_t>(from) != 0;
    case DType::int8: return load<std::int8_t>(from);
    case DType::int16: return load<std::int16_t>(from);
    case DType::int32: return load<std::int32_t>(from);
    case DType::int64: return load<std::int64_t>(from);
    case DType::uint8: return load<std::uint8_t>(from);
    case DType::uint16: return load<std::uint16_t>(from);
    case DType::uint32: return load<std::uint32_t>(from);
    case DType::uint64: return load<std::uint64_t>(from);
    case DType::float16: return load_half(from);
    case DType::bfloat16: return atoll_bfloat_to_float(load<std::uint16_t>(from));
    case DType::float32: return load<float>(from);
    case DType::float64: return load<double>(from);
    case DType::complex32: return std::complex<float>(load_half(from), load_half(from, 1));
    case DType::complex64: return load<std::complex<float>>(from);
    case DType::complex128: return load<std::complex<double>>(from);
    case DType::none: break;
    }
    fail(TAPP_ATOLL_INTERNAL, "a plan without a type of D");
}

// What an execution is called with; `count` sets of addresses.
struct Call {
    const void *alpha, *beta;
    std::int64_t count;
    const void *const *a, *const *b, *const *c;
    void *const *d;

    Addresses addresses(std::int64_t i) const {
        return {{const_cast<void *>(a[i]), const_cast<void *>(b[i]),
                 c ? const_cast<void *>(c[i]) : nullptr, d[i]}};
    }
};

void check_addresses(const Product &product, const Call &call) {
    constexpr const char *names[roles] = {"A", "B", "C", "D"};
    if (product.is_empty(D)) return;
    for (std::int64_t i = 0; i < call.count; ++i) {
        const Addresses addresses = call.addresses(i);
        for (const Role role : {A, B, D})
            if (!product.is_empty(role) && !addresses.at[role])
                fail(TAPP_ATOLL_NULL_ARGUMENT, "{} of product {} is NULL", names[role], i);
    }
}

void check_summands(const Call &call) {
    for (std::int64_t i = 0; i < call.count; ++i)
        if (!call.addresses(i).at[C]) fail(12, "C of product {} is NULL, but beta is not 0", i);
}

// The distance of neighbours in bytes, if all are equally far from each other.
bool spacing_of(const Call &call, bool adds, std::int64_t (&spacing)[roles]) {
    for (const Role role : {A, B, C, D}) {
        const auto at = [&](std::int64_t i) {
            return reinterpret_cast<std::uintptr_t>(call.addresses(i).at[role]);
        };
        spacing[role] = static_cast<std::int64_t>(at(1) - at(0));
        for (std::int64_t i = 2; i < call.count; ++i)
            if (static_cast<std::int64_t>(at(i) - at(i - 1)) != spacing[role]) {
                if (role == C && !adds) break;
                return false;
            }
    }
    if (!adds) spacing[C] = 0; // not read
    return true;
}

void run(const Plan &plan, const Target &target, const Scalar &alpha, const Scalar &beta, bool adds,
         const Call &call) {
    const Product &product = plan.product();
    const auto addresses = [&](std::int64_t i) {
        Addresses of = call.addresses(i);
        if (!adds) of.at[C] = nullptr;
        return of;
    };
    std::int64_t spacing[roles];
    if (call.count > 1 && spacing_of(call, adds, spacing))
        if (const auto batch = plan.batch(call.count, spacing))
            return batch->run(target, alpha, beta, addresses(0));
    for (std::int64_t i = 0; i < call.count; ++i) product.run(target, alpha, beta, addresses(i));
}

void execute(const Plan &plan, TAPP_executor exec, const Call &call, Execution &execution) {
    const Product &product = plan.product();
    if (call.count < 0) fail(TAPP_ATOLL_BAD_COUNT, "got {} products, need 0 or more", call.count);
    require_memory(call.alpha, "alpha");
    require_memory(call.beta, "beta");
    if (call.count > 0) {
        require_memory(call.a, "A");
        require_memory(call.b, "B");
        require_memory(call.d, "D");
    }
    const DType dtype = product.operand(D).dtype();
    const Scalar alpha = load_scalar(call.alpha, dtype), beta = load_scalar(call.beta, dtype);
    const bool adds = beta.to_complex() != std::complex<double>(0);
    if (adds) check_summands(call);
    if (exec == 0) fail(33, "exec is 0, need an executor of TAPP_create_executor");
    const Target target = executors().get(exec, "exec")->target();
    execution.device = target.place->name();
    check_addresses(product, call);
    if (!product.is_empty(D)) run(plan, target, plan.factor(alpha), plan.factor(beta), adds, call);
    if (__builtin_mul_overflow(plan.operations(), call.count, &execution.operations))
        execution.operations = std::numeric_limits<std::int64_t>::max();
}

TAPP_error execute(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status *status,
                   const Call &call) noexcept {
    const auto start = std::chrono::steady_clock::now();
    Execution execution;
    execution.error = guarded([&] { execute(*plans().get(plan, "plan"), exec, call, execution); });
    if (status) {
        execution.nanoseconds =
            std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
        *status = record(execution);
    }
    return execution.error;
}

} // namespace

} // namespace Atoll::Tapp

using namespace Atoll::Tapp;

TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status *status,
                                const void *alpha, const void *A, const void *B, const void *beta,
                                const void *C, void *D) {
    return execute(plan, exec, status, {alpha, beta, 1, &A, &B, &C, &D});
}

TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec,
                                        TAPP_status *status, int num_batches, const void *alpha,
                                        const void **A, const void **B, const void *beta,
                                        const void **C, void **D) {
    return execute(plan, exec, status, {alpha, beta, num_batches, A, B, C, D});
}
