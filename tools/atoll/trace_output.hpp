// The forms in which `atoll trace` gives a trace.
#pragma once

#include "command.hpp"
#include "trace_model.hpp"

#include <cstdio>

namespace Atoll::tools {

// How the program that was traced came to its end.
struct TracedRun {
    std::vector<std::string> command;
    int status = 0, signal = 0; // exit status; signal that ended it, 0: none
    double seconds = 0;
};

// In the Trace Event Format, for ui.perfetto.dev or chrome://tracing. Throws std::runtime_error
// when the stream takes no more.
void write_perfetto(const TraceModel &model, const TracedRun &run, std::FILE *out);
// A page that needs nothing else. Throws as above.
void write_report(const TraceModel &model, const TracedRun &run, std::FILE *out);
// Totals and the hot list.
Json summary_json(const TraceModel &model, const TracedRun &run);

// "3 × 4"-like facts that several forms show: a call's details as one JSON object.
Json details(const TraceModel &model, const TracedCall &call);
// Why the execution of an enqueued call is not known; empty if it is, or nothing was enqueued.
std::string unknown_execution(const TracedCall &call);

} // namespace Atoll::tools
