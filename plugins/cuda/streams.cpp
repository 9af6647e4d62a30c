// Streams, events and host callbacks.
#include "device.hpp"
#include "errors.hpp"

namespace Atoll::cuda {

// --- Streams ---------------------------------------------------------------------------------

namespace {

template <class Wait> cudaError_t waited(Wait wait) {
    const cudaError_t code = wait();
    if (code != cudaSuccess && !is_final(code)) {
        (void)wait();
        cudaGetLastError();
    }
    return code;
}

} // namespace

cudaError_t wait_for(cudaStream_t stream) {
    return waited([&] { return cudaStreamSynchronize(stream); });
}

cudaError_t Stream::open() {
    const cudaError_t code = cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking);
    if (code != cudaSuccess) return code;
    const std::lock_guard lock(device.streams_mutex);
    device.streams.push_back(this);
    return cudaSuccess;
}

Stream::~Stream() {
    if (!handle) return;
    {
        const std::lock_guard lock(device.streams_mutex);
        std::erase(device.streams, this);
    }
    give_back_blocks();
    // Otherwise callbacks may still read the memory.
    if (wait_for(handle) == cudaSuccess) downloads.destroy();
    if (blas) Cublas::get().destroy(blas);
    if (chunk.memory) (void)device.staging.give(device.events, chunk, handle);
    cudaStreamDestroy(handle);
}

void Stream::abandon() {
    const std::lock_guard lock(device.streams_mutex);
    std::erase(device.streams, this);
    handle = nullptr;
}

void stream_create(State &state, atoll_call &call) {
    const Target target(state, call);
    auto stream = std::make_unique<Stream>(target.device);
    target.check(stream->open(), "cudaStreamCreateWithFlags");
    sdk::params<atoll_stream_params>(call).stream = stream.release();
}

void stream_destroy(State &state, atoll_call &call) {
    auto *const handle = static_cast<Stream *>(sdk::params<atoll_stream_params>(call).stream);
    if (!handle) return;
    Device &device = state.device(call);
    if (device.is_dead.load(std::memory_order_acquire)) {
        handle->abandon();
        delete handle;
        return;
    }
    const Target target(state, call);
    const std::unique_ptr<Stream> stream(handle);
    // Destroyed whatever comes; an error that nobody has seen is still reported.
    if (const cudaError_t code = wait_for(stream->handle); code != cudaSuccess)
        fail(state, call, &device, code, "cudaStreamSynchronize", &stream->culprit);
}

void stream_synchronize(State &state, atoll_call &call) {
    const Target target(state, call);
    target.check(wait_for(target.stream.handle), "cudaStreamSynchronize");
    // Work that other threads enqueue meanwhile may be forgotten, too.
    target.stream.culprit.clear();
}

namespace {

// Kept on the heap from host_callback until it has run.
struct Callback {
    void (*function)(void *argument, std::int32_t status);
    void *argument;
};

void CUDART_CB run_callback(cudaStream_t, cudaError_t code, void *user) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(user));
    callback->function(callback->argument, code == cudaSuccess ? ATOLL_STATUS_OK : status_of(code));
}

} // namespace

void host_callback(State &state, atoll_call &call) {
    const Target target(state, call);
    const auto &wanted = sdk::params<atoll_callback_params>(call);
    auto callback = std::make_unique<Callback>(Callback{wanted.function, wanted.argument});
    // Not cudaLaunchHostFunc: that one is silently dropped once the context has failed, and the ABI
    // promises the callback in every case. This one gets the error instead.
    const cudaError_t code =
        cudaStreamAddCallback(target.stream.handle, run_callback, callback.get(), 0);
    if (code == cudaSuccess) {
        callback.release();
        target.enqueued();
        return;
    }
    // Nothing will call it any more, so do; the error itself stays for the next synchronisation.
    cudaGetLastError();
    wanted.function(wanted.argument, status_of(code));
}

// --- Events ----------------------------------------------------------------------------------

namespace {

Event &event_of(const atoll_call &call) {
    return *static_cast<Event *>(sdk::params<atoll_event_params>(call).event);
}

} // namespace

void event_create(State &state, atoll_call &call) {
    const Target target(state, call);
    auto event = std::make_unique<Event>();
    target.check(target.device.events.take(Timing::on, &event->handle), "cudaEventCreateWithFlags");
    sdk::params<atoll_event_params>(call).event = event.release();
}

