// Running the checks, each group in a child process.
//
// Note [Children]
// The kit forks without exec, before this process has opened any plugin: the child opens the
// plugin, writes its plan, and then a line before and after every check into a pipe. A child that
// dies or stays silent for too long was in the check it announced last; that one failed, and a new
// child goes on behind it. Every child makes the same plan, so an index says where to go on. A
// child ends with its group, so that no group sees what another left behind.
#include "atoll/conformance.hpp"
#include "check.hpp"
#include "suites.hpp"
#include "target.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int most_deaths = 40; // of children; after that the rest is left out

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// What runs in one child: the checks of the file alone, or those of the loaded plugin.
struct Plan {
    Checks checks;
    std::string name, version, reference;
};

void keep_matching(Checks &checks, const std::string &filter) {
    std::erase_if(checks, [&](const Check &check) {
        return ::fnmatch(filter.c_str(), check.name().c_str(), 0) != 0;
    });
}

Plan plan_of_file(const Options &options) {
    Plan plan;
    add_file_checks(plan.checks, std::filesystem::absolute(options.plugin).string());
    keep_matching(plan.checks, options.filter);
    return plan;
}

// `target` outlives the plan.
Plan plan_of_target(const Options &options, const Target &target) {
    Plan plan;
    plan.name = target.name;
    plan.version = target.version;
    plan.reference = target.reference_name;
    add_load_checks(plan.checks, target);
    if (target.trouble.empty()) {
        add_device_checks(plan.checks, target);
        add_function_checks(plan.checks, target);
        add_length_checks(plan.checks, target);
        add_product_checks(plan.checks, target);
        add_undeclared_checks(plan.checks, target);
        add_behaviour_checks(plan.checks, target);
        add_module_checks(plan.checks, target);
        add_interposer_checks(plan.checks, target);
        add_lifecycle_checks(plan.checks, target);
        keep_matching(plan.checks, options.filter);
    } else {
        // Whatever was asked for, nothing of it can be looked at.
        std::erase_if(plan.checks, [](const Check &c) { return c.subject != "plugin"; });
    }
    return plan;
}

Result result_of(const Check &check) {
    return {check.group, check.subject, check.dtype, check.variant, Outcome::passed, {}, 0};
}

Result run_check(const Check &check) {
    Result result = result_of(check);
    const auto start = Clock::now();
    try {
        check.body();
    } catch (const Skipped &skipped) {
        result.outcome = Outcome::skipped;
        result.message = skipped.what();
    } catch (const std::exception &failed) {
        result.outcome = Outcome::failed;
        result.message = failed.what();
    } catch (...) {
        result.outcome = Outcome::failed;
        result.message = "an exception of unknown type came out of the call";
    }
    result.seconds = seconds_since(start);
    return result;
}

// ---- child --------------------------------------------------------------------------------------

class Pipe {
public:
    explicit Pipe(int end) : end_(end) {}
    void write(const Json &line) {
        // Messages of plugins may hold any bytes.
        const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t n = ::write(end_, text.data() + done, text.size() - done);
            if (n < 0 && errno != EINTR) ::_exit(1); // the parent is gone
            if (n > 0) done += static_cast<std::size_t>(n);
        }
    }

private:
    int end_;
};

[[noreturn]] void child(const Options &options, bool file_alone, std::size_t from, bool plan_only,
                        int end) {
    Pipe pipe(end);
    static const Target *target = nullptr;
    Plan plan;
    if (file_alone) {
        plan = plan_of_file(options);
    } else {
        target = new Target(options);
        plan = plan_of_target(options, *target);
    }
    pipe.write({{"plan", plan.checks.size()},
                {"name", plan.name},
                {"version", plan.version},
                {"reference", plan.reference}});
    if (plan_only) {
        Json names = Json::array();
        for (const Check &check : plan.checks) names.push_back(check.name());
        pipe.write({{"names", names}});
        ::_exit(0);
    }
    for (std::size_t i = from; i < plan.checks.size(); ++i) {
        const Check &check = plan.checks[i];
        if (i > from && check.group != plan.checks[from].group) break;
        pipe.write({{"begin", i},
                    {"group", check.group},
                    {"subject", check.subject},
                    {"dtype", check.dtype},
                    {"variant", check.variant}});
        const Result result = run_check(check);
        pipe.write({{"end", i},
                    {"outcome", static_cast<int>(result.outcome)},
                    {"message", result.message},
                    {"seconds", result.seconds}});
    }
    ::_exit(0);
}

