// The process environment, as far as it can be trusted.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace Atoll::detail {

// An environment variable; nothing if it is unset or the process runs with privileges that its
// user does not have (set-user-ID and the like): then the environment is an attacker's.
inline std::optional<std::string> secure_environment(const char *name) {
    const char *value = ::secure_getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

// True iff the variable is set to anything but "" and "0".
inline bool environment_switch(const char *name) {
    const auto text = secure_environment(name);
    return text && !text->empty() && *text != "0";
}

} // namespace Atoll::detail
