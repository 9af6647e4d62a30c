// The output formats of `atoll trace`.
#pragma once

#include "json.hpp"
#include "trace_model.hpp"

#include <cstdio>

namespace Atoll::tools {

// The end of the traced program.
struct TracedRun {
    std::vector<std::string> command;
    int status = 0, signal = 0; // exit status; signal that ended it, 0: none
    double seconds = 0;
};

// In the Trace Event Format, for ui.perfetto.dev or chrome://tracing. Throws std::runtime_error
// when the stream takes no more.
void write_perfetto(const TraceModel &model, const TracedRun &run, std::FILE *out);
// A self-contained page. Throws as above.
void write_report(const TraceModel &model, const TracedRun &run, std::FILE *out);
// Totals and the hot list.
Json summary_json(const TraceModel &model, const TracedRun &run);

// The details of a call, which several formats show.
Json details(const TraceModel &model, const TracedCall &call);
// Why the execution of an enqueued call is unknown; empty if it is known or nothing was enqueued.
std::string unknown_execution(const TracedCall &call);

} // namespace Atoll::tools
