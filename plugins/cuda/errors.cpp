// Errors of CUDA: which status they are, what they mean, and whom they stem from.
#include "errors.hpp"

#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <pthread.h>

namespace Atoll::cuda {

atoll_status status_of(cudaError_t code) {
    switch (code) {
    case cudaErrorMemoryAllocation: return ATOLL_STATUS_OUT_OF_MEMORY;
    case cudaErrorNotReady: return ATOLL_STATUS_NOT_READY;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInsufficientDriver: return ATOLL_STATUS_NOT_SUPPORTED;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure: return ATOLL_STATUS_KERNEL_FAILED;
    case cudaErrorECCUncorrectable:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice: return ATOLL_STATUS_DEVICE_LOST;
    default: return ATOLL_STATUS_INTERNAL;
    }
}

namespace {

atoll_status status_of(cublasStatus_t code) {
    switch (code) {
    case CUBLAS_STATUS_ALLOC_FAILED: return ATOLL_STATUS_OUT_OF_MEMORY;
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_NOT_SUPPORTED: return ATOLL_STATUS_NOT_SUPPORTED;
    case CUBLAS_STATUS_EXECUTION_FAILED: return ATOLL_STATUS_KERNEL_FAILED;
    default: return ATOLL_STATUS_INTERNAL;
    }
}

} // namespace

bool is_final(cudaError_t code) {
    return status_of(code) == ATOLL_STATUS_KERNEL_FAILED || code == cudaErrorECCUncorrectable ||
           code == cudaErrorNvlinkUncorrectable || code == cudaErrorContextIsDestroyed;
}

const char *advice(cudaError_t code) {
    switch (code) {
    case cudaErrorInsufficientDriver:
        return "; install a newer NVIDIA driver, or a build of this plugin for an older CUDA";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return "; this build has no code for this GPU: build the plugin with its compute "
               "capability in -Dgpu_archs";
    case cudaErrorDevicesUnavailable:
        return "; the GPU may be in an exclusive or prohibited compute mode (nvidia-smi -q -d "
               "COMPUTE) and another process may hold it";
    case cudaErrorSystemNotReady:
        return "; where NVSwitch connects GPUs the service nvidia-fabricmanager must run, in the "
               "driver's version";
    case cudaErrorSystemDriverMismatch:
        return "; the driver's kernel module and its libraries differ: restart the machine, or "
               "give the container the host's libraries";
    case cudaErrorCompatNotSupportedOnDevice:
        return "; the libcuda.so.1 in use is one for forward compatibility, which this GPU does "
               "not support: remove its folder from the loader's path";
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
        return "; the Multi-Process Service does not answer: see nvidia-cuda-mps-control, and "
               "CUDA_MPS_PIPE_DIRECTORY of this process";
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
        return "; the Multi-Process Service has as many clients as it takes: end others first";
    default: return "";
    }
}

std::string reason_of_none(cudaError_t code) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const auto version = [](int number) {
        return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    std::string reason = "no CUDA device";
    if (driver == 0)
        reason = "no NVIDIA driver (libcuda.so.1)";
    else if (code == cudaErrorInsufficientDriver)
        reason = "the NVIDIA driver is for CUDA " + version(driver) + ", need " + version(runtime);
    if (code != cudaSuccess)
        reason += std::string(": ") + cudaGetErrorName(code) + ", " + cudaGetErrorString(code);
    return driver == 0 ? reason : reason + advice(code);
}

// --- Forked processes ------------------------------------------------------------------------

namespace {
std::atomic<bool> is_used{false}, forked{false};
} // namespace

void note_use() {
    if (!is_used.exchange(true))
        pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
}
bool is_forked() { return forked.load(std::memory_order_relaxed); }

// --- Throwing --------------------------------------------------------------------------------

std::string heading(const State &state, const atoll_call &call) {
    return std::string("[") + state.host.function_name(call.module, call.function) +
           "] cuda:" + std::to_string(call.device) + ": ";
}

namespace {

void name_function(const atoll_call &call, const char *name) {
    auto &to = call.error->function;
    const std::size_t size = std::min(std::strlen(name), sizeof to - 1);
    std::memcpy(to, name, size);
    to[size] = '\0';
}

// A failure of earlier work surfaces in any later CUDA call: names whom it may stem from.
const char *blame(const State &state, const atoll_call &call, atoll_status status,
                  const Culprit *culprit, std::string &text) {
    if (status != ATOLL_STATUS_KERNEL_FAILED && status != ATOLL_STATUS_DEVICE_LOST) return nullptr;
    const char *const name = culprit ? culprit->name(state.host) : nullptr;
    if (!name) return nullptr;
    const std::string names = culprit->names(state.host);
    text += "; enqueued on this stream and not known to have succeeded, the latest first: " +
            (names.empty() ? std::string(name) : names);
    if (!state.settings.blocking)
        text += "; the setting \"blocking\" (ATOLL_CUDA_BLOCKING=1) finds the one that failed";
    name_function(call, name);
    return name;
}

} // namespace

void fail(const State &state, const atoll_call &call, Device *device, cudaError_t code,
          const char *what, const Culprit *culprit) {
    cudaGetLastError(); // or the next kernel launch would report it again
    std::string text =
        std::string(what) + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")";
    text += advice(code);
    const atoll_status status = status_of(code);
    const char *const name = blame(state, call, status, culprit, text);
    if (device && is_final(code)) {
        const std::scoped_lock lock(device->death_mutex, device->landing);
        if (!device->is_dead.load(std::memory_order_relaxed)) {
            device->cause_of_death = code;
            device->death = text;
            device->suspect = name ? name : "";
            device->is_dead.store(true, std::memory_order_release);
        }
    }
    throw sdk::Error(status, heading(state, call) + text, code);
}

void fail_dead(const State &state, const atoll_call &call, Device &device) {
    // What is written under the mutex does not change after is_dead.
    if (!device.suspect.empty()) name_function(call, device.suspect.c_str());
    throw sdk::Error(status_of(device.cause_of_death),
                     heading(state, call) +
                         "not done, as an earlier error has ended all use of this GPU by this "
                         "process, which must be started anew: " +
                         device.death,
                     device.cause_of_death);
}

void Target::fail(cudaError_t code, const char *what) const {
    cuda::fail(state, call, &device, code, what, &stream.culprit);
}

void Target::fail(cublasStatus_t code, const char *what) const {
    // cuBLAS does not say that the context is dead.
    if (const cudaError_t state_of_stream = cudaStreamQuery(stream.handle);
        is_final(state_of_stream))
        fail(state_of_stream, what);
    cudaGetLastError();
    std::string text = heading(state, call) + what + ": " + Cublas::get().status_name(code) + " (" +
                       Cublas::get().status_string(code) + ")";
    const atoll_status status = status_of(code);
    (void)blame(state, call, status, &stream.culprit, text);
    throw sdk::Error(status, std::move(text), code);
}

} // namespace Atoll::cuda
