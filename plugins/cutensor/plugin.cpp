// The plugin `cutensor`: core.matmul on the device type `cuda` by NVIDIA's cuTENSOR, for the dtypes
// that cuTENSOR has. Everything else stays with the plugin `cuda`, which brings the device.
//
// cuTENSOR takes strides as they are, so operands are not permuted. It wants C to lie like D: a C
// that does not is permuted to D first, and added in place.
#include "atoll/plugin.hpp"

#include "atoll/core_functions.hpp"
#include "atoll/cuda.h"

#include <cstring>
#include <cutensor.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime.h>

ATOLL_PLUGIN_NOTE("cutensor", ATOLL_CONTAINS_IMPLS, 0);

namespace {

namespace sdk = Atoll::sdk;

constexpr const char *device_type = "cuda";

void check(cutensorStatus_t code, const char *what) {
    if (code == CUTENSOR_STATUS_SUCCESS) return;
    const atoll_status status = code == CUTENSOR_STATUS_NOT_SUPPORTED  ? ATOLL_STATUS_NOT_SUPPORTED
                                : code == CUTENSOR_STATUS_ALLOC_FAILED ? ATOLL_STATUS_OUT_OF_MEMORY
                                                                       : ATOLL_STATUS_INTERNAL;
    throw sdk::Error(status, std::string(what) + ": " + cutensorGetErrorString(code), code);
}
void check(cudaError_t code, const char *what) {
    if (code == cudaSuccess) return;
    cudaGetLastError();
    throw sdk::Error(ATOLL_STATUS_INTERNAL, std::string(what) + ": " + cudaGetErrorString(code),
                     code);
}

// What cuTENSOR makes and destroys.
template <class Handle, cutensorStatus_t (*destroy)(Handle)> class Owned {
public:
    Owned() = default;
    Owned(Owned &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Owned &operator=(Owned &&) = delete;
    ~Owned() {
        if (handle_) (void)destroy(handle_);
    }
    Handle get() const { return handle_; }
    Handle *put() { return &handle_; }

private:
    Handle handle_ = nullptr;
};
using Library = Owned<cutensorHandle_t, cutensorDestroy>;
using Tensor = Owned<cutensorTensorDescriptor_t, cutensorDestroyTensorDescriptor>;
using Operation = Owned<cutensorOperationDescriptor_t, cutensorDestroyOperationDescriptor>;
using Preference = Owned<cutensorPlanPreference_t, cutensorDestroyPlanPreference>;

struct Plan {
    Owned<cutensorPlan_t, cutensorDestroyPlan> handle;
    std::uint64_t workspace = 0; // bytes
};

// The device of the call is current while this lives.
class CurrentDevice {
public:
    explicit CurrentDevice(int device) {
        check(cudaGetDevice(&before_), "cudaGetDevice");
        if (before_ == device) return;
        check(cudaSetDevice(device), "cudaSetDevice");
        changed_ = true;
    }
    ~CurrentDevice() {
        if (changed_) cudaSetDevice(before_);
    }
    CurrentDevice(const CurrentDevice &) = delete;
    CurrentDevice &operator=(const CurrentDevice &) = delete;

private:
    int before_ = 0;
    bool changed_ = false;
};

struct Types {
    cutensorDataType_t data;
    cutensorComputeDescriptor_t compute;
};
Types types_of(std::uint32_t dtype) {
    switch (dtype) {
    case ATOLL_DTYPE_FLOAT16: return {CUDA_R_16F, CUTENSOR_COMPUTE_DESC_32F};
    case ATOLL_DTYPE_BFLOAT16: return {CUDA_R_16BF, CUTENSOR_COMPUTE_DESC_32F};
    case ATOLL_DTYPE_FLOAT32: return {CUDA_R_32F, CUTENSOR_COMPUTE_DESC_32F};
    default: return {CUDA_R_64F, CUTENSOR_COMPUTE_DESC_64F};
    }
}
// Complex numbers may be aligned to their parts only, which cuTENSOR does not take.
constexpr atoll_dtype_set dtypes =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT16) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_BFLOAT16) |
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64);

