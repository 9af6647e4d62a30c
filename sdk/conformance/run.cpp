// Runs the checks, each group in a child process: Note [Children] in child.hpp.
#include "atoll/conformance.hpp"
#include "check.hpp"
#include "child.hpp"
#include "process_end.hpp"
#include "suites.hpp"
#include "target.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fnmatch.h>
#include <iterator>
#include <map>
#include <memory>
#include <unistd.h>

namespace Atoll::conformance {

namespace {

using Clock = std::chrono::steady_clock;

// Of children, by crashes and hangs; the rest of the group, and of all checks, is then left out.
constexpr int most_in_group = 3, most_deaths = 12;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// The checks that run in one child: of the file alone, or of the loaded plugin.
struct Plan {
    Checks checks;
    std::shared_ptr<const Target> target; // used by the checks; null for those of the file
};

// For a check that did not run.
Result result_of(const Check &check) {
    return {check.group, check.subject, check.dtype, check.variant};
}

// What the checks of a group have shown besides results.
void left_as_it_was(const Target &target) {
    require_unchanged(target.state);
    if (!target.isolated) return;
    require_no_output();
    try {
        require_no_processes();
    } catch (const Failed &) { // it may use some until it is retired
        retire_plugin(target.name);
        require_no_processes();
    }
}

// Each group's checks together, and behind them one of the process.
Checks by_group(Checks checks, const std::shared_ptr<const Target> &target) {
    std::vector<Checks> groups;
    auto last = groups.begin();
    for (Check &check : checks) {
        const auto takes = [&](const Checks &group) { return group[0].group == check.group; };
        if (last == groups.end() || !takes(*last))
            last = std::find_if(groups.begin(), groups.end(), takes);
        if (last == groups.end()) last = groups.emplace(last);
        last->push_back(std::move(check));
    }
    Checks ordered;
    ordered.reserve(checks.size() + groups.size());
    for (Checks &group : groups) {
        std::string name = group[0].group;
        std::move(group.begin(), group.end(), std::back_inserter(ordered));
        if (name != "exit")
            ordered.push_back({std::move(name), "process", "", "left as it was",
                               [&own = *target] { left_as_it_was(own); }});
    }
    return ordered;
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
                               add_bounds_checks, add_undeclared_checks, add_behaviour_checks,
                               add_module_checks, add_interposer_checks, add_lifecycle_checks})
            add(plan.checks, *plan.target);
    if (plan.target) plan.checks = by_group(std::move(plan.checks), plan.target);
    const bool takes_all = options.filter == "*"; // the names of 50,000 checks take their time
    std::erase_if(plan.checks, [&](const Check &check) {
        // Nothing else can be checked, whatever the filter.
        if (trouble) return check.subject != "plugin";
        if (check.exits && !options.isolate) return true;
        return !takes_all && ::fnmatch(options.filter.c_str(), result_of(check).name().c_str(),
                                       FNM_EXTMATCH) != 0;
    });
    return plan;
}

Result run_check(const Check &check, const Target *target) {
    Result result = result_of(check);
    const auto start = Clock::now();
    try {
        check.body();
        if (target)
            if (const std::string warnings = HostLog::take(target->name); !warnings.empty())
                fail("the host warns: {}", warnings);
    } catch (const Skipped &skipped) {
        result.outcome = Outcome::skipped;
        result.message = skipped.what();
    } catch (const std::exception &failed) {
        result.outcome = Outcome::failed;
        result.message = failed.what();
    } catch (...) {
        result.outcome = Outcome::failed;
        result.message = "the call threw an exception of unknown type";
    }
    result.seconds = seconds_since(start);
    return result;
}

enum class Task { run, list };

// The body of a child process. The checks of the group `skipped` are not run.
[[noreturn]] void child(const Options &options, bool file_alone, std::size_t from, Task task,
                        const std::string &skipped, Pipe &pipe) {
    const Plan plan = [&] {
        try {
            return plan_of(options, file_alone);
        } catch (const Unusable &e) {
            pipe.write({"unusable", e.what()});
            pipe.finish();
        }
    }();
    Message head{"plan", std::to_string(plan.checks.size())};
    if (plan.target)
        head.insert(head.end(),
                    {plan.target->name, plan.target->version, plan.target->reference_name});
    pipe.write(head);
    for (std::size_t i = from; i < plan.checks.size(); ++i) {
        const Check &check = plan.checks[i];
        if (task == Task::run && i > from && check.group != plan.checks[from].group) break;
        pipe.write({"begin", check.group, check.subject, check.dtype, check.variant});
        if (task == Task::list) continue;
        Result result = result_of(check);
        if (check.group == skipped) {
            result.outcome = Outcome::skipped;
            result.message = fmt::format("not run, because {} checks of this group crashed or "
                                         "hung; run it with --filter",
                                         most_in_group);
        } else {
            result = run_check(check, plan.target.get());
            if (check.exits && result.outcome == Outcome::passed) pipe.leave();
        }
        pipe.write({"end", std::to_string(i), std::to_string(static_cast<int>(result.outcome)),
                    result.message, std::to_string(result.seconds)});
    }
    pipe.finish();
}

Child start_child(const Options &options, bool file_alone, std::size_t from, Task task,
                  const std::string &skipped = "") {
    return Child(options.deadline,
                 [&](Pipe &pipe) { child(options, file_alone, from, task, skipped, pipe); });
}

