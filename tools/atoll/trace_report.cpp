// A trace as a page: its markup, style and script are in trace_report_*.inc.
#include "atoll/plugin.hpp"
#include "trace_measure.hpp"
#include "trace_output.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace tracing::timeline;

namespace {

// As many as a browser draws quickly.
constexpr std::size_t most_calls = 50'000;

constexpr std::size_t most_ranges = 10'000, memory_points = 2000;

constexpr std::string_view style =
#include "trace_report_style.inc"
    ;
constexpr std::string_view markup =
#include "trace_report_markup.inc"
    ;
constexpr std::string_view tables_script =
#include "trace_report_tables.inc"
    ;
constexpr std::string_view drawing_script =
#include "trace_report_draw.inc"
    ;
constexpr std::string_view input_script =
#include "trace_report_input.inc"
    ;

// Texts by number, each once.
class Texts {
public:
    std::size_t operator()(const std::string &text) {
        const auto [place, is_new] = numbers_.try_emplace(text, list.size());
        if (is_new) list.push_back(text);
        return place->second;
    }
    Json list = Json::array();

private:
    std::map<std::string, std::size_t> numbers_;
};

std::int64_t length(const TraceModel &model, const TracedCall &call) {
    std::int64_t longest = call.nanoseconds();
    if (call.execution >= 0) {
        const Execution &execution = model.executions[static_cast<std::size_t>(call.execution)];
        longest = std::max(longest, execution.end - execution.start);
    }
    return longest;
}

// Selects the `most` longest of `count`.
template <class Length>
std::vector<bool> choose(std::size_t count, std::size_t most, const Length &length_of) {
    std::vector<bool> chosen(count, true);
    if (count <= most) return chosen;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                     [&](std::size_t a, std::size_t b) { return length_of(a) > length_of(b); });
    for (std::size_t i = most; i < count; ++i) chosen[order[i]] = false;
    return chosen;
}

std::string detail_text(const Json &args) {
    std::string text;
    const auto line = [&](const char *label, const char *key) {
        if (!args.contains(key)) return;
        const Json &value = args[key];
        text += fmt::format("{}{}{}", text.empty() ? "" : "\n", label,
                            value.is_string() ? value.get<std::string>() : value.dump());
    };
    line("on ", "device");
    line("stream ", "stream");
    line("shape ", "shape");
    line("labels ", "labels");
    line("FLOP ", "FLOP");
    line("GFLOP/s ", "GFLOP/s");
    line("operands ", "operands");
    line("computes in ", "dtype");
    line("inserted to serve ", "serves");
    line("because of ", "because");
    line("execution ", "execution");
    line("status ", "status");
    line("end ", "end");
    std::erase(text, '"');
    return text;
}

// A span for calls that are too short to be shown and follow each other closely.
struct Crowd {
    std::int64_t start = 0, end = 0;
    std::size_t count = 0;
};

