// A device type `toy` that conforms, in host memory that it keeps to itself: its streams are queues
// that run when somebody waits for them. Each macro breaks it in one way.
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
#if defined MISDEEDS && defined __x86_64__
#include <xmmintrin.h>
#endif

ATOLL_PLUGIN_NOTE("toy", ATOLL_CONTAINS_DEVICES, 0);

namespace {

namespace sdk = Atoll::sdk;

// Does what ATOLL_TEST_MISDEED says where it says: "kernel:exit". For the others: nothing.
void at([[maybe_unused]] std::string_view where) {
#ifdef MISDEEDS
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
#endif
}
#ifdef MISDEEDS
struct Static {
    Static() { at("constructor"); }
    ~Static() { at("destructor"); }
} object;
#endif

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
#ifdef LEAKS_THREAD
        std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
#endif
    }

    const atoll_host &host;
    std::recursive_mutex mutex;
    std::shared_ptr<Stream> default_streams[2] = {std::make_shared<Stream>(),
                                                  std::make_shared<Stream>()};

    std::shared_ptr<Stream> stream(const atoll_call &call) {
#ifdef IGNORES_STREAM
        if (call.module == ATOLL_MODULE_CORE) return default_streams[call.device];
#endif
#ifdef IGNORES_DEVICE
        if (call.module == ATOLL_MODULE_CORE && !call.stream) return default_streams[0];
#endif
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
#ifdef REORDERS
        if (own.queue.size() > 16) std::reverse(own.queue.begin(), own.queue.end());
#endif
        while (own.done < position) {
            const auto work = std::move(own.queue.front());
            own.queue.pop_front();
            ++own.done;
            work();
        }
    }
};

void enumerate(State &, atoll_call &call) {
#ifdef WANTS_EXACT_PARAMS
    if (sdk::params<atoll_enumerate_params>(call).struct_size != sizeof(atoll_enumerate_params))
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "params of another size");
#endif
#ifdef REFUSES_NEWER_PARAMS
    const auto &params = sdk::params<atoll_enumerate_params>(call);
    const auto *end = reinterpret_cast<const char *>(&params + 1);
    if (params.struct_size > sizeof params && *end)
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED, "params say what the toy does not know");
#endif
    at("count");
    sdk::params<atoll_enumerate_params>(call).count = 2;
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
#ifdef FACTS_CHANGE
    static std::atomic<int> calls{0};
    sdk::add_fact(call, ("call_" + std::to_string(calls++)).c_str(), "now");
#endif
#ifdef FACTS_CONTROL_TERMINALS
    sdk::add_fact(call, "sound", "\a");
#endif
}

void allocate(State &, atoll_call &call) {
    auto &p = sdk::params<atoll_memory_params>(call);
    at("allocate");
#ifdef PROMISES_TOO_MUCH
    p.data = std::aligned_alloc(64, 4096 + (p.bytes > 1 << 30 ? 0 : p.bytes + 63) / 64 * 64);
    return;
#endif
    if (p.bytes > std::uint64_t{1} << 34) {
        constexpr char text[] = "the toy has no such amount of memory";
#ifdef OVERRUNS_ERROR
        std::memcpy(call.error->text, text, sizeof text);
        call.error->status = ATOLL_STATUS_OUT_OF_MEMORY;
        throw 1;
#endif
        throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY, text);
    }
    p.data = std::aligned_alloc(64, (p.bytes + 64 + 63) / 64 * 64);
    if (!p.data) throw std::bad_alloc();
#ifdef MISALIGNED
    p.data = static_cast<char *>(p.data) + 8; // freed never
#endif
}

void release(State &state, atoll_call &call) {
    void *data = sdk::params<atoll_memory_params>(call).data;
    static_cast<void>(state), static_cast<void>(data);
#if defined FREE_DOES_NOTHING || defined MISALIGNED
#elif defined FREE_TOO_EARLY
    std::free(data);
#else
    state.enqueue(call, [data] { std::free(data); });
#ifdef FREE_BLOCKS
    state.drain(*state.stream(call), state.stream(call)->enqueued);
#endif
#endif
}

