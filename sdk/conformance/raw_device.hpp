// Direct calls of the functions of the module `device`: the public interface would wait where a
// check must not.
#pragma once

#include "target.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace Atoll::conformance {

class RawDevice {
public:
    // Of a device of the plugin under check, or of one for which it implements functions.
    RawDevice(const Target &target, const std::string &type, int index);

    bool has(int function) const { return functions_[function] != nullptr; }
    const std::string &name() const { return name_; }
    int index() const { return index_; }
    bool is_host_memory() const { return host_memory_; }

    // Calls it and returns its status; the error's text is in text(). `params` begins with its
    // struct_size.
    std::int32_t try_call(int function, void *params, void *stream = nullptr) const;
    // The same; throws Failed with the text unless it is OK.
    void call(int function, void *params, void *stream = nullptr) const;
    const std::string &text() const { return text_; }

    // Appends such bytes to params, as a newer host would, and fills the call's reserved words with
    // them.
    void lengthen(unsigned char byte) { tail_ = byte; }
    // Capacity for error texts, in bytes, followed by guards; calls that overwrite them throw
    // Failed.
    void set_error_capacity(std::uint32_t capacity) { capacity_ = capacity; }

    void *allocate(std::uint64_t bytes, void *stream = nullptr) const;
    void free(void *data, std::uint64_t bytes, void *stream = nullptr) const;
    void to_device(void *to, const void *from, std::size_t bytes, void *stream = nullptr) const {
        transfer(ATOLL_TRANSFER_HOST_TO_DEVICE, to, from, bytes, 0, stream);
    }
    void to_host(void *to, const void *from, std::size_t bytes, void *stream = nullptr) const {
        transfer(ATOLL_TRANSFER_DEVICE_TO_HOST, to, from, bytes, 0, stream);
    }
    // From another device of the type to this one.
    void from_peer(void *to, const RawDevice &peer, const void *from, std::size_t bytes,
                   void *stream) const {
        transfer(ATOLL_TRANSFER_DEVICE_TO_DEVICE, to, from, bytes, peer.index(), stream);
    }
    // Nothing where the device executes inline.
    void synchronize(void *stream = nullptr) const;

private:
    void transfer(atoll_transfer_kind kind, void *to, const void *from, std::size_t bytes, int peer,
                  void *stream) const;

    std::string name_;
    int index_;
    bool host_memory_ = false;
    const atoll_function_decl *functions_[ATOLL_DEVICE_FN_COUNT] = {};
    void *context_ = nullptr;
    const void *owner_ = nullptr;
    std::optional<unsigned char> tail_;
    std::uint32_t capacity_ = 512;
    mutable std::string text_, misdeed_;
};

// Device memory for a scope.
class Block {
public:
    Block(const RawDevice &device, std::uint64_t bytes, void *stream = nullptr)
        : device_(&device), bytes_(bytes), stream_(stream), data_(device.allocate(bytes, stream)) {}
    ~Block() {
        try {
            device_->free(data_, bytes_, stream_);
        } catch (const Failed &) {
            // the check fails already, or a check of `free` reports it
        }
    }
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    // `at`: bytes from its start.
    void *data(std::size_t at = 0) const { return static_cast<char *>(data_) + at; }

private:
    const RawDevice *device_;
    std::uint64_t bytes_;
    void *stream_;
    void *data_;
};

// A stream for a scope; the default stream where the device has no other.
class RawStream {
public:
    explicit RawStream(const RawDevice &device);
    ~RawStream();
    RawStream(const RawStream &) = delete;
    RawStream &operator=(const RawStream &) = delete;
    void *handle() const { return handle_; }

private:
    const RawDevice *device_;
    void *handle_ = nullptr;
};

// An event for a scope.
class RawEvent {
public:
    explicit RawEvent(const RawDevice &device);
    ~RawEvent() { try_call(ATOLL_DEVICE_FN_event_destroy); }
    RawEvent(const RawEvent &) = delete;
    RawEvent &operator=(const RawEvent &) = delete;
    // `stream` of `on`, which may be another device of the type.
    void record(void *stream) const { call(*device_, ATOLL_DEVICE_FN_event_record, stream); }
    void wait(const RawDevice &on, void *stream) const {
        call(on, ATOLL_DEVICE_FN_event_wait, stream);
    }
    void synchronize() const { call(*device_, ATOLL_DEVICE_FN_event_synchronize); }
    void *handle() const { return handle_; }
    std::int32_t query() const { return try_call(ATOLL_DEVICE_FN_event_query); }

private:
    std::int32_t try_call(int function) const;
    void call(const RawDevice &on, int function, void *stream = nullptr) const;

    const RawDevice *device_;
    void *handle_ = nullptr;
};

// Transfers back to the host that are worth milliseconds, so that what follows finds work under
// way. None needs staging.
class LongWork {
public:
    static constexpr std::size_t bytes = 4 << 20; // of each transfer
    LongWork(const RawDevice &device, void *stream, unsigned transfers);
    ~LongWork(); // waits, unless the stream is gone
    LongWork(const LongWork &) = delete;
    LongWork &operator=(const LongWork &) = delete;
    void stream_is_gone() { drained_ = true; }
    // Whether the last one has landed. Does not ask the device.
    bool done() const { return *static_cast<const volatile char *>(&last_.back()) != 0; }

private:
    const RawDevice *device_;
    void *stream_;
    bool drained_ = false;
    std::vector<char> others_, last_;
    Block block_;
};

// Throws Failed with `complaint` if calls wait for work that is under way; Skipped where a device
// has done all work when a transfer returns. attempt(transfers) makes a call behind LongWork of so
// many transfers; returns nothing if that was done before the call began, else whether the call
// returned before it was done. It gets up to most_attempts chances: this thread may lose the
// processor for as long as the work takes.
inline constexpr int most_attempts = 32;
void require_no_wait(const RawDevice &device, const std::string &complaint,
                     const std::function<std::optional<bool>(unsigned transfers)> &attempt);
// The same for a direct call(stream) of a function of the device.
void require_no_block(const RawDevice &device, const char *function,
                      const std::function<void(void *stream)> &call);

// Bytes that differ from run to run of `seed`.
std::vector<char> bytes_of(std::size_t count, unsigned seed);

// What checks of order repeat, and the bytes that are worth a moment of work.
inline constexpr unsigned rounds = 24;
inline constexpr std::size_t large = 1 << 18;

// Throws Failed at the first byte that differs.
void require_bytes(const std::vector<char> &want, const std::vector<char> &got,
                   const std::string &what);

} // namespace Atoll::conformance
