// A device type `toy` that conforms, in host memory that it keeps to itself: its streams are queues
// that run when somebody waits for them. Each kind but CONFORMS breaks it in one way. All of them
// are this object, and toy_kind.c.
#include "atoll/plugin.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

ATOLL_PLUGIN_NOTE("toy", ATOLL_CONTAINS_DEVICES, 0);

extern "C" __attribute__((visibility("hidden"))) const char toy_kind[];

namespace {

namespace sdk = Atoll::sdk;

bool is(std::string_view kind) { return kind == toy_kind; }

// Of MISDEEDS: does what ATOLL_TEST_MISDEED says where it says: "kernel:exit".
void at(std::string_view where) {
    if (!is("MISDEEDS")) return;
    const char *const asked = std::getenv("ATOLL_TEST_MISDEED");
    const std::string_view text = asked ? asked : "";
    if (!text.starts_with(where) || text.substr(where.size(), 1) != ":") return;
    const std::string_view what = text.substr(where.size() + 1);
    if (what == "exit") std::exit(0);
    if (what == "_exit") ::_exit(0);
    if (what == "_Exit") std::_Exit(0);
    if (what == "quick_exit") std::quick_exit(0);
    if (what == "abort") std::abort();
    if (what == "throw") throw std::runtime_error("misdeed");
    if (what == "print") std::puts("toy 1.0, unregistered");
    if (what == "setenv") ::setenv("OMP_NUM_THREADS", "1", 1);
    if (what == "signal") std::signal(SIGSEGV, SIG_IGN);
#if defined(__x86_64__)
    if (what == "flush") _mm_setcsr(_mm_getcsr() | 0x8040); // denormal numbers to zero
#endif
}
struct Static {
    Static() { at("constructor"); }
    ~Static() { at("destructor"); }
} object;

struct Stream {
    std::deque<std::function<void()>> queue;
    std::uint64_t enqueued = 0, done = 0;
    std::int32_t device = 0;
};

struct Event {
    std::shared_ptr<Stream> stream;
    std::uint64_t position = 0;
};

struct State {
    ~State() noexcept(false) { at("unload"); }
    explicit State(const atoll_host &services) : host(services) {
        at("load");
        if (is("LEAKS_THREAD"))
            std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
    }

    const atoll_host &host;
    std::recursive_mutex mutex;
    std::shared_ptr<Stream> default_streams[2] = {std::make_shared<Stream>(),
                                                  std::make_shared<Stream>()};

    std::shared_ptr<Stream> stream(const atoll_call &call) {
        if (call.module == ATOLL_MODULE_CORE) {
            if (is("IGNORES_STREAM")) return default_streams[call.device];
            if (is("IGNORES_DEVICE") && !call.stream) return default_streams[0];
        }
        if (call.stream) return *static_cast<std::shared_ptr<Stream> *>(call.stream);
        return default_streams[call.device];
    }
    void enqueue(const atoll_call &call, std::function<void()> work) {
        const std::lock_guard lock(mutex);
        Stream &own = *stream(call);
        own.queue.push_back(std::move(work));
        ++own.enqueued;
    }
    // Runs what was enqueued up to a position.
    void drain(Stream &own, std::uint64_t position) {
        const std::lock_guard lock(mutex);
        if (is("REORDERS") && own.queue.size() > 16)
            std::reverse(own.queue.begin(), own.queue.end());
        while (own.done < position) {
            const auto work = std::move(own.queue.front());
            own.queue.pop_front();
            ++own.done;
            work();
        }
    }
};

void enumerate(State &, atoll_call &call) {
    auto &params = sdk::params<atoll_enumerate_params>(call);
    if (is("WANTS_EXACT_PARAMS") && params.struct_size != sizeof params)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "params of another size");
    const auto *end = reinterpret_cast<const char *>(&params + 1);
    if (is("REFUSES_NEWER_PARAMS") && params.struct_size > sizeof params && *end)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED, "params say what the toy does not know");
    at("count");
    params.count = 2;
}

void properties(State &, atoll_call &call) {
    auto &p = sdk::params<atoll_properties_params>(call);
    constexpr char name[] = "toy";
    std::memcpy(p.name, name, sizeof name);
    p.units = 1;
    p.alignment = 64;
}

