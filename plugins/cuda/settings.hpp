// The settings of the plugin `cuda`.
#pragma once

#include "atoll/plugin.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace Atoll::cuda {

struct Settings {
    explicit Settings(const atoll_host &host)
        : cache_bytes(number(host, "cache_bytes", "a quarter")),
          limit(number(host, "limit", "none")),
          blocking(sdk::config(host, "blocking", "0") != "0") {}

    // How much freed memory of a device is kept for reuse. 0: none, and allocations have the size
    // that was asked for, so that tools see every access beyond it. By default a quarter of the
    // device's memory.
    std::optional<std::uint64_t> cache_bytes;
    // The most memory of a device that the plugin takes, in bytes.
    std::optional<std::uint64_t> limit;
    // Every call waits for its work, so that errors name the function that has failed.
    bool blocking;

private:
    // None where the setting says `fallback`.
    static std::optional<std::uint64_t> number(const atoll_host &host, const char *key,
                                               const char *fallback) {
        const std::string text = sdk::config(host, key, fallback);
        if (text.empty() || text == fallback) return {};
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                             std::string("setting \"") + key + "\" is \"" + text +
                                 "\", need a number of bytes or \"" + fallback + "\"");
        return value;
    }
};

} // namespace Atoll::cuda
