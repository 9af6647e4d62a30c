// Lends pinned memory to streams: see staging.hpp.
#include "staging.hpp"

#include <utility>

namespace Atoll::cuda {

cudaError_t Staging::take(EventPool &events, Chunk &chunk) {
    chunk = {};
    std::unique_lock lock(mutex_);
    // Streams end in any order.
    for (auto each = draining_.begin(); each != draining_.end();) {
        if (cudaEventQuery(each->drained) != cudaSuccess) {
            cudaGetLastError();
            ++each;
            continue;
        }
        events.give(Timing::off, each->drained);
        spare_.push_back(each->memory);
        each = draining_.erase(each);
    }
    if (!spare_.empty()) {
        chunk.memory = spare_.back();
        spare_.pop_back();
        return cudaSuccess;
    }
    // Streams that are not full keep theirs, so there may be more of them than chunks are meant to.
    if (count_ < most_chunks || draining_.empty()) {
        const cudaError_t code =
            cudaMallocHost(reinterpret_cast<void **>(&chunk.memory), chunk_bytes);
        if (code == cudaSuccess) ++count_;
        if (code == cudaSuccess || draining_.empty()) return code;
        cudaGetLastError();
    }
    chunk = draining_.front();
    draining_.pop_front();
    lock.unlock();
    const cudaError_t code = cudaEventSynchronize(chunk.drained);
    events.give(Timing::off, std::exchange(chunk.drained, nullptr));
    chunk.used = 0;
    if (code != cudaSuccess) {
        lock.lock();
        spare_.push_back(std::exchange(chunk.memory, nullptr));
    }
    return code;
}

cudaError_t Staging::give(EventPool &events, const Chunk &chunk, cudaStream_t stream) {
    Chunk full = chunk;
    cudaError_t code = events.take(Timing::off, &full.drained);
    if (code == cudaSuccess) {
        code = cudaEventRecord(full.drained, stream);
        if (code != cudaSuccess) events.give(Timing::off, std::exchange(full.drained, nullptr));
    }
    // What the stream reads cannot be told any more, but by waiting.
    if (code != cudaSuccess) (void)cudaStreamSynchronize(stream);
    const std::lock_guard lock(mutex_);
    if (full.drained)
        draining_.push_back(full);
    else
        spare_.push_back(full.memory);
    return code;
}

void Staging::destroy(EventPool &events) {
    for (const Chunk &each : std::exchange(draining_, {})) {
        events.give(Timing::off, each.drained);
        spare_.push_back(each.memory);
    }
    for (char *const memory : std::exchange(spare_, {})) cudaFreeHost(memory);
    count_ = 0;
}

} // namespace Atoll::cuda
