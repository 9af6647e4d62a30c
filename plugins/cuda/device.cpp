// Devices of the plugin `cuda`: enumeration, contexts, properties, facts.
#include "device.hpp"

#include "atoll/cuda.h"
#include "errors.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace Atoll::cuda {

namespace {

template <std::size_t Capacity> void copy_text(char (&to)[Capacity], const char *from) {
    const std::size_t size = std::min(std::strlen(from), Capacity - 1);
    std::memcpy(to, from, size);
    to[size] = '\0';
}

} // namespace

// --- Contexts --------------------------------------------------------------------------------

cudaError_t Device::retain(const char *&failed) {
    const std::lock_guard lock(mutex);
    if (context.load(std::memory_order_relaxed)) return cudaSuccess;
    failed = "cudaGetDriverEntryPoint";
    if (const cudaError_t code = driver.find(); code != cudaSuccess) return code;
    CUdevice device = 0;
    failed = "cuDeviceGet";
    if (const CUresult code = driver.device_get(&device, index); code != CUDA_SUCCESS)
        return runtime_code(code);
    CUcontext retained = nullptr;
    failed = "cuDevicePrimaryCtxRetain";
    if (const CUresult code = driver.retain(&retained, device); code != CUDA_SUCCESS)
        return runtime_code(code);
    context.store(retained, std::memory_order_release);
    return cudaSuccess;
}

ContextGuard::ContextGuard(Device &device) : device_(device), status_(cudaSuccess) {
    if (!device.context.load(std::memory_order_acquire)) {
        status_ = device.retain(failed_);
        if (status_ != cudaSuccess) return;
    }
    const CUcontext own = device.context.load(std::memory_order_acquire);
    CUcontext current = nullptr;
    status_ = runtime_code(device.driver.get_current(&current));
    failed_ = "cuCtxGetCurrent";
    if (status_ != cudaSuccess || current == own) return;
    status_ = runtime_code(device.driver.push(own));
    failed_ = "cuCtxPushCurrent";
    pushed_ = status_ == cudaSuccess;
}

ContextGuard::~ContextGuard() {
    CUcontext own = nullptr;
    if (pushed_) (void)device_.driver.pop(&own);
}

// --- Targets ---------------------------------------------------------------------------------

Target::Target(State &owner, atoll_call &the_call)
    : state(owner), call(the_call), device(owner.device(the_call)), guard_(device),
      stream(opened()) {}

Stream &Target::opened() const {
    if (device.is_dead.load(std::memory_order_acquire)) [[unlikely]]
        fail_dead(state, call, device);
    if (guard_.status() != cudaSuccess) [[unlikely]]
        cuda::fail(state, call, &device, guard_.status(), guard_.failed(), nullptr);
    if (!device.is_open.load(std::memory_order_acquire)) [[unlikely]]
        state.open(device, call);
    return call.stream ? *static_cast<Stream *>(call.stream) : *device.stream;
}

// --- Devices ---------------------------------------------------------------------------------

int State::discover(std::string &reason) {
    const std::lock_guard lock(mutex_);
    if (!devices_.empty()) return device_count();
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) {
        note_use();
        for (int i = 0; i < count; ++i) devices_.push_back(std::make_unique<Device>(i));
        return count;
    }
    cudaGetLastError();
    reason = reason_of_none(code);
    return 0;
}

Device &State::device(const atoll_call &call) {
    if (is_forked())
        throw sdk::Error(ATOLL_STATUS_DEVICE_LOST,
                         heading(*this, call) +
                             "this process was forked from one that had used CUDA already, which "
                             "CUDA does not support: start processes before the first use, or with "
                             "exec (Python's multiprocessing: \"spawn\")",
                         cudaErrorInitializationError);
    // A host enumerates first, but then this must not depend on it.
    std::string reason;
    const int count = discover(reason);
    if (call.device < 0 || call.device >= count)
        throw sdk::Error(ATOLL_STATUS_NOT_FOUND,
                         heading(*this, call) + "no such device, there are " +
                             std::to_string(count) + (reason.empty() ? "" : "; " + reason));
    return *devices_[static_cast<std::size_t>(call.device)];
}

