// A trace in the Trace Event Format: JSON that many viewers read.
//
// The host is one process there, with a track per thread; each device is another, with a track per
// stream. On a thread: the ranges of the program (category "range"); in them a span per call of the
// interface (category "api") that caused several calls, in it a span per call ("call", or
// "inserted" for what the core added). On a stream: a span per execution ("execution", or "waiting"
// for what only waits or marks a place in the queue). Flows lead from the enqueueing span to the
// execution, and from the record of an event to the wait for it. The memory of a device is a
// counter, of the device's process if it has streams, else of the host.
#include "atoll/dtype_facts.hpp"
#include "reasons.hpp"
#include "trace_measure.hpp"
#include "trace_output.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace tracing::timeline;

namespace {

constexpr const char *status_names[] = {
#define ATOLL_STATUS(value, ENUM, identifier, text) #identifier,
#include "atoll/lists/status.inc"
};

// Events as they come, with a comma between them.
class EventWriter {
public:
    explicit EventWriter(Sink &out) : out_(out) {}
    void metadata(const char *kind, std::size_t process, std::size_t track, const char *key,
                  const Json &value) {
        add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"{}":{}}}}})", kind,
                        process, track, key, dump(value)));
    }
    // Nanoseconds; the format counts microseconds.
    void span(const std::string &name, const char *category, std::size_t process, std::size_t track,
              std::int64_t start, std::int64_t end, const Json &args) {
        add(fmt::format(
            R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
            dump(name), category, process, track, micro(start), micro(end - start), dump(args)));
    }
    // `phase`: s at its start, f at its end, each within a span that begins at or before `at`.
    void flow(const char *phase, std::size_t id, const char *name, std::size_t process,
              std::size_t track, std::int64_t at) {
        add(fmt::format(
            R"({{"ph":"{}","bp":"e","id":{},"name":"{}","cat":"flow","pid":{},"tid":{},"ts":{}}})",
            phase, id, name, process, track, micro(at)));
    }
    void counter(const std::string &name, std::size_t process, std::int64_t at, const char *key,
                 std::int64_t value) {
        add(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"{}":{}}}}})", dump(name),
                        process, micro(at), key, value));
    }
    void text(std::string_view part) { out_.write(part); }

private:
    static std::string micro(std::int64_t ns) {
        return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    }
    void add(const std::string &event) {
        text(first_ ? "\n" : ",\n");
        first_ = false;
        text(event);
    }
    Sink &out_;
    bool first_ = true;
};

} // namespace

std::string status_name(std::int32_t status) {
    const bool known = status >= 0 && status < ATOLL_STATUS_COUNT;
    return known ? status_names[status] : fmt::format("unknown status {}", status);
}

std::string stream_title(const TracedStream &stream) {
    return stream.handle ? fmt::format("stream {} (0x{:x})", stream.number, stream.handle)
                         : "default stream";
}

std::string device_title(const TraceModel &model, std::uint32_t process,
                         const std::string &device) {
    return model.processes.size() == 1
               ? device
               : fmt::format("{} of process {}", device, model.processes[process].id);
}

std::string lost_calls(const TracedProcess &process) {
    if (process.dropped == 0) return {};
    return fmt::format("{} calls found no room in the file of records", process.dropped);
}

std::int64_t last_record(const TraceModel &model, std::uint32_t process) {
    std::int64_t last = 0;
    for (const TracedCall &call : model.calls)
        if (model.threads[call.thread].process == process) last = std::max(last, call.end);
    return last;
}

std::string unknown_execution(const TracedCall &call) {
    if (call.execution >= 0 || !call.asynchronous) return {};
    if (call.has(flag_no_callback)) return "unknown: the device offers no host callback";
    if (call.has(flag_not_asked)) return "unknown: not asked for";
    if (!call.has(flag_followed) || call.status() != ATOLL_STATUS_OK) return {};
    return "unknown: not finished when the trace ended, or its file was full";
}

