// cuTENSOR as loops. What breaks its rules is an error here: C that does not lie like D, modes of
// one factor alone, addresses that are less aligned than promised, a workspace that is too small.
#include "cutensor.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

struct cutensorHandle {};
struct cutensorPlanPreference {};
struct cutensorTensorDescriptor {
    std::vector<std::int64_t> extents, strides;
    cutensorDataType_t type;
    std::uint32_t alignment;
};
struct cutensorComputeDescriptor {};

namespace {

cutensorComputeDescriptor single, twice;
constexpr int most_modes = 24;
constexpr std::uint64_t workspace_bytes = 512;

// One mode: its extent, and how far a step goes in each operand, in elements.
struct Mode {
    std::int64_t extent = 0, stride[3] = {};
    bool in[3] = {};
};
struct Operation {
    cutensorDataType_t type{};
    std::uint32_t alignment[3] = {};
    int modes = 0, results = 0; // the modes of the result come first
    Mode mode[most_modes];
};

// Adds the modes of operand `which`.
bool add(Operation &to, std::vector<std::int32_t> &names, const cutensorTensorDescriptor &tensor,
         const std::int32_t *modes, int which) {
    to.alignment[which] = tensor.alignment;
    for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
        const auto known = std::find(names.begin(), names.end(), modes[i]);
        const auto at = static_cast<std::size_t>(known - names.begin());
        if (known == names.end()) {
            if (at == most_modes) return false;
            names.push_back(modes[i]);
            to.mode[at].extent = tensor.extents[i];
        }
        Mode &mode = to.mode[at];
        if (mode.in[which] || mode.extent != tensor.extents[i]) return false;
        mode.in[which] = true;
        mode.stride[which] = tensor.strides[i];
    }
    to.modes = static_cast<int>(names.size());
    return true;
}

template <class T> float widened(T value) { return static_cast<float>(value); }
double widened(double value) { return value; }
struct Bfloat {
    std::uint16_t bits;
    explicit operator float() const {
        const std::uint32_t wide = std::uint32_t{bits} << 16;
        float value;
        std::memcpy(&value, &wide, sizeof value);
        return value;
    }
};
template <class T, class Sum> T narrowed(Sum value) {
    if constexpr (std::is_same_v<T, Bfloat>) {
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    } else {
        return static_cast<T>(value);
    }
}

// d = alpha a b + beta d, or d = a without b.
template <class T, class Sum> struct Loop {
    Operation operation;
    const T *a, *b;
    T *d;
    Sum alpha, beta;

    static void kernel(Loop self) {
        const Operation &o = self.operation;
        std::int64_t results = 1, terms = 1;
        for (int m = 0; m < o.modes; ++m) (m < o.results ? results : terms) *= o.mode[m].extent;
        for (std::int64_t r = blockIdx.x * 32 + threadIdx.x; r < results; r += gridDim.x * 32) {
            std::int64_t start[3] = {};
            walk(o, 0, o.results, r, start);
            Sum sum{};
            for (std::int64_t t = 0; t < terms; ++t) {
                std::int64_t at[3] = {start[0], start[1], start[2]};
                walk(o, o.results, o.modes, t, at);
                const Sum left = widened(self.a[at[0]]);
                sum += self.b ? left * static_cast<Sum>(widened(self.b[at[1]])) : left;
            }
            T &out = self.d[start[2]];
            sum *= self.alpha;
            if (self.beta != Sum{}) sum += self.beta * static_cast<Sum>(widened(out));
            out = narrowed<T>(sum);
        }
    }
    static void walk(const Operation &o, int begin, int end, std::int64_t index,
                     std::int64_t (&at)[3]) {
        for (int m = begin; m < end; ++m) {
            const std::int64_t step = index % o.mode[m].extent;
            index /= o.mode[m].extent;
            for (int which = 0; which < 3; ++which) at[which] += step * o.mode[m].stride[which];
        }
    }
};

