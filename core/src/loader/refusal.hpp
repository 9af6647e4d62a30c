// Why a plugin is not loaded, as an Error: "[load] …".
#pragma once

#include "atoll/error.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace Atoll::detail {

template <class... Args>
[[noreturn]] void refuse(Status status, fmt::format_string<Args...> text, Args &&...args) {
    throw Error(status, "load", fmt::format(text, std::forward<Args>(args)...));
}

// What an error says, without "[load] ".
inline std::string words_of(const std::exception &error) {
    constexpr std::string_view prefix = "[load] ";
    const std::string_view text = error.what();
    return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

} // namespace Atoll::detail
