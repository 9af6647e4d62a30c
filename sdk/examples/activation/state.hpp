// What the implementations of `activation` share: a random generator for each device that is open.
#pragma once

#include "activation.h"

#include <atoll/plugin.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace Activation {

// The context of an implementation. Calls come from any thread; a device's generator exists from
// open_device to close_device. Setting: seed (a number, read when a device is opened).
class State {
public:
    explicit State(const atoll_host &services) : host(services) {}

    void open(std::int32_t device) {
        const std::string seed = Atoll::sdk::config(host, "seed", "1");
        char *end;
        const std::uint64_t number = std::strtoull(seed.c_str(), &end, 10);
        if (seed.empty() || *end != '\0')
            throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                    "setting seed: got '" + seed + "', need a number");
        const std::lock_guard lock(mutex_);
        generators_[device].seed(number + static_cast<std::uint64_t>(device));
    }
    void close(std::int32_t device) {
        const std::lock_guard lock(mutex_);
        generators_.erase(device);
    }
    // The device's next numbers, evenly spread over [0, 1).
    std::vector<float> uniform(std::int32_t device, std::size_t count) {
        const std::lock_guard lock(mutex_);
        const auto generator = generators_.find(device);
        if (generator == generators_.end())
            throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                    "device " + std::to_string(device) + " is not open");
        std::vector<float> numbers(count);
        for (float &number : numbers)
            number = static_cast<float>(generator->second() >> 8) / (1 << 24);
        return numbers;
    }

    const atoll_host &host;

private:
    std::mutex mutex_;
    std::map<std::int32_t, std::mt19937> generators_;
};

inline std::int32_t open_device(void *plugin, std::int32_t device, atoll_error *error) {
    return Atoll::sdk::guarded(error, [&] { static_cast<State *>(plugin)->open(device); });
}

inline void close_device(void *plugin, std::int32_t device) {
    static_cast<State *>(plugin)->close(device);
}

// The implementation of the module itself, with its state per device.
constexpr atoll_impl_decl implementation(const char *device_type,
                                         std::span<const atoll_function_decl> functions) {
    atoll_impl_decl impl =
        Atoll::sdk::implement("activation", device_type, functions, ACTIVATION_VERSION);
    impl.open_device = open_device;
    impl.close_device = close_device;
    return impl;
}

// Functions of `core` that it replaces: before those of the plugin that brings the device, whatever
// the order of loading.
constexpr atoll_impl_decl override_core(const char *device_type,
                                        std::span<const atoll_function_decl> functions) {
    atoll_impl_decl impl = Atoll::sdk::implement("core", device_type, functions);
    impl.priority = 10;
    return impl;
}

} // namespace Activation
