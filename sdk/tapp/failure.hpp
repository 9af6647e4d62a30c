// Errors inside the library, and how they become codes.
#pragma once

#include "tapp.h"
#include "tapp/atoll.h"

#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace Atoll::Tapp {

// The code that a function returns, and what TAPP_explain_error says about this call.
struct Failure {
    TAPP_error code = 0;
    std::string text;
};

template <class... Args>
[[noreturn]] void fail(TAPP_error code, fmt::format_string<Args...> words, Args &&...args) {
    throw Failure{code, fmt::format(words, std::forward<Args>(args)...)};
}

// The failure that an exception stands for: a Failure, Atoll's Error, or another.
Failure failure_of(std::exception_ptr error) noexcept;
// Keeps the failure for TAPP_explain_error on this thread. Returns its code.
TAPP_error remember(const Failure &failure) noexcept;

// Runs the body of a function of the interface: no exception leaves it.
template <class Body> TAPP_error guarded(const Body &body) noexcept {
    try {
        body();
        return 0;
    } catch (...) {
        return remember(failure_of(std::current_exception()));
    }
}

// Throws Failure if a pointer that must lead somewhere is NULL.
inline void require_memory(const void *pointer, const char *name) {
    if (!pointer) fail(TAPP_ATOLL_NULL_ARGUMENT, "{} is NULL", name);
}

} // namespace Atoll::Tapp
