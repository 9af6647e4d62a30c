// Child processes: Note [Children].
#include "child.hpp"

#include "atoll/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

using Clock = std::chrono::steady_clock;

const Message finished{"finished"}, leaving{"leaving"};
constexpr int left = 77; // status of a child that left as it said

[[noreturn]] void throw_errno(const char *what) {
    throw Error(Status::internal, "conformance", fmt::format("{}: {}", what, std::strerror(errno)));
}

// A message is its number of fields, then each field with its size in front.
using FieldSize = std::uint32_t;

void append(std::string &bytes, std::size_t size) {
    const auto number = static_cast<FieldSize>(size);
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

// Removes a message from the front of `bytes`; false if it is not complete.
bool take(std::string &bytes, Message &message) {
    std::size_t at = 0;
    const auto number = [&](FieldSize &value) {
        if (bytes.size() - at < sizeof value) return false;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        at += sizeof value;
        return true;
    };
    Message fields;
    FieldSize count = 0, size = 0;
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

void Pipe::finish() {
    write(finished);
    ::_exit(0);
}

void Pipe::leave() {
    write(leaving);
    std::exit(left);
}

Child::Child(double deadline, const std::function<void(Pipe &)> &body) : deadline_(deadline) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
    output_ = ::memfd_create("atoll-conformance", MFD_CLOEXEC);
    errors_ = ::memfd_create("atoll-conformance", MFD_CLOEXEC);
    const pid_t parent = ::getpid();
    std::cout.flush(); // what is buffered would be written twice
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) {
        // With what it forks, a group of its own that can be ended as one.
        ::setpgid(0, 0);
        ::close(ends[0]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::prctl(PR_SET_CHILD_SUBREAPER, 1); // daemons stay children
        if (::getppid() != parent) ::_exit(1);
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        // What plugins print is for the message of a crash.
        ::dup2(output_, STDOUT_FILENO);
        ::dup2(errors_, STDERR_FILENO);
        Pipe pipe(ends[1]);
        body(pipe);
    }
    ::close(ends[1]);
    end_ = ends[0];
}

Child::~Child() {
    ::close(end_);
    for (const int file : {output_, errors_})
        if (file >= 0) ::close(file);
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
        if (take(buffer_, message)) {
            finished_ |= message == finished;
            leaving_ |= message == leaving;
            if (finished_) return false;
            if (message != leaving) return true;
        }
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
    if (finished_ || (leaving_ && WIFEXITED(status) && WEXITSTATUS(status) == left)) return "";
    const char *when = leaving_ ? " in exit(), where destructors of static objects run" : "";
    if (WIFSIGNALED(status))
        return fmt::format("crashed{}: the process died of signal {} ({}){}; run it with "
                           "--no-isolate in a debugger",
                           when, WTERMSIG(status), ::strsignal(WTERMSIG(status)), printed);
    return fmt::format("ended the process with status {}{}{}; a plugin must not exit",
                       WEXITSTATUS(status), when, printed);
}

bool Child::has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
}

// The end of what the child printed.
std::string Child::last_words() const {
    std::string text;
    for (const int file : {output_, errors_}) {
        const off_t size = file < 0 ? 0 : ::lseek(file, 0, SEEK_END);
        std::string own(static_cast<std::size_t>(std::clamp<off_t>(size, 0, 600)), '\0');
        const ssize_t n =
            ::pread(file, own.data(), own.size(), size - static_cast<off_t>(own.size()));
        text += own.substr(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "" : fmt::format(", having printed: {}", text);
}

} // namespace Atoll::conformance
