// The plugin `trace`: an interposer that counts and times every call it is pushed over.
//
// Settings: format = "table" (default) or "json" (the same and the split by dtype, one object per
// line), read at every report.
#include "atoll/plugin.hpp"

#include "session.hpp"

namespace Atoll::trace {
namespace {

struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host;
};

std::int32_t trace_call(const atoll_link *self, atoll_call *call) {
    return static_cast<Session *>(self->ctx)->trace(*self, *call);
}

std::int32_t create(void *plugin, void **ctx, atoll_error *error) {
    return sdk::guarded(error, [&] { *ctx = new Session(static_cast<State *>(plugin)->host); });
}

void destroy(void *, void *ctx) { delete static_cast<Session *>(ctx); }

void report(void *plugin, void *ctx, atoll_writer write, void *user) {
    const atoll_host &host = static_cast<State *>(plugin)->host;
    const Session &session = *static_cast<Session *>(ctx);
    try {
        const std::string format = sdk::config(host, "format", "table");
        if (format == "json") return write_json(session, write, user);
        if (format != "table")
            host.log(
                host.self, ATOLL_LOG_WARN,
                ("trace: setting format is '" + format + "', need 'table' or 'json'; using table")
                    .c_str());
        write_table(session, write, user);
    } catch (const std::exception &e) {
        host.log(host.self, ATOLL_LOG_ERROR, e.what());
    }
}

constexpr atoll_interposer_decl interposer = {
    sizeof(atoll_interposer_decl), 0, "trace", trace_call, create, destroy, report};
constexpr const atoll_interposer_decl *interposers[] = {&interposer};

constexpr atoll_plugin descriptor =
    sdk::describe<State>({"trace", "0.1.0", "Atoll", "Apache-2.0",
                          "counts and times calls, temporaries and copies per function and device"},
                         interposers);

} // namespace
} // namespace Atoll::trace

ATOLL_PLUGIN_NOTE("trace", ATOLL_KIND_INTERPOSERS, 0);

const atoll_plugin *atoll_plugin_query_v1(const atoll_host_info *) {
    return &Atoll::trace::descriptor;
}
