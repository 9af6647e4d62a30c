// Stream and Event: the order of work on asynchronous devices.
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

// A queue of work on one device. Work on one stream runs in order. Copies share the stream.
// Thread-safe. On inline devices all work is already done, and all functions return at once.
class Stream {
public:
    Stream() noexcept = default;
    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    Device device() const;
    // Blocks until the stream is idle. Throws the first error of its work since the last
    // synchronisation.
    void synchronize() const;
    // Makes later work on this stream wait for the event. Does not block if the event belongs to a
    // device of the same type; for an event of another device type it blocks the host.
    void wait(const Event &event) const;
    // Returns an event that marks the current end of this stream.
    Event record() const;
    // The native handle of the stream (or of its context, or of the device): a pointer or a number.
    // The header of the device's plugin, such as atoll/cuda.h, defines the kinds. Valid while the
    // stream lives. Throws Error (not_supported, invalid_argument).
    std::uint64_t native_handle(std::uint32_t kind) const;
    friend bool operator==(const Stream &a, const Stream &b) { return a.same_as(b); }

    explicit Stream(detail::Ref<detail::StreamImpl> impl) noexcept : impl_(std::move(impl)) {}
    detail::StreamImpl *impl() const noexcept { return impl_.get(); }

private:
    bool same_as(const Stream &other) const;
    detail::Ref<detail::StreamImpl> impl_;
};

// A mark in a stream, which it may outlive. Copies share the event. Thread-safe.
class Event {
public:
    Event() noexcept = default;
    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    void synchronize() const; // blocks; throws the error of earlier work
    bool done() const;        // never blocks
    // The time at which the device reached the mark, on the device's own clock; use differences.
    // Blocks. Throws Error (not_supported) if the device has no clock.
    std::chrono::nanoseconds time() const;

    explicit Event(detail::Ref<detail::EventImpl> impl) noexcept : impl_(std::move(impl)) {}
    detail::EventImpl *impl() const noexcept { return impl_.get(); }

private:
    detail::Ref<detail::EventImpl> impl_;
};

} // namespace Atoll
