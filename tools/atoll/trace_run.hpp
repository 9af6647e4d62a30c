// Runs a program under the tracer by setting its environment.
#pragma once

#include "commands.hpp"
#include "trace_output.hpp"

#include <string>
#include <vector>

namespace Atoll::tools {

// The program cannot be started: `status` as shells have it, 127 not found, 126 cannot be executed.
struct CannotStart : std::runtime_error {
    CannotStart(const std::string &text, int code) : std::runtime_error(text), status(code) {}
    int status;
};

// A private folder for the timelines of a run, removed at the end.
class TraceFolder {
public:
    TraceFolder();
    ~TraceFolder() { remove(); }
    void remove() const;
    TraceFolder(const TraceFolder &) = delete;
    TraceFolder &operator=(const TraceFolder &) = delete;
    std::string path;
};

// Whether the table that the tracer prints would not fit the terminal, so that the tool has to
// print its own.
bool narrow_terminal();

// Runs the program, waits for its end and returns it. Throws UsageError or CannotStart if it cannot
// be traced. SIGINT and SIGQUIT are left to the program, SIGTERM and SIGHUP are passed on to it.
TracedRun run_traced(const TraceOptions &options, const TraceFolder &folder);

} // namespace Atoll::tools
