// Errors with formatted texts.
#pragma once

#include "atoll/error.hpp"

#include <utility>

#include <fmt/core.h>

namespace Atoll::detail {

template <class... Args> [[noreturn]] void
throw_error(Status status, std::string_view op, fmt::format_string<Args...> text, Args &&...args) {
    throw Error(status, op, fmt::format(text, std::forward<Args>(args)...));
}

} // namespace Atoll::detail
