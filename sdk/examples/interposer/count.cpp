// The interposer `count`: how often each function is called on each device type.
#include <atoll/plugin.hpp>
#include <map>
#include <mutex>
#include <string>

ATOLL_PLUGIN_NOTE("count", ATOLL_CONTAINS_INTERPOSERS, 0);

namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host;
};

// State of one push: created by create, destroyed after the pop, when no call is running.
struct Counts {
    explicit Counts(const atoll_host &services) : host(services) {}

    void add(const atoll_link &link, const atoll_call &call) {
        std::string name = host.function_name(call.module, call.function);
        name += std::string("@") + host.device_type_of(&link);
        const std::lock_guard lock(mutex);
        ++calls[name];
    }

    const atoll_host &host;
    std::mutex mutex;
    std::map<std::string, std::uint64_t> calls;
};

// Calls come from any thread. What `next` returns is passed back, whatever this does besides.
std::int32_t count(const atoll_link *self, atoll_call *call) {
    sdk::guarded(nullptr, [&] { static_cast<Counts *>(self->ctx)->add(*self, *call); });
    return self->next->fn(self->next, call);
}

std::int32_t create(void *plugin, void **ctx, atoll_error *error) {
    return sdk::guarded(error, [&] { *ctx = new Counts(static_cast<State *>(plugin)->host); });
}

void destroy(void *, void *ctx) { delete static_cast<Counts *>(ctx); }

void report(void *, void *ctx, atoll_writer write, void *user) {
    sdk::guarded(nullptr, [&] {
        Counts &counts = *static_cast<Counts *>(ctx);
        const std::lock_guard lock(counts.mutex);
        for (const auto &[name, calls] : counts.calls) {
            const std::string line = name + " " + std::to_string(calls) + "\n";
            write(user, line.data(), line.size());
        }
    });
}

constexpr atoll_interposer_decl interposer =
    sdk::interposer("count", count, create, destroy, report);
constexpr const atoll_interposer_decl *interposers[] = {&interposer};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"count", "1.0.0", "a third party", "Apache-2.0", "counts calls"}, interposers);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
