// Totals of a trace and its hot list, as JSON.
#include "trace_output.hpp"

namespace Atoll::tools {

Json summary_json(const TraceModel &model, const TracedRun &run) {
    Json processes = Json::array(), functions = Json::array();
    for (const TracedProcess &process : model.processes)
        processes.push_back({{"process", process.id},
                             {"calls", process.calls},
                             {"dropped", process.dropped},
                             {"ended_regularly", process.closed},
                             {"file", process.full == 0   ? "complete"
                                      : process.full == 1 ? "at its size limit"
                                                          : "could not grow"}});
    for (const HotLine &line : hot_list(model))
        functions.push_back({{"function", line.function},
                             {"device", line.device},
                             {"asynchronous", line.asynchronous},
                             {"calls", line.calls},
                             {"errors", line.errors},
                             {"inserted", line.inserted},
                             {"executions", line.executions},
                             {"call_ns", line.call_ns},
                             {"execution_ns", line.execution_ns},
                             {"bytes", line.bytes},
                             {"gigabytes_per_second", line.gigabytes_per_second()},
                             {"temporaries", line.temporaries},
                             {"temporary_bytes", line.temporary_bytes},
                             {"copies", line.copies},
                             {"copied_bytes", line.copied_bytes},
                             {"served_ns", line.served_ns}});
    return {{"command", run.command},
            {"exit_status", run.signal ? Json(nullptr) : Json(run.status)},
            {"signal", run.signal ? Json(run.signal) : Json(nullptr)},
            {"seconds", run.seconds},
            {"traced_ns", model.nanoseconds},
            {"calls", model.calls.size()},
            {"dropped", model.dropped()},
            {"threads", model.threads.size()},
            {"streams", model.streams.size()},
            {"executions", model.executions.size()},
            {"processes", std::move(processes)},
            {"functions", std::move(functions)}};
}

} // namespace Atoll::tools
