// The interposer `watcher`: reads what calls have written, on any device, by the SDK's helpers; and
// is told of ranges.
#include "atoll/convert.hpp"
#include "atoll/host_copy.hpp"

#include <mutex>
#include <string>

ATOLL_PLUGIN_NOTE("watcher", ATOLL_CONTAINS_INTERPOSERS, 0);

namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host;
    std::mutex mutex;
    std::string seen; // "3 4; " for each call, "[name" and "]" for each range
};

std::int32_t watch(State &state, const atoll_link &self, atoll_call &call) {
    const std::int32_t status = sdk::forward(self, call);
    if (status != ATOLL_STATUS_OK || call.module != ATOLL_MODULE_CORE ||
        call.flags & ATOLL_CALL_INSERTED)
        return status;
    const sdk::HostCopy result(state.host, self, call, 0);
    std::string text;
    sdk::for_each<const double>(result.call(), [&](double x) {
        if (x == 13) throw sdk::Error(ATOLL_STATUS_REFUSED, "the watcher does not like 13");
        text += std::to_string(static_cast<int>(x)) + " ";
    });
    const std::lock_guard lock(state.mutex);
    state.seen += text + "; ";
    return status;
}

void report(void *, void *ctx, atoll_writer write, void *user) {
    State &state = *static_cast<State *>(ctx);
    const std::lock_guard lock(state.mutex);
    write(user, state.seen.data(), state.seen.size());
    state.seen.clear();
}

void range(void *, void *ctx, const char *name) {
    State &state = *static_cast<State *>(ctx);
    const std::lock_guard lock(state.mutex);
    state.seen += name ? "[" + std::string(name) : "]";
    if (state.seen.ends_with("thrown")) throw 42;
}

constexpr atoll_interposer_decl interposer =
    sdk::interposer("watcher", &sdk::entry<watch>, nullptr, nullptr, report, range);
constexpr const atoll_interposer_decl *interposers[] = {&interposer};

constexpr atoll_plugin plugin =
    sdk::describe<State>({"watcher", "1.0", "Atoll", "Apache-2.0", "for tests"}, interposers);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
