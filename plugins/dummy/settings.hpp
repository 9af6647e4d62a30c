// Settings that are numbers.
#pragma once

#include "atoll/plugin.hpp"

#include <charconv>
#include <string>

namespace Dummy {

// Throws sdk::Error unless it is a number up to `largest`.
inline std::uint64_t number_setting(const atoll_host &host, const std::string &plugin,
                                    const char *key, std::uint64_t fallback,
                                    std::uint64_t largest) {
    namespace sdk = Atoll::sdk;
    const std::string text = sdk::config(host, key, std::to_string(fallback).c_str());
    const char *end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || value > largest)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                         std::string("setting ") + key + " of " + plugin + ": got '" + text +
                             "', need a number up to " + std::to_string(largest));
    return value;
}

} // namespace Dummy
