// The output formats of `atoll trace`.
#pragma once

#include "json.hpp"
#include "trace_model.hpp"
#include "trace_sink.hpp"

namespace Atoll::tools {

// The end of the traced program.
struct TracedRun {
    std::vector<std::string> command;
    int status = 0, signal = 0; // exit status; signal that ended it, 0: none
    double seconds = 0;
};

// In the Trace Event Format, for ui.perfetto.dev or chrome://tracing.
void write_trace_events(const TraceModel &model, const TracedRun &run, Sink &out);
// In Perfetto's own format.
void write_pftrace(const TraceModel &model, const TracedRun &run, Sink &out);
// A self-contained page.
void write_report(const TraceModel &model, const TracedRun &run, Sink &out);
// Sentences: where the time goes, and what to try.
std::vector<std::string> advice(const TraceModel &model, const TracedRun &run);
// Totals, the hot list and the advice.
Json summary_json(const TraceModel &model, const TracedRun &run);

// The details of a call, which several formats show.
Json details(const TraceModel &model, const TracedCall &call);
// "kernel_failed"
std::string status_name(std::int32_t status);
// The category of its execution: sums of "execution" are work.
inline const char *execution_category(const TracedCall &call) {
    return is_waiting(call.function(), true) ? "waiting" : "execution";
}
// Titles of the tracks for a stream and for its device.
std::string stream_title(const TracedStream &stream);
// `process`: an index.
std::string device_title(const TraceModel &model, std::uint32_t process, const std::string &device);
inline constexpr const char *shared_execution =
    "about: several threads enqueued into the stream at a time";
inline constexpr const char *unknown_end =
    "unknown: the range was open when its thread or the program ended";
// "5 calls found no room …", empty if there is none: a span of the process, since its last record.
std::string lost_calls(const TracedProcess &process);
std::int64_t last_record(const TraceModel &model, std::uint32_t process); // an index
// Why the execution of an enqueued call is unknown; empty if it is known or nothing was enqueued.
std::string unknown_execution(const TracedCall &call);

} // namespace Atoll::tools
