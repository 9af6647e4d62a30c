// newplugin: an asynchronous device type. Calls return when their work is enqueued on a stream, a
// queue that a thread works off in place of your hardware; each function below describes what to
// replace it with.
//
// What Atoll may expect of streams and events is in atoll/abi/device.h, Note [Order] and Note
// [Events]. A call and all that it points to are gone when it returns: work keeps an OwnedCall.
#include <atoll/convert.hpp>
#include <atoll/owned_call.hpp>
#include <atoll/plugin.hpp>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

ATOLL_PLUGIN_NOTE("newplugin", ATOLL_CONTAINS_DEVICES, 0);

namespace {

namespace sdk = Atoll::sdk;

// ---- Streams ------------------------------------------------------------------------------------

// The work of a stream. Events keep it, so that they may outlive the stream.
struct Queue {
    struct Task {
        std::string function; // "core.add", for errors
        std::function<void()> work;
    };
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    std::uint64_t enqueued = 0, done = 0;
    // The first error that was not reported yet, with its function.
    std::optional<std::pair<std::string, sdk::Error>> failure;

    void run() {
        for (std::unique_lock lock(mutex);; ++done, changed.notify_all()) {
            changed.wait(lock, [&] { return !tasks.empty(); });
            const Task task = std::move(tasks.front());
            tasks.pop_front();
            if (!task.work) return; // the stream is destroyed
            lock.unlock();
            std::optional<sdk::Error> error;
            try {
                task.work();
            } catch (const sdk::Error &thrown) {
                error = thrown;
            } catch (const std::exception &thrown) {
                error.emplace(ATOLL_STATUS_INTERNAL, thrown.what());
            }
            lock.lock();
            if (error && !failure) failure.emplace(task.function, *error);
        }
    }
    // Until `position` tasks are done. With `error` reports the failure, once.
    void wait(std::uint64_t position, atoll_error *error = nullptr) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return done >= position; });
        if (!error || !failure) return;
        const auto [function, told] = *std::exchange(failure, std::nullopt);
        std::snprintf(error->function, sizeof error->function, "%s", function.c_str());
        throw told;
    }
    std::uint64_t end() {
        const std::lock_guard lock(mutex);
        return enqueued;
    }
};

struct Stream {
    const std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    std::thread worker{[this] { queue->run(); }};

    void enqueue(std::string function, std::function<void()> work) {
        const std::lock_guard lock(queue->mutex);
        queue->tasks.push_back({std::move(function), std::move(work)});
        ++queue->enqueued;
        queue->changed.notify_all();
    }
    ~Stream() { // runs what is enqueued
        enqueue("", nullptr);
        worker.join();
    }
};

// A position in a queue; an event that was never recorded is done.
struct Event {
    std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    std::uint64_t position = 0;
};

// Created when the plugin is loaded, destroyed when it is retired.
struct State {
    explicit State(const atoll_host &services) : host(services) {}
    const atoll_host &host;
    Stream default_stream; // for calls with stream NULL

    Stream &stream(const atoll_call &call) {
        return call.stream ? *static_cast<Stream *>(call.stream) : default_stream;
    }
    void enqueue(const atoll_call &call, std::function<void()> work) {
        stream(call).enqueue(host.function_name(call.module, call.function), std::move(work));
    }
};

// ---- The device ---------------------------------------------------------------------------------

constexpr std::align_val_t alignment{64}; // bytes

void enumerate(State &, atoll_call &call) { sdk::params<atoll_enumerate_params>(call).count = 1; }

void properties(State &, atoll_call &call) {
    auto &result = sdk::params<atoll_properties_params>(call);
    std::strcpy(result.name, "newplugin's first device");
    result.alignment = static_cast<std::uint64_t>(alignment);
}

void allocate(State &, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = ::operator new(memory.bytes, alignment);
}

// Work that is enqueued may still use the memory.
void free(State &state, atoll_call &call) {
    state.enqueue(call, [data = sdk::params<atoll_memory_params>(call).data] {
        ::operator delete(data, alignment);
    });
}

