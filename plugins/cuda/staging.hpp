// Pinned host memory through which uploads pass, so that a source may be reused when the call
// returns, whatever kind of memory it is.
//
// Note [Staging]
// A stream fills a chunk, then takes the next one; a chunk that is full is free again when the
// stream has come to its end. All streams of a device share the chunks. An upload waits only where
// all of them are full of data for streams that have not come to them yet.
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
        std::uint64_t used = 0; // bytes
        cudaEvent_t drained = nullptr;
    };

    Staging() = default;
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    // An empty chunk. Blocks while there is none.
    cudaError_t take(EventPool &events, Chunk &chunk);
    // To be used again when the stream has come here.
    cudaError_t give(EventPool &events, const Chunk &chunk, cudaStream_t stream);
    void destroy(EventPool &events);

private:
    std::mutex mutex_;
    std::vector<char *> spare_;
    std::deque<Chunk> draining_; // the oldest first
    unsigned count_ = 0;
};

} // namespace Atoll::cuda
