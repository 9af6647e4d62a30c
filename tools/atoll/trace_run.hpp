// Runs a program under the tracer, by its environment alone.
#pragma once

#include "trace_output.hpp"

#include <string>
#include <vector>

namespace Atoll::tools {

struct TraceRequest {
    std::vector<std::string> command;
    std::string functions; // globs separated by commas; empty: all
    bool quiet = false; // no table from the program, and its standard output goes to standard error
    std::uint64_t limit = 0; // bytes of each process's timeline; 0: the plugin's default
    bool execution = true;
};

// The program cannot be started: `status` as shells have it, 127 not found, 126 cannot be executed.
struct CannotStart : std::runtime_error {
    CannotStart(const std::string &text, int code) : std::runtime_error(text), status(code) {}
    int status;
};

// A folder of the user's alone for the timelines of a run; gone at the end.
class TraceFolder {
public:
    TraceFolder();
    ~TraceFolder() { remove(); }
    void remove() const;
    TraceFolder(const TraceFolder &) = delete;
    TraceFolder &operator=(const TraceFolder &) = delete;
    std::string path;
};

// Refuses what cannot be traced (UsageError, CannotStart), runs it, waits for its end and returns
// it. SIGINT and SIGQUIT are left to the program, SIGTERM and SIGHUP are passed on to it.
TracedRun run_traced(const TraceRequest &request, const TraceFolder &folder);

} // namespace Atoll::tools
