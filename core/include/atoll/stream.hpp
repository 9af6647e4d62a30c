// Stream and Event: order of work on asynchronous devices.
#pragma once

#include "atoll/detail/ref.hpp"
#include "atoll/device.hpp"

#include <chrono>
#include <cstdint>

namespace Atoll {

namespace detail {
struct StreamImpl;
struct EventImpl;
} // namespace detail

class Event;

// A queue of work on one device. Work on one stream runs in order. Copies share. Thread-safe.
// On inline devices everything has already happened and all of this returns at once.
class Stream {
public:
    Stream() noexcept = default;
    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    Device device() const;
    // Blocks until the stream is idle. Throws the first error of its work since the last time.
    void synchronize() const;
    // Later work on this stream waits for the event. Does not block. The event may belong to
    // another device of the same type; across types this blocks the host.
    void wait(const Event &event) const;
    // Marks the current end of this stream.
    Event record() const;
    // What the device's own API calls the stream (or its context, or the device): a pointer or a
    // number. Kinds are in a header of the device's plugin, such as atoll/cuda.h. Good while the
    // stream lives. Throws Error (not_supported, invalid_argument).
    std::uint64_t native_handle(std::uint32_t kind) const;
    friend bool operator==(const Stream &a, const Stream &b) { return a.same_as(b); }

    explicit Stream(detail::Ref<detail::StreamImpl> impl) noexcept : impl_(std::move(impl)) {}
    detail::StreamImpl *impl() const noexcept { return impl_.get(); }

private:
    bool same_as(const Stream &other) const;
    detail::Ref<detail::StreamImpl> impl_;
};

// A mark in a stream. Copies share. Thread-safe.
class Event {
public:
    Event() noexcept = default;
    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    void synchronize() const; // blocks; throws the error of work before it
    bool done() const;        // never blocks
    // When the device reached the mark, on its own clock: for differences. Blocks. Throws Error
    // (not_supported) where the device does not tell.
    std::chrono::nanoseconds time() const;

    explicit Event(detail::Ref<detail::EventImpl> impl) noexcept : impl_(std::move(impl)) {}
    detail::EventImpl *impl() const noexcept { return impl_.get(); }

private:
    detail::Ref<detail::EventImpl> impl_;
};

} // namespace Atoll
