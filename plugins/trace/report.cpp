// Turns a session's counters into text: an aligned table, or JSON lines.
#include "atoll/dtype_facts.hpp"
#include "libraries.hpp"
#include "moves_bytes.hpp"
#include "reasons.hpp"
#include "session.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

namespace Atoll::tracing {
namespace {

// A function on a device type, all dtypes together, and the rows that it is the sum of: by dtype,
// and what served it by reasons.
struct Line {
    std::string device, function;
    bool asynchronous = false;
    Counters sum{};
    std::vector<Row> dtypes, served;
};

std::uint64_t served_ticks(const Counters &c) { return c.served_ticks + c.served_execution_ticks; }
bool is_serving(const Counters &c) {
    return c.temporaries > 0 || c.copies > 0 || served_ticks(c) > 0;
}

// Sorted by total time, longest first; ties by name, so that the order never depends on chance.
std::vector<Line> lines_of(const Session &session) {
    std::map<std::pair<std::string, std::string>, Line> merged;
    for (Row &row : session.rows()) {
        Line &line = merged[{row.function, row.device}];
        line.device = row.device;
        line.function = row.function;
        line.asynchronous = row.asynchronous;
        merge(line.sum, row.counters);
        (is_serving(row.counters) ? line.served : line.dtypes).push_back(std::move(row));
    }
    std::vector<Line> lines;
    for (auto &[key, line] : merged) lines.push_back(std::move(line));
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line &a, const Line &b) { return a.sum.ticks > b.sum.ticks; });
    return lines;
}

__attribute__((format(printf, 2, 3))) void print(std::string &text, const char *format, ...) {
    char buffer[512];
    std::va_list arguments;
    va_start(arguments, format);
    const int size = std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (size > 0) text.append(buffer, std::min<std::size_t>(size, sizeof buffer - 1));
}

using Count = unsigned long long; // what %llu takes
constexpr double mega = 1e-6;

// `rate`: print GB/s and GFLOP/s, because the work is done during the calls.
void print_line(std::string &text, int width, const char *function, const char *device,
                const Counters &c, double ns, bool rate) {
    const double total = static_cast<double>(c.ticks) * ns;
    print(text, "%-*s  %-8s %10llu %7llu %11.3f %10.3f %10.3f %10.3f ", width, function, device,
          Count{c.calls}, Count{c.errors}, total * 1e-6,
          c.calls > 0 ? total * 1e-3 / static_cast<double>(c.calls) : 0.0,
          static_cast<double>(c.min_ticks) * ns * 1e-3,
          static_cast<double>(c.max_ticks) * ns * 1e-3);
    for (const std::uint64_t amount : {c.bytes, c.operations}) {
        if (rate && amount > 0 && total > 0) {
            print(text, "%9.3f ", static_cast<double>(amount) / total);
        } else {
            print(text, "%9s ", "-");
        }
    }
    print(text, "%12.3f %7llu %7llu %10.3f\n", static_cast<double>(c.bytes) * mega,
          Count{c.temporaries}, Count{c.copies}, static_cast<double>(c.copied_bytes) * mega);
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            print(result, "\\u%04x", static_cast<unsigned>(c));
        } else {
            result += c;
        }
    }
    return result += '"';
}

void print_times(std::string &text, const Counters &c, double ns) {
    print(text,
          "\"calls\":%llu,\"errors\":%llu,\"inserted\":%llu,\"total_ns\":%.0f,\"min_ns\":%.0f,"
          "\"max_ns\":%.0f,\"bytes\":%llu,\"operations\":%llu",
          Count{c.calls}, Count{c.errors}, Count{c.inserted}, static_cast<double>(c.ticks) * ns,
          static_cast<double>(c.min_ticks) * ns, static_cast<double>(c.max_ticks) * ns,
          Count{c.bytes}, Count{c.operations});
}

} // namespace