void facts(State &, atoll_call &call) {
    sdk::add_fact(call, "colour", "red");
    static std::atomic<int> calls{0};
    if (is("FACTS_CHANGE")) sdk::add_fact(call, ("call_" + std::to_string(calls++)).c_str(), "now");
    if (is("FACTS_CONTROL_TERMINALS")) sdk::add_fact(call, "sound", "\a");
}

void allocate(State &, atoll_call &call) {
    auto &p = sdk::params<atoll_memory_params>(call);
    at("allocate");
    if (is("PROMISES_TOO_MUCH")) {
        p.data = std::aligned_alloc(64, 4096 + (p.bytes > 1 << 30 ? 0 : p.bytes + 63) / 64 * 64);
        return;
    }
    if (p.bytes > std::uint64_t{1} << 34) {
        constexpr char text[] = "the toy has no such amount of memory";
        if (is("OVERRUNS_ERROR")) {
            std::memcpy(call.error->text, text, sizeof text);
            call.error->status = ATOLL_STATUS_OUT_OF_MEMORY;
            throw 1;
        }
        throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY, text);
    }
    p.data = std::aligned_alloc(64, (p.bytes + 64 + 63) / 64 * 64);
    if (!p.data) throw std::bad_alloc();
    if (is("MISALIGNED")) p.data = static_cast<char *>(p.data) + 8; // freed never
}

void release(State &state, atoll_call &call) {
    void *data = sdk::params<atoll_memory_params>(call).data;
    if (is("FREE_DOES_NOTHING") || is("MISALIGNED")) return;
    if (is("FREE_TOO_EARLY")) return std::free(data);
    state.enqueue(call, [data] { std::free(data); });
    if (is("FREE_BLOCKS")) state.drain(*state.stream(call), state.stream(call)->enqueued);
}

void transfer(State &state, atoll_call &call) {
    const auto p = sdk::params<atoll_transfer_params>(call);
    auto bytes = static_cast<std::size_t>(p.bytes);
    if (is("COPIES_WHOLE_WORDS") && bytes > 8) bytes = bytes / 8 * 8;
    const auto *from = static_cast<const char *>(p.source);
    if (p.kind == ATOLL_TRANSFER_HOST_TO_DEVICE && !is("READS_SOURCE_LATE")) {
        state.enqueue(call, [to = p.destination, staged = std::vector<char>(from, from + bytes)] {
            std::memcpy(to, staged.data(), staged.size());
        });
        return;
    }
    state.enqueue(call, [to = p.destination, from, bytes] { std::memmove(to, from, bytes); });
}

void stream_create(State &, atoll_call &call) {
    auto stream = std::make_shared<Stream>();
    stream->device = call.device;
    sdk::params<atoll_stream_params>(call).stream = new std::shared_ptr<Stream>(stream);
}
void stream_destroy(State &state, atoll_call &call) {
    auto *stream =
        static_cast<std::shared_ptr<Stream> *>(sdk::params<atoll_stream_params>(call).stream);
    if (!is("DESTROY_DROPS")) state.drain(**stream, (*stream)->enqueued);
    if (is("EVENTS_DIE_WITH_STREAMS")) (*stream)->done = 0;
    delete stream;
}
void stream_synchronize(State &state, atoll_call &call) {
    const auto stream = state.stream(call);
    state.drain(*stream, stream->enqueued);
}

