// What a trace holds: calls, executions, names, and what was left out.
#include "pftrace.hpp"
#include "tool_tests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace tool_tests;

namespace {

// A run of `traced threads`, which several tests examine.
struct Threads {
    Folder folder;
    Ran ran = shell(folder, "$atoll trace -o run.json -o run.html -- $traced threads");
    Json trace = parsed(folder, "run.json");
};
const Threads &threads() {
    static const Threads run;
    return run;
}

} // namespace

TEST_CASE("a trace has every call: threads, inline and asynchronous devices, temporaries") {
    const auto &[folder, ran, trace] = threads();
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    const Counts own = counted(ran.out);
    CHECK(own.size() > 30);
    CHECK(own == spans(trace));
    CHECK(trace["otherData"]["dropped"] == 0);
    // The table on standard error counts independently of the records.
    CHECK(contains(ran.error, "trace: " + std::to_string(trace["otherData"]["calls"].get<long>()) +
                                  " calls within"));
    // A rate only where the bytes move within the calls.
    std::istringstream table(ran.error);
    std::map<std::pair<std::string, std::string>, std::string> rates;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string function, device, word, rate;
        words >> function >> device;
        for (int i = 0; i < 6; ++i) words >> word;
        if (words >> rate) rates.try_emplace({function, device}, rate);
    }
    CHECK(rates.at({"core.matmul", "cpu"}) != "-");
    CHECK(rates.at({"core.add", "dummy*"}) == "-");
    CHECK(rates.at({"device.allocate", "cpu"}) == "-");
    std::map<std::string, long> serving;
    for (const Json &event : trace["traceEvents"])
        if (event["ph"] == "X" && event["cat"] == "inserted")
            ++serving[event["args"]["serves"].get<std::string>() + " " +
                      event["name"].get<std::string>()];
    CHECK(serving["core.add device.allocate"] > 0);
    CHECK(serving["core.matmul core.copy"] > 0);
    // Why: beside each inserted call, and in every table.
    std::map<std::string, long> because;
    for (const Json &event : trace["traceEvents"])
        if (event["ph"] == "X" && event["cat"] == "inserted" && event["name"] == "core.copy")
            ++because[event["args"]["serves"].get<std::string>() + ": " +
                      event["args"]["because"].get<std::string>() + " on " +
                      event["args"]["device"].get<std::string>()];
    CHECK(because["core.add: dtype (MIXED_INPUTS), strides (STRIDED) on dummy_min:0"] == 8 * 3);
    CHECK(because["core.add: overlap on dummy:0"] == 8 * 3);
    CHECK(contains(ran.error, "dtype (MIXED_INPUTS)\n"));
    // And what to try, at the top.
    const std::string sentences = trace["otherData"]["advice"].dump();
    CHECK(contains(sentences, "% of the time of all functions"));
    // Which of the inserted copies take longest differs from run to run.
    for (const std::string &text : {sentences, ran.error}) {
        CHECK(contains(text, " copies "));
        CHECK((contains(text, ", because its plugin lacks ") || contains(text, ", because of ")));
    }
    // What a span says.
    bool found = false;
    for (const Json &event : trace["traceEvents"]) {
        if (!is_call(event) || event["name"] != "core.matmul" ||
            event["args"]["device"] != "cpu:0" || event["args"]["dtype"] != "float64")
            continue;
        found = true;
        CHECK(event["args"]["shape"].size() == 3);
        CHECK(event["args"]["operands"].size() == 4); // c is absent
        CHECK(event["args"]["operands"][0] == "float64");
        CHECK(event["args"]["bytes"].get<long>() > 0);
        CHECK(event["args"]["GB/s"].get<double>() > 0);
        CHECK(event["args"]["labels"] == "ab,bc->ac");
        long points = 1;
        for (const Json &extent : event["args"]["shape"]) points *= extent.get<long>();
        CHECK(event["args"]["FLOP"] == 2 * points);
        CHECK(event["args"]["GFLOP/s"].get<double>() > 0);
        CHECK(event["args"]["correlation"].get<std::uint64_t>() > 0);
    }
    CHECK(found);
    for (const Json &event : trace["traceEvents"])
        if (is_call(event) && event["name"] == "device.allocate")
            CHECK_FALSE(event["args"].contains("GB/s"));
    const Json summary = Json::parse(shell(folder, "$atoll trace --json -- $traced threads").out);
    for (const Json &line : summary["functions"])
        if (line["function"] == "device.allocate" || line["function"] == "device.free")
            CHECK(line["gigabytes_per_second"] == 0);
        else
            CHECK((line["operations"] > 0) == (line["function"] == "core.matmul"));
}