// An operand over the axes of the call on which it varies: its modes are the numbers of those.
struct Term {
    std::vector<std::int32_t> modes;
    std::vector<std::int64_t> extents, strides; // in elements
    std::uint32_t alignment;

    Term(const atoll_call &call, const atoll_operand &operand) {
        const auto size = static_cast<std::int64_t>(sdk::dtype_size(operand.dtype));
        for (std::uint32_t axis = 0; axis < call.rank; ++axis) {
            if (call.shape[axis] == 1 || operand.strides[axis] == 0) continue;
            modes.push_back(static_cast<std::int32_t>(axis));
            extents.push_back(call.shape[axis]);
            strides.push_back(operand.strides[axis] / size);
        }
        const auto address = reinterpret_cast<std::uintptr_t>(operand.data);
        alignment = 128;
        while (address % alignment != 0) alignment /= 2;
    }
    Tensor descriptor(cutensorHandle_t library, cutensorDataType_t type) const {
        Tensor made;
        check(cutensorCreateTensorDescriptor(library, made.put(),
                                             static_cast<std::uint32_t>(modes.size()),
                                             extents.data(), strides.data(), type, alignment),
              "cutensorCreateTensorDescriptor");
        return made;
    }
    bool lies_like(const Term &other) const {
        return modes == other.modes && strides == other.strides;
    }
};

// One device's: a handle of cuTENSOR, and the plans of calls seen before.
class Device {
public:
    Device() { check(cutensorCreate(library_.put()), "cutensorCreate"); }

    void multiply(const atoll_host &host, const atoll_call &call) {
        const auto stream =
            sdk::native_handle<cudaStream_t>(host, device_type, call, ATOLL_CUDA_STREAM);
        const atoll_operand &d = call.operands[0], &a = call.operands[1], &b = call.operands[2],
                            &c = call.operands[3];
        const Term to(call, d);
        const bool adds = !(c.flags & ATOLL_OPERAND_ABSENT);
        if (adds) {
            const Term from(call, c);
            if (c.data != d.data || !from.lies_like(to)) {
                const std::int64_t one_bits = call.dtype == ATOLL_DTYPE_FLOAT64
                                                  ? std::int64_t{0x3ff0000000000000}
                                                  : std::int64_t{0x3f800000};
                const auto permutation = plan(call, {&from, &to}, &Device::permute);
                check(cutensorPermute(library_.get(), permutation->handle.get(), &one_bits, c.data,
                                      d.data, stream),
                      "cutensorPermute");
            }
        }
        const Term left(call, a), right(call, b);
        const auto product = plan(call, {&left, &right, &to}, &Device::contract);
        const sdk::DeviceBlock workspace(host, device_type, call,
                                         std::max<std::uint64_t>(product->workspace, 1));
        const std::int64_t zero = 0;
        check(cutensorContract(
                  library_.get(), product->handle.get(), call.attributes[0].value.bytes, a.data,
                  b.data, adds ? static_cast<const void *>(call.attributes[1].value.bytes) : &zero,
                  d.data, d.data, workspace.data(), product->workspace, stream),
              "cutensorContract");
    }

private:
    using Terms = std::vector<const Term *>;

    void permute(const Types &types, const Terms &terms, Operation &operation) const {
        const Tensor from = terms[0]->descriptor(library_.get(), types.data),
                     to = terms[1]->descriptor(library_.get(), types.data);
        check(cutensorCreatePermutation(library_.get(), operation.put(), from.get(),
                                        terms[0]->modes.data(), CUTENSOR_OP_IDENTITY, to.get(),
                                        terms[1]->modes.data(), types.compute),
              "cutensorCreatePermutation");
    }
    void contract(const Types &types, const Terms &terms, Operation &operation) const {
        const Tensor a = terms[0]->descriptor(library_.get(), types.data),
                     b = terms[1]->descriptor(library_.get(), types.data),
                     d = terms[2]->descriptor(library_.get(), types.data);
        check(cutensorCreateContraction(library_.get(), operation.put(), a.get(),
                                        terms[0]->modes.data(), CUTENSOR_OP_IDENTITY, b.get(),
                                        terms[1]->modes.data(), CUTENSOR_OP_IDENTITY, d.get(),
                                        terms[2]->modes.data(), CUTENSOR_OP_IDENTITY, d.get(),
                                        terms[2]->modes.data(), types.compute),
              "cutensorCreateContraction");
    }