void transfer(State &state, atoll_call &call) {
    const atoll_transfer_params asked = sdk::params<atoll_transfer_params>(call);
    if (asked.kind == ATOLL_TRANSFER_HOST_TO_DEVICE) { // the source may change after the call
        const auto *from = static_cast<const char *>(asked.source);
        state.enqueue(call, [to = asked.destination, staged = std::string(from, asked.bytes)] {
            std::memcpy(to, staged.data(), staged.size());
        });
    } else {
        state.enqueue(call,
                      [asked] { std::memmove(asked.destination, asked.source, asked.bytes); });
    }
}

void stream_create(State &, atoll_call &call) {
    sdk::params<atoll_stream_params>(call).stream = new Stream;
}
void stream_destroy(State &, atoll_call &call) {
    delete static_cast<Stream *>(sdk::params<atoll_stream_params>(call).stream);
}
void stream_synchronize(State &state, atoll_call &call) {
    Stream &stream = state.stream(call);
    stream.queue->wait(stream.queue->end(), call.error);
}

Event &event_of(const atoll_call &call) {
    return *static_cast<Event *>(sdk::params<atoll_event_params>(call).event);
}
void event_create(State &, atoll_call &call) {
    sdk::params<atoll_event_params>(call).event = new Event;
}
void event_destroy(State &, atoll_call &call) { delete &event_of(call); }
void event_record(State &state, atoll_call &call) {
    const Stream &stream = state.stream(call);
    event_of(call) = {stream.queue, stream.queue->end()};
}
// A copy: the event may be recorded again, or destroyed, while the stream waits.
void event_wait(State &state, atoll_call &call) {
    state.enqueue(call, [event = event_of(call)] { event.queue->wait(event.position); });
}
void event_synchronize(State &, atoll_call &call) {
    const Event event = event_of(call);
    event.queue->wait(event.position, call.error);
}
void event_query(State &, atoll_call &call) {
    const Event &event = event_of(call);
    const std::lock_guard lock(event.queue->mutex);
    if (event.queue->done < event.position)
        throw sdk::Error(ATOLL_STATUS_NOT_READY, "the event is not done");
}
void host_callback(State &state, atoll_call &call) {
    const atoll_callback_params asked = sdk::params<atoll_callback_params>(call);
    state.enqueue(call, [asked] { asked.function(asked.argument, ATOLL_STATUS_OK); });
}

constexpr atoll_function_decl device_functions[] = {
    sdk::declare<enumerate>(ATOLL_DEVICE_FN_enumerate),
    sdk::declare<properties>(ATOLL_DEVICE_FN_properties),
    sdk::declare<allocate>(ATOLL_DEVICE_FN_allocate),
    sdk::declare<free>(ATOLL_DEVICE_FN_free),
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
};

// ---- What it computes: one function at a time ---------------------------------------------------

// Enqueues `kernel`, which gets a copy of the call.
template <void (*kernel)(const atoll_call &)> void later(State &state, atoll_call &call) {
    state.enqueue(call, [own = std::make_shared<sdk::OwnedCall>(call)] { kernel(own->call()); });
}

// The host converts with `copy` whatever the other functions do not take, so it takes everything.
void copy(const atoll_call &call) { sdk::copy(call); }

// Declared without capabilities, so all three are dense vectors of the compute dtype.
template <class T> void add(const atoll_call &call) {
    const auto out = sdk::Operand<T>(call, 0).span();
    const auto a = sdk::Operand<const T>(call, 1).span(), b = sdk::Operand<const T>(call, 2).span();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
}

constexpr atoll_function_decl core_functions[] = {
    sdk::declare<later<copy>>(ATOLL_FN_copy, ATOLL_DOMAIN_ALL, sdk::copy_caps),
    sdk::declare<later<add<float>>>(ATOLL_FN_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT32)),
    sdk::declare<later<add<double>>>(ATOLL_FN_add, ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64)),
};

// ---- Descriptor ---------------------------------------------------------------------------------

constexpr atoll_device_type_decl device_type = sdk::device_type("newplugin", 0);
constexpr const atoll_device_type_decl *device_types[] = {&device_type};

constexpr atoll_impl_decl device_impl = sdk::implement("device", "newplugin", device_functions);
constexpr atoll_impl_decl core_impl = sdk::implement("core", "newplugin", core_functions);
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};

constexpr atoll_plugin plugin = sdk::describe<State>(
    {"newplugin", "0.1.0", "your name", "your licence", "an asynchronous device that adds"},
    device_types, impls);

} // namespace

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &plugin; }