TEST_CASE("the time of what was inserted is that of its spans, without the host's waiting") {
    const Json &trace = threads().trace;
    std::map<std::pair<std::string, std::string>, std::pair<long, std::int64_t>> serving;
    long waits = 0;
    for (const Json &event : trace["traceEvents"]) {
        if (event["ph"] != "X" || event["cat"] != "inserted") continue;
        const std::string device = event["args"]["device"];
        auto &[count, ns] = serving[{event["args"]["serves"], device.substr(0, device.find(':'))}];
        ++count;
        if (event["name"] == "device.stream_synchronize")
            ++waits;
        else
            ns += event["args"].value("execution_ns", nano(event["dur"]));
    }
    CHECK(waits > 0);
    for (const Json &line : trace["otherData"]["functions"]) {
        const auto &[count, ns] = serving[{line["function"], line["device"]}];
        CAPTURE(line.dump());
        // Each is rounded.
        CHECK(std::abs(line["served_ns"].get<std::int64_t>() - ns) <= 4 * count + ns / 1000);
    }
}

TEST_CASE("spans nest, and interface calls hold the calls that they caused") {
    const Json &trace = threads().trace;
    struct Span {
        std::int64_t start, end;
        const Json *event;
    };
    std::map<std::pair<long, long>, std::vector<Span>> tracks;
    std::size_t calls = 0, held = 0, interface = 0;
    std::map<const Json *, int> children;
    for (const Json &event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const std::int64_t start = nano(event["ts"]);
        tracks[{event["pid"], event["tid"]}].push_back({start, start + nano(event["dur"]), &event});
        calls += is_call(event);
        interface += event["cat"] == "api";
    }
    for (auto &[track, list] : tracks) {
        std::stable_sort(list.begin(), list.end(), [](const Span &a, const Span &b) {
            return a.start != b.start ? a.start < b.start : a.end > b.end;
        });
        std::vector<Span> around;
        for (const Span &span : list) {
            while (!around.empty() && around.back().end <= span.start &&
                   !(span.start == span.end && around.back().end == span.start))
                around.pop_back();
            if (!around.empty()) {
                CAPTURE(span.event->dump());
                if (span.end > around.back().end) FAIL_CHECK("spans overlap");
                if (around.size() == 1 && is_call(*span.event)) ++children[around[0].event];
            }
            around.push_back(span);
            if (is_call(*span.event))
                held += (*around[0].event)["args"]["correlation"] ==
                        (*span.event)["args"]["correlation"];
        }
    }
    CHECK(calls > 1000);
    CHECK(held == calls);
    // No span repeats its only child.
    std::size_t several = 0;
    for (const auto &[event, count] : children)
        if ((*event)["cat"] == "api") several += count > 1;
    CHECK(interface > 100);
    CHECK(several == interface);
}

