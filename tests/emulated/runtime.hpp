// Emulated devices, their streams and events, and failures that tests order.
#pragma once

#include "cuda.h"
#include "cuda_runtime.h"
#include "device_memory.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace Emulated {

struct Device {
    explicit Device(int number) : index(number) {}
    const int index;
    Memory memory;
    // What a kernel did to the context: every later call on the device says so.
    std::atomic<cudaError_t> sticky{cudaSuccess};
    std::atomic<std::uint32_t> peers{0}; // devices that may access this one's memory, as bits
};
inline constexpr int device_count = 2;
Device &device(int index);
// Of the calling thread's context; device 0 if it has none.
Device &current_device();
bool has_context();

// A point in a stream.
class Mark {
public:
    void reach();
    bool is_reached();
    void wait();
    std::int64_t nanoseconds = 0; // valid once reached

private:
    std::mutex mutex_;
    std::condition_variable reached_;
    bool is_reached_ = false;
};

// The outcome of a call: remembers a failure for cudaGetLastError.
cudaError_t outcome(cudaError_t code);
// Enqueued so far, by the header of CUB.
extern std::atomic<long> radix_sorts;
// What every function does first: an ordered failure, or that of the current device.
cudaError_t enter(const char *function);
// Without that of the device, and only failures ordered by this name: of functions that fail only
// where the driver or the context is gone. They are not counted.
cudaError_t enter_named(const char *function);
// For functions that need a context: Note [Emulated contexts].
cudaError_t enter_context(const char *function);

} // namespace Emulated

// A queue and the thread that works it off.
struct CUstream_st {
    explicit CUstream_st(Emulated::Device &owner);
    ~CUstream_st(); // after all work
    CUstream_st(const CUstream_st &) = delete;
    CUstream_st &operator=(const CUstream_st &) = delete;

    void enqueue(std::function<void()> work);
    void wait();
    bool is_idle();

    Emulated::Device &device;
    std::atomic<int> waiters{0}; // threads in wait()

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool is_busy_ = false, ends_ = false;
    std::thread thread_;
};

struct CUevent_st {
    Emulated::Device &device;
    const bool has_time;
    std::mutex mutex;
    std::shared_ptr<Emulated::Mark> latest; // of the last record
};

extern "C" {
// Orders that the `number`th call from now (1 is the next) of the runtime function `function`, or
// of any if NULL, fails with `code`, having done nothing.
void emulated_fail_call(const char *function, long number, int code);
// Orders that the `number`th kernel from now fails with `code` when it runs.
void emulated_fail_kernel(long number, int code);
// Calls of the runtime so far, kernels run, allocations and streams and events alive.
long emulated_calls();
long emulated_live_allocations();
// How often a call has waited for an event.
long emulated_waits();
// Sorts of cub::DeviceRadixSort enqueued so far.
long emulated_radix_sorts();
long emulated_live_handles();
// Copies whose caller had to wait for the stream.
long emulated_blocking_copies();
// From now on launches are checked and then forgotten, for measuring what a call costs the host.
void emulated_skip_kernels();
// A new seed for the order of threads.
void emulated_seed(unsigned long seed);
// How often a thread was given a context that it had not asked for; primary contexts retained.
long emulated_implied_contexts();
long emulated_retained_contexts();
// Makes a context, as an application may, and pushes it. Never freed.
CUcontext emulated_make_context(int device);
// Repairs what a kernel has done.
void emulated_reset();
}