bool aligned(const void *memory, std::uint32_t bytes) {
    return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

template <class T, class Sum>
cutensorStatus_t launch(const Operation &o, const void *alpha, const void *a, const void *b,
                        const void *beta, void *d, cudaStream_t stream) {
    Loop<T, Sum> loop{
        o, static_cast<const T *>(a), static_cast<const T *>(b), static_cast<T *>(d), Sum{}, Sum{}};
    std::memcpy(&loop.alpha, alpha, sizeof(Sum));
    if (beta) std::memcpy(&loop.beta, beta, sizeof(Sum));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, &Loop<T, Sum>::kernel, loop) == cudaSuccess
               ? CUTENSOR_STATUS_SUCCESS
               : CUTENSOR_STATUS_EXECUTION_FAILED;
}

cutensorStatus_t run(const Operation &o, const void *alpha, const void *a, const void *b,
                     const void *beta, void *d, cudaStream_t stream) {
    if (!aligned(a, o.alignment[0]) || (b && !aligned(b, o.alignment[1])) ||
        !aligned(d, o.alignment[2]))
        return CUTENSOR_STATUS_INVALID_VALUE;
    switch (o.type) {
    case CUDA_R_16F: return launch<_Float16, float>(o, alpha, a, b, beta, d, stream);
    case CUDA_R_16BF: return launch<Bfloat, float>(o, alpha, a, b, beta, d, stream);
    case CUDA_R_32F: return launch<float, float>(o, alpha, a, b, beta, d, stream);
    case CUDA_R_64F: return launch<double, double>(o, alpha, a, b, beta, d, stream);
    default: return CUTENSOR_STATUS_NOT_SUPPORTED;
    }
}

bool computes(cutensorDataType_t type, cutensorComputeDescriptor_t compute) {
    return compute == (type == CUDA_R_64F ? &twice : &single);
}

} // namespace

struct cutensorOperationDescriptor {
    Operation operation;
};
struct cutensorPlan {
    Operation operation;
};

const cutensorComputeDescriptor_t CUTENSOR_COMPUTE_DESC_32F = &single;
const cutensorComputeDescriptor_t CUTENSOR_COMPUTE_DESC_64F = &twice;

