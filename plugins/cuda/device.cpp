// Enumeration, properties and errors of the plugin `cuda`.
#include "device.hpp"

#include "atoll/cuda.h"

#include <algorithm>
#include <cstring>

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

// "[core.add] cuda:0: "
std::string heading(const State &state, const atoll_call &call) {
    return std::string("[") + state.host.function_name(call.module, call.function) +
           "] cuda:" + std::to_string(call.device) + ": ";
}

template <std::size_t Capacity> void copy_text(char (&to)[Capacity], const char *from) {
    const std::size_t size = std::min(std::strlen(from), Capacity - 1);
    std::memcpy(to, from, size);
    to[size] = '\0';
}

// A failure of earlier work surfaces in any later CUDA call: name whom it may stem from.
void blame(const State &state, const atoll_call &call, atoll_status status, const Culprit *culprit,
           std::string &text) {
    if (status != ATOLL_STATUS_KERNEL_FAILED && status != ATOLL_STATUS_DEVICE_LOST) return;
    const char *const name = culprit ? culprit->name(state.host) : nullptr;
    if (!name) return;
    text += std::string("; the last work enqueued on this stream was ") + name;
    copy_text(call.error->function, name);
}

} // namespace

void fail(const State &state, const atoll_call &call, cudaError_t code, const char *what,
          const Culprit *culprit) {
    cudaGetLastError(); // or the next kernel launch would report it again
    std::string text = heading(state, call) + what + ": " + cudaGetErrorName(code) + " (" +
                       cudaGetErrorString(code) + ")";
    const atoll_status status = status_of(code);
    blame(state, call, status, culprit, text);
    throw sdk::Error(status, std::move(text), code);
}

// --- Targets ---------------------------------------------------------------------------------

DeviceGuard::DeviceGuard(int device) {
    int current = -1;
    status_ = cudaGetDevice(&current);
    if (status_ != cudaSuccess || current == device) return;
    status_ = cudaSetDevice(device);
    if (status_ == cudaSuccess) previous_ = current;
}

DeviceGuard::~DeviceGuard() {
    if (previous_ >= 0) cudaSetDevice(previous_);
}

// What a device makes when it is opened belongs to the device that is current then.
Target::Target(State &owner, atoll_call &the_call)
    : state(owner), call(the_call), guard_(the_call.device), device(opened()),
      stream(the_call.stream ? *static_cast<Stream *>(the_call.stream) : *device.stream) {}

Device &Target::opened() const {
    if (guard_.status() != cudaSuccess)
        cuda::fail(state, call, guard_.status(), "cudaSetDevice", nullptr);
    return state.open(call);
}

void Target::fail(cudaError_t code, const char *what) const {
    cuda::fail(state, call, code, what, &stream.culprit);
}

void Target::fail(cublasStatus_t code, const char *what) const {
    std::string text = heading(state, call) + what + ": " + Cublas::get().status_name(code) + " (" +
                       Cublas::get().status_string(code) + ")";
    const atoll_status status = status_of(code);
    blame(state, call, status, &stream.culprit, text);
    throw sdk::Error(status, std::move(text), code);
}

// --- Devices ---------------------------------------------------------------------------------

int State::discover(std::string &reason) {
    const std::lock_guard lock(mutex_);
    if (!devices_.empty()) return device_count();
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) {
        for (int i = 0; i < count; ++i) devices_.push_back(std::make_unique<Device>(i));
        return count;
    }
    cudaGetLastError();
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const auto version = [](int number) {
        return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    reason = "no CUDA device";
    if (driver == 0) {
        reason = "no NVIDIA driver (libcuda.so.1)";
    } else if (code == cudaErrorInsufficientDriver) {
        reason = "the NVIDIA driver is for CUDA " + version(driver) + ", need " + version(runtime);
    }
    if (code != cudaSuccess)
        reason += std::string(": ") + cudaGetErrorName(code) + ", " + cudaGetErrorString(code);
    return 0;
}

Device &State::device(const atoll_call &call) {
    // A host enumerates first, but then this must not depend on it.
    std::string reason;
    const int count = discover(reason);
    if (call.device < 0 || call.device >= count)
        throw sdk::Error(ATOLL_STATUS_NOT_FOUND,
                         heading(*this, call) + "no such device, there are " +
                             std::to_string(count) + (reason.empty() ? "" : "; " + reason));
    return *devices_[static_cast<std::size_t>(call.device)];
}