// ---- parent -------------------------------------------------------------------------------------

// A child, and what came from it.
class Child {
public:
    Child(const Options &options, bool file_alone, std::size_t from, bool plan_only)
        : deadline_(options.deadline) {
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
            child(options, file_alone, from, plan_only, ends[1]);
        }
        ::close(ends[1]);
        end_ = ends[0];
    }
    ~Child() {
        ::close(end_);
        if (errors_ >= 0) ::close(errors_);
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::kill(-pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // The next line; nothing when the child is through, or dead, or was silent for too long.
    bool next(Json &line) {
        const auto start = Clock::now();
        for (;;) {
            if (const std::size_t stop = buffer_.find('\n'); stop != std::string::npos) {
                line = Json::parse(buffer_.substr(0, stop));
                buffer_.erase(0, stop + 1);
                return true;
            }
            // In steps: what it forked may keep the pipe open when it is gone itself.
            const bool late = seconds_since(start) > deadline_, gone = has_ended();
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

    // Why it ended, in words; empty: as it should.
    std::string end() {
        if (hung_) ::kill(pid_, SIGKILL);
        siginfo_t info;
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
        ::kill(-pid_, SIGKILL); // what it forked; until it is waited for, the number is its own
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        const std::string printed = last_words();
        if (hung_)
            return fmt::format("hung: no answer for {:g} s, stopped{}; look for a wait that "
                               "nobody ends, or a loop",
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

private:
    bool has_ended() const {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == pid_;
    }
    [[noreturn]] static void throw_errno(const char *what) {
        throw Error(Status::internal, "conformance",
                    fmt::format("{}: {}", what, std::strerror(errno)));
    }
    // The end of what the child printed.
    std::string last_words() const {
        const off_t size = errors_ < 0 ? 0 : ::lseek(errors_, 0, SEEK_END);
        if (size <= 0) return "";
        std::string text(static_cast<std::size_t>(std::min<off_t>(size, 600)), '\0');
        const ssize_t n =
            ::pread(errors_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        while (!text.empty() && text.back() == '\n') text.pop_back();
        return text.empty() ? "" : fmt::format(", having printed: {}", text);
    }

    double deadline_;
    int end_ = -1, errors_ = -1;
    pid_t pid_ = -1;
    std::string buffer_;
    bool hung_ = false;
};

class Runner {
public:
    Runner(const Options &options, Report &report) : options_(options), report_(report) {}

    void isolated() {
        phase(true);
        total_before_ = report_.results.size();
        phase(false);
        tell();
    }
    void here() {
        Plan file = plan_of_file(options_);
        const Target target(options_);
        Plan rest = plan_of_target(options_, target);
        report_.name = rest.name;
        report_.version = rest.version;
        report_.reference = rest.reference;
        total_ = file.checks.size() + rest.checks.size();
        for (const Plan *plan : {&file, &rest})
            for (std::size_t i = 0; i < plan->checks.size(); ++i) {
                if (i > 0 && plan->checks[i].group != plan->checks[i - 1].group) end_group();
                report_.results.push_back(run_check(plan->checks[i]));
                tell();
            }
        end_group();
    }
    std::size_t total() const { return total_; }

private:
    void tell() {
        if (!options_.progress || total_ == 0) return;
        for (; told_ < report_.results.size(); ++told_)
            options_.progress(report_.results[told_], told_ + 1, total_);
    }

    void phase(bool file_alone) {
        std::size_t next = 0, planned = 1;
        for (int deaths = 0; next < planned;) {
            Child child(options_, file_alone, next, false);
            Result current;
            bool inside = false, has_plan = false;
            const std::size_t from = next;
            for (Json line; child.next(line);) {
                if (line.contains("plan")) {
                    has_plan = true;
                    planned = line["plan"];
                    if (file_alone) continue;
                    total_ = total_before_ + planned;
                    report_.name = line["name"];
                    report_.version = line["version"];
                    report_.reference = line["reference"];
                } else if (line.contains("begin")) {
                    inside = true;
                    current = {line["group"],
                               line["subject"],
                               line["dtype"],
                               line["variant"],
                               Outcome::passed,
                               {},
                               0};
                } else {
                    inside = false;
                    current.outcome = static_cast<Outcome>(line["outcome"].get<int>());
                    current.message = line["message"];
                    current.seconds = line["seconds"];
                    report_.results.push_back(current);
                    next = line["end"].get<std::size_t>() + 1;
                    if (!file_alone) tell();
                }
            }
            const std::string death = child.end();
            if (death.empty()) {
                if (next == from) return; // nothing to run
                continue;
            }
            if (!inside && !has_plan)
                current = {"load", "plugin", "", "loads", Outcome::passed, {}, 0};
            else if (!inside && next == from)
                current = {"load", "plugin", "", "stays alive", Outcome::passed, {}, 0};
            else if (!inside)
                report_.results.pop_back(); // it has passed, and is judged anew
            current.outcome = Outcome::failed;
            current.message = inside     ? death
                              : has_plan ? death + " (between checks, after this one)"
                                         : death + " (while it was opened and loaded)";
            report_.results.push_back(current);
            if (!file_alone) tell();
            if (!inside && !has_plan) return;
            if (inside) ++next;
            if (++deaths < most_deaths) continue;
            report_.results.push_back(
                {"load", "plugin", "", "the rest", Outcome::failed,
                 fmt::format("{} checks were not run: the plugin brought the process down {} times",
                             planned - next, deaths),
                 0});
            return;
        }
    }

    const Options &options_;
    Report &report_;
    std::size_t total_before_ = 0, total_ = 0, told_ = 0;
};

void require_sensible(const Options &options) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(options.plugin, error))
        throw Error(Status::not_found, "conformance",
                    fmt::format("there is no file {}; give the path of a plugin, as "
                                "build/atoll-mine.so",
                                options.plugin.string()));
    if (!options.isolate) return;
    for (const PluginReport &report : load_report())
        if (report.loaded)
            throw Error(Status::busy, "conformance",
                        fmt::format("plugin {} is loaded in this process, whose threads do not "
                                    "come along into a child: run the kit before anything is "
                                    "loaded, or without isolation",
                                    report.name));
}

} // namespace

std::string check_name(const std::string &group, const std::string &subject,
                       const std::string &dtype, const std::string &variant) {
    return fmt::format("{}/{}{}{}{}{}", group, subject, dtype.empty() ? "" : ":", dtype,
                       variant.empty() ? "" : "/", variant);
}
std::string Check::name() const { return check_name(group, subject, dtype, variant); }
std::string Result::name() const { return check_name(group, subject, dtype, variant); }

std::size_t Report::count(Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(),
                      [&](const Result &result) { return result.outcome == outcome; }));
}

Report run(const Options &options) {
    require_sensible(options);
    const auto start = Clock::now();
    Report report;
    report.plugin = std::filesystem::absolute(options.plugin);
    Runner runner(options, report);
    if (options.isolate)
        runner.isolated();
    else
        runner.here();
    report.seconds = seconds_since(start);
    if (report.results.empty())
        throw Error(
            Status::invalid_argument, "conformance",
            fmt::format("no check matches '{}'; list them to see their names", options.filter));
    return report;
}

std::vector<std::string> list(const Options &options) {
    require_sensible(options);
    std::vector<std::string> names;
    if (!options.isolate) {
        const Plan file = plan_of_file(options);
        const Target target(options);
        const Plan rest = plan_of_target(options, target);
        for (const Plan *plan : {&file, &rest})
            for (const Check &check : plan->checks) names.push_back(check.name());
        return names;
    }
    for (const bool file_alone : {true, false}) {
        Child child(options, file_alone, 0, true);
        for (Json line; child.next(line);)
            if (line.contains("names"))
                for (const Json &name : line["names"]) names.push_back(name);
        if (const std::string death = child.end(); !death.empty())
            throw Error(Status::plugin_fault, "conformance",
                        fmt::format("{}: {}", options.plugin.string(), death));
    }
    return names;
}

} // namespace Atoll::conformance
