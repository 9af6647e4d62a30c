// A child process that tries: see trial.hpp.
#include "trial.hpp"

#include "terminal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {
namespace {

constexpr char complete = '\0', // the last byte of a text that is all there
    failed = '\1';              // all that there is if the work threw

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t size = ::write(file, text.data(), text.size());
        if (size <= 0) std::_Exit(1);
        text.remove_prefix(static_cast<std::size_t>(size));
    }
}

// What comes through the pipe until its end, its last byte or the deadline.
std::string read_until(int file, std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    std::string text;
    while (text.empty() || text.back() != complete) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd wait{file, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
        char buffer[1 << 14];
        const ssize_t size = ::read(file, buffer, sizeof buffer);
        if (size <= 0) break;
        text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
}

} // namespace

std::optional<std::string> text_of_child(const std::function<std::string()> &work,
                                         std::chrono::milliseconds deadline) {
    int ends[2];
    std::fflush(nullptr);
    if (::pipe(ends) != 0) return std::nullopt;
    const pid_t child = ::fork();
    if (child < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        return std::nullopt;
    }
    if (child == 0) {
        ::close(ends[0]);
        std::string made(1, failed);
        try {
            made = work();
        } catch (...) { // it fails in the parent too, which says why
        }
        write_all(ends[1], made + complete);
        std::exit(0); // what reports at exit does
    }
    ::close(ends[1]);
    std::string text = read_until(ends[0], deadline);
    ::close(ends[0]);
    const bool whole = !text.empty() && text.back() == complete;
    if (!whole) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (whole) {
        text.pop_back();
        return text[0] == failed ? std::nullopt : std::optional(text);
    }
    say_error(WIFEXITED(status)
                  ? fmt::format("a plugin ended the process while it was loaded, with status {}; "
                                "now each is loaded in a process of its own first",
                                WEXITSTATUS(status))
              : WTERMSIG(status) == SIGKILL
                  ? "loading the plugins does not end; now each is loaded in a process of its own "
                    "first"
                  : fmt::format("a plugin killed the process while it was loaded: {}; now each is "
                                "loaded in a process of its own first",
                                ::strsignal(WTERMSIG(status))));
    return std::nullopt;
}

OutputAside::OutputAside() {
    std::fflush(stdout);
    saved_ = ::dup(STDOUT_FILENO);
    if (saved_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

OutputAside::~OutputAside() {
    std::fflush(stdout);
    if (saved_ < 0) return;
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
}

} // namespace Atoll::tools
