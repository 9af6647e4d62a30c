// A check, the exceptions that report its outcome, and threads for checks.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace Atoll::conformance {

// Thrown by a check's body if the plugin is wrong. The text contains what happened, the arguments
// and what to do.
struct Failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// Thrown by a check's body that cannot run here; the text contains the reason.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};
template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> text, Args &&...args) {
    throw Failed(fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args> [[noreturn]] void skip(fmt::format_string<Args...> text, Args &&...args) {
    throw Skipped(fmt::format(text, std::forward<Args>(args)...));
}

struct Check {
    std::string group, subject, dtype, variant; // as in Result
    std::function<void()> body;
    bool exits = false; // the process then leaves through exit(), and must survive that
};
using Checks = std::vector<Check>;

// Runs body(0) to body(count - 1), each on a thread of its own, and then throws what one has
// thrown.
void on_threads(std::size_t count, const std::function<void(std::size_t)> &body);
// How many threads this process has. Throws Skipped where the system does not say it.
std::size_t threads_alive();
// Bytes that malloc has given out; 0 under a sanitizer.
std::size_t heap_in_use();

} // namespace Atoll::conformance
