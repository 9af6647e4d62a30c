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
#include <memory>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
    std::shared_ptr<const Target> target; // what the checks refer to; null: those of the file
};

// Of a check that has not run.
Result result_of(const Check &check) {
    return {check.group, check.subject, check.dtype, check.variant};
}

Plan plan_of(const Options &options, bool file_alone) {
    Plan plan;
    bool trouble = false;
    if (file_alone) {
        add_file_checks(plan.checks, std::filesystem::absolute(options.plugin).string());
    } else {
        plan.target = std::make_shared<const Target>(options);
        trouble = !plan.target->trouble.empty();
        add_load_checks(plan.checks, *plan.target);
    }
    if (plan.target && !trouble)
        for (const auto add : {add_device_checks, add_function_checks, add_length_checks,
                               add_product_checks, add_undeclared_checks, add_behaviour_checks,
                               add_module_checks, add_interposer_checks, add_lifecycle_checks})
            add(plan.checks, *plan.target);
    std::erase_if(plan.checks, [&](const Check &check) {
        // Whatever was asked for, nothing of it can be looked at.
        if (trouble) return check.subject != "plugin";
        return ::fnmatch(options.filter.c_str(), result_of(check).name().c_str(), 0) != 0;
    });
    return plan;
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
    const Plan plan = plan_of(options, file_alone);
    Json head = {{"plan", plan.checks.size()}};
    if (plan.target)
        head.update({{"name", plan.target->name},
                     {"version", plan.target->version},
                     {"reference", plan.target->reference_name}});
    pipe.write(head);
    if (plan_only) {
        Json names = Json::array();
        for (const Check &check : plan.checks) names.push_back(result_of(check).name());
        pipe.write({{"names", names}});
        ::_exit(0);
    }
    for (std::size_t i = from; i < plan.checks.size(); ++i) {
        const Check &check = plan.checks[i];
        if (i > from && check.group != plan.checks[from].group) break;
        pipe.write({{"begin", {check.group, check.subject, check.dtype, check.variant}}});
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
        const Plan file = plan_of(options_, true), rest = plan_of(options_, false);
        report_.name = rest.target->name;
        report_.version = rest.target->version;
        report_.reference = rest.target->reference_name;
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
                    const Json &name = line["begin"];
                    current = {name[0], name[1], name[2], name[3]};
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
                current = {"load", "plugin", "", "loads"};
            else if (!inside && next == from)
                current = {"load", "plugin", "", "stays alive"};
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

std::string Result::name() const {
    return fmt::format("{}/{}{}{}{}{}", group, subject, dtype.empty() ? "" : ":", dtype,
                       variant.empty() ? "" : "/", variant);
}

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
        for (const bool file_alone : {true, false}) {
            const Plan plan = plan_of(options, file_alone);
            for (const Check &check : plan.checks) names.push_back(result_of(check).name());
        }
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
