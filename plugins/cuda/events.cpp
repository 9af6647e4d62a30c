// Keeps events and tells the time: see events.hpp.
#include "events.hpp"

#include <utility>

namespace Atoll::cuda {

cudaError_t EventPool::take(Timing timing, cudaEvent_t *event) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<cudaEvent_t> &spare = spare_[static_cast<int>(timing)];
        if (!spare.empty()) {
            *event = spare.back();
            spare.pop_back();
            return cudaSuccess;
        }
    }
    return cudaEventCreateWithFlags(event, timing == Timing::on ? cudaEventDefault
                                                                : cudaEventDisableTiming);
}

void EventPool::give(Timing timing, cudaEvent_t event) {
    const std::lock_guard lock(mutex_);
    spare_[static_cast<int>(timing)].push_back(event);
}

void EventPool::destroy_all() {
    for (std::vector<cudaEvent_t> &spare : spare_)
        for (const cudaEvent_t event : std::exchange(spare, {})) cudaEventDestroy(event);
}

namespace {

cudaError_t distance(cudaEvent_t from, cudaEvent_t to, double &nanoseconds) {
    float milliseconds = 0;
    const cudaError_t code = cudaEventElapsedTime(&milliseconds, from, to);
    nanoseconds = static_cast<double>(milliseconds) * 1e6;
    return code;
}

} // namespace

cudaError_t Clock::reference(EventPool &pool, std::shared_ptr<Reference> &result) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    // One that is not reached yet has nothing to measure the next one from.
    if (latest_ && (now - made_ < std::chrono::seconds(1) || locate(*latest_) != cudaSuccess)) {
        result = latest_;
        return cudaSuccess;
    }
    cudaError_t code = cudaSuccess;
    if (!stream_) code = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    if (code == cudaSuccess) code = pool.take(Timing::on, &event);
    if (code != cudaSuccess) return code;
    std::shared_ptr<Reference> next(new Reference, [&pool](Reference *made) {
        pool.give(Timing::on, made->event);
        delete made;
    });
    next->event = event;
    next->previous = latest_;
    code = cudaEventRecord(event, stream_);
    if (code != cudaSuccess) return code;
    made_ = now;
    result = latest_ = std::move(next);
    return cudaSuccess;
}

// The mutex is held. cudaErrorNotReady if it has not been reached.
cudaError_t Clock::locate(Reference &reference) {
    if (!reference.previous) {
        const cudaError_t code = cudaEventQuery(reference.event);
        if (code == cudaErrorNotReady) cudaGetLastError();
        return code;
    }
    double between = 0;
    const cudaError_t code = distance(reference.previous->event, reference.event, between);
    if (code == cudaErrorNotReady) cudaGetLastError();
    if (code != cudaSuccess) return code;
    reference.nanoseconds = reference.previous->nanoseconds + between;
    reference.previous.reset();
    return cudaSuccess;
}

cudaError_t Clock::time(Reference &reference, cudaEvent_t event, std::int64_t &nanoseconds) {
    const std::lock_guard lock(mutex_);
    // Enqueued before the event, on a stream where nothing else is.
    cudaError_t code = cudaEventSynchronize(reference.event);
    if (code == cudaSuccess) code = locate(reference);
    double since = 0;
    if (code == cudaSuccess) code = distance(reference.event, event, since);
    nanoseconds = static_cast<std::int64_t>(reference.nanoseconds + since);
    return code;
}

void Clock::destroy() {
    latest_.reset();
    if (stream_) cudaStreamDestroy(std::exchange(stream_, nullptr));
}

} // namespace Atoll::cuda