Device &State::open(const atoll_call &call) {
    Device &device = this->device(call);
    if (device.is_open.load(std::memory_order_acquire)) return device;
    const std::lock_guard lock(device.mutex);
    if (device.is_open.load(std::memory_order_relaxed)) return device;
    const auto check = [&](cudaError_t code, const char *what) {
        if (code != cudaSuccess) fail(*this, call, code, what, nullptr);
    };
    int has_pools = 0;
    std::size_t unused = 0, total = 0;
    check(cudaDeviceGetAttribute(&device.units, cudaDevAttrMultiProcessorCount, device.index),
          "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device.index),
          "cudaDeviceGetAttribute");
    if (!has_pools)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         heading(*this, call) + "this device has no stream-ordered memory");
    check(cudaMemGetInfo(&unused, &total), "cudaMemGetInfo");
    device.cache_bytes = settings.cache_bytes.value_or(total / 4);
    device.limit = settings.limit.value_or(UINT64_MAX);
    if (!device.pool) {
        // A pool of our own leaves the application's default pool as it is. By default a pool gives
        // its free memory back at every synchronisation; this one keeps some.
        cudaMemPoolProps wanted{};
        wanted.allocType = cudaMemAllocationTypePinned;
        wanted.location.type = cudaMemLocationTypeDevice;
        wanted.location.id = device.index;
        check(cudaMemPoolCreate(&device.pool, &wanted), "cudaMemPoolCreate");
        std::uint64_t keep = device.cache_bytes;
        check(cudaMemPoolSetAttribute(device.pool, cudaMemPoolAttrReleaseThreshold, &keep),
              "cudaMemPoolSetAttribute");
    }
    auto stream = std::make_unique<Stream>(device);
    check(stream->open(), "cudaStreamCreateWithFlags");
    device.stream = std::move(stream);
    device.peers.assign(devices_.size(), false);
    device.is_open.store(true, std::memory_order_release);
    return device;
}

Device::~Device() {
    if (!is_open.load(std::memory_order_acquire)) return;
    const DeviceGuard guard(index);
    stream.reset();
    cudaMemPoolDestroy(pool);
}

void enumerate(State &state, atoll_call &call) {
    auto &results = sdk::params<atoll_enumerate_params>(call);
    std::string reason;
    results.count = static_cast<std::uint32_t>(state.discover(reason));
    copy_text(results.reason, reason.c_str());
}

void properties(State &state, atoll_call &call) {
    Device &device = state.device(call);
    auto &results = sdk::params<atoll_properties_params>(call);
    cudaDeviceProp facts{};
    if (const cudaError_t code = cudaGetDeviceProperties(&facts, device.index); code != cudaSuccess)
        fail(state, call, code, "cudaGetDeviceProperties", nullptr);
    copy_text(results.name, facts.name);
    results.units = static_cast<std::uint32_t>(facts.multiProcessorCount);
    results.total_memory = facts.totalGlobalMem;
    results.alignment = 256;
    results.free_memory = 0;
    // Asking would open the device: unknown until something else has.
    if (!device.is_open.load(std::memory_order_acquire)) return;
    const DeviceGuard guard(device.index);
    std::size_t free = 0, total = 0;
    std::uint64_t reserved = 0, used = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
    // What the pool and the streams keep is free as well, for us.
    cudaMemPoolGetAttribute(device.pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
    cudaMemPoolGetAttribute(device.pool, cudaMemPoolAttrUsedMemCurrent, &used);
    const std::uint64_t cached = device.memory.cached, taken = device.memory.taken;
    results.free_memory = free + (reserved > used ? reserved - used : 0) + cached;
    // Allocations of other threads may come between the figures.
    const std::uint64_t in_use = taken > cached ? taken - cached : 0;
    if (device.limit != UINT64_MAX)
        results.free_memory =
            std::min(results.free_memory, device.limit > in_use ? device.limit - in_use : 0);
}

void native_handle(State &state, atoll_call &call) {
    const Target target(state, call);
    auto &handle = sdk::params<atoll_native_handle_params>(call);
    switch (handle.kind) {
    case ATOLL_CUDA_STREAM:
        handle.value = reinterpret_cast<std::uintptr_t>(target.stream.handle);
        return;
    case ATOLL_CUDA_DEVICE:
        handle.value = static_cast<std::uint64_t>(state.device(call).index);
        return;
    default:
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                         heading(state, call) + "there is no native handle of kind " +
                             std::to_string(handle.kind) + "; see atoll/cuda.h");
    }
}

} // namespace Atoll::cuda
