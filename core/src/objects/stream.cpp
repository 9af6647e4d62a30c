// Streams and events, and the order between streams.
#include "atoll/stream.hpp"

#include "base/throw_error.hpp"
#include "objects/objects.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

void synchronize_stream(const DeviceRecord &device, void *stream, Cause cause) {
    if (device.type->is_inline()) return;
    atoll_stream_params params{sizeof params, 0, stream};
    device_call(device, ATOLL_DEVICE_FN_stream_synchronize, &params, stream, cause);
}

namespace {

// Calls a device's function about an event.
void call_event(const DeviceRecord &device, int function, const EventImpl &event,
                void *stream = nullptr, Cause cause = {}) {
    atoll_event_params params{sizeof params, 0, event.handle};
    device_call(device, function, &params, stream, cause);
}
bool is_pending(const EventImpl &event) {
    atoll_event_params params{sizeof params, 0, event.handle};
    return try_device_call(*event.device, ATOLL_DEVICE_FN_event_query, &params, nullptr) ==
           ATOLL_STATUS_NOT_READY;
}

// An event behind what is enqueued on the stream so far; nothing to wait for on inline devices.
Ref<EventImpl> record_event(const DeviceRecord &device, void *stream, Cause cause = {}) {
    auto *event = new EventImpl(device);
    Ref<EventImpl> result = Ref<EventImpl>::adopt(event);
    if (device.type->is_inline()) return result;
    atoll_event_params params{sizeof params, 0, nullptr};
    device_call(device, ATOLL_DEVICE_FN_event_create, &params, nullptr, cause);
    if (!params.event)
        throw Error(Status::plugin_fault, "device.event_create",
                    "returned no event without an error", device.name);
    event->handle = params.event;
    count_live(device.slot, 1);
    call_event(device, ATOLL_DEVICE_FN_event_record, *event, stream, cause);
    return result;
}

// Asks, since a plugin that waits cannot be called back.
void wait_for_event(const EventImpl &event, std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    std::chrono::microseconds pause(10);
    while (is_pending(event)) {
        if (std::chrono::steady_clock::now() >= end)
            throw Error(Status::not_ready, "synchronize",
                        fmt::format("the device did not finish within {} s "
                                    "(Settings::synchronize_deadline); its work goes on and may "
                                    "still write to its tensors; wait again, or end the process",
                                    std::chrono::duration<double>(deadline).count()),
                        event.device->name, event.device->type->plugin->name);
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::microseconds(1000));
    }
}

} // namespace

void wait_for_stream(const DeviceRecord &device, void *stream) noexcept {
    if (device.type->is_inline()) return;
    try {
        wait_for_event(*record_event(device, stream), std::chrono::hours(24 * 365));
    } catch (...) { // no event to be had: the work must be done all the same
        atoll_stream_params params{sizeof params, 0, stream};
        try_device_call(device, ATOLL_DEVICE_FN_stream_synchronize, &params, stream);
    }
}

void synchronize_within_deadline(const DeviceRecord &device, void *stream) {
    const std::chrono::milliseconds deadline = current_settings().synchronize_deadline;
    if (device.type->is_inline()) return;
    if (deadline > deadline.zero()) wait_for_event(*record_event(device, stream), deadline);
    synchronize_stream(device, stream); // also for the errors that stick to the stream
}

void order_streams(StreamOf waiting, StreamOf done, Cause cause) {
    const DeviceRecord &device = *waiting.device;
    if (done.device->type->is_inline()) return;
    if (device.type != done.device->type)
        return synchronize_stream(*done.device, done.handle(), cause);
    if (device_implements(*device.type, ATOLL_DEVICE_FN_stream_order)) {
        atoll_stream_order_params params{sizeof params, done.device->index, done.handle()};
        return device_call(device, ATOLL_DEVICE_FN_stream_order, &params, waiting.handle(), cause);
    }
    const Ref<EventImpl> event = record_event(*done.device, done.handle(), cause);
    call_event(device, ATOLL_DEVICE_FN_event_wait, *event, waiting.handle(), cause);
}

namespace {
template <class Impl, class Params> void give_back(Impl *object, int function, Params params) {
    if (object->handle) {
        last_device_call(*object->device, function, &params, nullptr);
        count_live(object->device->slot, -1);
    }
    delete object;
}
} // namespace