void write_table(const Session &session, atoll_writer write, void *user) {
    const double ns = session.clock().ns_per_tick();
    std::vector<Line> lines = lines_of(session);
    Counters total{};
    std::size_t longest = 8;
    bool serving = false;
    for (Line &line : lines) {
        merge(total, line.sum);
        longest = std::max(longest, line.function.size());
        serving = serving || is_serving(line.sum);
    }
    const int width = static_cast<int>(longest);
    std::string text;
    print(text,
          "trace: %llu calls within %.3f s. Times include nested calls; on devices with a * they "
          "are the time to enqueue.\n",
          Count{total.calls}, static_cast<double>(session.clock().elapsed_ns()) * 1e-9);
    print(text, "%-*s  %-8s %10s %7s %11s %10s %10s %10s %9s %9s %12s %7s %7s %10s\n", width,
          "function", "device", "calls", "errors", "total ms", "mean us", "min us", "max us",
          "GB/s", "GFLOP/s", "MB", "temps", "copies", "copied MB");
    for (const Line &line : lines) {
        if (line.sum.calls == 0) continue; // seen as a parent only, e.g. of a transfer: below
        const std::string device = line.device + (line.asynchronous ? "*" : "");
        print_line(text, width, line.function.c_str(), device.c_str(), line.sum, ns,
                   moves_bytes(line.function) && !line.asynchronous);
    }
    print_line(text, width, "total", "", total, ns, false);

    if (serving) {
        print(text, "\ninserted by the runtime to serve\n");
        print(text, "%-*s  %-8s %10s %12s %10s %12s %11s  %s\n", width, "function", "on", "temps",
              "temp MB", "copies", "copied MB", "ms", "because of (missing capability)");
        for (const Line &line : lines) {
            for (const Row &row : line.served) {
                const Counters &c = row.counters;
                print(text, "%-*s  %-8s %10llu %12.3f %10llu %12.3f %11.3f  ", width,
                      line.function.c_str(), line.device.c_str(), Count{c.temporaries},
                      static_cast<double>(c.temporary_bytes) * mega, Count{c.copies},
                      static_cast<double>(c.copied_bytes) * mega,
                      static_cast<double>(served_ticks(c)) * ns * 1e-6);
                text += reasons_text(row.reasons) + "\n";
            }
        }
    }
    const Ranges ranges = session.ranges();
    if (!ranges.empty()) {
        print(text, "\n%-*s %10s %11s %10s %10s %10s %10s %14s\n", width, "range", "count",
              "total ms", "mean us", "min us", "max us", "calls", "ms in calls");
        for (const auto &[name, r] : ranges) {
            const double total = static_cast<double>(r.ticks) * ns;
            print(text, "%-*s %10llu %11.3f %10.3f %10.3f %10.3f %10llu %14.3f\n", width,
                  name.c_str(), Count{r.count}, total * 1e-6,
                  total * 1e-3 / static_cast<double>(r.count),
                  static_cast<double>(r.min_ticks) * ns * 1e-3,
                  static_cast<double>(r.max_ticks) * ns * 1e-3, Count{r.calls},
                  static_cast<double>(r.call_ticks) * ns * 1e-6);
        }
    }
    text += libraries::table(libraries::mapped());
    if (session.lost() > 0)
        print(text, "\n%llu calls are not counted above: a table was full\n",
              Count{session.lost()});
    write(user, text.data(), text.size());
}

void write_json(const Session &session, atoll_writer write, void *user) {
    const double ns = session.clock().ns_per_tick();
    std::string text;
    print(text, "{\"type\":\"trace\",\"elapsed_ns\":%llu,\"lost\":%llu}\n",
          Count{session.clock().elapsed_ns()}, Count{session.lost()});
    for (const Line &line : lines_of(session)) {
        const Counters &c = line.sum;
        text += "{\"type\":\"function\",\"function\":";
        text += quoted(line.function);
        text += ",\"device\":";
        text += quoted(line.device);
        text += line.asynchronous ? ",\"asynchronous\":true," : ",\"asynchronous\":false,";
        print_times(text, c, ns);
        print(text,
              ",\"temporaries\":%llu,\"temporary_bytes\":%llu,\"copies\":%llu,"
              "\"copied_bytes\":%llu,\"served_ns\":%.0f,\"dtypes\":{",
              Count{c.temporaries}, Count{c.temporary_bytes}, Count{c.copies},
              Count{c.copied_bytes}, static_cast<double>(served_ticks(c)) * ns);
        const char *separator = "";
        for (const Row &row : line.dtypes) {
            if (row.counters.calls == 0 || row.dtype == ATOLL_DTYPE_NONE) continue;
            text += separator;
            text += quoted(sdk::dtype_name(row.dtype));
            text += ":{";
            print_times(text, row.counters, ns);
            text += "}";
            separator = ",";
        }
        text += "},\"served\":[";
        separator = "";
        for (const Row &row : line.served) {
            const Counters &part = row.counters;
            text += separator;
            text += "{\"because\":" + quoted(reasons_text(row.reasons));
            print(text,
                  ",\"temporaries\":%llu,\"temporary_bytes\":%llu,\"copies\":%llu,"
                  "\"copied_bytes\":%llu,\"served_ns\":%.0f}",
                  Count{part.temporaries}, Count{part.temporary_bytes}, Count{part.copies},
                  Count{part.copied_bytes}, static_cast<double>(served_ticks(part)) * ns);
            separator = ",";
        }
        text += "]}\n";
    }
    for (const auto &[name, r] : session.ranges()) {
        text += "{\"type\":\"range\",\"range\":";
        text += quoted(name);
        print(text,
              ",\"count\":%llu,\"total_ns\":%.0f,\"min_ns\":%.0f,\"max_ns\":%.0f,"
              "\"calls\":%llu,\"call_ns\":%.0f}\n",
              Count{r.count}, static_cast<double>(r.ticks) * ns,
              static_cast<double>(r.min_ticks) * ns, static_cast<double>(r.max_ticks) * ns,
              Count{r.calls}, static_cast<double>(r.call_ticks) * ns);
    }
    for (const libraries::Library &own : libraries::mapped()) {
        const auto field = [&](const char *key, const std::string &value) {
            text += key;
            text += quoted(value);
        };
        field("{\"type\":\"library\",\"library\":", own.kind);
        field(",\"version\":", own.version);
        field(",\"path\":", own.path);
        field(",\"build_id\":", own.build_id);
        text += ",\"needed_by\":[";
        for (const std::string &user : own.needed_by) field(text.ends_with('[') ? "" : ",", user);
        text += "]}\n";
    }
    write(user, text.data(), text.size());
}

} // namespace Atoll::tracing
