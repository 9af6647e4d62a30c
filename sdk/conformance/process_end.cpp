// Ends of the process that the kit did not ask for: see process_end.hpp.
#include "process_end.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<bool> refused{false};

[[noreturn]] void end(int status) {
    for (;;) ::syscall(SYS_exit_group, status);
}

void report() {
    if (!refused) return;
    constexpr std::string_view text = "the plugin has ended the process; a plugin must not exit\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    end(1);
}

} // namespace

// Plugins find these before those of the C library, which has no handlers for them.
extern "C" {
[[gnu::visibility("default")]] void _exit(int status) {
    report();
    end(status);
}
[[gnu::visibility("default")]] void _Exit(int status) noexcept {
    report();
    end(status);
}
}

namespace Atoll::conformance {

EndOfProcess::EndOfProcess() {
    static const bool registered = std::atexit(report) == 0 && std::at_quick_exit(report) == 0;
    static_cast<void>(registered);
    refused = true;
}

EndOfProcess::~EndOfProcess() { refused = false; }

} // namespace Atoll::conformance
