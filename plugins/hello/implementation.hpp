// What the implementations of `hello` share: state per device and the descriptor.
#pragma once

#include "atoll/hello.h"
#include "atoll/plugin.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace Hello {

// The context of an implementation. Calls come from any thread; a device's counter exists from
// open_device to close_device.
class State {
public:
    explicit State(const atoll_host &host) : host(host) {}

    void open(std::int32_t device) {
        const std::lock_guard lock(mutex_);
        calls_[device] = 0;
    }
    void close(std::int32_t device) {
        const std::lock_guard lock(mutex_);
        calls_.erase(device);
    }
    // Counts one more call on a device; returns how many there were, this one included.
    std::int64_t count(std::int32_t device) {
        const std::lock_guard lock(mutex_);
        const auto found = calls_.find(device);
        if (found == calls_.end())
            throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                    "[hello] device " + std::to_string(device) + " is not open");
        return ++found->second;
    }

    const atoll_host &host;

private:
    std::mutex mutex_;
    std::map<std::int32_t, std::int64_t> calls_;
};

inline std::int32_t open_device(void *plugin, std::int32_t device, atoll_error *error) {
    return Atoll::sdk::guarded(error, [&] { static_cast<State *>(plugin)->open(device); });
}

inline void close_device(void *plugin, std::int32_t device) {
    static_cast<State *>(plugin)->close(device);
}

constexpr atoll_impl_decl implementation(const char *device_type,
                                         std::span<const atoll_function_decl> functions) {
    atoll_impl_decl impl =
        Atoll::sdk::implement("hello", device_type, functions, ATOLL_HELLO_VERSION);
    impl.open_device = open_device;
    impl.close_device = close_device;
    return impl;
}

template <std::size_t Count>
constexpr atoll_plugin descriptor(const char *name, const char *description,
                                  const atoll_impl_decl *const (&impls)[Count]) {
    return Atoll::sdk::describe<State>({name, "0.1.0", "Atoll", "Apache-2.0", description}, impls);
}

} // namespace Hello
