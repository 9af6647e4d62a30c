// `atoll check`: the conformance kit on one plugin, with a progress bar.
#include "atoll/conformance.hpp"
#include "atoll/error.hpp"
#include "command.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

struct Options {
    conformance::Options kit;
    std::string junit, matrix;
    bool list = false;
};

// One line on standard error that is written over and over, and gone at the end.
class Progress {
public:
    Progress() : shown_(isatty(STDERR_FILENO) && std::string_view(term()) != "dumb") {}
    ~Progress() { clear(); }
    void operator()(const conformance::Result &last, std::size_t done, std::size_t total) {
        if (!shown_) return;
        const auto now = std::chrono::steady_clock::now();
        failed_ += last.outcome == conformance::Outcome::failed;
        if (done != total && now - drawn_ < std::chrono::milliseconds(50)) return;
        drawn_ = now;
        const std::string count = fmt::format("{:>6}/{}", done, total),
                          verdict = failed_ ? fmt::format("{} failed", failed_) : "no failure";
        const std::size_t room = columns(), words = count.size() + verdict.size() + 6;
        const std::size_t width = room > words ? std::min<std::size_t>(24, room - words) : 0;
        const std::size_t full = done * width / total;
        std::string bar;
        for (std::size_t i = 0; i < width; ++i) bar += i < full ? "█" : "░";
        const std::size_t left = room > width + words ? room - width - words : 0;
        fmt::print(stderr, "\r{} {} {}  {}\033[K", bar, count,
                   styled(verdict, failed_ ? Style::bad : Style::good, stderr),
                   last.name().substr(0, left));
        std::fflush(stderr);
    }
    void clear() {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }

private:
    static const char *term() {
        const char *name = std::getenv("TERM");
        return name ? name : "";
    }
    // Of the terminal. A line that wraps cannot be written over.
    static std::size_t columns() {
        winsize size{};
        return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    }

    bool shown_;
    std::size_t failed_ = 0;
    std::chrono::steady_clock::time_point drawn_{};
};

void write_file(const std::string &path, const std::string &text) {
    if (path.empty()) return;
    std::ofstream file(path, std::ios::binary);
    if (!(file << text) || !file.flush())
        throw UsageError(fmt::format("cannot write {}; give a path in a folder that exists", path));
}

const char *outcome_name(conformance::Outcome outcome) {
    static constexpr const char *names[] = {"passed", "failed", "skipped"};
    return names[static_cast<int>(outcome)];
}

Json as_json(const conformance::Report &report) {
    Json results = Json::array();
    for (const conformance::Result &result : report.results)
        results.push_back({{"name", result.name()},
                           {"group", result.group},
                           {"subject", result.subject},
                           {"dtype", result.dtype},
                           {"variant", result.variant},
                           {"outcome", outcome_name(result.outcome)},
                           {"message", result.message},
                           {"seconds", result.seconds}});
    return {{"plugin", report.plugin.string()},
            {"name", report.name},
            {"version", report.version},
            {"reference", report.reference},
            {"passed", report.passed()},
            {"failed", report.failed()},
            {"skipped", report.skipped()},
            {"seconds", report.seconds},
            {"results", results}};
}

std::string verdict(const conformance::Report &report) {
    if (report.failed()) return styled("the plugin does not conform", Style::bad);
    if (report.skipped() == 0) return styled("the plugin conforms", Style::good);
    return styled(fmt::format("the plugin conforms as far as it could be checked: {} skipped",
                              report.skipped()),
                  Style::warn);
}

conformance::Report checked(const conformance::Options &options) {
    try {
        return conformance::run(options);
    } catch (const Atoll::Error &e) {
        if (e.status() != Status::invalid_argument) throw;
        throw UsageError(fmt::format("no check matches '{}'; --list prints their names, and * in a "
                                     "filter stands for any of them",
                                     options.filter));
    }
}

int run(const Options &options, bool json) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options.kit.plugin, ignored))
        throw UsageError(fmt::format(
            "{} '{}'; give the path of a plugin, as build/atoll-mine.so",
            std::filesystem::is_directory(options.kit.plugin, ignored) ? "a folder, not a file:"
            : std::filesystem::exists(options.kit.plugin, ignored)     ? "no regular file:"
                                                                       : "there is no file",
            options.kit.plugin.string()));
    if (std::isnan(options.kit.deadline)) // no range leaves it out
        throw UsageError("--deadline: need a number of seconds");
    if (!options.junit.empty() && options.junit == options.matrix)
        throw UsageError(fmt::format(
            "--junit and --matrix both name {}; give each a file of its own", options.junit));
    if (options.list) {
        const auto names = conformance::list(options.kit);
        if (json)
            fmt::print("{}\n", Json(names).dump(2));
        else
            fmt::print("{}\n", fmt::join(names, "\n"));
        return 0;
    }
    // An unwritable file is said before the work, not after.
    write_file(options.junit, "");
    write_file(options.matrix, "");
    Progress progress;
    conformance::Options own = options.kit;
    own.progress = std::ref(progress);
    const conformance::Report report = checked(own);
    progress.clear();
    write_file(options.junit, conformance::junit(report));
    write_file(options.matrix, conformance::support_matrix(report));
    if (json)
        fmt::print("{}\n", as_json(report).dump(2, ' ', false, Json::error_handler_t::replace));
    else
        fmt::print("{}{}\n", conformance::summary(report), verdict(report));
    return report.failed() ? 1 : 0;
}

} // namespace

void add_check(CLI::App &app, Request &request) {
    CLI::App *command =
        add_command(app, request, "check", "Check that a plugin conforms to the ABI");
    const auto options = std::make_shared<Options>();
    command->add_option("plugin", options->kit.plugin, "The plugin's file")->required();
    command->add_option("--filter", options->kit.filter,
                        "Only checks whose name matches, as 'functions/core.add*'");
    command->add_option("--with", options->kit.with,
                        "Plugins to load before, by name or path, that it depends on");
    command->add_option("--junit", options->junit, "Write the results as JUnit XML to this file");
    command->add_option("--matrix", options->matrix,
                        "Write the support matrix as Markdown to this file");
    command
        ->add_option("--deadline", options->kit.deadline,
                     "Seconds after which a check counts as hung")
        ->check(CLI::Range(0.1, 86400.0, "SECONDS"));
    command->add_flag("--list", options->list, "Print the names of the checks and run none");
    command->add_flag("!--no-isolate", options->kit.isolate,
                      "Run in this process, for a debugger: a crash ends it");
    command->footer(
        "Checks the file, loading, the device, every function for every dtype and\n"
        "layout that is declared, threads, memory, retiring. Results are compared with\n"
        "another device: the plugin cpu or dummy of the search path.\n"
        "Exit status: 0 conforms, 1 a check failed, 2 bad usage.\n\n"
        "Examples:\n"
        "  atoll check build/atoll-mine.so\n"
        "  atoll check build/atoll-mine.so --filter 'functions/core.add*:float32/*'\n"
        "  atoll check build/atoll-mine.so --junit results.xml --matrix SUPPORT.md");
    run_on_parse(command, request, options, run);
}

} // namespace Atoll::tools