    // The plan for operands that lie like these, kept for the next such call.
    std::shared_ptr<const Plan> plan(const atoll_call &call, const Terms &terms,
                                     void (Device::*describe)(const Types &, const Terms &,
                                                              Operation &) const) {
        std::vector<std::int64_t> key{call.dtype};
        for (const Term *term : terms) {
            key.push_back(term->alignment);
            key.push_back(static_cast<std::int64_t>(term->modes.size()));
            key.insert(key.end(), term->modes.begin(), term->modes.end());
            key.insert(key.end(), term->extents.begin(), term->extents.end());
            key.insert(key.end(), term->strides.begin(), term->strides.end());
        }
        const std::lock_guard lock(mutex_);
        if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
        Operation operation;
        (this->*describe)(types_of(call.dtype), terms, operation);
        Preference preference;
        check(cutensorCreatePlanPreference(library_.get(), preference.put(), CUTENSOR_ALGO_DEFAULT,
                                           CUTENSOR_JIT_MODE_NONE),
              "cutensorCreatePlanPreference");
        std::uint64_t estimate = 0;
        check(cutensorEstimateWorkspaceSize(library_.get(), operation.get(), preference.get(),
                                            CUTENSOR_WORKSPACE_DEFAULT, &estimate),
              "cutensorEstimateWorkspaceSize");
        auto made = std::make_shared<Plan>();
        check(cutensorCreatePlan(library_.get(), made->handle.put(), operation.get(),
                                 preference.get(), estimate),
              "cutensorCreatePlan");
        check(cutensorPlanGetAttribute(library_.get(), made->handle.get(),
                                       CUTENSOR_PLAN_REQUIRED_WORKSPACE, &made->workspace,
                                       sizeof made->workspace),
              "cutensorPlanGetAttribute");
        if (plans_.size() == most_plans) plans_.clear();
        return plans_.emplace(std::move(key), std::move(made)).first->second;
    }

    static constexpr std::size_t most_plans = 256;
    Library library_;
    std::mutex mutex_;
    std::map<std::vector<std::int64_t>, std::shared_ptr<const Plan>> plans_;
};

struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host;
    std::mutex mutex;
    std::map<std::uint32_t, std::unique_ptr<Device>> devices; // by number

    Device &device(std::uint32_t number) {
        const std::lock_guard lock(mutex);
        std::unique_ptr<Device> &own = devices[number];
        if (!own) own = std::make_unique<Device>();
        return *own;
    }
};

void matmul(State &state, atoll_call &call) {
    const auto device = static_cast<int>(
        sdk::native_handle<std::uint64_t>(state.host, device_type, call, ATOLL_CUDA_DEVICE));
    const CurrentDevice current(device);
    state.device(call.device).multiply(state.host, call);
}

constexpr atoll_function_decl functions[] = {sdk::declare_core<matmul>(
    ATOLL_FN_matmul, ATOLL_CAP_STRIDED | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS, dtypes)};
// Before the plugin `cuda`, whatever the order of loading.
constexpr atoll_impl_decl with_priority(std::int32_t priority) {
    atoll_impl_decl impl = sdk::implement("core", device_type, functions);
    impl.priority = priority;
    return impl;
}
constexpr atoll_impl_decl impl = with_priority(10);
constexpr const atoll_impl_decl *impls[] = {&impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"cutensor", "0.1.0", "Atoll", "Apache-2.0", "tensor contractions on NVIDIA GPUs by cuTENSOR"},
    impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