TEST_CASE("all formats of a trace say the same, the smallest in 60 bytes a call") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.json -o run.json.gz -o run.pftrace -- "
                                  "$traced threads; gzip -dc run.json.gz | cmp - run.json");
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    // Name, category, device, why it was inserted, shape, bytes.
    using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, long>;
    std::map<Key, std::pair<long, std::int64_t>> json, packets; // number and nanoseconds
    long flows = 0, ends = 0, waits = 0, instants = 0;
    const Json trace = parsed(folder, "run.json");
    const auto add = [](auto &to, Key key, std::int64_t duration) {
        ++to[key].first;
        to[key].second += duration;
    };
    for (const Json &event : trace["traceEvents"]) {
        flows += event["ph"] == "s" || event["ph"] == "f";
        waits += event["ph"] == "f" && event["name"] == "event";
        if (event["ph"] != "X") continue;
        const Json &args = event["args"];
        std::string shape; // (3, 4)
        for (const Json &extent : args.value("shape", Json::array()))
            shape += (shape.empty() ? "" : ", ") + extent.dump();
        if (args.contains("shape")) shape = "(" + shape + ")";
        add(json,
            {event["name"], event["cat"], args.value("device", ""), args.value("because", ""),
             shape, args.value("bytes", 0L)},
            nano(event["dur"]));
    }
    for (const pftrace::Span &span : pftrace::spans(content(folder.path + "/run.pftrace"))) {
        CHECK(span.start <= span.end);
        ends += static_cast<long>(span.flows);
        if (span.category == "flow") { // an instant, the end of an arrow
            ++instants;
            continue;
        }
        add(packets,
            {span.name, span.category, span.on.substr(0, span.on.find(',')), span.because,
             span.shape, static_cast<long>(span.bytes)},
            static_cast<std::int64_t>(span.end - span.start));
    }
    CHECK(json.size() > 50);
    CHECK(packets == json);
    CHECK(flows > 1000);
    CHECK(waits > 0);
    CHECK(ends == flows);
    CHECK(instants == waits);
    constexpr long calls = 50'000;
    REQUIRE(shell(folder, "$atoll trace -o many.pftrace -- $traced many 50000").status == 0);
    const std::string many = content(folder.path + "/many.pftrace");
    long adds = 0;
    for (const pftrace::Span &span : pftrace::spans(many))
        adds += span.name == "core.add" && span.on == "cpu:0, float64";
    CHECK(adds == calls);
    CHECK(many.size() < 60 * calls);
}

TEST_CASE("the formats for Perfetto show memory over time, and streams in the order of numbers") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.json -o run.pftrace -- $traced threads");
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    const Json trace = parsed(folder, "run.json");
    std::map<std::string, long> peaks;
    for (const Json &use : trace["otherData"]["memory"]) peaks[use["device"]] = use["peak_bytes"];
    CHECK(peaks.size() >= 3);
    std::map<std::string, std::vector<long>> values, own_values;
    for (const Json &event : trace["traceEvents"]) {
        if (event["ph"] != "C") continue;
        const std::string name = event["name"];
        REQUIRE(name.starts_with("memory, "));
        values[name.substr(8)].push_back(event["args"]["bytes"]);
    }
    const auto tracks = pftrace::tracks(content(folder.path + "/run.pftrace"));
    std::map<std::uint64_t, const pftrace::Track *> known;
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, long>>> streams; // rank, number
    for (const pftrace::Track &track : tracks) {
        known[track.uuid] = &track;
        if (track.parent == 0) continue;
        REQUIRE(known.contains(track.parent));
        const pftrace::Track &device = *known.at(track.parent);
        CHECK(device.ranked);
        if (track.name.starts_with("memory")) {
            CHECK(track.name == "memory, " + device.name); // tables show it without its parent
            CHECK(track.unit == 3);                        // bytes
            std::uint64_t before = 0;
            for (const auto &[time, bytes] : track.values) {
                CHECK(time >= before);
                before = time;
                own_values[device.name].push_back(bytes);
            }
        } else if (track.name == "default stream") {
            streams[track.parent].emplace_back(track.rank, 0);
        } else {
            streams[track.parent].emplace_back(track.rank, std::stol(track.name.substr(7)));
        }
    }
    CHECK(own_values == values);
    for (const auto &[device, list] : values) {
        CAPTURE(device);
        CHECK(*std::max_element(list.begin(), list.end()) == peaks.at(device));
        CHECK(*std::min_element(list.begin(), list.end()) >= 0);
    }
    CHECK(values.size() == peaks.size());
    std::size_t most = 0;
    for (auto &[device, list] : streams) {
        std::sort(list.begin(), list.end());
        for (std::size_t i = 1; i < list.size(); ++i) CHECK(list[i - 1].second < list[i].second);
        most = std::max(most, list.size());
    }
    CHECK(most > 10); // more than one digit
}

