// The conformance kit: does a plugin keep what the plugin ABI promises for it?
//
//   #include <atoll/conformance.hpp>
//   const auto report = Atoll::conformance::run({.plugin = "build/atoll-mine.so"});
//   if (report.failed() != 0) std::cerr << Atoll::conformance::summary(report);
//
// pkg-config: atoll-conformance. The command `atoll check` is this and a command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace Atoll::conformance {

enum class Outcome : std::uint8_t { passed, failed, skipped };

// One check. Its name says where it belongs: "functions/core.add@mine:float32/strided".
struct Result {
    std::string group;   // "file", "device", "functions" …
    std::string subject; // "core.add@mine", "exports" …
    std::string dtype;   // compute dtype, or empty
    std::string variant; // layout or aspect, or empty
    Outcome outcome = Outcome::passed;
    std::string message = {}; // of one that failed or was skipped: what happened, and what to do
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
    // Runs the checks whose name matches: '*' and '?' stand for any characters and any one, as in
    // "functions/core.add*", "*:float16/*".
    std::string filter = "*";
    // Plugins, by name or path, to load before: what the plugin under test depends on, where the
    // search path does not have it under the name of the device type or module.
    std::vector<std::string> with = {};
    // Runs each group of checks in a child process, so that one that crashes or hangs is a failed
    // check and the others go on. Without: in this process, for a debugger.
    bool isolate = true;
    // How long one check may take before it counts as hung, with `isolate`. Seconds.
    double deadline = 20;
    // Called after every check, on the calling thread; `total` counts those to run.
    std::function<void(const Result &last, std::size_t done, std::size_t total)> progress = {};
};

// Runs the checks and blocks until all are done. What is wrong with the plugin is in the report;
// throws Atoll::Error (not_found) where there is no such file, (invalid_argument) where the filter
// matches no check, (busy) where `isolate` is asked for and this process has plugins loaded: their
// threads do not come along into a child. Not to be called from two threads at once.
Report run(const Options &options);

// The names of the checks, without running them (the plugin is loaded, in a child process if
// `isolate`).
std::vector<std::string> list(const Options &options);

// Text for people: what failed, grouped by cause, and the counts. No escape sequences.
std::string summary(const Report &report);
// JUnit XML, one test case per check.
std::string junit(const Report &report);
// What the plugin supports, as Markdown: a table of functions and dtypes per device type.
std::string support_matrix(const Report &report);

} // namespace Atoll::conformance
