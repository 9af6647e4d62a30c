// Device: one CPU, one GPU, one simulated accelerator. There is no current device.
#pragma once

#include "atoll/detail/ref.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll {

class Stream;

namespace detail {
struct DeviceRecord;
}

struct DeviceProperties {
    std::string name;               // the model
    std::uint32_t units = 0;        // cores, multiprocessors …; 0 if unknown
    std::uint64_t total_memory = 0; // bytes; 0 if unknown
    std::uint64_t free_memory = 0;  // bytes, now; 0 if unknown
    std::uint64_t alignment = 0;    // bytes
};

// A handle that stays valid for the life of the process; after its plugin has retired, using it is
// an error that says so. Thread-safe.
class Device {
public:
    Device() noexcept = default; // no device

    explicit operator bool() const noexcept { return record_ != nullptr; }
    std::string name() const; // "cpu", "dummy:0": the index is left out where a type has one device
    std::string_view type() const;
    int index() const;
    bool is_host_memory() const; // its memory may be read and written by the host
    bool is_inline() const;      // executes on the calling thread
    // What its kernels take as it is; the rest is converted for them, at the cost of a copy.
    bool supports_byteswap() const;     // its copy takes byte-swapped operands
    bool supports_mixed_dtypes() const; // its add takes inputs of different dtypes
    DeviceProperties properties() const;
    std::vector<std::string> modules() const; // modules with an implementation for this device type

    // Makes a stream; work on different streams may run at the same time.
    Stream new_stream() const;
    Stream default_stream() const;
    // Blocks until all work on the default stream is done; reports asynchronous errors.
    void synchronize() const;

    friend bool operator==(Device a, Device b) noexcept { return a.record_ == b.record_; }

    explicit Device(detail::DeviceRecord *record) noexcept : record_(record) {}
    detail::DeviceRecord *record() const noexcept { return record_; }

private:
    detail::DeviceRecord *record_ = nullptr;
};

// "cpu", "dummy:1"; without an index the first of its type. Throws Error (not_found) that lists
// what there is. Does not load plugins.
Device device(std::string_view name);
// All devices of all loaded plugins, in the order of loading.
std::vector<Device> devices();
// The device for functions that are not told one; throws Error when there is none.
Device default_device();

} // namespace Atoll
