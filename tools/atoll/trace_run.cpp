// Starts the program: see trace_run.hpp.
#include "trace_run.hpp"

#include "atoll/plugins.hpp"
#include "terminal.hpp"
#include "timeline_format.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t tracer_table_width = 150; // characters, with room for names

// As execvp finds it; throws CannotStart.
std::string find_program(const std::string &name) {
    if (name.empty()) throw CannotStart("the program's name is empty", 127);
    const auto usable = [](const std::string &path) {
        struct stat facts {};
        return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
               ::access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') == std::string::npos) {
        const char *list = std::getenv("PATH");
        const std::string path = list ? list : "/bin:/usr/bin";
        for (std::size_t at = 0; at <= path.size();) {
            const std::size_t end = std::min(path.find(':', at), path.size());
            const std::string folder = end == at ? "." : path.substr(at, end - at);
            if (usable(folder + "/" + name)) return folder + "/" + name;
            at = end + 1;
        }
        throw CannotStart(
            fmt::format("there is no program '{}' in PATH; for a program in this folder, "
                        "write ./{}",
                        name, name),
            127);
    }
    if (usable(name)) return name;
    struct stat facts {};
    if (::stat(name.c_str(), &facts) != 0)
        throw CannotStart(fmt::format("cannot run {}: {}", name, std::strerror(errno)), 127);
    throw CannotStart(
        fmt::format("cannot run {}: it is {}", name,
                    S_ISDIR(facts.st_mode) ? "a folder" : "not a file that you may execute"),
        126);
}

// In a program with more privileges than its user, the library ignores the environment, so it
// cannot be traced. File capabilities do not matter to root.
void refuse_privileged(const std::string &program) {
    struct stat facts {};
    if (::stat(program.c_str(), &facts) != 0) return;
    const char *what = nullptr;
    if ((facts.st_mode & S_ISUID) && facts.st_uid != ::geteuid()) what = "set-user-ID";
    if ((facts.st_mode & S_ISGID) && facts.st_gid != ::getegid()) what = "set-group-ID";
    if (::geteuid() != 0 && ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0)
        what = "given capabilities by its file";
    if (what)
        throw UsageError(fmt::format("{} is privileged ({}), and in such programs the library "
                                     "ignores the environment; trace a copy of the file without "
                                     "these privileges",
                                     program, what));
}

// Does a list like ATOLL_INTERPOSERS ("a, trace=core.*") push the tracer?
bool pushes_tracer(const std::string &list) {
    std::istringstream items(list);
    for (std::string item; std::getline(items, item, ',');) {
        item.erase(0, item.find_first_not_of(" \t"));
        item.erase(item.find_last_not_of(" \t") + 1);
        if (item.substr(0, item.find('=')) == "trace") return true;
    }
    return false;
}

// The tracer's file, so that programs with a library elsewhere find it.
fs::path tracer_file() {
    try {
        return load_plugin("trace").path;
    } catch (const std::exception &e) {
        throw UsageError(fmt::format("the tracer cannot be loaded: {}", e.what()));
    }
}

