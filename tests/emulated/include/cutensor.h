// The part of cuTENSOR 2 that the plugin `cutensor` uses. The emulated library is cutensor.cpp.
#pragma once

#include "cublas_v2.h"

#include <cstdint>

enum cutensorStatus_t {
    CUTENSOR_STATUS_SUCCESS = 0,
    CUTENSOR_STATUS_ALLOC_FAILED = 3,
    CUTENSOR_STATUS_INVALID_VALUE = 7,
    CUTENSOR_STATUS_EXECUTION_FAILED = 13,
    CUTENSOR_STATUS_NOT_SUPPORTED = 15,
    CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE = 19
};
enum cutensorOperator_t { CUTENSOR_OP_IDENTITY = 1 };
enum cutensorAlgo_t { CUTENSOR_ALGO_DEFAULT = -1 };
enum cutensorJitMode_t { CUTENSOR_JIT_MODE_NONE = 0 };
enum cutensorWorksizePreference_t { CUTENSOR_WORKSPACE_DEFAULT = 2 };
enum cutensorPlanAttribute_t { CUTENSOR_PLAN_REQUIRED_WORKSPACE = 0 };
using cutensorDataType_t = cudaDataType;
using cutensorHandle_t = struct cutensorHandle *;
using cutensorTensorDescriptor_t = struct cutensorTensorDescriptor *;
using cutensorOperationDescriptor_t = struct cutensorOperationDescriptor *;
using cutensorPlanPreference_t = struct cutensorPlanPreference *;
using cutensorPlan_t = struct cutensorPlan *;
using cutensorComputeDescriptor_t = struct cutensorComputeDescriptor *;

extern "C" {
extern const cutensorComputeDescriptor_t CUTENSOR_COMPUTE_DESC_32F;
extern const cutensorComputeDescriptor_t CUTENSOR_COMPUTE_DESC_64F;
const char *cutensorGetErrorString(cutensorStatus_t status);
cutensorStatus_t cutensorCreate(cutensorHandle_t *handle);
cutensorStatus_t cutensorDestroy(cutensorHandle_t handle);
cutensorStatus_t cutensorCreateTensorDescriptor(cutensorHandle_t handle,
                                                cutensorTensorDescriptor_t *made,
                                                std::uint32_t modes, const std::int64_t *extents,
                                                const std::int64_t *strides,
                                                cutensorDataType_t type, std::uint32_t alignment);
cutensorStatus_t cutensorDestroyTensorDescriptor(cutensorTensorDescriptor_t descriptor);
cutensorStatus_t cutensorCreateContraction(
    cutensorHandle_t handle, cutensorOperationDescriptor_t *made, cutensorTensorDescriptor_t a,
    const std::int32_t *modes_a, cutensorOperator_t op_a, cutensorTensorDescriptor_t b,
    const std::int32_t *modes_b, cutensorOperator_t op_b, cutensorTensorDescriptor_t c,
    const std::int32_t *modes_c, cutensorOperator_t op_c, cutensorTensorDescriptor_t d,
    const std::int32_t *modes_d, cutensorComputeDescriptor_t compute);
cutensorStatus_t
cutensorCreatePermutation(cutensorHandle_t handle, cutensorOperationDescriptor_t *made,
                          cutensorTensorDescriptor_t a, const std::int32_t *modes_a,
                          cutensorOperator_t op_a, cutensorTensorDescriptor_t b,
                          const std::int32_t *modes_b, cutensorComputeDescriptor_t compute);
cutensorStatus_t cutensorDestroyOperationDescriptor(cutensorOperationDescriptor_t descriptor);
cutensorStatus_t cutensorCreatePlanPreference(cutensorHandle_t handle,
                                              cutensorPlanPreference_t *made, cutensorAlgo_t algo,
                                              cutensorJitMode_t jit);
cutensorStatus_t cutensorDestroyPlanPreference(cutensorPlanPreference_t preference);
cutensorStatus_t cutensorEstimateWorkspaceSize(cutensorHandle_t handle,
                                               cutensorOperationDescriptor_t operation,
                                               cutensorPlanPreference_t preference,
                                               cutensorWorksizePreference_t wanted,
                                               std::uint64_t *bytes);
cutensorStatus_t cutensorCreatePlan(cutensorHandle_t handle, cutensorPlan_t *made,
                                    cutensorOperationDescriptor_t operation,
                                    cutensorPlanPreference_t preference, std::uint64_t limit);
cutensorStatus_t cutensorDestroyPlan(cutensorPlan_t plan);
cutensorStatus_t cutensorPlanGetAttribute(cutensorHandle_t handle, cutensorPlan_t plan,
                                          cutensorPlanAttribute_t attribute, void *value,
                                          std::size_t bytes);
cutensorStatus_t cutensorContract(cutensorHandle_t handle, cutensorPlan_t plan, const void *alpha,
                                  const void *a, const void *b, const void *beta, const void *c,
                                  void *d, void *workspace, std::uint64_t workspace_bytes,
                                  cudaStream_t stream);
cutensorStatus_t cutensorPermute(cutensorHandle_t handle, cutensorPlan_t plan, const void *alpha,
                                 const void *a, void *b, cudaStream_t stream);
}
