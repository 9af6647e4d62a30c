// Pinned host memory through which uploads pass, so that a source may be reused when the call
// returns, whatever kind of memory it is.
//
// Note [Staging]
// A stream fills a chunk, then takes the next one; a chunk that is full is free again when the
// stream has come to its end. All streams of a device share the chunks. Where all of them are full,
// an upload waits for the oldest one of its own stream: the data has to be somewhere when the call
// returns, and somewhere is a limit. For other streams it never waits: one without any chunk gets
// another.
#pragma once

#include "events.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace Atoll::cuda {

class Staging {
public:
    static constexpr std::uint64_t chunk_bytes = 4 << 20; // enough to hide the latency of a copy
    static constexpr unsigned most_chunks = 16;

    struct Chunk {
        char *memory = nullptr;
        std::uint64_t used = 0;        // bytes
        cudaStream_t stream = nullptr; // that has yet to come to `drained`
        cudaEvent_t drained = nullptr;
    };

    Staging() = default;
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    // An empty chunk for the stream.
    cudaError_t take(EventPool &events, cudaStream_t stream, Chunk &chunk);
    // To be used again when the stream has come here.
    cudaError_t give(EventPool &events, const Chunk &chunk, cudaStream_t stream);
    void destroy(EventPool &events);

private:
    std::mutex mutex_;
    std::vector<char *> spare_;
    std::deque<Chunk> draining_; // the oldest first
    // The oldest of the stream.
    std::deque<Chunk>::iterator find(cudaStream_t stream);
    unsigned count_ = 0;
};

} // namespace Atoll::cuda
