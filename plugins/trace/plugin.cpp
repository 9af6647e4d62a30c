// The plugin `trace`: an interposer that counts and times every call it is pushed over, and records
// each one if a timeline is asked for.
//
// Settings, read at every report:
//   format          "table" (default); "json": the same and the split by dtype, an object a line;
//                   "none"
// and at every push:
//   functions       globs separated by commas, of "core.add" or "core.add@cpu"; what matches none
//                   is passed on; default: all
//   times           "0": count only, without reading the clock
//   timeline        a file to record every call in, for `atoll trace`; "%p" in it becomes the
//                   process id; default: none
//   buffer_bytes    how much of it each thread maps at a time, default 1 MiB
//   timeline_bytes  its size limit, default 256 MiB; what comes later is dropped and counted
//   execution       "0": do not follow enqueued work by callbacks on its stream
//
//   session.*            a push: counters per thread, the hot path; report.cpp prints them
//   ranges.cpp           totals of the application's ranges
//   record.cpp           what it writes to its timeline
//   timeline.*, timeline_format.hpp   the file
#include "atoll/plugin.hpp"

#include "session.hpp"

#include <charconv>
#include <sstream>

namespace Atoll::tracing {
namespace {

std::int32_t trace_call(const atoll_link *self, atoll_call *call) {
    return static_cast<Session *>(self->ctx)->trace(*self, *call);
}

std::uint64_t number_setting(const atoll_host &host, const char *key, std::uint64_t fallback) {
    const std::string text = sdk::config(host, key, std::to_string(fallback).c_str());
    const char *const end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [rest, code] = std::from_chars(text.data(), end, value);
    if (code != std::errc() || rest != end || value > std::uint64_t{1} << 40)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, std::string("setting ") + key +
                                                            " of trace: got '" + text +
                                                            "', need a number up to 2^40");
    return value;
}

Options read_options(const atoll_host &host) {
    Options options;
    options.times = number_setting(host, "times", 1) != 0;
    std::istringstream globs(sdk::config(host, "functions"));
    for (std::string glob; std::getline(globs, glob, ',');)
        if (!glob.empty()) options.functions.push_back(glob);
    options.timeline = sdk::config(host, "timeline");
    (void)sdk::config(host, "format", "table"); // read again for each report
    options.buffer_bytes = number_setting(host, "buffer_bytes", 1 << 20);
    options.timeline_bytes = number_setting(host, "timeline_bytes", 256 << 20);
    options.execution = number_setting(host, "execution", 1) != 0;
    return options;
}

struct State {
    // What the settings are is found out by loading; their values count when it is pushed.
    explicit State(const atoll_host &services) : host(services) { (void)read_options(services); }
    const atoll_host &host;
};

std::int32_t create(void *plugin, void **ctx, atoll_error *error) {
    return sdk::guarded(error, [&] {
        const atoll_host &host = static_cast<State *>(plugin)->host;
        *ctx = new Session(host, read_options(host));
    });
}

void destroy(void *plugin, void *ctx) {
    Session *const session = static_cast<Session *>(ctx);
    if (session->settle()) {
        delete session;
        return;
    }
    // It is leaked, because pending callbacks use it.
    session->synchronise(true);
    const atoll_host &host = static_cast<State *>(plugin)->host;
    host.log(
        host.self, ATOLL_LOG_WARN,
        "work that was traced has not finished within a second; its execution is not recorded");
}

void report(void *plugin, void *ctx, atoll_writer write, void *user) {
    const atoll_host &host = static_cast<State *>(plugin)->host;
    Session &session = *static_cast<Session *>(ctx);
    session.synchronise(false);
    try {
        const std::string format = sdk::config(host, "format", "table");
        if (format == "json") return write_json(session, write, user);
        if (format == "none") return;
        if (format != "table")
            host.log(host.self, ATOLL_LOG_WARN,
                     ("trace: setting format is '" + format +
                      "', need 'table', 'json' or 'none'; using table")
                         .c_str());
        write_table(session, write, user);
    } catch (const std::exception &e) {
        host.log(host.self, ATOLL_LOG_ERROR, e.what());
    }
}

void range(void *, void *ctx, const char *name) { static_cast<Session *>(ctx)->range(name); }

constexpr atoll_interposer_decl interposer =
    sdk::interposer("trace", trace_call, create, destroy, report, range);
constexpr const atoll_interposer_decl *interposers[] = {&interposer};

constexpr atoll_plugin descriptor =
    sdk::describe<State>({"trace", "0.1.0", "Atoll", "Apache-2.0",
                          "counts and times calls, temporaries and copies per function and device"},
                         interposers);

} // namespace
} // namespace Atoll::tracing

ATOLL_PLUGIN_NOTE("trace", ATOLL_CONTAINS_INTERPOSERS, 0);

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    return &Atoll::tracing::descriptor;
}
