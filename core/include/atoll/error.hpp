// The only exception type of the library.
#pragma once

#include "atoll/abi/base.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace Atoll {

enum class Status : std::int32_t {
#define ATOLL_STATUS(value, ENUM, identifier, text) identifier = value,
#include "atoll/lists/status.inc"
};

// The text of a status: "out of memory" for Status::out_of_memory.
std::string_view name(Status status);

// An error: what went wrong, where, and what to do. what() is "[core.add] on dummy:0 (plugin
// dummy): …".
class Error : public std::runtime_error {
public:
    // `function`, `device` and `plugin` may be empty if they do not apply.
    Error(Status status, std::string_view function, std::string_view text,
          std::string_view device = {}, std::string_view plugin = {}, std::int64_t native_code = 0);

    Status status() const noexcept { return status_; }
    // The failed function, e.g. "core.add", or operation, e.g. "load_plugin".
    const std::string &function() const noexcept { return function_; }
    const std::string &device() const noexcept { return device_; }
    const std::string &plugin() const noexcept { return plugin_; }
    // The error code of the device library; 0 if there is none.
    std::int64_t native_code() const noexcept { return native_code_; }

private:
    Status status_;
    std::int64_t native_code_;
    std::string function_, device_, plugin_;
};

} // namespace Atoll
