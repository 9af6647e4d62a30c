// Devices, streams and events of the plugin `cuda`, and how CUDA's errors become statuses.
//
// Note [Current context]
// CUDA keeps a current context per thread, which may be one that the application has made. The
// plugin uses the primary context of a device, which it shares with all users of CUDA's runtime in
// the process, and retains it once. Every entry point pushes it where another context is current,
// and pops it at the end. cudaSetDevice would make a context on the device that it puts back.
//
// Note [Streams]
// A stream handle of the ABI is a Stream *. NULL is the device's own default stream, a non-blocking
// one like all others, so that it never synchronises with CUDA's legacy stream.
//
// Note [Lazy devices]
// A CUDA context costs hundreds of milliseconds and of megabytes. A device is opened by the first
// call that needs it, not when the plugin is loaded; enumerating, properties and facts are free.
//
// Note [Dead contexts]
// After some errors, such as an access of a kernel to an address that is nobody's, CUDA answers
// every call of the process on that context with the same error. The device remembers the first
// one, whom it may stem from, and answers at once. What belonged to the context is gone with it.
#pragma once

#include "atoll/plugin.hpp"
#include "copy_threads.hpp"
#include "cublas.hpp"
#include "culprit.hpp"
#include "downloads.hpp"
#include "driver.hpp"
#include "events.hpp"
#include "free_blocks.hpp"
#include "settings.hpp"
#include "staging.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace Atoll::cuda {

struct Device;

// See Note [Current context].
class ContextGuard {
public:
    explicit ContextGuard(Device &device);
    ~ContextGuard();
    ContextGuard(const ContextGuard &) = delete;
    ContextGuard &operator=(const ContextGuard &) = delete;
    // What making the context current said, and which function did.
    cudaError_t status() const { return status_; }
    const char *failed() const { return failed_; }

private:
    const Device &device_;
    bool pushed_ = false;
    cudaError_t status_;
    const char *failed_ = "";
};

struct Stream {
    Device &device;
    cudaStream_t handle = nullptr;
    Culprit culprit;
    FreeBlocks blocks;       // see Note [Reuse]
    std::mutex upload_mutex; // guards the chunk
    Staging::Chunk chunk;    // that uploads fill
    Downloads downloads;
    std::mutex mutex; // guards what follows
    // One per stream, made by the first product: cuBLAS handles take one thread and one stream.
    cublasHandle_t blas = nullptr;

    explicit Stream(Device &owner) : device(owner) {}
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream(); // waits for the work; the stream's device must be current

    // Makes it one of the device's.
    cudaError_t open();
    void give_back_blocks();
    // Leaves everything to CUDA: the context is dead.
    void abandon();
};

struct Event {
    cudaEvent_t handle = nullptr;
    Culprit culprit;
    std::mutex mutex; // guards what follows
    // The clock's when it was recorded; null: not yet, and a pooled event is done only then.
    std::shared_ptr<Clock::Reference> reference;
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
    Driver driver;
    std::atomic<CUcontext> context{nullptr}; // retained
    int units = 0;                           // multiprocessors
    int capability = 0;                      // compute capability, the major number
    cudaMemPool_t pool = nullptr;            // see open()
    MemoryUse memory;
    std::uint64_t cache_bytes = 0, limit = UINT64_MAX; // see Settings
    std::unique_ptr<Stream> stream;                    // the default one
    std::atomic<bool> is_open{false};
    std::mutex mutex;        // of opening, and of `peers`
    std::vector<bool> peers; // devices that have been given access to the pool
    EventPool events;
    Clock clock;
    Staging staging;
    std::shared_mutex landing; // see Note [Downloads]
    std::mutex streams_mutex;
    std::vector<Stream *> streams; // all of them

    // See Note [Dead contexts].
    std::atomic<bool> is_dead{false};
    std::mutex death_mutex;
    cudaError_t cause_of_death = cudaSuccess;
    std::string death;   // what was said of it
    std::string suspect; // the function's name; may be empty

    // Retains the primary context, once; `failed` is the function that did not succeed.
    cudaError_t retain(const char *&failed);
    // Gives kept memory to the pool, waits for all streams, and gives the pool's to the driver.
    cudaError_t trim();
};

class State {
public:
    explicit State(const atoll_host &services) : host(services), settings(services) {}

    // Number of devices; if 0, `reason` says why.
    int discover(std::string &reason);
    // Opens the device (see Note [Lazy devices]), whose context must be current.
    void open(Device &device, const atoll_call &call);
    // Not opened, may not even work.
    Device &device(const atoll_call &call);
    // True iff the context is dead, so that what is to be freed is gone.
    bool is_gone(const atoll_call &call) {
        return device(call).is_dead.load(std::memory_order_acquire);
    }
    int device_count() const { return static_cast<int>(devices_.size()); }

    const atoll_host &host;
    const Settings settings;
    CopyThreads copy_threads;

private:
    std::mutex mutex_; // guards the making of devices_, which does not change later
    std::vector<std::unique_ptr<Device>> devices_;
};

// Waits for the stream. What CUDA says of an error does not tell whether it has waited, and who
// hears of one may give back what the stream's work writes to, so it is asked once more.
cudaError_t wait_for(cudaStream_t stream);

// Where a call goes: its device, opened and its context current as long as this lives, and its
// stream.
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
    void enqueued() const {
        stream.culprit.note(call);
        if (state.settings.blocking) [[unlikely]]
            check(wait_for(stream.handle), "cudaStreamSynchronize");
    }

    // Stream-ordered memory. free() gets the size that was allocated.
    void *allocate(std::uint64_t bytes) const;
    cudaError_t free(void *memory, std::uint64_t bytes) const;

    State &state;
    atoll_call &call;

    Device &device;

private:
    Stream &opened() const;
    ContextGuard guard_;

public:
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

// "[core.add] cuda:0: "
std::string heading(const State &state, const atoll_call &call);
// Throws. `device` and `culprit` may be NULL.
[[noreturn]] void fail(const State &state, const atoll_call &call, Device *device, cudaError_t code,
                       const char *what, const Culprit *culprit);
// Throws what the device has died of.
[[noreturn]] void fail_dead(const State &state, const atoll_call &call, Device &device);

// The functions of the module `device`.
void enumerate(State &state, atoll_call &call);
void properties(State &state, atoll_call &call);
void facts(State &state, atoll_call &call);
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
std::int32_t event_time(const atoll_link *self, atoll_call *call);
void host_callback(State &state, atoll_call &call);
void stream_order(State &state, atoll_call &call);
void native_handle(State &state, atoll_call &call);
void allocate_host(State &state, atoll_call &call);
void free_host(State &state, atoll_call &call);

} // namespace Atoll::cuda