Event &event_of(const atoll_call &call) {
    return *static_cast<Event *>(sdk::params<atoll_event_params>(call).event);
}
void event_create(State &, atoll_call &call) {
    sdk::params<atoll_event_params>(call).event = new Event;
}
void event_destroy(State &, atoll_call &call) { delete &event_of(call); }
void event_record(State &state, atoll_call &call) {
    const std::lock_guard lock(state.mutex);
    const auto stream = state.stream(call);
    event_of(call) = {stream, stream->enqueued};
}
void event_wait(State &state, atoll_call &call) {
    if (is("EVENTS_DO_NOT_ORDER")) return;
    if (is("WAIT_BLOCKS")) state.drain(*event_of(call).stream, event_of(call).position);
    state.enqueue(call, [&state, &later = event_of(call), now = event_of(call)] {
        const Event &event = is("EVENTS_ARE_READ_LATE") ? later : now;
        if (event.stream) state.drain(*event.stream, event.position);
    });
}
void event_synchronize(State &state, atoll_call &call) {
    if (is("EVENTS_DO_NOT_WAIT")) return;
    const Event event = event_of(call);
    if (event.stream) state.drain(*event.stream, event.position);
}
void event_query(State &state, atoll_call &call) {
    if (is("QUERY_IS_BUSY")) throw sdk::Error(ATOLL_STATUS_BUSY, "not yet");
    if (is("EVENTS_SAY_DONE")) return;
    const std::lock_guard lock(state.mutex);
    const Event &event = event_of(call);
    if (event.stream && event.stream->done < event.position)
        throw sdk::Error(ATOLL_STATUS_NOT_READY, "not yet");
}
void host_callback(State &state, atoll_call &call) {
    const auto p = sdk::params<atoll_callback_params>(call);
    state.enqueue(call, [p] {
        p.function(p.argument, ATOLL_STATUS_OK);
        if (is("CALLS_BACK_TWICE")) p.function(p.argument, ATOLL_STATUS_OK);
    });
}

// Declared without capabilities: dense, one axis or none.
void add(State &state, atoll_call &call) {
    at("kernel");
    if (is("MISDEEDS")) std::thread([] { at("thread"); }).join();
    const std::int64_t count = call.rank == 0 ? 1 : call.shape[0];
    auto *out = static_cast<float *>(call.operands[0].data);
    const auto *a = static_cast<const float *>(call.operands[1].data);
    const auto *b = static_cast<const float *>(call.operands[2].data);
    if (is("LEAKS_DEVICE_MEMORY")) {
        atoll_memory_params block{sizeof block, 0, 64, nullptr};
        atoll_call inner = call;
        inner.module = ATOLL_MODULE_DEVICE;
        inner.function = ATOLL_DEVICE_FN_allocate;
        inner.operand_count = inner.output_count = 0;
        inner.params = &block;
        state.host.dispatch(state.host.self, "toy", &inner);
    }
    state.enqueue(call, [=, shape = call.shape] {
        const std::int64_t n = is("READS_SHAPE_LATE") ? *shape : count;
        for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
    });
    if (is("KERNEL_BLOCKS")) state.drain(*state.stream(call), state.stream(call)->enqueued);
}

constexpr atoll_function_decl device_functions[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<allocate>(ATOLL_DEVICE_FN_allocate),
    sdk::declare<release>(ATOLL_DEVICE_FN_free),
    sdk::declare<transfer>(ATOLL_DEVICE_FN_transfer),
    sdk::declare<stream_create>(ATOLL_DEVICE_FN_stream_create),
    sdk::declare<stream_destroy>(ATOLL_DEVICE_FN_stream_destroy),
    sdk::declare<stream_synchronize>(ATOLL_DEVICE_FN_stream_synchronize),
    sdk::declare<event_create>(ATOLL_DEVICE_FN_event_create),
    sdk::declare<event_destroy>(ATOLL_DEVICE_FN_event_destroy),
    sdk::declare<event_record>(ATOLL_DEVICE_FN_event_record),
    sdk::declare<event_wait>(ATOLL_DEVICE_FN_event_wait),
    sdk::declare<event_synchronize>(ATOLL_DEVICE_FN_event_synchronize),
    sdk::declare<event_query>(ATOLL_DEVICE_FN_event_query),
    sdk::declare<host_callback>(ATOLL_DEVICE_FN_host_callback),
    sdk::declare<facts>(ATOLL_DEVICE_FN_facts),
};
constexpr atoll_function_decl core_functions[] = {
    sdk::declare<add>(ATOLL_FN_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32)),
};

constexpr atoll_device_type_decl device_type = sdk::device_type("toy", ATOLL_DEVICE_PEER);
constexpr const atoll_device_type_decl *device_types[] = {&device_type};
constexpr atoll_impl_decl device = sdk::implement("device", "toy", device_functions);
constexpr atoll_impl_decl core = sdk::implement("core", "toy", core_functions);
constexpr const atoll_impl_decl *impls[] = {&device, &core};
constexpr atoll_plugin plugin = sdk::describe<State>(
    {"toy", "1.0", "Atoll", "Apache-2.0", "for tests of the conformance kit"}, impls, device_types);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) {
    at("query");
    return &plugin;
}
