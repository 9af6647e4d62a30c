// Copies from a device to memory that it cannot write to, without making the caller wait.
//
// Note [Downloads]
// CUDA's own copies to pageable memory return when they are done, which is after all earlier work
// of the stream. Here the device copies to pinned memory, and a callback of the stream copies from
// there. Work that is enqueued later comes after the callback, so the destination is complete for
// whoever waits for the stream: by synchronising, by an event, in another stream. A stream has two
// pieces of pinned memory, whatever it downloads: while the host empties one, the device, from a
// stream of its own, fills the other.
//
// A destination may be gone once the caller has been told of an error. So callbacks copy under a
// shared lock of Device::landing, and only what is still wanted: a download that fails halfway, and
// a context's death, take the lock for themselves to say that nothing is.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <cuda_runtime.h>

namespace Atoll::cuda {

class Target;

// Of one stream.
class Downloads {
public:
    Downloads() = default;
    Downloads(const Downloads &) = delete;
    Downloads &operator=(const Downloads &) = delete;

    // Enqueues the copy on the target's stream.
    void enqueue(const Target &target, char *destination, const char *source, std::uint64_t bytes);
    // No download is under way.
    void destroy();

private:
    static constexpr std::uint64_t piece_bytes = 4 << 20; // enough to hide the latency of a copy

    void enqueue_pieces(const Target &target, char *destination, const char *source,
                        std::uint64_t bytes, const std::shared_ptr<bool> &wanted);

    std::mutex mutex_;
    char *pieces_[2] = {};
    unsigned next_ = 0;
    cudaStream_t filling_ = nullptr; // made by the first download of several pieces
};

} // namespace Atoll::cuda
