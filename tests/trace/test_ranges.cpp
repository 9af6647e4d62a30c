// Ranges of a program under `atoll trace`, in every format.
#include "pftrace.hpp"
#include "tool_tests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

using namespace tool_tests;

namespace {

// What the program itself counted: calls by the name of the range.
std::map<std::string, long> calls_in_ranges(const std::string &out) {
    std::map<std::string, long> calls;
    std::istringstream lines(out);
    std::string name, word;
    for (long count; lines >> name >> word >> count;)
        if (word == "range") calls[name] += count;
    return calls;
}

} // namespace

TEST_CASE("ranges of C++ and C are around the calls that were made in them, in every format") {
    const Folder folder;
    const Ran ran =
        shell(folder, "$atoll trace -o run.json -o run.pftrace -o run.html -- $traced ranges");
    INFO(ran.error);
    REQUIRE(ran.status == 0);
    const std::map<std::string, long> own = calls_in_ranges(ran.out);
    const std::map<std::string, long> times{
        {"epoch", 1}, {"batch", 2}, {"last_batch", 1}, {"from_C", 1}, {"thread", 1}};
    REQUIRE(own.size() == times.size());
    const Json trace = parsed(folder, "run.json");

    // JSON: each call lies within the range or outside it, on its thread.
    std::map<std::string, long> count, inside;
    for (const Json &outer : trace["traceEvents"]) {
        if (outer["ph"] != "X" || outer["cat"] != "range") continue;
        const std::string name = outer["name"];
        ++count[name];
        const std::int64_t start = nano(outer["ts"]), end = start + nano(outer["dur"]);
        for (const Json &event : trace["traceEvents"]) {
            if (!is_call(event) || event["tid"] != outer["tid"]) continue;
            const std::int64_t at = nano(event["ts"]);
            if (at < start || at >= end) continue;
            ++inside[name];
            CHECK(at + nano(event["dur"]) <= end);
        }
    }
    CHECK(count == times);
    CHECK(inside == own);

    // The totals, in the document and in the table.
    std::map<std::string, long> total;
    for (const Json &line : trace["otherData"]["ranges"]) {
        const std::string name = line["range"];
        total[name] = line["calls"];
        CHECK(line["count"] == times.at(name));
        CHECK(line["min_ns"] <= line["p50_ns"].get<long>() + 1);
        CHECK(line["p50_ns"] <= line["p99_ns"]);
        CHECK(line["call_ns"] <= line["ns"]);
        CHECK((line["execution_ns"] > 0) == (name == "thread"));
        CHECK(contains(ran.error, "\n" + name + " "));
    }
    CHECK(total == own);
    CHECK(contains(ran.error, "ms in calls"));

    // .pftrace: the same spans, nested.
    std::map<std::string, std::vector<std::uint64_t>> depths;
    std::map<std::string, std::int64_t> json_ns, packet_ns;
    for (const Json &event : trace["traceEvents"])
        if (event["ph"] == "X") json_ns[event["name"]] += nano(event["dur"]);
    for (const pftrace::Span &span : pftrace::spans(content(folder.path + "/run.pftrace"))) {
        packet_ns[span.name] += static_cast<std::int64_t>(span.end - span.start);
        if (span.category == "range") depths[span.name].push_back(span.depth);
        if (span.category == "call" && span.name == "core.sqrt") CHECK(span.depth >= 1);
    }
    CHECK(packet_ns == json_ns);
    const std::map<std::string, std::vector<std::uint64_t>> nested{
        {"epoch", {0}}, {"batch", {1, 1}}, {"last_batch", {1}}, {"from_C", {0}}, {"thread", {0}}};
    CHECK(depths == nested);

    // The report: ranges above the calls of their thread.
    const Json page = page_data(folder, "run.html"), &spans = page["spans"];
    std::map<std::string, long> rows;
    for (std::size_t i = 0; i < spans["kind"].size(); ++i) {
        const std::string name = page["names"][spans["name"][i].get<std::size_t>()];
        const long depth = spans["depth"][i];
        if (spans["kind"][i] == 6) {
            ++rows[name];
            CHECK(depth == (name.ends_with("batch") ? 1 : 0));
        } else if (spans["track"][i] == 0) {
            CHECK(depth >= 2);
        }
    }
    CHECK(rows == times);
    CHECK(page["ranges"] == 6);
}

TEST_CASE("a range that was open when the program was killed has its calls") {
    const Folder folder;
    const Ran ran = shell(folder, "$atoll trace -o run.json -- $traced killed_in_range");
    CHECK(ran.status == 128 + 9);
    const Json trace = parsed(folder, "run.json");
    long found = 0, own = 0;
    for (const Json &event : trace["traceEvents"])
        if (event["ph"] == "X" && event["name"] == "open") {
            ++found;
            CHECK(contains(event["args"]["end"].get<std::string>(), "was open"));
            CHECK(event["dur"] > 0);
        }
    CHECK(found == 1);
    const std::map<std::string, long> known = calls_in_ranges(ran.out);
    for (const Json &line : trace["otherData"]["ranges"])
        if (line["range"] == "open") {
            ++own;
            CHECK(line["count"] == 1);
            CHECK(line["calls"] == known.at("from_C")); // the same work
        }
    CHECK(own == 1);
    CHECK(contains(ran.error, "open "));
}

TEST_CASE("ranges are in the table without the tool, and mean nothing without the tracer") {
    const Folder folder;
    const Ran table = shell(folder, "ATOLL_INTERPOSERS=trace $traced ranges");
    CHECK(contains(table.error, "\nlast_batch "));
    const Ran lines =
        shell(folder, "ATOLL_INTERPOSERS=trace ATOLL_TRACE_FORMAT=json $traced ranges");
    std::map<std::string, long> calls;
    std::istringstream text(lines.error);
    for (std::string line; std::getline(text, line);) {
        const Json entry = line.starts_with("{") ? Json::parse(line) : Json::object();
        if (entry.value("type", "") == "range") calls[entry["range"]] = entry["calls"];
    }
    CHECK(calls == calls_in_ranges(lines.out));
    const Ran plain = shell(folder, "$traced ranges");
    CHECK(plain.status == 0);
    CHECK(plain.error.empty());
}
