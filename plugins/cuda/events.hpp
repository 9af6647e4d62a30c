// CUDA's events, kept for reuse, and a clock made of them.
//
// Note [Pooled events]
// A wait that was enqueued refers to the record that it found: recording an event again, or giving
// it to somebody else, does not change it. So an event may be given back while streams wait for it.
//
// Note [Clock]
// CUDA measures the time between two events in milliseconds as a float, to half a microsecond at
// best, and coarser the further they lie apart. So every second an event of the device's own
// becomes the reference for those recorded after it, and the distances of references add up.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime.h>

namespace Atoll::cuda {

enum class Timing : std::uint8_t { off, on };

// Of one device, whose context must be current but in give().
class EventPool {
public:
    EventPool() = default;
    EventPool(const EventPool &) = delete;
    EventPool &operator=(const EventPool &) = delete;

    cudaError_t take(Timing timing, cudaEvent_t *event);
    void give(Timing timing, cudaEvent_t event);
    void destroy_all();

private:
    std::mutex mutex_;
    std::vector<cudaEvent_t> spare_[2];
};

// An event for the duration of a call.
class PooledEvent {
public:
    explicit PooledEvent(EventPool &pool) : pool_(pool) {}
    PooledEvent(const PooledEvent &) = delete;
    PooledEvent &operator=(const PooledEvent &) = delete;
    ~PooledEvent() {
        if (handle) pool_.give(Timing::off, handle);
    }
    cudaError_t take() { return pool_.take(Timing::off, &handle); }
    cudaEvent_t handle = nullptr;

private:
    EventPool &pool_;
};

class Clock {
public:
    struct Reference {
        cudaEvent_t event = nullptr;
        std::shared_ptr<Reference> previous; // null: `nanoseconds` is known
        double nanoseconds = 0;              // since the first reference
    };

    // That for events to be recorded from now on.
    cudaError_t reference(EventPool &pool, std::shared_ptr<Reference> &result);
    // When an event, which is done, was reached. It was recorded after `reference`.
    cudaError_t time(Reference &reference, cudaEvent_t event, std::int64_t &nanoseconds);
    // No reference is used after that.
    void destroy();

private:
    cudaError_t locate(Reference &reference);

    std::mutex mutex_;
    // Of its own, so that references are reached at once, whatever other streams do.
    cudaStream_t stream_ = nullptr;
    std::shared_ptr<Reference> latest_;
    std::chrono::steady_clock::time_point made_;
};

} // namespace Atoll::cuda
