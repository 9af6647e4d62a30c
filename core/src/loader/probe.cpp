// Starts the probe's helper and watches it: see Note [Probe] in probe.hpp.
#include "loader/probe.hpp"

#include "atoll/plugins.hpp"
#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "loader/refusal.hpp"
#include "runtime/plugin_settings.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace Atoll::detail {
namespace {

using Clock = std::chrono::steady_clock;

// In a helper, names the file that must not be probed again.
constexpr const char *probed_now = "ATOLL_PROBED_NOW";

// The helper's last line.
constexpr std::string_view survived = "atoll-probe: survived loading it";

// The child's output; the parent reads without waiting.
struct Pipe {
    int read_end = -1, write_end = -1;
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        read_end = ends[0];
        write_end = ends[1];
        ::fcntl(read_end, F_SETFL, O_NONBLOCK);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    ~Pipe() {
        for (const int end : {read_end, write_end})
            if (end >= 0) ::close(end);
    }
};

// The environment without what would make the helper do more than load the file. It probes what the
// file depends on in turn, by helpers that have less time.
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
            const Pipe &output) {
    const std::vector<char *> argv = pointers_to(arguments), environment = pointers_to(variables);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end, 1);
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end, 2);
    // Last: in a process that has closed its standard input, the pipe may have this number.
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
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
    const int trouble =
        ::posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    errno = trouble;
    return trouble == 0 ? child : -1;
}

// Appends what the pipe contains now; keeps the end of it.
void drain(const Pipe &pipe, std::string &text) {
    char buffer[4096];
    for (ssize_t got; (got = ::read(pipe.read_end, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > 8192) text.erase(0, text.size() - 4096);
    }
}

std::string last_output(std::string text) {
    for (char &c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\x1b') c = ' ';
    while (text.ends_with(' ')) text.pop_back();
    if (text.empty()) return "";
    constexpr std::size_t most = 300;
    if (text.size() > most) text = "…" + text.substr(text.size() - most);
    return fmt::format(" (its last output: \"{}\")", printable(text));
}

struct Outcome {
    bool finished = false; // before the deadline
    int status = 0;
    std::string output;
};

Outcome watch(pid_t child, const Pipe &pipe, Clock::time_point deadline) {
    Outcome outcome;
    // Polls, because signals belong to the application.
    for (auto pause = std::chrono::milliseconds(1);;) {
        drain(pipe, outcome.output);
        // If the application ignores SIGCHLD, there is no status (ECHILD); the output suffices.
        const pid_t ended = ::waitpid(child, &outcome.status, WNOHANG);
        outcome.finished = ended == child || (ended < 0 && errno == ECHILD);
        if (outcome.finished || Clock::now() >= deadline) break;
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(16));
    }
    ::kill(-child, SIGKILL); // the child at the deadline, or processes that it left behind
    if (!outcome.finished)
        while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
        }
    drain(pipe, outcome.output);
    return outcome;
}

struct ProbeSwitch {
    bool on = false;
    std::chrono::milliseconds deadline = std::chrono::seconds(20);
};
std::mutex switch_mutex;
std::optional<ProbeSwitch> by_application;

// As set by set_probe, else by the environment.
ProbeSwitch probe_switch() {
    {
        const std::lock_guard lock(switch_mutex);
        if (by_application) return *by_application;
    }
    ProbeSwitch probe{environment_switch("ATOLL_PROBE")};
    if (const auto text = secure_environment("ATOLL_PROBE_DEADLINE"); probe.on && text) {
        double seconds = 0;
        const char *const end = text->data() + text->size();
        const auto [rest, error] = std::from_chars(text->data(), end, seconds);
        if (error != std::errc() || rest != end || !(seconds > 0 && seconds < 1e6))
            refuse(Status::invalid_argument,
                   "ATOLL_PROBE_DEADLINE is '{}', need a number of seconds", *text);
        probe.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    return probe;
}

// The helper's path for a library in `folder`: as installed, or as built.
std::string find_helper(const std::string &folder) {
    std::string path = folder + "/atoll/atoll-probe";
    if (::access(path.c_str(), F_OK) != 0) path = folder + "/atoll-probe";
    if (::access(path.c_str(), F_OK) != 0)
        refuse(
            Status::refused,
            "the probe is on, but its helper is neither {0}/atoll/atoll-probe nor "
            "{0}/atoll-probe; install it, or switch the probe off (ATOLL_PROBE, Atoll::set_probe)",
            folder);
    const CheckedPath helper = check_plugin_file(path);
    if (!helper.ok())
        refuse(Status::refused, "the probe is on, but its helper {} cannot be trusted: {}", path,
               helper.refusal);
    return helper.path;
}

Outcome run_helper(const std::string &helper, const std::string &file,
                   std::chrono::milliseconds deadline) {
    std::vector<std::string> arguments{helper, file};
    for (const PluginSetting &setting : configured())
        arguments.insert(arguments.end(), {setting.plugin, setting.key, setting.value});
    const Pipe pipe;
    const pid_t child =
        pipe.write_end < 0 ? -1 : start(arguments, environment_for_helper(file, deadline), pipe);
    if (child < 0)
        refuse(Status::refused, "the probe's helper {} could not be started: {}", helper,
               std::strerror(errno));
    return watch(child, pipe, Clock::now() + deadline);
}

} // namespace

void probe_if_asked(const CheckedPath &file, const std::string &plugin,
                    const std::string &library_folder) {
    const ProbeSwitch asked = probe_switch();
    if (!asked.on || secure_environment(probed_now) == file.path) return;
    const auto refuse_for = [&](const std::string &death, const char *remedy) {
        refuse(Status::refused,
               "loading it in the probe's child process {}; report it to the plugin's vendor, and "
               "keep it out with ATOLL_PLUGINS_DISABLE={}{}",
               death, plugin, remedy);
    };
    // How a child died, by path.
    static auto &deaths = *new std::map<std::string, std::pair<FileIdentity, std::string>>;
    const auto known = deaths.find(file.path);
    if (known != deaths.end() && known->second.first == file.identity)
        refuse_for(known->second.second, "");
    const Outcome outcome = run_helper(find_helper(library_folder), file.path, asked.deadline);
    if (outcome.finished && outcome.output.find(survived) != std::string::npos) return;
    const std::string words = last_output(outcome.output);
    if (!outcome.finished)
        refuse_for(fmt::format("did not end within {} s{}",
                               std::chrono::duration<double>(asked.deadline).count(), words),
                   "; if it is only slow, allow more time (ATOLL_PROBE_DEADLINE, "
                   "Atoll::set_probe)");
    const int status = outcome.status;
    const char *signal = WIFSIGNALED(status) ? ::sigdescr_np(WTERMSIG(status)) : nullptr;
    const std::string death =
        signal ? fmt::format("killed the child: {} (signal {}){}", signal, WTERMSIG(status), words)
               : fmt::format("ended the child, with status {}{}", WEXITSTATUS(status), words);
    deaths[file.path] = {file.identity, death};
    refuse_for(death, "");
}

} // namespace Atoll::detail

namespace Atoll {

void set_probe(bool on, std::chrono::milliseconds deadline) {
    if (deadline <= deadline.zero())
        detail::throw_error(Status::invalid_argument, "set_probe",
                            "got a deadline of {} ms, need more than 0", deadline.count());
    const std::lock_guard lock(detail::switch_mutex);
    detail::by_application = {on, deadline};
}

} // namespace Atoll
