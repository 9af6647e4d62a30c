// The process environment, as far as it can be trusted.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <sys/auxv.h>

namespace Atoll::detail {

// False if the process has privileges that its user lacks (set-user-ID and the like), because an
// attacker may control its environment.
inline bool environment_trusted() { return ::getauxval(AT_SECURE) == 0; }

// An environment variable; empty if it is unset or the environment is not trusted.
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