const char *cutensorGetErrorString(cutensorStatus_t status) {
    return status == CUTENSOR_STATUS_NOT_SUPPORTED   ? "not supported (emulated)"
           : status == CUTENSOR_STATUS_INVALID_VALUE ? "invalid value (emulated)"
                                                     : "failed (emulated)";
}
cutensorStatus_t cutensorCreate(cutensorHandle_t *handle) {
    *handle = new cutensorHandle;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorDestroy(cutensorHandle_t handle) {
    delete handle;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorCreateTensorDescriptor(cutensorHandle_t, cutensorTensorDescriptor_t *made,
                                                std::uint32_t modes, const std::int64_t *extents,
                                                const std::int64_t *strides,
                                                cutensorDataType_t type, std::uint32_t alignment) {
    const bool good = std::all_of(extents, extents + modes, [](auto n) { return n > 0; }) &&
                      std::all_of(strides, strides + modes, [](auto n) { return n > 0; });
    if (!good || alignment == 0) return CUTENSOR_STATUS_INVALID_VALUE;
    *made = new cutensorTensorDescriptor{
        {extents, extents + modes}, {strides, strides + modes}, type, alignment};
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorDestroyTensorDescriptor(cutensorTensorDescriptor_t descriptor) {
    delete descriptor;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorCreateContraction(
    cutensorHandle_t, cutensorOperationDescriptor_t *made, cutensorTensorDescriptor_t a,
    const std::int32_t *modes_a, cutensorOperator_t, cutensorTensorDescriptor_t b,
    const std::int32_t *modes_b, cutensorOperator_t, cutensorTensorDescriptor_t c,
    const std::int32_t *modes_c, cutensorOperator_t, cutensorTensorDescriptor_t d,
    const std::int32_t *modes_d, cutensorComputeDescriptor_t compute) {
    if (c != d || modes_c != modes_d || !computes(d->type, compute) || a->type != d->type ||
        b->type != d->type)
        return CUTENSOR_STATUS_NOT_SUPPORTED;
    Operation operation;
    operation.type = d->type;
    std::vector<std::int32_t> names;
    if (!add(operation, names, *d, modes_d, 2)) return CUTENSOR_STATUS_INVALID_VALUE;
    operation.results = operation.modes;
    if (!add(operation, names, *a, modes_a, 0) || !add(operation, names, *b, modes_b, 1))
        return CUTENSOR_STATUS_INVALID_VALUE;
    for (int m = 0; m < operation.modes; ++m) {
        const Mode &mode = operation.mode[m];
        if (mode.in[0] + mode.in[1] + mode.in[2] < 2) return CUTENSOR_STATUS_NOT_SUPPORTED;
    }
    *made = new cutensorOperationDescriptor{operation};
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorCreatePermutation(cutensorHandle_t, cutensorOperationDescriptor_t *made,
                                           cutensorTensorDescriptor_t a,
                                           const std::int32_t *modes_a, cutensorOperator_t,
                                           cutensorTensorDescriptor_t b,
                                           const std::int32_t *modes_b,
                                           cutensorComputeDescriptor_t compute) {
    if (!computes(b->type, compute) || a->type != b->type) return CUTENSOR_STATUS_NOT_SUPPORTED;
    Operation operation;
    operation.type = b->type;
    std::vector<std::int32_t> names;
    if (!add(operation, names, *b, modes_b, 2)) return CUTENSOR_STATUS_INVALID_VALUE;
    operation.results = operation.modes;
    if (!add(operation, names, *a, modes_a, 0) || operation.modes != operation.results)
        return CUTENSOR_STATUS_INVALID_VALUE;
    *made = new cutensorOperationDescriptor{operation};
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorDestroyOperationDescriptor(cutensorOperationDescriptor_t descriptor) {
    delete descriptor;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorCreatePlanPreference(cutensorHandle_t, cutensorPlanPreference_t *made,
                                              cutensorAlgo_t, cutensorJitMode_t) {
    *made = new cutensorPlanPreference;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorDestroyPlanPreference(cutensorPlanPreference_t preference) {
    delete preference;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorEstimateWorkspaceSize(cutensorHandle_t, cutensorOperationDescriptor_t,
                                               cutensorPlanPreference_t,
                                               cutensorWorksizePreference_t, std::uint64_t *bytes) {
    *bytes = 2 * workspace_bytes;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorCreatePlan(cutensorHandle_t, cutensorPlan_t *made,
                                    cutensorOperationDescriptor_t operation,
                                    cutensorPlanPreference_t, std::uint64_t limit) {
    if (limit < workspace_bytes) return CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE;
    *made = new cutensorPlan{operation->operation};
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorDestroyPlan(cutensorPlan_t plan) {
    delete plan;
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorPlanGetAttribute(cutensorHandle_t, cutensorPlan_t, cutensorPlanAttribute_t,
                                          void *value, std::size_t bytes) {
    if (bytes != sizeof workspace_bytes) return CUTENSOR_STATUS_INVALID_VALUE;
    std::memcpy(value, &workspace_bytes, bytes);
    return CUTENSOR_STATUS_SUCCESS;
}
cutensorStatus_t cutensorContract(cutensorHandle_t, cutensorPlan_t plan, const void *alpha,
                                  const void *a, const void *b, const void *beta, const void *c,
                                  void *d, void *workspace, std::uint64_t bytes,
                                  cudaStream_t stream) {
    if (c != d) return CUTENSOR_STATUS_NOT_SUPPORTED;
    if (bytes < workspace_bytes || !aligned(workspace, 128))
        return CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE;
    return run(plan->operation, alpha, a, b, beta, d, stream);
}
cutensorStatus_t cutensorPermute(cutensorHandle_t, cutensorPlan_t plan, const void *alpha,
                                 const void *a, void *b, cudaStream_t stream) {
    return run(plan->operation, alpha, a, nullptr, nullptr, b, stream);
}