Json details(const TraceModel &model, const TracedCall &call) {
    const Record &record = *call.record;
    Json args = {{"device", call.device()}};
    if (call.stream()) args["stream"] = fmt::format("0x{:x}", call.stream());
    if (call.dtype != ATOLL_DTYPE_NONE) args["dtype"] = sdk::dtype_name(call.dtype);
    if (record.operand_count > 0) {
        Json dtypes = Json::array();
        for (unsigned i = 0; i < std::min<unsigned>(record.operand_count, max_dtypes); ++i)
            dtypes.push_back(sdk::dtype_name(record.dtypes[i]));
        if (record.operand_count > max_dtypes) dtypes.push_back("…");
        args["operands"] = std::move(dtypes);
        Json shape = call.shape();
        if (record.rank > max_extents) shape.push_back("…");
        args["shape"] = std::move(shape);
    }
    if (record.bytes > 0) args["bytes"] = record.bytes;
    if (const std::string labels = call.labels(); !labels.empty()) args["labels"] = labels;
    if (call.operations() > 0) args["FLOP"] = call.operations();
    std::int64_t took = call.nanoseconds();
    if (call.execution >= 0) {
        const Execution &execution = model.executions[static_cast<std::size_t>(call.execution)];
        took = execution.end - execution.start;
        args["execution_ns"] = took;
        if (execution.shared) args["execution"] = shared_execution;
    } else if (call.asynchronous) {
        took = 0; // the time to enqueue does not measure bytes
        if (const std::string why = unknown_execution(call); !why.empty()) args["execution"] = why;
    }
    const auto rate =
        [&](std::uint64_t amount) { // more digits would be noise, and most of the file
            return std::stod(
                fmt::format("{:.4g}", static_cast<double>(amount) / static_cast<double>(took)));
        };
    if (record.bytes > 0 && took > 0 && tracing::moves_bytes(call.function()))
        args["GB/s"] = rate(record.bytes);
    if (call.operations() > 0 && took > 0) args["GFLOP/s"] = rate(call.operations());
    if (call.status() != ATOLL_STATUS_OK) args["status"] = status_name(call.status());
    if (call.has(flag_inserted)) {
        args["serves"] = call.parent ? text_of(call.parent->function) : "?";
        args["because"] = tracing::reasons_text(call.reasons);
    }
    args["correlation"] = record.correlation;
    return args;
}

