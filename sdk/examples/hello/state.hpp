// What both implementations of `hello` keep: a counter per open device.
#pragma once

#include "hello.h"

#include <atoll/plugin.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace Hello {

// Calls come from any thread.
class State {
public:
    explicit State(const atoll_host &services) : host(services) {}

    // Counts a call and returns the number of calls since the device was opened.
    std::int64_t count(std::int32_t device) {
        const std::lock_guard lock(mutex_);
        const auto found = calls_.find(device);
        if (found == calls_.end())
            throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                    "[hello] device " + std::to_string(device) + " is not open");
        return ++found->second;
    }

    static std::int32_t open_device(void *plugin, std::int32_t device, atoll_error *error) {
        State &state = *static_cast<State *>(plugin);
        return Atoll::sdk::guarded(error, [&] {
            const std::lock_guard lock(state.mutex_);
            state.calls_[device] = 0;
        });
    }
    static void close_device(void *plugin, std::int32_t device) {
        State &state = *static_cast<State *>(plugin);
        const std::lock_guard lock(state.mutex_);
        state.calls_.erase(device);
    }

    const atoll_host &host;

private:
    std::mutex mutex_;
    std::map<std::int32_t, std::int64_t> calls_;
};

constexpr atoll_impl_decl implementation(const char *device_type,
                                         std::span<const atoll_function_decl> functions) {
    atoll_impl_decl impl = Atoll::sdk::implement("hello", device_type, functions, HELLO_VERSION);
    impl.open_device = State::open_device;
    impl.close_device = State::close_device;
    return impl;
}

} // namespace Hello