void event_destroy(State &state, atoll_call &call) {
    const std::unique_ptr<Event> event(&event_of(call));
    state.device(call).events.give(Timing::on, event->handle);
}

void event_record(State &state, atoll_call &call) {
    const Target target(state, call);
    Event &event = event_of(call);
    std::shared_ptr<Clock::Reference> reference;
    target.check(target.device.clock.reference(target.device.events, reference),
                 "cudaEventRecord of the device's clock");
    const std::lock_guard lock(event.mutex);
    target.check(cudaEventRecord(event.handle, target.stream.handle), "cudaEventRecord");
    event.culprit.copy(target.stream.culprit);
    event.reference = std::move(reference);
}

namespace {

// Null if the event was never recorded.
std::shared_ptr<Clock::Reference> reference_of(Event &event) {
    const std::lock_guard lock(event.mutex);
    return event.reference;
}

} // namespace

void event_wait(State &state, atoll_call &call) {
    const Target target(state, call);
    Event &event = event_of(call);
    if (!reference_of(event)) return;
    target.check(cudaStreamWaitEvent(target.stream.handle, event.handle, 0), "cudaStreamWaitEvent");
}

void event_synchronize(State &state, atoll_call &call) {
    const Target target(state, call);
    Event &event = event_of(call);
    if (!reference_of(event)) return;
    const cudaError_t code = waited([&] { return cudaEventSynchronize(event.handle); });
    if (code != cudaSuccess)
        fail(state, call, &target.device, code, "cudaEventSynchronize", &event.culprit);
}

namespace {

// Whether the event is done, without blocking.
bool is_done(State &state, const atoll_call &call, Device &device, Event &event) {
    if (!reference_of(event)) return true;
    const cudaError_t code = cudaEventQuery(event.handle);
    if (code != cudaSuccess && code != cudaErrorNotReady)
        fail(state, call, &device, code, "cudaEventQuery", &event.culprit);
    if (code == cudaErrorNotReady) cudaGetLastError();
    return code == cudaSuccess;
}

} // namespace

// Polled, so "not yet" must cost no exception.
std::int32_t event_query(const atoll_link *self, atoll_call *call) {
    State &state = *static_cast<State *>(self->ctx);
    bool is_ready = true;
    const std::int32_t status = sdk::guarded(call->error, [&] {
        const Target target(state, *call);
        is_ready = is_done(state, *call, target.device, event_of(*call));
    });
    return status == ATOLL_STATUS_OK && !is_ready ? ATOLL_STATUS_NOT_READY : status;
}

std::int32_t event_time(const atoll_link *self, atoll_call *call) {
    State &state = *static_cast<State *>(self->ctx);
    bool is_ready = true;
    const std::int32_t status = sdk::guarded(call->error, [&] {
        const Target target(state, *call);
        auto &wanted = sdk::params<atoll_event_time_params>(*call);
        Event &event = *static_cast<Event *>(wanted.event);
        const std::shared_ptr<Clock::Reference> reference = reference_of(event);
        if (!reference)
            throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                             heading(state, *call) + "the event was never recorded");
        is_ready = is_done(state, *call, target.device, event);
        if (!is_ready) return;
        target.check(target.device.clock.time(*reference, event.handle, wanted.nanoseconds),
                     "cudaEventElapsedTime");
    });
    return status == ATOLL_STATUS_OK && !is_ready ? ATOLL_STATUS_NOT_READY : status;
}

void stream_order(State &state, atoll_call &call) {
    const auto &order = sdk::params<atoll_stream_order_params>(call);
    atoll_call other = call;
    other.device = order.done_device;
    other.stream = order.done;
    PooledEvent mark(state.device(other).events);
    {
        const Target done(state, other);
        done.check(mark.take(), "cudaEventCreateWithFlags");
        done.check(cudaEventRecord(mark.handle, done.stream.handle), "cudaEventRecord");
    }
    const Target waiting(state, call);
    waiting.check(cudaStreamWaitEvent(waiting.stream.handle, mark.handle, 0),
                  "cudaStreamWaitEvent");
}

} // namespace Atoll::cuda