// Keeps the user's settings, except those that would prevent the trace.
void set_environment(const TraceOptions &options, const TraceFolder &folder) {
    const auto get = [](const char *name) {
        const char *text = std::getenv(name);
        return std::string(text ? text : "");
    };
    const auto set = [](const char *name, const std::string &value) {
        ::setenv(name, value.c_str(), 1);
    };
    if (const std::string safe = get("ATOLL_SAFE_MODE"); !safe.empty() && safe != "0")
        throw UsageError("ATOLL_SAFE_MODE is set, so the library ignores interposers and "
                         "settings of the environment; unset it to trace");
    const fs::path tracer = tracer_file();
    // A link to the tracer alone: other plugins in its folder must not affect what the program
    // loads.
    fs::create_symlink(tracer, folder.path + "/" + tracer.filename().string());
    const std::string path = get("ATOLL_PLUGIN_PATH");
    set("ATOLL_PLUGIN_PATH", path.empty() ? folder.path : path + ":" + folder.path);
    const std::string interposers = get("ATOLL_INTERPOSERS");
    if (!pushes_tracer(interposers))
        set("ATOLL_INTERPOSERS", interposers.empty() ? "trace" : interposers + ",trace");
    set("ATOLL_TRACE_TIMELINE", folder.path + "/%p.timeline");
    if (!options.functions.empty()) set("ATOLL_TRACE_FUNCTIONS", options.functions);
    if (options.json || narrow_terminal()) set("ATOLL_TRACE_FORMAT", "none");
    if (options.limit > 0) {
        // A file has room for its header and the records of one thread, or it has none at all.
        const std::string buffer = get("ATOLL_TRACE_BUFFER_BYTES");
        const std::uint64_t least =
            tracing::timeline::header_bytes +
            (buffer.empty() ? std::uint64_t{1} << 20 : std::strtoull(buffer.c_str(), nullptr, 10));
        if (options.limit < least)
            throw UsageError(fmt::format("--limit {}: need at least {} bytes, for a header and one "
                                         "buffer of records (ATOLL_TRACE_BUFFER_BYTES)",
                                         options.limit, least));
        set("ATOLL_TRACE_TIMELINE_BYTES", fmt::to_string(options.limit));
    }
    if (!options.execution) set("ATOLL_TRACE_EXECUTION", "0");
}

// Why an executable file cannot be executed.
std::string spawn_error(int code) {
    if (code == ENOENT)
        return "its interpreter does not exist: the interpreter in its first line (#!), or the "
               "dynamic linker that it names";
    if (code == ENOEXEC)
        return "it is neither a program for this machine nor a script whose first line begins "
               "with #!, such as #!/bin/sh";
    return std::strerror(code);
}

volatile std::sig_atomic_t child = 0;
void pass_on(int signal) {
    if (child > 0) ::kill(static_cast<pid_t>(child), signal);
}

} // namespace

TraceFolder::TraceFolder() {
    const char *base = std::getenv("TMPDIR");
    std::string name = std::string(base && *base == '/' ? base : "/tmp") + "/atoll-trace-XXXXXX";
    if (!::mkdtemp(name.data()))
        throw std::runtime_error(
            fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)));
    path = name;
}

void TraceFolder::remove() const {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

bool narrow_terminal() {
    // The user's format has priority; run_traced changes the variable.
    static const bool narrow =
        !std::getenv("ATOLL_TRACE_FORMAT") && terminal_width(stderr) < tracer_table_width;
    return narrow;
}

TracedRun run_traced(const TraceOptions &options, const TraceFolder &folder) {
    const std::string program = find_program(options.command.front());
    refuse_privileged(program);
    set_environment(options, folder);

    std::vector<char *> arguments;
    for (const std::string &word : options.command)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (options.json) ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
    // The program gets the signal handling that this process was started with. The reader of this
    // process's output may close it before the trace is written.
    struct sigaction ignore {
    }, forward{}, old_int{}, old_quit{}, old_pipe{};
    ignore.sa_handler = SIG_IGN;
    forward.sa_handler = pass_on;
    ::sigaction(SIGINT, &ignore, &old_int);
    ::sigaction(SIGQUIT, &ignore, &old_quit);
    ::sigaction(SIGPIPE, &ignore, &old_pipe);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    if (old_int.sa_handler != SIG_IGN) ::sigaddset(&defaults, SIGINT);
    if (old_quit.sa_handler != SIG_IGN) ::sigaddset(&defaults, SIGQUIT);
    if (old_pipe.sa_handler != SIG_IGN) ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

    const auto start = std::chrono::steady_clock::now();
    pid_t id = 0;
    const int code =
        ::posix_spawn(&id, program.c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (code != 0)
        throw CannotStart(fmt::format("cannot run {}: {}", program, spawn_error(code)), 126);
    child = id;
    for (const int signal : {SIGTERM, SIGHUP}) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) ::sigaction(signal, &forward, nullptr); // nohup
    }
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    child = 0;
    ::sigaction(SIGINT, &old_int, nullptr);
    ::sigaction(SIGQUIT, &old_quit, nullptr);
    TracedRun run;
    run.command = options.command;
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (WIFSIGNALED(status))
        run.signal = WTERMSIG(status);
    else
        run.status = WEXITSTATUS(status);
    return run;
}

} // namespace Atoll::tools
