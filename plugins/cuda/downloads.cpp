// Enqueues copies to host memory: see downloads.hpp.
#include "device.hpp"

#include <algorithm>
#include <utility>

namespace Atoll::cuda {
namespace {

// One piece of a download, kept on the heap until its callback has run.
struct Landing {
    State &state;
    Device &device;
    char *to;
    const char *from;
    std::uint64_t bytes;
    std::shared_ptr<const bool> wanted; // under Device::landing
};

// Called also where earlier work has failed.
void CUDART_CB land(cudaStream_t, cudaError_t code, void *user) {
    const std::unique_ptr<Landing> piece(static_cast<Landing *>(user));
    if (code != cudaSuccess) return;
    const std::shared_lock lock(piece->device.landing);
    if (*piece->wanted && !piece->device.is_dead.load(std::memory_order_acquire))
        piece->state.copy_threads.copy(piece->to, piece->from, piece->bytes);
}

} // namespace

void Downloads::enqueue(const Target &target, char *destination, const char *source,
                        std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto wanted = std::make_shared<bool>(true);
    try {
        enqueue_pieces(target, destination, source, bytes, wanted);
    } catch (...) {
        // A piece that may still be filled must not be used before.
        PooledEvent filled(target.device.events);
        if (filling_ &&
            (filled.take() != cudaSuccess ||
             cudaEventRecord(filled.handle, filling_) != cudaSuccess ||
             cudaStreamWaitEvent(target.stream.handle, filled.handle, 0) != cudaSuccess))
            (void)cudaStreamSynchronize(filling_);
        const std::lock_guard lock(target.device.landing);
        *wanted = false;
        throw;
    }
}

void Downloads::enqueue_pieces(const Target &target, char *destination, const char *source,
                               std::uint64_t bytes, const std::shared_ptr<bool> &wanted) {
    const cudaStream_t stream = target.stream.handle;
    // A single piece needs no second stream.
    const bool is_filled_apart = bytes > piece_bytes;
    if (is_filled_apart && !filling_)
        target.check(cudaStreamCreateWithFlags(&filling_, cudaStreamNonBlocking),
                     "cudaStreamCreateWithFlags");
    // When the pieces may be filled: at first, when the stream has come here.
    PooledEvent may_fill[2] = {PooledEvent(target.device.events),
                               PooledEvent(target.device.events)};
    const auto order = [&](PooledEvent &event, cudaStream_t done, cudaStream_t waiting) {
        if (!event.handle) target.check(event.take(), "cudaEventCreateWithFlags");
        target.check(cudaEventRecord(event.handle, done), "cudaEventRecord");
        if (waiting)
            target.check(cudaStreamWaitEvent(waiting, event.handle, 0), "cudaStreamWaitEvent");
    };
    PooledEvent filled(target.device.events);
    if (is_filled_apart) order(filled, stream, filling_);
    while (bytes > 0) {
        char *&piece = pieces_[next_];
        PooledEvent &emptied = may_fill[next_];
        next_ = 1 - next_;
        if (!piece)
            target.check(cudaMallocHost(reinterpret_cast<void **>(&piece), piece_bytes),
                         "cudaMallocHost");
        const std::uint64_t size = std::min(bytes, piece_bytes);
        if (emptied.handle)
            target.check(cudaStreamWaitEvent(filling_, emptied.handle, 0), "cudaStreamWaitEvent");
        target.check(cudaMemcpyAsync(piece, source, size, cudaMemcpyDeviceToHost,
                                     is_filled_apart ? filling_ : stream),
                     "cudaMemcpyAsync");
        if (is_filled_apart) order(filled, filling_, stream);
        auto landing = std::make_unique<Landing>(target.state, target.device, destination, piece,
                                                 size, wanted);
        target.check(cudaStreamAddCallback(stream, land, landing.get(), 0),
                     "cudaStreamAddCallback");
        landing.release();
        if (is_filled_apart) order(emptied, stream, nullptr);
        destination += size;
        source += size;
        bytes -= size;
    }
}

void Downloads::destroy() {
    for (char *&piece : pieces_) cudaFreeHost(std::exchange(piece, nullptr));
    if (filling_) cudaStreamDestroy(std::exchange(filling_, nullptr));
}

} // namespace Atoll::cuda
