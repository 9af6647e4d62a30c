// Status texts and the exception's message.
#include "atoll/error.hpp"

#include <fmt/core.h>

namespace Atoll {

namespace {

std::string message(Status status, std::string_view function, std::string_view text,
                    std::string_view device, std::string_view plugin) {
    std::string out;
    if (!function.empty()) out += fmt::format("[{}] ", function);
    if (!device.empty()) out += fmt::format("on {}", device);
    if (!plugin.empty()) out += fmt::format("{}(plugin {})", device.empty() ? "" : " ", plugin);
    if (!device.empty() || !plugin.empty()) out += ": ";
    out += text.empty() ? name(status) : text;
    return out;
}

} // namespace

std::string_view name(Status status) {
    static constexpr std::string_view texts[] = {
#define ATOLL_STATUS(value, ENUM, identifier, text) text,
#include "atoll/lists/status.inc"
    };
    const auto i = static_cast<std::size_t>(status);
    return i < std::size(texts) ? texts[i] : "unknown status";
}

Error::Error(Status status, std::string_view function, std::string_view text,
             std::string_view device, std::string_view plugin, std::int64_t native_code)
    : std::runtime_error(message(status, function, text, device, plugin)), status_(status),
      native_code_(native_code), function_(function), device_(device), plugin_(plugin) {}

} // namespace Atoll