TEST_CASE("every enqueued call leads to one execution, in the order of its stream") {
    const Json &trace = threads().trace;
    struct Ends {
        const Json *from = nullptr, *to = nullptr;
        const Json *call = nullptr, *execution = nullptr;
    };
    std::map<long, Ends> flows, events;
    std::map<std::pair<long, long>, std::vector<const Json *>> executions;
    std::map<std::tuple<long, long, std::int64_t>, const Json *> starts; // calls by track and time
    std::size_t enqueued = 0, waits = 0;
    for (const Json &event : trace["traceEvents"]) {
        if (event["ph"] == "s" || event["ph"] == "f") {
            auto &group = event["name"] == "event" ? events : flows;
            const Json *&end = event["ph"] == "s" ? group[event["id"]].from : group[event["id"]].to;
            CHECK(end == nullptr);
            end = &event;
        } else if (is_execution(event)) {
            const std::string name = event["name"];
            waits += event["cat"] == "waiting";
            CHECK((event["cat"] == "waiting") ==
                  (name == "device.event_wait" || name == "device.event_record"));
            executions[{event["pid"], event["tid"]}].push_back(&event);
        } else if (is_call(event)) {
            const std::string name = event["name"], device = event["args"]["device"];
            starts[{event["pid"], event["tid"], nano(event["ts"])}] = &event;
            enqueued += device.starts_with("dummy") &&
                        (!name.starts_with("device.") || name == "device.transfer" ||
                         name == "device.event_record" || name == "device.event_wait");
        }
    }
    CHECK(enqueued > 500);
    CHECK(waits > 20);
    CHECK(flows.size() == enqueued);
    CHECK(events.size() > 20);
    std::size_t spans = 0;
    for (auto &[track, list] : executions) {
        spans += list.size();
        std::int64_t before = -1;
        for (const Json *execution : list) { // in the order of the file, which is the stream's
            CHECK(nano((*execution)["ts"]) >= before);
            before = nano((*execution)["ts"]) + nano((*execution)["dur"]);
        }
    }
    CHECK(spans == enqueued);
    // Both ends of a flow lie in spans of the same call.
    for (auto &[id, ends] : flows) {
        REQUIRE(ends.from);
        REQUIRE(ends.to);
        ends.call = starts[{(*ends.from)["pid"], (*ends.from)["tid"], nano((*ends.from)["ts"])}];
        for (const Json *execution : executions[{(*ends.to)["pid"], (*ends.to)["tid"]}])
            if (nano((*execution)["ts"]) == nano((*ends.to)["ts"])) ends.execution = execution;
        REQUIRE(ends.call);
        REQUIRE(ends.execution);
        CHECK((*ends.call)["name"] == (*ends.execution)["name"]);
        CHECK((*ends.call)["args"]["correlation"] == (*ends.execution)["args"]["correlation"]);
        CHECK(nano((*ends.execution)["ts"]) >= nano((*ends.call)["ts"]));
    }
    // What was enqueued after another call had returned is executed after it.
    std::map<std::pair<long, long>, std::vector<const Ends *>> by_stream;
    for (const auto &[id, ends] : flows)
        by_stream[{(*ends.to)["pid"], (*ends.to)["tid"]}].push_back(&ends);
    std::size_t ordered = 0;
    for (const auto &[stream, list] : by_stream)
        for (const Ends *a : list)
            for (const Ends *b : list) {
                if (nano((*a->call)["ts"]) + nano((*a->call)["dur"]) > nano((*b->call)["ts"]))
                    continue;
                ++ordered;
                if (a != b && nano((*a->execution)["ts"]) > nano((*b->execution)["ts"]))
                    FAIL_CHECK("executed before what was enqueued first");
            }
    CHECK(ordered > 1000);
    // From the record of an event to the end of a wait on another stream.
    std::size_t across = 0;
    for (const auto &[id, ends] : events) {
        REQUIRE(ends.from);
        REQUIRE(ends.to);
        across += (*ends.from)["tid"] != (*ends.to)["tid"];
        CHECK(nano((*ends.from)["ts"]) <= nano((*ends.to)["ts"]));
    }
    CHECK(across > 20);
}