class Runner {
public:
    Runner(const Options &options, Report &report) : options_(options), report_(report) {}

    void isolated() {
        phase(true);
        total_before_ = report_.results.size();
        if (!enough()) phase(false);
        tell();
        say_left_out();
    }
    void here() {
        const EndOfProcess refused;
        const Plan file = plan_of(options_, true), rest = plan_of(options_, false);
        report_.name = rest.target->name;
        report_.version = rest.target->version;
        report_.reference = rest.target->reference_name;
        total_ = file.checks.size() + rest.checks.size();
        for (const Plan *plan : {&file, &rest})
            for (std::size_t i = 0; i < plan->checks.size() && !enough(); ++i) {
                if (i > 0 && plan->checks[i].group != plan->checks[i - 1].group) end_group();
                add(run_check(plan->checks[i], plan->target.get()), false);
            }
        end_group();
        say_left_out();
    }
    std::size_t total() const { return total_; }

private:
    bool enough() const { return options_.fail_fast && failed_; }
    void say_left_out() {
        if (enough())
            add({"load", "plugin", "", "the rest", Outcome::skipped, "left out after a failure"},
                true);
    }
    void tell() {
        if (!options_.progress || total_ == 0) return;
        for (; told_ < report_.results.size(); ++told_)
            options_.progress(report_.results[told_], told_ + 1, total_);
    }

    void add(Result result, bool file_alone) {
        failed_ |= result.outcome == Outcome::failed;
        report_.results.push_back(std::move(result));
        if (!file_alone) tell();
    }

    void phase(bool file_alone) {
        std::size_t next = 0, planned = 1;
        std::map<std::string, int> deaths; // by group
        for (int all_deaths = 0; next < planned;) {
            const auto fatal = std::find_if(deaths.begin(), deaths.end(), [](const auto &group) {
                return group.second >= most_in_group;
            });
            Child child = start_child(options_, file_alone, next, Task::run,
                                      fatal == deaths.end() ? "" : fatal->first);
            if (fatal != deaths.end()) fatal->second = 0;
            Result current;
            bool inside = false, has_plan = false;
            const std::size_t from = next;
            for (Message line; !enough() && child.next(line);) {
                if (line[0] == "unusable") throw Unusable(line[1]);
                if (line[0] == "plan") {
                    has_plan = true;
                    planned = std::stoull(line[1]);
                    if (file_alone) continue;
                    total_ = total_before_ + planned;
                    report_.name = line[2];
                    report_.version = line[3];
                    report_.reference = line[4];
                } else if (line[0] == "begin") {
                    inside = true;
                    current = {line[1], line[2], line[3], line[4]};
                } else { // "end"
                    inside = false;
                    next = std::stoull(line[1]) + 1;
                    current.outcome = static_cast<Outcome>(std::stoi(line[2]));
                    current.message = line[3];
                    current.seconds = std::stod(line[4]);
                    add(current, file_alone);
                }
            }
            if (enough()) return;
            const std::string death = child.end();
            if (inside) ++next;
            if (death.empty()) {
                if (inside) add(current, file_alone); // it has left through exit()
                if (next == from) return;             // nothing to run
                continue;
            }
            if (!inside && !has_plan)
                current = {"load", "plugin", "", "loads"};
            else if (!inside && next == from)
                current = {"load", "plugin", "", "stays alive"};
            else if (!inside)
                report_.results.pop_back(); // had passed; now fails
            current.outcome = Outcome::failed;
            current.message = inside     ? death
                              : has_plan ? death + " (between checks, after this one)"
                                         : death + " (while it was opened and loaded)";
            add(current, file_alone);
            if (!has_plan || enough()) return;
            ++deaths[current.group];
            if (++all_deaths < most_deaths) continue;
            add({"load", "plugin", "", "the rest", Outcome::failed,
                 fmt::format("{} checks were not run: the plugin ended the process {} times",
                             planned - next, all_deaths),
                 0},
                file_alone);
            return;
        }
    }

    const Options &options_;
    Report &report_;
    std::size_t total_before_ = 0, total_ = 0, told_ = 0;
    bool failed_ = false;
};

template <class Body> void with_usable(const Body &body) {
    try {
        body();
    } catch (const Unusable &e) {
        throw Error(Status::refused, "conformance", e.what());
    }
}

void list_of(const Options &options, bool file_alone, std::vector<std::string> &names) {
    if (!options.isolate) {
        const Plan plan = plan_of(options, file_alone);
        for (const Check &check : plan.checks) names.push_back(result_of(check).name());
        return;
    }
    Child child = start_child(options, file_alone, 0, Task::list);
    for (Message line; child.next(line);) {
        if (line[0] == "unusable") throw Unusable(line[1]);
        if (line[0] == "begin") names.push_back(Result{line[1], line[2], line[3], line[4]}.name());
    }
    if (const std::string death = child.end(); !death.empty())
        throw Error(Status::plugin_fault, "conformance",
                    fmt::format("{}: {}", options.plugin.string(), death));
}

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
            throw Error(
                Status::busy, "conformance",
                fmt::format("plugin {} is loaded in this process, and a child "
                            "process would lack its threads: run the kit before anything is "
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
    with_usable([&] {
        Runner runner(options, report);
        if (options.isolate)
            runner.isolated();
        else
            runner.here();
    });
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
    with_usable([&] {
        for (const bool file_alone : {true, false}) list_of(options, file_alone, names);
    });
    return names;
}

} // namespace Atoll::conformance