void write_trace_events(const TraceModel &model, const TracedRun &run, Sink &out) {
    EventWriter writer(out);
    writer.text(fmt::format(R"({{"displayTimeUnit":"ns","otherData":{},"traceEvents":[)",
                            dump(summary_json(model, run))));
    // Processes of the format: those of the host, then devices.
    std::map<std::pair<std::uint32_t, std::string>, std::size_t> device_ids;
    const auto host_id = [](std::uint32_t process) { return process + std::size_t{1}; };
    for (std::size_t i = 0; i < model.processes.size(); ++i) {
        writer.metadata("process_name", i + 1, 0, "name",
                        fmt::format("host, process {}", model.processes[i].id));
        writer.metadata("process_sort_index", i + 1, 0, "sort_index", i);
    }
    for (const TracedStream &stream : model.streams) {
        const std::size_t id = model.processes.size() + device_ids.size() + 1;
        if (!device_ids.try_emplace({stream.process, stream.device}, id).second) continue;
        writer.metadata("process_name", id, 0, "name",
                        device_title(model, stream.process, stream.device));
        writer.metadata("process_sort_index", id, 0, "sort_index", id);
    }
    for (std::size_t i = 0; i < model.threads.size(); ++i) {
        const TracedThread &thread = model.threads[i];
        writer.metadata("thread_name", host_id(thread.process), i + 1, "name",
                        fmt::format("{} {}", thread.name, thread.id));
        writer.metadata("thread_sort_index", host_id(thread.process), i + 1, "sort_index", i);
    }
    const auto stream_track = [&](std::uint32_t stream) {
        return model.threads.size() + stream + 1;
    };
    const auto stream_process = [&](std::uint32_t stream) {
        return device_ids.at({model.streams[stream].process, model.streams[stream].device});
    };
    for (std::uint32_t i = 0; i < model.streams.size(); ++i) {
        const TracedStream &stream = model.streams[i];
        writer.metadata("thread_name", stream_process(i), stream_track(i), "name",
                        stream_title(stream));
        writer.metadata("thread_sort_index", stream_process(i), stream_track(i), "sort_index",
                        stream.number);
    }

    for (std::uint32_t i = 0; i < model.processes.size(); ++i) {
        const std::string lost = lost_calls(model.processes[i]);
        if (lost.empty()) continue;
        const std::size_t track = model.threads.size() + model.streams.size() + i + 1;
        writer.metadata("thread_name", host_id(i), track, "name", "not recorded");
        writer.metadata("thread_sort_index", host_id(i), track, "sort_index", track);
        writer.span(lost, "lost", host_id(i), track, last_record(model, i), model.nanoseconds,
                    Json::object());
    }
    // Before the calls: of two spans that begin together, the first is the outer one.
    for (const TracedRange &range : model.ranges)
        writer.span(std::string(range.name), "range", host_id(model.threads[range.thread].process),
                    range.thread + std::size_t{1}, range.start, range.end,
                    range.open ? Json{{"end", unknown_end}} : Json::object());
    // Flow ids: executions by index from 1, then events.
    for (const ApiCall &api : model.api_calls) {
        const TracedCall &first = model.calls[api.begin];
        const std::size_t process = host_id(model.threads[first.thread].process),
                          track = first.thread + std::size_t{1};
        if (!model.repeats_its_call(api))
            writer.span(
                std::string(model.name(api)), "api", process, track, first.start, model.end(api),
                {{"correlation", first.record->correlation}, {"calls", api.end - api.begin}});
        for (std::size_t i = api.begin; i < api.end; ++i) {
            const TracedCall &call = model.calls[i];
            writer.span(std::string(call.function()), call.has(flag_inserted) ? "inserted" : "call",
                        process, track, call.start, call.end, details(model, call));
            if (call.execution >= 0)
                writer.flow("s", static_cast<std::size_t>(call.execution) + 1, "enqueue", process,
                            track, call.start);
        }
    }
    for (std::size_t i = 0; i < model.executions.size(); ++i) {
        const Execution &execution = model.executions[i];
        const TracedCall &call = model.calls[execution.call];
        const std::size_t process = stream_process(execution.stream),
                          track = stream_track(execution.stream);
        Json args = details(model, call);
        if (execution.status != ATOLL_STATUS_OK)
            args["stream_status"] = status_name(execution.status);
        writer.span(std::string(call.function()), execution_category(call), process, track,
                    execution.start, execution.end, args);
        writer.flow("f", i + 1, "enqueue", process, track, execution.start);
    }
    std::size_t id = model.executions.size() + 1;
    for (const EventFlow &flow : model.event_flows) {
        const Execution &from = model.executions[flow.from], &to = model.executions[flow.to];
        writer.flow("s", id, "event", stream_process(from.stream), stream_track(from.stream),
                    from.start);
        // The wait may have begun long before: the arrow ends where it is over.
        writer.flow("f", id, "event", stream_process(to.stream), stream_track(to.stream),
                    to.end - 1);
        ++id;
    }
    for (const MemoryUse &use : memory_use(model, every_change)) {
        const auto device = device_ids.find({use.process, use.device});
        const std::size_t process =
            device == device_ids.end() ? host_id(use.process) : device->second;
        for (const auto &[at, bytes] : use.steps)
            writer.counter("memory, " + use.device, process, at, "bytes", bytes);
    }
    writer.text("\n]}\n");
}

} // namespace Atoll::tools
