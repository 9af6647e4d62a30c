// The state of the process, and the host's log.
#include "process_state.hpp"

#include "atoll/abi/host.h"
#include "atoll/atoll.hpp"
#include "check.hpp"

#include <cerrno>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

namespace Atoll::conformance {

namespace {

// Rounding, traps and denormal numbers, without the flags of what has happened.
unsigned floating_mode() {
    std::fenv_t mode;
    std::fegetenv(&mode);
#if defined(__x86_64__)
    return mode.__mxcsr & ~0x3fu; // FE_ALL_EXCEPT lacks that of denormal numbers
#else
    return mode.__fpcr;
#endif
}

std::mutex mutex; // of the texts
std::vector<std::string> &logged() {
    static auto &texts = *new std::vector<std::string>; // threads may log at exit
    return texts;
}

} // namespace

ProcessState process_state() {
    ProcessState state;
    state["the floating-point mode"] = fmt::format("{:#x}", floating_mode());
    state["the locale"] = std::setlocale(LC_ALL, nullptr);
    std::error_code error;
    state["the working directory"] = std::filesystem::current_path(error).string();
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0)
            state[fmt::format("the handler of signal {}", signal)] =
                fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(action.sa_handler));
    }
    for (char **entry = environ; entry && *entry; ++entry) {
        const std::string text = *entry;
        const std::size_t end = text.find('=');
        if (end != text.npos)
            state["the environment variable " + text.substr(0, end)] = text.substr(end + 1);
    }
    return state;
}

void require_unchanged(const ProcessState &before) {
    const ProcessState now = process_state();
    const auto in = [](const ProcessState &state, const std::string &name) {
        const auto at = state.find(name);
        return at == state.end() ? std::string("nothing") : "'" + at->second + "'";
    };
    ProcessState all = before;
    all.insert(now.begin(), now.end());
    for (const auto &[name, value] : all)
        if (in(before, name) != in(now, name))
            fail("changed {} from {} to {}; it belongs to the application", name, in(before, name),
                 in(now, name));
}

void require_no_output() {
    std::cout.flush();
    std::fflush(stdout);
    if (const off_t bytes = ::lseek(STDOUT_FILENO, 0, SEEK_END); bytes > 0)
        fail("printed {} bytes to standard output, which belongs to the application; log through "
             "atoll_host",
             bytes);
}

void require_no_processes() {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        fail("left a process behind; end and wait for what it starts, at the latest in unload");
}

HostLog::HostLog() {
    const auto keep = [](std::string text) {
        const std::lock_guard lock(mutex);
        logged().push_back(std::move(text));
    };
    set_log_handler([keep](int level, std::string_view text) {
        if (level >= ATOLL_LOG_WARN) keep(std::string(text));
    });
    // Of values, such as the root of a negative number: the checks compare results.
    set_warning_handler([](const Warning &) {});
}

HostLog::~HostLog() {
    set_log_handler({});
    set_warning_handler({});
}

std::string HostLog::take(const std::string &name) {
    const std::lock_guard lock(mutex);
    std::string all;
    for (const std::string &text : logged())
        if (!text.starts_with(name + ": ")) all += (all.empty() ? "" : "; ") + text;
    logged().clear();
    return all;
}

} // namespace Atoll::conformance
