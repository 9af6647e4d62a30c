// Devices, streams and events of the plugin `cuda`, and how CUDA's errors become statuses.
//
// Note [Current device]
// CUDA keeps a current device per thread, and so may the application. Every entry point makes its
// device current for its own duration and puts back what it found.
//
// Note [Streams]
// A stream handle of the ABI is a Stream *. NULL is the device's own default stream, a non-blocking
// one like all others, so that it never synchronises with CUDA's legacy stream.
//
// Note [Lazy devices]
// A CUDA context costs hundreds of milliseconds and of megabytes. A device is opened by the first
// call that needs it, not when the plugin is loaded; enumerating and asking for a name are free.
#pragma once

#include "atoll/plugin.hpp"
#include "cublas.hpp"
#include "free_blocks.hpp"
#include "settings.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace Atoll::cuda {

// See Note [Current device].
class DeviceGuard {
public:
    explicit DeviceGuard(int device);
    ~DeviceGuard();
    DeviceGuard(const DeviceGuard &) = delete;
    DeviceGuard &operator=(const DeviceGuard &) = delete;
    // What making the device current said; calls on it would say the same.
    cudaError_t status() const { return status_; }

private:
    int previous_ = -1; // -1: nothing to put back
    cudaError_t status_;
};

// Which function a stream or an event last took work from, so that an asynchronous error, which
// CUDA reports without its source, can name the likeliest one.
class Culprit {
public:
    void set(const atoll_call &call) {
        value_.store(std::uint32_t{call.module} << 16 | call.function, std::memory_order_relaxed);
    }
    void set(const Culprit &other) {
        value_.store(other.value_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    // NULL if nothing was enqueued.
    const char *name(const atoll_host &host) const {
        const std::uint32_t value = value_.load(std::memory_order_relaxed);
        if (value == none) return nullptr;
        return host.function_name(static_cast<std::uint16_t>(value >> 16),
                                  static_cast<std::uint16_t>(value & 0xffff));
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::atomic<std::uint32_t> value_{none};
};

// Pinned host memory through which uploads pass, so that a source may be reused when the call
// returns, whatever kind of memory it is. Two halves: one is filled while the other drains.
struct Staging {
    static constexpr std::uint64_t half_size = 4 << 20; // bytes; large enough to hide the latency
    char *halves[2] = {};
    cudaEvent_t drained[2] = {};
    int current = 0;
    std::uint64_t used = 0; // bytes of the current half
};

struct Device;

struct Stream {
    Device &device;
    cudaStream_t handle = nullptr;
    Culprit culprit;
    FreeBlocks blocks; // see Note [Reuse]
    std::mutex mutex;  // guards what follows
    Staging staging;   // made by the first upload
    // One per stream, made by the first product: cuBLAS handles take one thread and one stream.
    cublasHandle_t blas = nullptr;

    explicit Stream(Device &owner) : device(owner) {}
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream(); // waits for the work; the stream's device must be current

    // Makes it one of the device's.
    cudaError_t open();
    void give_back_blocks();
};

struct Event {
    cudaEvent_t handle = nullptr;
    Culprit culprit;
};

// Bytes of a device's memory, and allocations since it was opened.
struct MemoryUse {
    std::atomic<std::uint64_t> taken{0};  // from the pool, and not given back to it
    std::atomic<std::uint64_t> cached{0}; // of these, kept by streams
    std::atomic<std::uint64_t> peak{0};   // of `taken`
    std::atomic<std::uint64_t> allocations{0}, reused{0};
};

struct Device {
    explicit Device(int number) : index(number) {}
    ~Device();
    const int index;
    int units = 0;                // multiprocessors
    cudaMemPool_t pool = nullptr; // see open()
    MemoryUse memory;
    std::uint64_t cache_bytes = 0, limit = UINT64_MAX; // see Settings
    std::unique_ptr<Stream> stream;                    // the default one
    std::atomic<bool> is_open{false};
    std::mutex mutex;        // of opening, and of `peers`
    std::vector<bool> peers; // devices that have been given access to the pool
    std::mutex streams_mutex;
    std::vector<Stream *> streams; // all of them

    // Gives kept memory to the pool, waits for all streams, and gives the pool's to the driver.
    cudaError_t trim();
};

class State {
public:
    explicit State(const atoll_host &services) : host(services), settings(services) {}

    // Number of devices; if 0, `reason` says why.
    int discover(std::string &reason);
    // The device, opened (see Note [Lazy devices]); its DeviceGuard must be in place.
    Device &open(const atoll_call &call);
    // Not opened, may not even work.
    Device &device(const atoll_call &call);
    int device_count() const { return static_cast<int>(devices_.size()); }

    const atoll_host &host;
    const Settings settings;

private:
    std::mutex mutex_; // guards the making of devices_, which does not change later
    std::vector<std::unique_ptr<Device>> devices_;
};

// Where a call goes: its device, opened and current as long as this lives, and its stream.
class Target {
public:
    Target(State &state, atoll_call &call);

    // Throws what `code` says about the CUDA function `what`.
    void check(cudaError_t code, const char *what) const {
        if (code != cudaSuccess) [[unlikely]]
            fail(code, what);
    }
    void check(cublasStatus_t code, const char *what) const {
        if (code != CUBLAS_STATUS_SUCCESS) [[unlikely]]
            fail(code, what);
    }
    // To be said once work is on the stream.
    void enqueued() const { stream.culprit.set(call); }

    // Stream-ordered memory. free() is told the size that was allocated.
    void *allocate(std::uint64_t bytes) const;
    cudaError_t free(void *memory, std::uint64_t bytes) const;

    State &state;
    atoll_call &call;

private:
    Device &opened() const;
    DeviceGuard guard_;

public:
    Device &device;
    Stream &stream;

private:
    [[noreturn]] void fail(cudaError_t code, const char *what) const;
    [[noreturn]] void fail(cublasStatus_t code, const char *what) const;
};

// Device memory for the duration of a call's work.
class Temporary {
public:
    Temporary(const Target &target, std::uint64_t bytes)
        : target_(&target), bytes_(bytes), data_(static_cast<char *>(target.allocate(bytes))) {}
    ~Temporary() { (void)target_->free(data_, bytes_); }
    Temporary(const Temporary &) = delete;
    Temporary &operator=(const Temporary &) = delete;
    char *data() const { return data_; }

private:
    const Target *target_;
    std::uint64_t bytes_;
    char *data_;
};

atoll_status status_of(cudaError_t code);

// Throws. `culprit` may be NULL.
[[noreturn]] void fail(const State &state, const atoll_call &call, cudaError_t code,
                       const char *what, const Culprit *culprit);

// The functions of the module `device`.
void enumerate(State &state, atoll_call &call);
void properties(State &state, atoll_call &call);
void allocate(State &state, atoll_call &call);
void free_memory(State &state, atoll_call &call);
void transfer(State &state, atoll_call &call);
void stream_create(State &state, atoll_call &call);
void stream_destroy(State &state, atoll_call &call);
void stream_synchronize(State &state, atoll_call &call);
void event_create(State &state, atoll_call &call);
void event_destroy(State &state, atoll_call &call);
void event_record(State &state, atoll_call &call);
void event_wait(State &state, atoll_call &call);
void event_synchronize(State &state, atoll_call &call);
std::int32_t event_query(const atoll_link *self, atoll_call *call);
void host_callback(State &state, atoll_call &call);
void stream_order(State &state, atoll_call &call);
void native_handle(State &state, atoll_call &call);
void allocate_host(State &state, atoll_call &call);
void free_host(State &state, atoll_call &call);

} // namespace Atoll::cuda