void State::open(Device &device, const atoll_call &call) {
    const std::lock_guard lock(device.mutex);
    if (device.is_open.load(std::memory_order_relaxed)) return;
    const auto check = [&](cudaError_t code, const char *what) {
        if (code != cudaSuccess) fail(*this, call, &device, code, what, nullptr);
    };
    int has_pools = 0;
    std::size_t unused = 0, total = 0;
    check(cudaDeviceGetAttribute(&device.units, cudaDevAttrMultiProcessorCount, device.index),
          "cudaDeviceGetAttribute");
    check(
        cudaDeviceGetAttribute(&device.capability, cudaDevAttrComputeCapabilityMajor, device.index),
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
}

Device::~Device() {
    const CUcontext own = context.load(std::memory_order_acquire);
    if (!own || is_forked()) return;
    {
        const ContextGuard guard(*this);
        stream.reset();
        clock.destroy();
        staging.destroy(events);
        events.destroy_all();
        if (pool) cudaMemPoolDestroy(pool);
    }
    CUdevice device = 0;
    if (driver.device_get(&device, index) == CUDA_SUCCESS) (void)driver.release(device);
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
        fail(state, call, &device, code, "cudaGetDeviceProperties", nullptr);
    copy_text(results.name, facts.name);
    results.units = static_cast<std::uint32_t>(facts.multiProcessorCount);
    results.total_memory = facts.totalGlobalMem;
    results.alignment = 256;
    results.free_memory = 0;
    // Asking would open the device: unknown until something else has.
    if (!device.is_open.load(std::memory_order_acquire)) return;
    const ContextGuard guard(device);
    if (guard.status() != cudaSuccess) return;
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

// The names stand in atoll/cuda.h.
void facts(State &state, atoll_call &call) {
    Device &device = state.device(call);
    const auto check = [&](cudaError_t code, const char *what) {
        if (code != cudaSuccess) fail(state, call, &device, code, what, nullptr);
    };
    const auto attribute = [&](cudaDeviceAttr which) {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, which, device.index), "cudaDeviceGetAttribute");
        return value;
    };
    const auto add = [&](const char *name, auto value) {
        sdk::add_fact(call, name, std::to_string(value));
    };
    // 1000 * major + 10 * minor
    const auto version = [&](const char *name, cudaError_t (*function)(int *), const char *what) {
        int value = 0;
        check(function(&value), what);
        sdk::add_fact(call, name,
                      std::to_string(value / 1000) + "." + std::to_string(value % 1000 / 10));
    };
    sdk::add_fact(call, "compute_capability",
                  std::to_string(attribute(cudaDevAttrComputeCapabilityMajor)) + "." +
                      std::to_string(attribute(cudaDevAttrComputeCapabilityMinor)));
    add("multiprocessors", attribute(cudaDevAttrMultiProcessorCount));
    add("clock_mhz", attribute(cudaDevAttrClockRate) / 1000); // the attributes are in kHz
    add("memory_clock_mhz", attribute(cudaDevAttrMemoryClockRate) / 1000);
    char pci[32];
    std::snprintf(pci, sizeof pci, "%04x:%02x:%02x.0", attribute(cudaDevAttrPciDomainId),
                  attribute(cudaDevAttrPciBusId), attribute(cudaDevAttrPciDeviceId));
    sdk::add_fact(call, "pci", pci);
    version("driver_cuda_version", &cudaDriverGetVersion, "cudaDriverGetVersion");
    version("runtime_cuda_version", &cudaRuntimeGetVersion, "cudaRuntimeGetVersion");
    add("taken_bytes", device.memory.taken.load());
    add("kept_bytes", device.memory.cached.load());
    add("peak_bytes", device.memory.peak.load());
    add("allocations", device.memory.allocations.load());
    add("reuses", device.memory.reused.load());
}

void native_handle(State &state, atoll_call &call) {
    const Target target(state, call);
    const Device &device = target.device;
    auto &handle = sdk::params<atoll_native_handle_params>(call);
    const auto value = [&]() -> std::uint64_t {
        switch (handle.kind) {
        case ATOLL_CUDA_STREAM: return reinterpret_cast<std::uintptr_t>(target.stream.handle);
        case ATOLL_CUDA_DEVICE: return static_cast<std::uint64_t>(device.index);
        case ATOLL_CUDA_CONTEXT: return reinterpret_cast<std::uintptr_t>(device.context.load());
        default:
            throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                             heading(state, call) + "there is no native handle of kind " +
                                 std::to_string(handle.kind) + "; see atoll/cuda.h");
        }
    };
    handle.value = value();
}

} // namespace Atoll::cuda
