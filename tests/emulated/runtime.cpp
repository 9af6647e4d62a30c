#include "runtime.hpp"

#include "launch.hpp"

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

namespace Emulated {
namespace {

struct Orders {
    std::mutex mutex;
    std::string function;
    long calls_left = 0, kernels_left = 0;
    cudaError_t call_code = cudaSuccess, kernel_code = cudaSuccess;
};
Orders &orders() {
    static Orders *const orders = new Orders;
    return *orders;
}
std::atomic<long> calls{0}, handles{0}, waits{0};
std::atomic<std::uint64_t> seed{1};
std::atomic<bool> skips_kernels{false};

thread_local cudaError_t last_error = cudaSuccess;

// What an ordered failure makes of the next kernel.
cudaError_t kernel_failure() {
    Orders &o = orders();
    const std::lock_guard lock(o.mutex);
    if (o.kernels_left == 0 || --o.kernels_left > 0) return cudaSuccess;
    return o.kernel_code;
}

} // namespace

std::atomic<long> radix_sorts{0};

Device &device(int index) {
    // Not destroyed: streams may be at work when the process ends.
    static Device *const devices[device_count] = {new Device(0), new Device(1)};
    return *devices[index];
}

void Mark::reach() {
    const std::lock_guard lock(mutex_);
    nanoseconds = std::chrono::steady_clock::now().time_since_epoch().count();
    is_reached_ = true;
    reached_.notify_all();
}
bool Mark::is_reached() {
    const std::lock_guard lock(mutex_);
    return is_reached_;
}
void Mark::wait() {
    std::unique_lock lock(mutex_);
    reached_.wait(lock, [&] { return is_reached_; });
}

cudaError_t outcome(cudaError_t code) {
    if (code != cudaSuccess) last_error = code;
    return code;
}

namespace {

cudaError_t ordered_failure(const char *function, bool only_by_name) {
    Orders &o = orders();
    const std::lock_guard lock(o.mutex);
    const bool meant = o.function.empty() ? !only_by_name : o.function == function;
    if (o.calls_left == 0 || !meant || --o.calls_left > 0) return cudaSuccess;
    return outcome(o.call_code);
}

} // namespace

cudaError_t enter_named(const char *function) { return ordered_failure(function, true); }

cudaError_t enter(const char *function) {
    calls.fetch_add(1, std::memory_order_relaxed);
    if (const cudaError_t code = ordered_failure(function, false); code != cudaSuccess) return code;
    return outcome(has_context() ? current_device().sticky.load() : cudaSuccess);
}

cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, std::size_t argument_bytes,
                   std::function<void()> thread) {
    if (const cudaError_t code = enter_context("cudaLaunchKernelExC"); code != cudaSuccess)
        return code;
    const auto count = [](const dim3 &d) { return std::uint64_t{d.x} * d.y * d.z; };
    if (!config.stream || &config.stream->device != &current_device())
        return outcome(cudaErrorInvalidResourceHandle);
    if (count(config.gridDim) == 0 || count(config.blockDim) == 0 ||
        count(config.blockDim) > 1024 || config.gridDim.y > 65535 || config.gridDim.z > 65535 ||
        argument_bytes > 4096)
        return outcome(cudaErrorInvalidValue);
    if (skips_kernels) return cudaSuccess;
    config.stream->enqueue([config, kernel, thread = std::move(thread)] {
        Device &device = config.stream->device;
        if (device.sticky != cudaSuccess) return;
        if (const cudaError_t code = kernel_failure(); code != cudaSuccess) {
            device.sticky = code;
            return;
        }
        run_grid(kernel, config.gridDim, config.blockDim, thread, seed.fetch_add(1));
    });
    return cudaSuccess;
}

} // namespace Emulated

using namespace Emulated;

CUstream_st::CUstream_st(Device &owner) : device(owner), thread_([this] { run(); }) { ++handles; }

CUstream_st::~CUstream_st() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }
    thread_.join();
    --handles;
}

void CUstream_st::enqueue(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_all();
}
void CUstream_st::wait() {
    std::unique_lock lock(mutex_);
    ++waiters;
    changed_.wait(lock, [&] { return queue_.empty() && !is_busy_; });
    --waiters;
}
bool CUstream_st::is_idle() {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && !is_busy_;
}

void CUstream_st::run() {
    for (int i = 0; i < device_count; ++i) {
        Device &other = Emulated::device(i);
        other.memory.admit(&other == &device);
    }
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return !queue_.empty() || ends_; });
        if (queue_.empty()) return;
        const std::function<void()> work = std::move(queue_.front());
        queue_.pop_front();
        is_busy_ = true;
        lock.unlock();
        for (int i = 0; i < device_count; ++i) // may have been given since
            if (Emulated::device(i).peers >> device.index & 1)
                Emulated::device(i).memory.admit(true);
        work();
        lock.lock();
        is_busy_ = false;
        changed_.notify_all();
    }
}

// ---- Devices -----------------------------------------------------------------------------------

