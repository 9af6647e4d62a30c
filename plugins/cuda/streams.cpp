// Streams, events and host callbacks.
#include "device.hpp"

namespace Atoll::cuda {

// --- Streams ---------------------------------------------------------------------------------

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
    cudaStreamSynchronize(handle);
    if (blas) Cublas::get().destroy(blas);
    for (int i = 0; i < 2; ++i) {
        if (staging.drained[i]) cudaEventDestroy(staging.drained[i]);
        if (staging.halves[i]) cudaFreeHost(staging.halves[i]);
    }
    cudaStreamDestroy(handle);
}

void stream_create(State &state, atoll_call &call) {
    const Target target(state, call);
    auto stream = std::make_unique<Stream>(target.device);
    target.check(stream->open(), "cudaStreamCreateWithFlags");
    sdk::params<atoll_stream_params>(call).stream = stream.release();
}

void stream_destroy(State &state, atoll_call &call) {
    const Target target(state, call);
    const std::unique_ptr<Stream> stream(
        static_cast<Stream *>(sdk::params<atoll_stream_params>(call).stream));
    if (!stream) return;
    // Destroyed whatever comes; an error that nobody has seen is still told.
    if (const cudaError_t code = cudaStreamSynchronize(stream->handle); code != cudaSuccess)
        fail(state, call, code, "cudaStreamSynchronize", &stream->culprit);
}

void stream_synchronize(State &state, atoll_call &call) {
    const Target target(state, call);
    target.check(cudaStreamSynchronize(target.stream.handle), "cudaStreamSynchronize");
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
    // promises the callback in every case. This one is told the error instead.
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
    target.check(cudaEventCreateWithFlags(&event->handle, cudaEventDisableTiming),
                 "cudaEventCreateWithFlags");
    sdk::params<atoll_event_params>(call).event = event.release();
}

void event_destroy(State &state, atoll_call &call) {
    const Target target(state, call);
    const std::unique_ptr<Event> event(&event_of(call));
    target.check(cudaEventDestroy(event->handle), "cudaEventDestroy");
}

void event_record(State &state, atoll_call &call) {
    const Target target(state, call);
    Event &event = event_of(call);
    target.check(cudaEventRecord(event.handle, target.stream.handle), "cudaEventRecord");
    event.culprit.set(target.stream.culprit);
}

void event_wait(State &state, atoll_call &call) {
    const Target target(state, call);
    target.check(cudaStreamWaitEvent(target.stream.handle, event_of(call).handle, 0),
                 "cudaStreamWaitEvent");
}

void event_synchronize(State &state, atoll_call &call) {
    const Target target(state, call);
    Event &event = event_of(call);
    if (const cudaError_t code = cudaEventSynchronize(event.handle); code != cudaSuccess)
        fail(state, call, code, "cudaEventSynchronize", &event.culprit);
}

// Polled, so "not yet" must cost no exception.
std::int32_t event_query(const atoll_link *self, atoll_call *call) {
    State &state = *static_cast<State *>(self->ctx);
    bool ready = true;
    const std::int32_t status = sdk::guarded(call->error, [&] {
        const Target target(state, *call);
        Event &event = event_of(*call);
        const cudaError_t code = cudaEventQuery(event.handle);
        if (code == cudaErrorNotReady) {
            cudaGetLastError();
            ready = false;
        } else if (code != cudaSuccess) {
            fail(state, *call, code, "cudaEventQuery", &event.culprit);
        }
    });
    return status == ATOLL_STATUS_OK && !ready ? ATOLL_STATUS_NOT_READY : status;
}

// The event may be destroyed at once: CUDA keeps it until the wait is over.
void stream_order(State &state, atoll_call &call) {
    const auto &order = sdk::params<atoll_stream_order_params>(call);
    atoll_call other = call;
    other.device = order.done_device;
    other.stream = order.done;
    cudaEvent_t mark = nullptr;
    {
        const Target done(state, other);
        done.check(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming),
                   "cudaEventCreateWithFlags");
        if (const cudaError_t code = cudaEventRecord(mark, done.stream.handle);
            code != cudaSuccess) {
            cudaEventDestroy(mark);
            done.check(code, "cudaEventRecord");
        }
    }
    const Target waiting(state, call);
    const cudaError_t code = cudaStreamWaitEvent(waiting.stream.handle, mark, 0);
    cudaEventDestroy(mark);
    waiting.check(code, "cudaStreamWaitEvent");
}

} // namespace Atoll::cuda