void StreamImpl::destroy(RefCounted *object) noexcept {
    auto *stream = static_cast<StreamImpl *>(object);
    give_back(stream, ATOLL_DEVICE_FN_stream_destroy,
              atoll_stream_params{sizeof(atoll_stream_params), 0, stream->handle});
}

void EventImpl::destroy(RefCounted *object) noexcept {
    auto *event = static_cast<EventImpl *>(object);
    give_back(event, ATOLL_DEVICE_FN_event_destroy,
              atoll_event_params{sizeof(atoll_event_params), 0, event->handle});
}

} // namespace detail

using namespace detail;

Stream Device::default_stream() const {
    return Stream(Ref<StreamImpl>::adopt(new StreamImpl(checked(record_), nullptr)));
}

Stream Device::new_stream() const {
    if (checked(record_).type->is_inline()) return default_stream();
    const ReadSection section;
    require_live(*record_, "device.stream_create");
    atoll_stream_params params{sizeof params, 0, nullptr};
    device_call(*record_, ATOLL_DEVICE_FN_stream_create, &params);
    if (!params.stream) // NULL is the default stream
        throw Error(Status::plugin_fault, "device.stream_create",
                    "returned no stream without an error", record_->name);
    count_live(record_->slot, 1);
    return Stream(Ref<StreamImpl>::adopt(new StreamImpl(*record_, params.stream)));
}

namespace {
template <class Impl> Impl &checked(Impl *object, std::string_view kind, std::string_view maker) {
    if (!object)
        throw_error(Status::invalid_argument, kind, "the {} is undefined; make one with {}", kind,
                    maker);
    require_live(*object->device, kind);
    return *object;
}
StreamImpl &checked(StreamImpl *stream) { return checked(stream, "stream", "Device::new_stream"); }
EventImpl &checked(EventImpl *event) { return checked(event, "event", "Stream::record"); }
} // namespace

Device Stream::device() const { return Device(checked(impl()).device); }

bool Stream::same_as(const Stream &other) const {
    if (!impl() || !other.impl()) return impl() == other.impl();
    return impl()->device == other.impl()->device && impl()->handle == other.impl()->handle;
}

void Stream::synchronize() const {
    const StreamImpl &stream = checked(impl());
    synchronize_within_deadline(*stream.device, stream.handle);
}

Event Stream::record() const {
    const StreamImpl &stream = checked(impl());
    const ReadSection section;
    require_live(*stream.device, "device.event_create");
    return Event(record_event(*stream.device, stream.handle));
}

void Stream::wait(const Event &event) const {
    const StreamImpl &stream = checked(impl());
    const EventImpl &mark = checked(event.impl());
    if (!mark.handle) return;
    if (mark.device->type != stream.device->type) {
        event.synchronize();
        return;
    }
    call_event(*stream.device, ATOLL_DEVICE_FN_event_wait, mark, stream.handle);
    const Ref<StreamImpl> own = Ref<StreamImpl>::share(impl());
    StreamOf{stream.device, own}.work().enqueued();
}

void Event::synchronize() const {
    const EventImpl &mark = checked(impl());
    if (!mark.handle) return;
    const std::chrono::milliseconds deadline = current_settings().synchronize_deadline;
    if (deadline > deadline.zero()) wait_for_event(mark, deadline);
    call_event(*mark.device, ATOLL_DEVICE_FN_event_synchronize, mark);
}

std::uint64_t Stream::native_handle(std::uint32_t kind) const {
    const StreamImpl &stream = checked(impl());
    atoll_native_handle_params params{sizeof params, kind, 0};
    device_call(*stream.device, ATOLL_DEVICE_FN_native_handle, &params, stream.handle);
    return params.value;
}

std::chrono::nanoseconds Event::time() const {
    synchronize();
    const EventImpl &mark = checked(impl());
    if (!mark.handle)
        throw Error(Status::not_supported, "event.time",
                    "the device works on the calling thread and has no clock of its own",
                    mark.device->name);
    atoll_event_time_params params{sizeof params, 0, mark.handle, 0};
    device_call(*mark.device, ATOLL_DEVICE_FN_event_time, &params);
    return std::chrono::nanoseconds(params.nanoseconds);
}

bool Event::done() const {
    const EventImpl &mark = checked(impl());
    return !mark.handle || !is_pending(mark);
}

} // namespace Atoll
