// Child processes: Note [Children].
#include "child.hpp"

#include "atoll/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_errno(const char *what) {
    throw Error(Status::internal, "conformance", fmt::format("{}: {}", what, std::strerror(errno)));
}

// A message is its number of fields, then each field with its size in front.
using Size = std::uint32_t;

void append(std::string &bytes, std::size_t size) {
    const auto number = static_cast<Size>(size);
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

// Removes a message from the front of `bytes`; false if it is not complete.
bool take(std::string &bytes, Message &message) {
    std::size_t at = 0;
    const auto number = [&](Size &value) {
        if (bytes.size() - at < sizeof value) return false;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        at += sizeof value;
        return true;
    };
    Message fields;
    Size count = 0, size = 0;
    if (!number(count)) return false;
    for (; fields.size() < count; at += size) {
        if (!number(size) || bytes.size() - at < size) return false;
        fields.push_back(bytes.substr(at, size));
    }
    bytes.erase(0, at);
    message = std::move(fields);
    return true;
}

} // namespace

void Pipe::write(const Message &message) {
    std::string bytes;
    append(bytes, message.size());
    for (const std::string &field : message) {
        append(bytes, field.size());
        bytes += field;
    }
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = ::write(end_, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) ::_exit(1); // the parent is gone
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

Child::Child(double deadline, const std::function<void(Pipe &)> &body) : deadline_(deadline) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
    errors_ = ::memfd_create("atoll-conformance", MFD_CLOEXEC);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) {
        // With what it forks, a group of its own that can be ended as one.
        ::setpgid(0, 0);
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        // What plugins print is for the message of a crash.
        ::dup2(errors_, STDOUT_FILENO);
        ::dup2(errors_, STDERR_FILENO);
        Pipe pipe(ends[1]);
        body(pipe);
    }
    ::close(ends[1]);
    end_ = ends[0];
}

Child::~Child() {
    ::close(end_);
    if (errors_ >= 0) ::close(errors_);
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

bool Child::next(Message &message) {
    const auto start = Clock::now();
    const std::chrono::duration<double> limit(deadline_);
    for (;;) {
        if (take(buffer_, message)) return true;
        // In steps: a process that it forked may keep the pipe open after its end.
        const bool late = Clock::now() - start > limit, gone = has_ended();
        pollfd wait{end_, POLLIN, 0};
        if (::poll(&wait, 1, late || gone ? 0 : 100) <= 0) {
            hung_ = late && !gone;
            if (late || gone) return false;
            continue;
        }
        char bytes[65536];
        const ssize_t n = ::read(end_, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(n));
    }
}

std::string Child::end() {
    if (hung_) ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    ::kill(-pid_, SIGKILL); // what it forked; until it is waited for, the number is its own
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    const std::string printed = last_words();
    if (hung_)
        return fmt::format("hung: no answer for {:g} s, stopped{}; look for a deadlock "
                           "or an endless loop",
                           deadline_, printed);
    if (WIFSIGNALED(status))
        return fmt::format("crashed: the process died of signal {} ({}){}; run it with "
                           "--no-isolate in a debugger",
                           WTERMSIG(status), ::strsignal(WTERMSIG(status)), printed);
    if (WEXITSTATUS(status) != 0)
        return fmt::format("ended the process with status {}{}; a plugin must not exit",
                           WEXITSTATUS(status), printed);
    return "";
}

bool Child::has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
}

// The end of what the child printed.
std::string Child::last_words() const {
    const off_t size = errors_ < 0 ? 0 : ::lseek(errors_, 0, SEEK_END);
    if (size <= 0) return "";
    std::string text(static_cast<std::size_t>(std::min<off_t>(size, 600)), '\0');
    const ssize_t n =
        ::pread(errors_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "" : fmt::format(", having printed: {}", text);
}

} // namespace Atoll::conformance
