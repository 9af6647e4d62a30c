// A device whose work never ends: fill is accepted, and its event is never reached until the
// setting "release" is set. A synchronisation that asks the plugin to wait would wait as long.
#include "atoll/plugin.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

ATOLL_PLUGIN_NOTE("stuck", ATOLL_CONTAINS_DEVICES, 0);

namespace {

namespace sdk = Atoll::sdk;

struct State {
    explicit State(const atoll_host &h) : host(h) {}
    bool released() const { return !sdk::config(host, "release").empty(); }
    const atoll_host &host;
};

void enumerate(State &, atoll_call &call) { sdk::params<atoll_enumerate_params>(call).count = 1; }
void properties(State &, atoll_call &) {}
void allocate(State &, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = std::aligned_alloc(64, (memory.bytes + 63) / 64 * 64);
}
void release(State &, atoll_call &call) { std::free(sdk::params<atoll_memory_params>(call).data); }
void nothing(State &, atoll_call &) {}
void create(State &state, atoll_call &call) {
    sdk::params<atoll_stream_params>(call).stream = &state; // any handle but NULL; an event's too
}
void wait(State &state, atoll_call &) {
    while (!state.released()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
void query(State &state, atoll_call &) {
    if (!state.released()) throw sdk::Error(ATOLL_STATUS_NOT_READY, "still at it");
}

constexpr atoll_function_decl device[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<allocate>(ATOLL_DEVICE_FN_allocate),
    sdk::declare<release>(ATOLL_DEVICE_FN_free),
    sdk::declare<nothing>(ATOLL_DEVICE_FN_transfer),
    sdk::declare<create>(ATOLL_DEVICE_FN_stream_create),
    sdk::declare<nothing>(ATOLL_DEVICE_FN_stream_destroy),
    sdk::declare<wait>(ATOLL_DEVICE_FN_stream_synchronize),
    sdk::declare<create>(ATOLL_DEVICE_FN_event_create),
    sdk::declare<nothing>(ATOLL_DEVICE_FN_event_destroy),
    sdk::declare<nothing>(ATOLL_DEVICE_FN_event_record),
    sdk::declare<nothing>(ATOLL_DEVICE_FN_event_wait),
    sdk::declare<wait>(ATOLL_DEVICE_FN_event_synchronize),
    sdk::declare<query>(ATOLL_DEVICE_FN_event_query),
};
constexpr atoll_function_decl core[] = {
    sdk::declare<nothing>(ATOLL_FN_fill, ATOLL_DOMAIN_ALL),
};
constexpr atoll_device_type_decl type = sdk::device_type("stuck", ATOLL_DEVICE_HOST_MEMORY);
constexpr atoll_impl_decl device_impl = sdk::implement("device", "stuck", device);
constexpr atoll_impl_decl core_impl = sdk::implement("core", "stuck", core);
constexpr const atoll_device_type_decl *types[] = {&type};
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"stuck", "1.0", "tests", "Apache-2.0", "a device whose work never ends"}, types, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