Json page_data(const TraceModel &model, const TracedRun &run) {
    enum { api, call_, inserted, executed, waiting, crowd, range };
    const std::vector<bool> chosen = choose(model.calls.size(), most_calls, [&](std::size_t i) {
        return length(model, model.calls[i]);
    });
    Json summary = summary_json(model, run);
    std::map<std::pair<std::string, std::string>, int> lines, devices; // places in the summary
    for (const Json &line : summary["functions"])
        lines.try_emplace({line["function"], line["device"]}, static_cast<int>(lines.size()));
    for (const Json &use : summary["devices"])
        devices.try_emplace({use["process"].dump(), use["device"]},
                            static_cast<int>(devices.size()));
    // The device for which the span is work, and the function's line; -1: none.
    struct Place {
        int device = -1, line = -1;
    };
    const auto place_of = [&](const TracedCall &call, bool on_stream) {
        const std::uint32_t process = model.processes[model.threads[call.thread].process].id;
        return Place{is_work(call, on_stream) ? devices.at({std::to_string(process), call.device()})
                                              : -1,
                     lines.at({std::string(call.function()), std::string(call.device_type())})};
    };
    Texts names, texts;
    Json spans; // columns of equal length, one row per span
    std::vector<std::int64_t> depths(model.threads.size() + model.streams.size(), 1);
    // `id` is what an enqueued call and its execution have in common.
    const auto add = [&](std::size_t track, std::uint32_t depth, std::int64_t start,
                         std::int64_t end, std::string_view name, int kind, const Json &args,
                         std::uint64_t correlation, std::size_t id, bool failed, Place place = {}) {
        depths[track] = std::max<std::int64_t>(depths[track], depth + 1);
        const double rate = std::round(args.value("GB/s", 0.0) * 1000) / 1000;
        for (const auto &[column, value] : {std::pair<const char *, Json>{"track", track},
                                            {"depth", depth},
                                            {"start", start},
                                            {"length", end - start},
                                            {"name", names(std::string(name))},
                                            {"kind", kind},
                                            {"bytes", args.value("bytes", std::uint64_t{0})},
                                            {"rate", rate},
                                            {"detail", texts(detail_text(args))},
                                            {"correlation", correlation},
                                            {"id", id},
                                            {"device", place.device},
                                            {"line", place.line},
                                            {"failed", failed ? 1 : 0}})
            spans[column].push_back(value);
        return spans["track"].size() - 1;
    };
    std::map<std::size_t, std::size_t> call_rows; // of enqueued calls
    std::size_t id = 0, shown = 0;
    // Ranges are above the calls of their thread.
    std::vector<std::uint32_t> above(model.threads.size(), 0);
    const std::vector<bool> chosen_ranges =
        choose(model.ranges.size(), most_ranges,
               [&](std::size_t i) { return model.ranges[i].end - model.ranges[i].start; });
    for (std::size_t i = 0; i < model.ranges.size(); ++i) {
        if (!chosen_ranges[i]) continue;
        const TracedRange &own = model.ranges[i];
        above[own.thread] = std::max(above[own.thread], own.depth + 1);
        add(own.thread, own.depth, own.start, own.end, own.name, range,
            own.open ? Json{{"end", unknown_end}} : Json::object(), 0, id++, false);
    }
    Crowd crowded;
    const auto end_crowd = [&](std::size_t track, const char *of) {
        if (crowded.count > 0)
            add(track, track < above.size() ? above[track] : 0, crowded.start, crowded.end,
                fmt::format("{} {}", crowded.count, of), crowd, Json::object(), 0, id++, false);
        crowded = {};
    };
    const std::int64_t pixel = model.nanoseconds / 2000; // gaps that wide are shown
    const auto join_crowd = [&](std::size_t track, std::int64_t start, std::int64_t end,
                                std::size_t count, const char *of) {
        if (crowded.count > 0 && start - crowded.end > pixel) end_crowd(track, of);
        if (crowded.count == 0) crowded.start = start;
        crowded.end = std::max(crowded.end, end);
        crowded.count += count;
    };
    constexpr const char *short_calls = "short calls", *short_executions = "short executions";
    const TracedCall *before = nullptr;
    for (const ApiCall &group : model.api_calls) {
        const TracedCall &head = model.calls[group.begin];
        if (before && before->thread != head.thread) end_crowd(before->thread, short_calls);
        before = &head;
        const bool repeats = model.repeats_its_call(group);
        const std::size_t group_id = id++;
        bool any = false, failed = false;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            if (!chosen[i]) continue;
            const TracedCall &call = model.calls[i];
            const bool bad = call.failed();
            if (!any) end_crowd(head.thread, short_calls);
            any = true;
            ++shown;
            failed |= bad;
            const std::size_t row = add(call.thread, above[call.thread] + call.depth + !repeats,
                                        call.start, call.end, call.function(),
                                        is_waiting(call.function(), false) ? waiting
                                        : call.has(flag_inserted)          ? inserted
                                                                           : call_,
                                        details(model, call), call.record->correlation, id++, bad,
                                        place_of(call, false));
            if (call.execution >= 0) call_rows[i] = row;
        }
        if (any && !repeats)
            add(head.thread, above[head.thread], head.start, model.end(group), model.name(group),
                api, {{"device", head.device()}}, head.record->correlation, group_id, failed);
        else if (!any)
            join_crowd(head.thread, head.start, model.end(group), group.end - group.begin,
                       short_calls);
    }
    if (before) end_crowd(before->thread, short_calls);
    Json flows = Json::array(), events = Json::array();
    std::map<std::size_t, std::size_t> execution_rows;
    for (std::size_t i = 0; i < model.executions.size(); ++i) {
        const Execution &execution = model.executions[i];
        const auto from = call_rows.find(execution.call);
        const std::size_t track = model.threads.size() + execution.stream;
        if (i > 0 && model.executions[i - 1].stream != execution.stream)
            end_crowd(model.threads.size() + model.executions[i - 1].stream, short_executions);
        if (from == call_rows.end()) {
            join_crowd(track, execution.start, execution.end, 1, short_executions);
            continue;
        }
        end_crowd(track, short_executions);
        const TracedCall &call = model.calls[execution.call];
        const std::size_t row =
            add(track, 0, execution.start, execution.end, call.function(),
                is_waiting(call.function(), true) ? waiting : executed, details(model, call),
                call.record->correlation, spans["id"][from->second].get<std::size_t>(),
                execution.status != ATOLL_STATUS_OK, place_of(call, true));
        execution_rows[i] = row;
        flows.push_back({from->second, row});
    }
    if (!model.executions.empty())
        end_crowd(model.threads.size() + model.executions.back().stream, short_executions);
    for (const EventFlow &flow : model.event_flows)
        if (execution_rows.contains(flow.from) && execution_rows.contains(flow.to))
            events.push_back({execution_rows[flow.from], execution_rows[flow.to]});

    Json tracks = Json::array();
    for (std::size_t i = 0; i < model.threads.size(); ++i)
        tracks.push_back(
            {{"name", fmt::format("{} {}", model.threads[i].name, model.threads[i].id)},
             {"group", fmt::format("process {}", model.processes[model.threads[i].process].id)},
             {"depth", depths[i]}});
    for (std::size_t i = 0; i < model.streams.size(); ++i) {
        const TracedStream &stream = model.streams[i];
        tracks.push_back(
            {{"name", stream.handle ? fmt::format("stream {}", stream.number) : "default stream"},
             {"group", device_title(model, stream.process, stream.device)},
             {"stream", true},
             {"depth", depths[model.threads.size() + i]}});
    }
    Json memory = Json::array();
    for (const MemoryUse &use : memory_use(model, memory_points)) {
        Json at = Json::array(), bytes = Json::array();
        for (const auto &[time, value] : use.steps) {
            at.push_back(time);
            bytes.push_back(value);
        }
        const std::size_t comma = use.device.find(", "); // "dummy:0, memory of the host"
        memory.push_back(
            {{"name", comma == std::string::npos ? "memory" : use.device.substr(comma + 2)},
             {"group", device_title(model, use.process, use.device.substr(0, comma))},
             {"peak", use.peak},
             {"at", std::move(at)},
             {"bytes", std::move(bytes)}});
    }
    return {{"summary", std::move(summary)},  {"shown", shown},
            {"names", std::move(names.list)}, {"details", std::move(texts.list)},
            {"tracks", std::move(tracks)},    {"memory", std::move(memory)},
            {"flows", std::move(flows)},      {"events", std::move(events)},
            {"spans", std::move(spans)},      {"ranges", model.ranges.size()}};
}

} // namespace

void write_report(const TraceModel &model, const TracedRun &run, Sink &out) {
    std::string data = dump(page_data(model, run));
    // A "</script>" or "<!--" in a name must not end the element: JSON may escape any character.
    for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
        data.replace(at, 1, "\\u003c");
    // The markup names the place of each of the others by "@@".
    std::string_view rest = markup;
    for (const std::string_view part : {style, std::string_view(data), tables_script,
                                        drawing_script, input_script, std::string_view()}) {
        const std::size_t place = rest.find("@@");
        out.write(rest.substr(0, place));
        out.write(part);
        rest.remove_prefix(std::min(place + 2, rest.size()));
    }
}

} // namespace Atoll::tools
