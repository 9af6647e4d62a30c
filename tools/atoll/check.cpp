// `atoll check`: runs the conformance kit on one plugin and shows its progress.
#include "atoll/conformance.hpp"
#include "atoll/error.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

// One line on standard error that is overwritten after each check and removed at the end.
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
        const std::string count = fmt::format("{}/{}", done, total),
                          verdict = failed_ ? fmt::format("{} failed", failed_) : "no failure";
        // A line that wraps could not be overwritten.
        const std::size_t used = count.size() + verdict.size() + 5;
        const std::string name = last.name().substr(0, std::max(columns(), used) - used);
        fmt::print(stderr, "\r{}  {}  {}\033[K", count,
                   styled(verdict, failed_ ? Style::bad : Style::good, stderr), name);
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
    // Of the terminal.
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
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    if (!(file << text) || !file.flush())
        throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
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

std::string verdict(const conformance::Report &report, const std::string &filter) {
    if (report.failed()) return styled("the plugin does not conform", Style::bad);
    if (filter != "*" && report.skipped() == 0)
        return styled(fmt::format("all checks that match '{}' passed", filter), Style::good);
    if (filter != "*")
        return styled(fmt::format("of the checks that match '{}', {} passed and {} were skipped",
                                  filter, report.passed(), report.skipped()),
                      Style::warn);
    if (report.skipped() == 0) return styled("the plugin conforms", Style::good);
    return styled(fmt::format("the plugin conforms as far as it could be checked: {} skipped",
                              report.skipped()),
                  Style::warn);
}

// Sends to standard error, while it lives, what a plugin in this process prints to standard output,
// where the report follows.
class OutputKeeper {
public:
    OutputKeeper() : kept_(::dup(STDOUT_FILENO)) { ::dup2(STDERR_FILENO, STDOUT_FILENO); }
    ~OutputKeeper() {
        std::fflush(stdout);
        ::dup2(kept_, STDOUT_FILENO);
        ::close(kept_);
    }
    OutputKeeper(const OutputKeeper &) = delete;
    OutputKeeper &operator=(const OutputKeeper &) = delete;

private:
    int kept_;
};

// What run() or list() gives; an error that the options are to blame for is one of usage.
auto by(const conformance::Options &options, const auto &function) {
    const OutputKeeper keeper;
    try {
        return function(options);
    } catch (const Atoll::Error &e) {
        if (e.status() == Status::refused) throw UsageError(e.what());
        if (e.status() != Status::invalid_argument) throw;
        throw UsageError(fmt::format("no check matches '{}'; --list prints their names, and * in a "
                                     "filter stands for any of them",
                                     options.filter));
    }
}

} // namespace

int run_check(const CheckOptions &options) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options.kit.plugin, ignored))
        throw UsageError(fmt::format(
            "{} '{}'; give the path of a plugin, as build/atoll-mine.so",
            std::filesystem::is_directory(options.kit.plugin, ignored) ? "a folder, not a file:"
            : std::filesystem::exists(options.kit.plugin, ignored)     ? "no regular file:"
                                                                       : "there is no file",
            options.kit.plugin.string()));
    if (std::isnan(options.kit.deadline)) // no range excludes it
        throw UsageError("--deadline: need a number of seconds");
    if (!options.junit.empty() && options.junit == options.matrix)
        throw UsageError(fmt::format(
            "--junit and --matrix both name {}; give each a file of its own", options.junit));
    if (options.list) {
        const auto names = by(options.kit, conformance::list);
        if (options.json)
            print_json(names);
        else
            fmt::print("{}\n", fmt::join(names, "\n"));
        return 0;
    }
    // Report an unwritable file before the checks run.
    write_file(options.junit, "");
    write_file(options.matrix, "");
    Progress progress;
    conformance::Options own = options.kit;
    own.progress = std::ref(progress);
    const conformance::Report report = by(own, conformance::run);
    progress.clear();
    if (options.json)
        print_json(as_json(report));
    else
        fmt::print("{}{}\n", conformance::summary(report), verdict(report, options.kit.filter));
    write_file(options.junit, conformance::junit(report));
    write_file(options.matrix, conformance::support_matrix(report));
    return report.failed() ? 1 : 0;
}

} // namespace Atoll::tools
