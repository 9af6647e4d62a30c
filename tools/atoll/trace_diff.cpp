// `atoll trace --diff`: compares the totals of two traces.
#include "commands.hpp"
#include "json.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <zlib.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

// The file, decompressed if need be; of a list of trace events only the first line, which has the
// totals.
std::string head_of(const std::string &path) {
    const auto fail = [&](const char *why) {
        throw UsageError(fmt::format("--diff {}: {}", path, why));
    };
    errno = 0;
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), ::gzclose);
    if (!file) fail(std::strerror(errno ? errno : ENOMEM));
    std::string text;
    char buffer[1 << 16];
    for (int size; (size = ::gzread(file.get(), buffer, sizeof buffer)) != 0;) {
        if (size < 0) fail("cannot be read");
        text.append(buffer, static_cast<std::size_t>(size));
        const std::size_t line = text.find('\n');
        constexpr std::string_view events = "\"traceEvents\":[";
        if (line != std::string::npos && std::string_view(text).substr(0, line).ends_with(events))
            return text.substr(0, line) + "]}";
    }
    return text;
}

// The totals in any of the files that `atoll trace` writes, but .pftrace.
Json totals_of(const std::string &path) {
    std::string text = head_of(path);
    constexpr std::string_view begin = "id=\"data\">", end = "</script>";
    if (const std::size_t at = text.find(begin); at != std::string::npos)
        text = text.substr(at + begin.size(), text.find(end, at) - at - begin.size());
    const Json document = Json::parse(text, nullptr, false);
    for (const char *key : {"otherData", "summary"})
        if (document.is_object() && document.contains(key)) return document[key];
    if (document.is_object() && document.contains("functions")) return document;
    throw UsageError(fmt::format("--diff {}: need a .json, .json.gz or .html file of `atoll trace "
                                 "-o`, or the output of `atoll trace --json`",
                                 path));
}

struct Totals {
    double calls = 0, ns = 0, bytes = 0, copied = 0;
};

using Key = std::pair<std::string, std::string>; // function, device
using Compared = std::map<Key, std::pair<Totals, Totals>>;

void add(Compared &lines, const Json &totals, Totals std::pair<Totals, Totals>::*side) {
    for (const Json &line : totals.at("functions")) {
        Totals &to = lines[{line.at("function"), line.at("device")}].*side;
        to.calls = line.at("calls");
        to.ns = line.at(line.at("executions") > 0 ? "execution_ns" : "call_ns");
        to.bytes = line.at("bytes");
        to.copied = line.at("copied_bytes");
    }
}

Json json_of(const Totals &totals) {
    return {{"calls", totals.calls},
            {"ns", totals.ns},
            {"bytes", totals.bytes},
            {"copied_bytes", totals.copied}};
}

std::string change(double before, double after) {
    return before > 0 ? fmt::format("{:+.0f} %", 100 * (after - before) / before)
                      : std::string("new");
}

} // namespace

int diff_traces(const TraceOptions &options) {
    Compared lines;
    double seconds[2];
    for (const int side : {0, 1}) {
        const std::string &path = options.diff.at(static_cast<std::size_t>(side));
        try {
            const Json totals = totals_of(path);
            seconds[side] = totals.at("seconds");
            add(lines, totals,
                side ? &Compared::mapped_type::second : &Compared::mapped_type::first);
        } catch (const Json::exception &) {
            throw UsageError(fmt::format("--diff {}: made by another version", path));
        }
    }
    std::vector<std::pair<Key, Compared::mapped_type>> sorted(lines.begin(), lines.end());
    const auto size = [](const auto &line) {
        return std::abs(line.second.second.ns - line.second.first.ns);
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const auto &a, const auto &b) { return size(a) > size(b); });
    if (options.json) {
        Json functions = Json::array();
        for (const auto &[key, sides] : sorted)
            functions.push_back({{"function", key.first},
                                 {"device", key.second},
                                 {"before", json_of(sides.first)},
                                 {"after", json_of(sides.second)}});
        print_json({{"before", options.diff[0]},
                    {"after", options.diff[1]},
                    {"seconds", {seconds[0], seconds[1]}},
                    {"functions", std::move(functions)}});
        return 0;
    }
    Table table({"function", "device", ">calls", ">after", ">time", ">after", ">change", ">copied",
                 ">after"});
    for (const auto &[key, sides] : sorted) {
        const auto &[before, after] = sides;
        table.add({key.first, key.second, fmt::format("{:.0f}", before.calls),
                   fmt::format("{:.0f}", after.calls), seconds_text(before.ns * 1e-9),
                   seconds_text(after.ns * 1e-9), change(before.ns, after.ns),
                   bytes_text(before.copied), bytes_text(after.copied)});
    }
    fmt::print("{}\nrun time: {} before, {} after ({})\n", table.text(), seconds_text(seconds[0]),
               seconds_text(seconds[1]), change(seconds[0], seconds[1]));
    return 0;
}

} // namespace Atoll::tools
