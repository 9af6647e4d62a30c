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
    std::uint64_t free_memory = 0;  // bytes at the time of the call; 0 if unknown
    std::uint64_t alignment = 0;    // bytes
};

// Something that a plugin says of a device, such as {"clock_mhz", "1980"}.
struct DeviceFact {
    std::string name, value;
};

// A handle that stays valid for the life of the process. Using it after its plugin has retired is
// an error that says so. Thread-safe.
class Device {
public:
    Device() noexcept = default; // no device

    explicit operator bool() const noexcept { return record_ != nullptr; }
    std::string name() const; // "cpu", "dummy:0"; no index if the type has one device
    std::string_view type() const;
    int index() const;
    bool is_host_memory() const; // the host may read and write its memory
    bool is_inline() const;      // executes on the calling thread
    // Operands that its kernels accept unchanged. Others are converted, at the cost of a copy.
    bool supports_byteswap() const;     // its copy accepts byte-swapped operands
    bool supports_mixed_dtypes() const; // its add accepts inputs of different dtypes
    DeviceProperties properties() const;
    // What else its plugin says of it, as its header documents: versions, clocks, statistics. Empty
    // if it says nothing. Does not wait for running work. Throws Error (plugin_fault) where a fact
    // breaks the contract (atoll_facts_params).
    std::vector<DeviceFact> facts() const;
    std::vector<std::string> modules() const; // modules with an implementation for this device type

    // Creates a stream. Work on different streams may run concurrently.
    Stream new_stream() const;
    Stream default_stream() const;
    // Blocks until all work on the default stream is done. Throws asynchronous errors.
    void synchronize() const;

    friend bool operator==(Device a, Device b) noexcept { return a.record_ == b.record_; }

    explicit Device(detail::DeviceRecord *record) noexcept : record_(record) {}
    detail::DeviceRecord *record() const noexcept { return record_; }

private:
    detail::DeviceRecord *record_ = nullptr;
};

// Finds a device by name: "cpu", "dummy:1"; without an index, the first device of its type. Does
// not load plugins. Throws Error (not_found) that lists the available devices.
Device device(std::string_view name);
// All devices of all loaded plugins, in the order of loading.
std::vector<Device> devices();
// The device of functions that are called without one. Throws Error if there is none.
Device default_device();

} // namespace Atoll
