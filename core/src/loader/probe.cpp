// Starting the probe's helper and watching it: see Note [Probe] in probe.hpp.
#include "loader/probe.hpp"

#include "atoll/error.hpp"
#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/printable.hpp"
#include "loader/probe_cache.hpp"
#include "runtime/host_services.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

using Clock = std::chrono::steady_clock;

// Names, in a helper, the file that is not to be probed once more.
constexpr const char *probed_now = "ATOLL_PROBED_NOW";

class FileDescriptor {
public:
    explicit FileDescriptor(int number = -1) : number_(number) {}
    FileDescriptor(FileDescriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor &operator=(FileDescriptor &&other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~FileDescriptor() {
        if (number_ >= 0) ::close(number_);
    }
    void close() { *this = FileDescriptor(); }
    int get() const { return number_; }

private:
    int number_;
};

struct Pipe {
    FileDescriptor read_end, write_end;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        read_end = FileDescriptor(ends[0]);
        const FileDescriptor low(ends[1]);
        // Above the numbers that the child gets, also where this process has closed some of those.
        write_end = FileDescriptor(::fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
        ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    }
    bool ok() const { return read_end.get() >= 0 && write_end.get() >= 0; }
};

// The environment but for what would make the helper do more than load the file, and what it loads
// for it: that is probed in turn, by helpers that have less time.
std::vector<std::string> environment_for_helper(const std::string &file,
                                                std::chrono::milliseconds deadline) {
    std::vector<std::string> list;
    for (char **entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        if (!text.starts_with("ATOLL_PROBE") && !text.starts_with("ATOLL_INTERPOSERS="))
            list.emplace_back(text);
    }
    list.push_back("ATOLL_PROBE=1");
    list.push_back(fmt::format("ATOLL_PROBE_DEADLINE={}",
                               std::chrono::duration<double>(deadline).count() / 2));
    list.push_back(fmt::format("{}={}", probed_now, file));
    return list;
}

std::vector<char *> pointers_to(std::vector<std::string> &texts) {
    std::vector<char *> pointers;
    for (std::string &text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// The child's process id, or -1 with errno.
pid_t start(std::vector<std::string> arguments, std::vector<std::string> variables,
            const Pipe &output, const Pipe &done) {
    const std::vector<char *> argv = pointers_to(arguments), environment = pointers_to(variables);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 2);
    ::posix_spawn_file_actions_adddup2(&actions, done.write_end.get(), 3);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETPGROUP);
    pid_t child = -1;
    errno = ::posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environment.data());
    const int trouble = errno;
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    errno = trouble;
    return trouble == 0 ? child : -1;
}

// Appends what the pipe holds now, of which the last words are kept.
void drain(const FileDescriptor &pipe, std::string &text) {
    char buffer[4096];
    for (ssize_t got; (got = ::read(pipe.get(), buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > 8192) text.erase(0, text.size() - 4096);
    }
}

std::string last_words(std::string text) {
    for (char &c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\x1b') c = ' ';
    while (text.ends_with(' ')) text.pop_back();
    if (text.empty()) return "";
    constexpr std::size_t most = 300;
    if (text.size() > most) text = fmt::format("…{}", text.substr(text.size() - most));
    text = printable(text);
    return fmt::format(" (its last words: \"{}\")", text);
}

struct Outcome {
    bool finished = false; // before the deadline
    bool survived = false;
    bool loaded = false; // not refused: it has been through all of loading
    int status = 0;
    std::string output;
};

Outcome watch(pid_t child, const Pipe &output, const Pipe &done, Clock::time_point deadline) {
    Outcome outcome;
    std::string mark;
    // Polled, not waited for by a signal: signals belong to the application.
    for (auto pause = std::chrono::milliseconds(1);;) {
        drain(output.read_end, outcome.output);
        // An application that ignores SIGCHLD leaves no status behind (ECHILD); the mark says
        // enough.
        const pid_t ended = ::waitpid(child, &outcome.status, WNOHANG);
        if (ended == child || (ended < 0 && errno == ECHILD)) {
            outcome.finished = true;
            break;
        }
        if (Clock::now() >= deadline) break;
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(16));
    }
    ::kill(-child, SIGKILL); // the child at the deadline, or what it has left behind
    if (!outcome.finished)
        while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
        }
    drain(output.read_end, outcome.output);
    drain(done.read_end, mark);
    outcome.loaded = outcome.finished && mark == "loaded";
    outcome.survived = outcome.loaded || (outcome.finished && mark == "refused");
    return outcome;
}

// What set_probe says; where it was not called, the environment.
struct ProbeSwitch {
    bool set = false, on = false;
    std::chrono::milliseconds deadline = std::chrono::seconds(20);
    static ProbeSwitch now();
    static std::mutex mutex;
    static ProbeSwitch by_application;
};
std::mutex ProbeSwitch::mutex;
ProbeSwitch ProbeSwitch::by_application;

ProbeSwitch ProbeSwitch::now() {
    {
        const std::lock_guard lock(mutex);
        if (by_application.set) return by_application;
    }
    ProbeSwitch probe;
    const auto wanted = secure_environment("ATOLL_PROBE");
    probe.on = wanted && !wanted->empty() && *wanted != "0";
    if (const auto text = secure_environment("ATOLL_PROBE_DEADLINE"); probe.on && text) {
        double seconds = 0;
        const auto [end, error] =
            std::from_chars(text->data(), text->data() + text->size(), seconds);
        if (error != std::errc() || end != text->data() + text->size() ||
            !(seconds > 0 && seconds < 1e6))
            throw Error(
                Status::invalid_argument, "load",
                fmt::format("ATOLL_PROBE_DEADLINE is '{}', need a number of seconds", *text));
        probe.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return probe;
}

std::string refusal_for(const std::string &plugin, const std::string &death,
                        const std::string &after) {
    return fmt::format("loading it in a child process first, as the probe does, {}; report it to "
                       "the plugin's vendor, and keep it out with ATOLL_PLUGINS_DISABLE={}{}",
                       death, plugin, after);
}

// The helper's path for a library in `folder`, or a sentence that says what is wrong with it.
CheckedPath find_helper(const std::string &folder) {
    const std::string installed = folder + "/atoll/atoll-probe", built = folder + "/atoll-probe";
    for (const std::string &path : {installed, built})
        if (::access(path.c_str(), F_OK) == 0) {
            CheckedPath helper = check_plugin_file(path);
            if (!helper.ok())
                helper.refusal = fmt::format("the probe is on, but its helper {} cannot be "
                                             "trusted: {}",
                                             path, helper.refusal);
            return helper;
        }
    return {"",
            fmt::format("the probe is on, but its helper is neither {} nor {}; install it, or "
                        "switch the probe off (ATOLL_PROBE, Atoll::set_probe)",
                        installed, built),
            {}};
}

// Why the file must not be opened here; "" if the child survived loading it.
std::string probe(const CheckedPath &file, const std::string &plugin, const std::string &helper,
                  std::chrono::milliseconds deadline) {
    if (const auto death = kept_verdict(file))
        return death->empty()
                   ? ""
                   : refusal_for(plugin, *death,
                                 fmt::format("; this verdict is kept until the file changes: "
                                             "remove {} to probe it again",
                                             probe_cache_file()));
    std::vector<std::string> arguments{helper, file.path};
    for (const PluginSetting &setting : configured())
        arguments.insert(arguments.end(), {setting.plugin, setting.key, setting.value});
    Pipe output, done;
    const pid_t child =
        output.ok() && done.ok()
            ? start(arguments, environment_for_helper(file.path, deadline), output, done)
            : -1;
    if (child < 0)
        return fmt::format("the probe's helper {} could not be started: {}", helper,
                           std::strerror(errno));
    output.write_end.close();
    done.write_end.close();
    const Outcome outcome = watch(child, output, done, Clock::now() + deadline);
    if (outcome.survived) {
        if (outcome.loaded) keep_verdict(file, "");
        return "";
    }
    if (!outcome.finished)
        return refusal_for(
            plugin,
            fmt::format("did not end within {} s{}",
                        std::chrono::duration<double>(deadline).count(),
                        last_words(outcome.output)),
            "; where it is only slow, allow it more (ATOLL_PROBE_DEADLINE, Atoll::set_probe)");
    const char *signal = nullptr;
    if (WIFSIGNALED(outcome.status)) signal = ::sigdescr_np(WTERMSIG(outcome.status));
    const std::string death = fmt::format(
        "{}{}",
        signal ? fmt::format("killed the child: {} (signal {})", signal, WTERMSIG(outcome.status))
               : fmt::format("ended the child, with status {}", WEXITSTATUS(outcome.status)),
        last_words(outcome.output));
    keep_verdict(file, death);
    return refusal_for(plugin, death, "");
}

} // namespace

std::string probe_if_asked(const CheckedPath &file, const std::string &plugin,
                           const std::string &library_folder) {
    const ProbeSwitch asked = ProbeSwitch::now();
    if (!asked.on || secure_environment(probed_now) == file.path) return "";
    const CheckedPath helper = find_helper(library_folder);
    return helper.ok() ? probe(file, plugin, helper.path, asked.deadline) : helper.refusal;
}

} // namespace Atoll::detail

namespace Atoll {

using detail::ProbeSwitch;

void set_probe(bool on, std::chrono::milliseconds deadline) {
    if (deadline <= deadline.zero())
        throw Error(Status::invalid_argument, "set_probe",
                    fmt::format("got a deadline of {} ms, need more than none", deadline.count()));
    const std::lock_guard lock(ProbeSwitch::mutex);
    ProbeSwitch::by_application = {true, on, deadline};
}

} // namespace Atoll
