// Lends pinned memory to streams: see staging.hpp.
#include "staging.hpp"

#include <algorithm>
#include <utility>

namespace Atoll::cuda {

std::deque<Staging::Chunk>::iterator Staging::find(cudaStream_t stream) {
    return std::find_if(draining_.begin(), draining_.end(),
                        [&](const Chunk &each) { return each.stream == stream; });
}

cudaError_t Staging::take(EventPool &events, cudaStream_t stream, Chunk &chunk) {
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
    if (count_ < most_chunks || find(stream) == draining_.end()) {
        ++count_;
        lock.unlock(); // pinning takes long
        const cudaError_t code =
            cudaMallocHost(reinterpret_cast<void **>(&chunk.memory), chunk_bytes);
        if (code == cudaSuccess) return code;
        lock.lock();
        --count_;
        if (find(stream) == draining_.end()) return code;
        cudaGetLastError();
    }
    const auto oldest = find(stream);
    chunk = *oldest;
    draining_.erase(oldest);
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
    full.stream = stream;
    cudaError_t code = events.take(Timing::off, &full.drained);
    if (code == cudaSuccess) {
        code = cudaEventRecord(full.drained, stream);
        if (code != cudaSuccess) events.give(Timing::off, std::exchange(full.drained, nullptr));
    }
    // Only waiting can tell when the stream has read it.
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
