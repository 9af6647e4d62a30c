// Why a plugin is not loaded, as an Error: "[load_plugin] …".
#pragma once

#include "base/throw_error.hpp"

#include <string>

namespace Atoll::detail {

template <class... Args>
[[noreturn]] void refuse(Status status, fmt::format_string<Args...> text, Args &&...args) {
    throw_error(status, "load_plugin", text, std::forward<Args>(args)...);
}

// The text of an error without "[load_plugin] ".
inline std::string reason_of(const std::exception &error) {
    constexpr std::string_view prefix = "[load_plugin] ";
    const std::string_view text = error.what();
    return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

} // namespace Atoll::detail
