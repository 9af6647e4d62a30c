// Contexts: those of devices, which CUDA calls primary, and those that an application makes.
//
// Note [Emulated contexts]
// Every thread has a stack of contexts. A call of the runtime that needs one where there is none
// makes the primary context of device 0 current, which is counted: a guest does not do that to an
// application's thread. Calls on a context that an application has made fail.
#include "cuda.h"
#include "runtime.hpp"

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

struct CUctx_st {
    Emulated::Device &device;
    bool is_primary;
};

namespace Emulated {
namespace {

thread_local std::vector<CUcontext> stack;
std::atomic<long> implied{0}, retained{0};

CUcontext primary(int index) {
    static CUctx_st *const contexts[device_count] = {new CUctx_st{device(0), true},
                                                     new CUctx_st{device(1), true}};
    return contexts[index];
}

CUresult result_of(cudaError_t code) { return static_cast<CUresult>(code); }

} // namespace

Device &current_device() { return stack.empty() ? device(0) : stack.back()->device; }

bool has_context() { return !stack.empty(); }

cudaError_t enter_context(const char *function) {
    if (stack.empty()) {
        ++implied;
        stack.push_back(primary(0));
    }
    if (const cudaError_t code = enter(function); code != cudaSuccess) return code;
    return stack.back()->is_primary ? cudaSuccess : outcome(cudaErrorInvalidResourceHandle);
}

} // namespace Emulated

using namespace Emulated;

cudaError_t cudaGetDevice(int *index) {
    *index = current_device().index;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
    if (index < 0 || index >= device_count) return outcome(cudaErrorInvalidDevice);
    if (const cudaError_t code = enter(__func__); code != cudaSuccess) return code;
    if (!stack.empty()) stack.pop_back();
    stack.push_back(primary(index));
    return cudaSuccess;
}

CUresult cuDeviceGet(CUdevice *result, int ordinal) {
    if (const cudaError_t code = enter(__func__); code != cudaSuccess) return result_of(code);
    if (ordinal < 0 || ordinal >= device_count) return CUDA_ERROR_INVALID_DEVICE;
    *result = ordinal;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice index) {
    if (const cudaError_t code = enter(__func__); code != cudaSuccess) return result_of(code);
    ++retained;
    *context = primary(index);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
    --retained;
    return result_of(enter(__func__));
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = stack.empty() ? nullptr : stack.back();
    return result_of(enter_named(__func__));
}
CUresult cuCtxPushCurrent(CUcontext context) {
    if (const cudaError_t code = enter_named(__func__); code != cudaSuccess) return result_of(code);
    stack.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) {
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
    if (const cudaError_t code = enter(__func__); code != cudaSuccess) return code;
    *function = nullptr;
#define FUNCTION(name)                                                                             \
    if (std::strcmp(symbol, #name) == 0) *function = reinterpret_cast<void *>(&name)
    FUNCTION(cuDeviceGet);
    FUNCTION(cuDevicePrimaryCtxRetain);
    FUNCTION(cuDevicePrimaryCtxRelease);
    FUNCTION(cuCtxGetCurrent);
    FUNCTION(cuCtxPushCurrent);
    FUNCTION(cuCtxPopCurrent);
#undef FUNCTION
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

long emulated_implied_contexts() { return implied; }
long emulated_retained_contexts() { return retained; }
CUcontext emulated_make_context(int index) {
    static auto *const made = new std::deque<CUctx_st>; // as long as the process
    stack.push_back(&made->emplace_back(CUctx_st{device(index), false}));
    return stack.back();
}