TEST_CASE("the report says for which device the host waits") {
    const Folder folder;
    const Ran slow = shell(
        folder, "ATOLL_DUMMY_FAULT=latency:3000 $atoll trace -o slow.json -- $traced threads");
    REQUIRE(slow.status == 0);
    CHECK(contains(parsed(folder, "slow.json")["otherData"]["advice"].dump(),
                   "The host waits for dummy"));
}

TEST_CASE("calls past the limit are dropped, counted and reported") {
    const Folder folder;
    const auto calls = [](const Json &summary) { return summary["calls"].get<long>(); };
    const Ran whole = shell(folder, "$atoll trace --json -- $traced many");
    REQUIRE(whole.status == 0);
    const Json all = Json::parse(whole.out);
    CHECK(all["dropped"] == 0);
    CHECK(all["calls"].get<long>() > 20'000);
    const std::string small = "ATOLL_TRACE_BUFFER_BYTES=8192 $atoll trace --limit ";
    const Ran cut = shell(
        folder, small + "65536 --json -o run.html -o run.json -o run.pftrace -- $traced many");
    REQUIRE(cut.status == 0);
    const Json part = Json::parse(cut.out);
    CHECK(part["dropped"].get<long>() > 0);
    CHECK(part["dropped"].get<long>() < calls(all) - 100);
    CHECK(calls(part) == calls(all));
    CHECK(part["processes"][0]["file"] == "at its size limit");
    const std::string dropped = std::to_string(part["dropped"].get<long>());
    CHECK(contains(cut.error, dropped + " calls came after"));
    // Whoever looks at the timeline alone must not take it for all of the program.
    const std::string sign = dropped + " calls found no room in the file of records";
    long signs = 0;
    const Json trace = parsed(folder, "run.json");
    for (const Json &event : trace["traceEvents"])
        signs += event["ph"] == "X" && event["name"] == sign &&
                 nano(event["ts"]) + nano(event["dur"]) == part["traced_ns"].get<std::int64_t>();
    for (const pftrace::Span &span : pftrace::spans(content(folder.path + "/run.pftrace")))
        signs += span.category == "lost" && span.name == sign &&
                 span.end == part["traced_ns"].get<std::uint64_t>();
    CHECK(signs == 2);
    // Small buffers alone lose nothing: full ones are followed by others.
    const Ran turned = shell(folder, small + "64MB --json -- $traced many");
    CHECK(Json::parse(turned.out)["dropped"] == 0);
    CHECK(calls(Json::parse(turned.out)) == calls(all));
    // Without room for a single segment.
    const Ran none =
        shell(folder, "ATOLL_TRACE_TIMELINE_BYTES=4096 $atoll trace --json -- $traced many");
    CHECK(none.status == 0);
    CHECK(calls(Json::parse(none.out)) == calls(all));
    CHECK(Json::parse(none.out)["dropped"] == calls(all));
}

TEST_CASE("totals are exact where records were dropped, and where the program was killed") {
    const Folder folder;
    const auto totals = [&](const std::string &name) {
        std::map<std::pair<std::string, std::string>, std::map<std::string, Json>> all;
        const Json trace = parsed(folder, name);
        for (const Json &line : trace["otherData"]["functions"])
            if (line["function"] != "device.enumerate")
                for (const char *key : {"calls", "errors", "inserted", "bytes", "executions",
                                        "temporaries", "temporary_bytes", "copies", "copied_bytes"})
                    all[{line["function"], line["device"]}][key] = line[key];
        return all;
    };
    const Ran whole = shell(folder, "$atoll trace -o whole.json -- $traced threads");
    REQUIRE(whole.status == 0);
    const auto all = totals("whole.json");
    Counts executed;
    const Json trace = parsed(folder, "whole.json");
    for (const Json &event : trace["traceEvents"])
        if (is_execution(event)) {
            const std::string device = event["args"]["device"];
            ++executed[{event["name"], device.substr(0, device.find(':'))}];
        }
    CHECK(executed.size() > 5);
    for (const auto &[function, count] : executed) {
        CAPTURE(function.first);
        CHECK(all.at(function).at("executions") == count);
    }
    for (const auto &[function, calls] : counted(whole.out)) {
        CAPTURE(function.first);
        CHECK(all.at(function).at("calls") == calls);
    }
    const std::string small = "ATOLL_TRACE_BUFFER_BYTES=8192 $atoll trace --limit ";
    REQUIRE(shell(folder, small + "40000 -o part.json -- $traced threads").status == 0);
    CHECK(parsed(folder, "part.json")["otherData"]["dropped"].get<long>() > 100);
    CHECK(totals("part.json") == all);
    CHECK(
        shell(folder, "ATOLL_TRACE_TIMELINE_BYTES=1 $atoll trace -o killed.json -- $traced killed")
            .status == 128 + 9);
    CHECK(spans(parsed(folder, "killed.json")).empty());
    CHECK(totals("killed.json") == all);
}

TEST_CASE("exit with threads at work, and forks, leave a good trace") {
    const Folder folder;
    const Ran busy = shell(folder, "$atoll trace -o run.json -- $traced busy");
    CHECK(busy.status == 7);
    const Json trace = parsed(folder, "run.json");
    const Counts own = counted(busy.out), traced_calls = spans(trace);
    for (const auto &[function, calls] : own) {
        CAPTURE(function.first);
        CHECK(traced_calls.at(function) >= calls);
    }
    const Ran forked = shell(folder, "$atoll trace -o fork.json -- $traced fork");
    REQUIRE(forked.status == 0);
    CHECK(spans(parsed(folder, "fork.json")) == counted(forked.out));
    CHECK(parsed(folder, "fork.json")["otherData"]["processes"].size() == 1);
}

TEST_CASE("--functions records what its globs match") {
    const Folder folder;
    const auto functions = [&](const std::string &globs) {
        const Ran ran =
            shell(folder, "$atoll trace --json --functions '" + globs + "' -- $traced threads");
        REQUIRE(ran.status == 0);
        Counts counts;
        const Json summary = Json::parse(ran.out);
        for (const Json &line : summary["functions"])
            if (line["calls"] > 0) counts[{line["function"], line["device"]}] = line["calls"];
        return counts;
    };
    const Counts all = counted(shell(folder, "$traced threads").out);
    const auto only = [&](auto &&wanted) {
        Counts some;
        for (const auto &[function, calls] : all)
            if (wanted(function.first, function.second)) some[function] = calls;
        CHECK(some.size() > 0);
        return some;
    };
    CHECK(functions("core.s*") == only([](const std::string &function, const std::string &) {
              return function.starts_with("core.s");
          }));
    CHECK(functions("core.add@dummy,device.transfer") ==
          only([](const std::string &function, const std::string &device) {
              return (function == "core.add" && device == "dummy") || function == "device.transfer";
          }));
    const Ran none = shell(folder, "$atoll trace --functions 'core.x*' -- $traced threads");
    CHECK(contains(none.error, "called no function that matches 'core.x*'"));
}

TEST_CASE("work can go unfollowed, and then the trace says so") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace --no-execution -o run.json -- $traced threads");
    REQUIRE(ran.status == 0);
    const Json trace = parsed(folder, "run.json");
    CHECK(trace["otherData"]["executions"] == 0);
    CHECK(spans(trace) == counted(ran.out));
    std::size_t unknown = 0;
    for (const Json &event : trace["traceEvents"])
        unknown +=
            is_call(event) && event["args"].value("execution", "") == "unknown: not asked for";
    CHECK(unknown > 500);
}

TEST_CASE("a forked child counts its own calls, from zero") {
    const Folder folder;
    const Ran ran = shell(folder, "ATOLL_INTERPOSERS=trace ATOLL_TRACE_FORMAT=json $traced child");
    REQUIRE(ran.status == 0);
    std::vector<long> adds;
    std::istringstream lines(ran.error);
    for (std::string line; std::getline(lines, line);) {
        const Json entry = line.starts_with("{") ? Json::parse(line) : Json::object();
        if (entry.value("function", "") == "core.add") adds.push_back(entry["calls"]);
    }
    CHECK(adds == std::vector<long>{2, 3}); // the child ends first
}