cudaError_t cudaGetLastError() {
    const cudaError_t code = last_error;
    last_error = current_device().sticky;
    return code;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

namespace {
struct ErrorText {
    cudaError_t code;
    const char *name, *text;
};
constexpr ErrorText error_texts[] = {
#define TEXT(name, text)                                                                           \
    { name, #name, text }
    TEXT(cudaSuccess, "no error"),
    TEXT(cudaErrorInvalidValue, "invalid argument"),
    TEXT(cudaErrorMemoryAllocation, "out of memory"),
    TEXT(cudaErrorInitializationError, "initialization error"),
    TEXT(cudaErrorInsufficientDriver,
         "CUDA driver version is insufficient for CUDA runtime version"),
    TEXT(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    TEXT(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    TEXT(cudaErrorInvalidDevice, "invalid device ordinal"),
    TEXT(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    TEXT(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    TEXT(cudaErrorNotReady, "device not ready"),
    TEXT(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    TEXT(cudaErrorMisalignedAddress, "misaligned address"),
    TEXT(cudaErrorLaunchFailure, "unspecified launch failure"),
    TEXT(cudaErrorNotSupported, "operation not supported"),
    TEXT(cudaErrorSystemNotReady, "system not yet initialized"),
    TEXT(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    TEXT(cudaErrorUnknown, "unknown error"),
#undef TEXT
};
const ErrorText &text_of(cudaError_t code) {
    for (const ErrorText &text : error_texts)
        if (text.code == code) return text;
    return error_texts[std::size(error_texts) - 1];
}
} // namespace
const char *cudaGetErrorName(cudaError_t code) { return text_of(code).name; }
const char *cudaGetErrorString(cudaError_t code) { return text_of(code).text; }

#define ENTER()                                                                                    \
    if (const cudaError_t code_ = enter(__func__); code_ != cudaSuccess) return code_
#define ENTER_CONTEXT()                                                                            \
    if (const cudaError_t code_ = enter_context(__func__); code_ != cudaSuccess) return code_

cudaError_t cudaGetDeviceCount(int *count) {
    ENTER();
    *count = device_count;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *facts, int index) {
    ENTER();
    if (index < 0 || index >= device_count) return outcome(cudaErrorInvalidDevice);
    *facts = {};
    std::strcpy(facts->name, "emulated GPU");
    facts->totalGlobalMem = device(index).memory.total();
    facts->multiProcessorCount = 4;
    facts->major = 9;
    facts->pciBusID = index + 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int index) {
    ENTER();
    if (index < 0 || index >= device_count) return outcome(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrPciBusId: *value = index + 1; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMemoryClockRate: *value = 2000000; break;
    default: *value = 0;
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *possible, int, int) {
    ENTER();
    *possible = 1;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
    ENTER_CONTEXT();
    const Memory &memory = current_device().memory;
    *total = memory.total();
    *free = memory.total() - memory.used();
    return cudaSuccess;
}

// ---- Streams and events ------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    ENTER_CONTEXT();
    *stream = new CUstream_st(current_device());
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    ENTER_CONTEXT();
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    ENTER_CONTEXT();
    stream->wait();
    return outcome(stream->device.sticky);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    ENTER_CONTEXT();
    return outcome(stream->is_idle() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    ENTER_CONTEXT();
    const std::lock_guard lock(event->mutex);
    if (event->latest) stream->enqueue([mark = event->latest] { mark->wait(); });
    return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  void (*callback)(cudaStream_t, cudaError_t, void *), void *user,
                                  unsigned) {
    ENTER_CONTEXT();
    stream->enqueue([=] { callback(stream, stream->device.sticky, user); });
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    ENTER_CONTEXT();
    *event = new CUevent_st{current_device(), (flags & cudaEventDisableTiming) == 0, {}, {}};
    ++handles;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    --handles;
    ENTER_CONTEXT();
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    ENTER_CONTEXT();
    if (&event->device != &stream->device) return outcome(cudaErrorInvalidResourceHandle);
    const auto mark = std::make_shared<Mark>();
    const std::lock_guard lock(event->mutex);
    event->latest = mark;
    stream->enqueue([mark] { mark->reach(); });
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    ENTER_CONTEXT();
    const std::lock_guard lock(event->mutex);
    return outcome(!event->latest || event->latest->is_reached() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    ENTER_CONTEXT();
    std::shared_ptr<Mark> mark;
    {
        const std::lock_guard lock(event->mutex);
        mark = event->latest;
    }
    ++waits;
    if (mark) mark->wait();
    return outcome(event->device.sticky);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    ENTER_CONTEXT();
    const std::scoped_lock lock(start->mutex, end->mutex);
    if (!start->has_time || !end->has_time || !start->latest || !end->latest)
        return outcome(cudaErrorInvalidResourceHandle);
    if (!start->latest->is_reached() || !end->latest->is_reached())
        return outcome(cudaErrorNotReady);
    *milliseconds =
        static_cast<float>(end->latest->nanoseconds - start->latest->nanoseconds) * 1e-6f;
    return cudaSuccess;
}

// ---- Orders ------------------------------------------------------------------------------------

void emulated_fail_call(const char *function, long number, int code) {
    Orders &o = orders();
    const std::lock_guard lock(o.mutex);
    o.function = function ? function : "";
    o.calls_left = number;
    o.call_code = static_cast<cudaError_t>(code);
}
void emulated_fail_kernel(long number, int code) {
    Orders &o = orders();
    const std::lock_guard lock(o.mutex);
    o.kernels_left = number;
    o.kernel_code = static_cast<cudaError_t>(code);
}
void emulated_skip_kernels() { skips_kernels = true; }
long emulated_calls() { return calls; }
long emulated_waits() { return waits; }
long emulated_radix_sorts() { return radix_sorts; }
long emulated_live_allocations() {
    std::size_t live = 0;
    for (int i = 0; i < device_count; ++i) live += device(i).memory.live();
    return static_cast<long>(live);
}
long emulated_live_handles() { return handles; }
void emulated_seed(unsigned long value) { seed = value; }
void emulated_reset() {
    for (int i = 0; i < device_count; ++i) device(i).sticky = cudaSuccess;
    last_error = cudaSuccess;
}
