// The conformance kit: checks that a plugin keeps the contracts of the plugin ABI.
//
//   #include <atoll/conformance.hpp>
//   const auto report = Atoll::conformance::run({.plugin = "build/atoll-mine.so"});
//   if (report.failed() != 0) std::cerr << Atoll::conformance::summary(report);
//
// pkg-config: atoll-conformance. The command `atoll check` is a front end to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace Atoll::conformance {

enum class Outcome : std::uint8_t { passed, failed, skipped };

// One check, with a name such as "functions/core.add@mine:float32/strided".
struct Result {
    std::string group;   // "file", "device", "functions" …
    std::string subject; // "core.add@mine", "exports" …
    std::string dtype;   // compute dtype, or empty
    std::string variant; // layout or aspect, or empty
    Outcome outcome = Outcome::passed;
    std::string message = {}; // if failed or skipped: what happened, and what to do
    double seconds = 0;

    std::string name() const;
};

struct Report {
    std::filesystem::path plugin; // the file
    std::string name, version;    // of the plugin; empty where it could not be read
    std::string reference;        // device that the results were compared with; empty: none
    std::vector<Result> results;  // in the order of running
    double seconds = 0;

    std::size_t passed() const { return count(Outcome::passed); }
    std::size_t failed() const { return count(Outcome::failed); }
    std::size_t skipped() const { return count(Outcome::skipped); }

private:
    std::size_t count(Outcome outcome) const;
};

struct Options {
    // The file to check. Its folder need not be on the search path.
    std::filesystem::path plugin = {};
    // Runs the checks whose name matches, as in "functions/core.add*" or "*:float16/*": '*' and '?'
    // stand for any characters and any one, @(a|b) for one of several patterns.
    std::string filter = "*";
    // Plugins, by name or path, to load first: dependencies of the plugin under test that are not
    // on the search path under the name of the device type or module.
    std::vector<std::string> with = {};
    // Runs each group of checks in a child process, so that a crash or a hang fails one check and
    // the others continue. Otherwise: in this process, for a debugger.
    bool isolate = true;
    // How long one check may take before it counts as hung, with `isolate`. Seconds.
    double deadline = 20;
    // Leaves out what follows the first failure; the report says so.
    bool fail_fast = false;
    // Called after every check, on the calling thread; `total` counts those to run.
    std::function<void(const Result &last, std::size_t done, std::size_t total)> progress = {};
};

// Runs the checks and blocks until all are done. The report contains what is wrong with the plugin.
// Throws Atoll::Error: not_found if the file does not exist, invalid_argument if the filter matches
// no check, refused if a plugin of `with` cannot be loaded, busy if `isolate` is set and this
// process has loaded plugins, whose threads a child process would lack. Not thread-safe.
Report run(const Options &options);

// The names of the checks, without running them (the plugin is loaded, in a child process if
// `isolate`).
std::vector<std::string> list(const Options &options);

// A readable text: failures, grouped by cause, and counts. No escape sequences.
std::string summary(const Report &report);
// JUnit XML, one test case per check.
std::string junit(const Report &report);
// What the plugin supports, as Markdown: a table of functions and dtypes per device type.
std::string support_matrix(const Report &report);

} // namespace Atoll::conformance