void transfer(State &state, atoll_call &call) {
    const auto p = sdk::params<atoll_transfer_params>(call);
    auto bytes = static_cast<std::size_t>(p.bytes);
#ifdef COPIES_WHOLE_WORDS
    if (bytes > 8) bytes = bytes / 8 * 8;
#endif
    const auto *from = static_cast<const char *>(p.source);
#ifndef READS_SOURCE_LATE
    if (p.kind == ATOLL_TRANSFER_HOST_TO_DEVICE) {
        state.enqueue(call, [to = p.destination, staged = std::vector<char>(from, from + bytes)] {
            std::memcpy(to, staged.data(), staged.size());
        });
        return;
    }
#endif
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
#ifdef DESTROY_DROPS
    static_cast<void>(state);
#else
    state.drain(**stream, (*stream)->enqueued);
#endif
#ifdef EVENTS_DIE_WITH_STREAMS
    (*stream)->done = 0;
#endif
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
#ifndef EVENTS_DO_NOT_ORDER
#ifdef WAIT_BLOCKS
    state.drain(*event_of(call).stream, event_of(call).position);
#endif
#ifdef EVENTS_ARE_READ_LATE
    state.enqueue(call, [&state, &event = event_of(call)] {
#else
    state.enqueue(call, [&state, event = event_of(call)] {
#endif
        if (event.stream) state.drain(*event.stream, event.position);
    });
#else
    static_cast<void>(state), static_cast<void>(call);
#endif
}
void event_synchronize(State &state, atoll_call &call) {
#ifndef EVENTS_DO_NOT_WAIT
    const Event event = event_of(call);
    if (event.stream) state.drain(*event.stream, event.position);
#else
    static_cast<void>(state), static_cast<void>(call);
#endif
}
void event_query(State &state, atoll_call &call) {
#ifdef QUERY_IS_BUSY
    throw sdk::Error(ATOLL_STATUS_BUSY, "not yet");
#endif
#ifdef EVENTS_SAY_DONE
    return;
#endif
    const std::lock_guard lock(state.mutex);
    const Event &event = event_of(call);
    if (event.stream && event.stream->done < event.position)
        throw sdk::Error(ATOLL_STATUS_NOT_READY, "not yet");
}
void host_callback(State &state, atoll_call &call) {
    const auto p = sdk::params<atoll_callback_params>(call);
    state.enqueue(call, [p] {
        p.function(p.argument, ATOLL_STATUS_OK);
#ifdef CALLS_BACK_TWICE
        p.function(p.argument, ATOLL_STATUS_OK);
#endif
    });
}

// Declared without capabilities: dense, one axis or none.
void add(State &state, atoll_call &call) {
    at("kernel");
#ifdef MISDEEDS
    std::thread([] { at("thread"); }).join();
#endif
    const std::int64_t count = call.rank == 0 ? 1 : call.shape[0];
    auto *out = static_cast<float *>(call.operands[0].data);
    const auto *a = static_cast<const float *>(call.operands[1].data);
    const auto *b = static_cast<const float *>(call.operands[2].data);
#ifdef LEAKS_DEVICE_MEMORY
    atoll_memory_params block{sizeof block, 0, 64, nullptr};
    atoll_call inner = call;
    inner.module = ATOLL_MODULE_DEVICE;
    inner.function = ATOLL_DEVICE_FN_allocate;
    inner.operand_count = inner.output_count = 0;
    inner.params = &block;
    state.host.dispatch(state.host.self, "toy", &inner);
#endif
#ifdef READS_SHAPE_LATE
    state.enqueue(call, [=, shape = call.shape] {
        for (std::int64_t i = 0; i < *shape; ++i) out[i] = a[i] + b[i];
    });
    return;
#endif
    state.enqueue(call, [=] {
        for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
    });
#ifdef KERNEL_BLOCKS
    state.drain(*state.stream(call), state.stream(call)->enqueued);
#endif
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
