// The plugin `dummy`: a simulated accelerator. Start reading here.
//
//   plugin.cpp   descriptor, state, the functions of the module `device`, enqueueing of kernels
//   memory.*     memory that the host cannot dereference
//   stream.*     streams, events, asynchronous errors
//   enqueued_call.hpp  a call that waits for its kernel
//   kernels.hpp  naive kernels for every function and dtype of the module `core`:
//     elements.hpp, wide.*                      elements of each dtype; one of any dtype
//     copy.cpp, elementwise.cpp, math.cpp, reduce.cpp, matmul.cpp, order.cpp, index.cpp
//   process.*    forked children, which have no workers
//   faults.*     injected faults, with the list of them; a real plugin has none
//
// Settings: devices (how many, default 2), memory (bytes per device, default 1 GiB), fault.
//
// The same file makes the plugin `dummy_min` (DUMMY_MINIMAL): its kernels declare no capabilities,
// copy excepted, so that tests see the host materialise whatever it can.
#include "atoll/core_functions.hpp"
#include "enqueued_call.hpp"
#include "faults.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "process.hpp"
#include "settings.hpp"
#include "stream.hpp"

#include <memory>
#include <vector>

#ifdef DUMMY_MINIMAL
#define DUMMY_NAME "dummy_min"
#else
#define DUMMY_NAME "dummy"
#endif

ATOLL_PLUGIN_NOTE(DUMMY_NAME, ATOLL_CONTAINS_DEVICES, 0);

namespace Dummy {

namespace {

#ifdef DUMMY_MINIMAL
constexpr std::uint64_t default_devices = 1;
constexpr std::uint64_t kernel_caps = 0, comparison_caps = 0;
#else
constexpr std::uint64_t default_devices = 2;
constexpr std::uint64_t kernel_caps = ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES |
                                      ATOLL_CAP_ZERO_STRIDES | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS;
// Note [Exact comparisons] in abi/module.h.
constexpr std::uint64_t comparison_caps = kernel_caps | ATOLL_CAP_MIXED_INPUTS;
#endif
// The host converts with copy what the others do not take, so copy takes everything.
constexpr std::uint64_t copy_caps =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES |
    ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_MIXED_OUTPUTS | ATOLL_CAP_SWAPPED | ATOLL_CAP_UNALIGNED;

// ---- State --------------------------------------------------------------------------------------

struct Device {
    Device(const std::string &name, std::uint64_t bytes)
        : name(name), memory(name, bytes), default_stream(name, memory) {}

    const std::string name; // "dummy:0"
    Memory memory;
    Stream default_stream;
};

// Made by load, gone at unload; the context of all functions below.
struct State {
    explicit State(const atoll_host &host);
    ~State();

    Device &device(std::int32_t index);
    Stream &stream(const atoll_call &call);
    // "core.add", for messages
    std::string function(const atoll_call &call) const {
        return host.function_name(call.module, call.function);
    }

    const atoll_host &host;
    const Process process;
    Faults faults;
    std::vector<std::unique_ptr<Device>> devices;
};

State::State(const atoll_host &host) : host(host), faults(host, DUMMY_NAME) {
    const std::uint64_t count = number_setting(host, DUMMY_NAME, "devices", default_devices, 64);
    const std::uint64_t bytes =
        number_setting(host, DUMMY_NAME, "memory", 1 << 30, std::uint64_t{1} << 42);
    for (std::uint64_t i = 0; i < count; ++i)
        devices.push_back(std::make_unique<Device>(DUMMY_NAME ":" + std::to_string(i), bytes));
}

State::~State() {
    if (process.left_behind()) {
        for (auto &device : devices) (void)device.release();
        return;
    }
    // Work on one device may touch the memory of another, so all stop before any memory goes.
    for (const auto &device : devices) device->default_stream.stop();
}

Device &State::device(std::int32_t index) {
    if (index < 0 || static_cast<std::size_t>(index) >= devices.size())
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "no device " DUMMY_NAME ":" +
                                                            std::to_string(index) + ", there are " +
                                                            std::to_string(devices.size()));
    return *devices[static_cast<std::size_t>(index)];
}

Stream &State::stream(const atoll_call &call) {
    Device &current = device(call.device);
    Stream &stream = call.stream ? *static_cast<Stream *>(call.stream) : current.default_stream;
    if (stream.device() != current.name)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "[" + function(call) + "] a stream of " +
                                                            stream.device() + " for a call on " +
                                                            current.name);
    return stream;
}

// ---- Module `device` ----------------------------------------------------------------------------

void enumerate(State &state, atoll_call &call) {
    auto &result = sdk::params<atoll_enumerate_params>(call);
    result.count = static_cast<std::uint32_t>(state.devices.size());
    constexpr char reason[] = "the setting devices is 0";
    if (state.devices.empty()) std::memcpy(result.reason, reason, sizeof reason);
}

void properties(State &state, atoll_call &call) {
    auto &result = sdk::params<atoll_properties_params>(call);
    const Device &device = state.device(call.device);
    constexpr char model[] = "simulated accelerator";
    std::memcpy(result.name, model, sizeof model);
    result.units = 1;
    result.total_memory = device.memory.total();
    result.free_memory = device.memory.available();
    result.alignment = Memory::alignment;
}

// The names stand in atoll/dummy.h.
void facts(State &state, atoll_call &call) {
    const Device &device = state.device(call.device);
    sdk::add_fact(call, "allocations", std::to_string(device.memory.allocations()));
    sdk::add_fact(call, "taken_bytes",
                  std::to_string(device.memory.total() - device.memory.available()));
}

void allocate(State &state, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = state.device(call.device).memory.allocate(memory.bytes);
}

void free(State &state, atoll_call &call) {
    const auto &freed = sdk::params<atoll_memory_params>(call);
    Memory &memory = state.device(call.device).memory;
    Stream &stream = state.stream(call); // may throw, so before the block is retired
    memory.retire(freed.data, freed.bytes);
    stream.enqueue(state.function(call), [&memory, data = freed.data] { memory.release(data); });
}

void transfer(State &state, atoll_call &call) {
    const auto &asked = sdk::params<atoll_transfer_params>(call);
    const std::string function = state.function(call);
    const Faults::Later fault = state.faults.later(call);
    const auto bytes = static_cast<std::size_t>(asked.bytes);

    // Checked here, where the caller gets the error; the worker gets valid addresses.
    const auto device_side = [&](std::int32_t index, const void *address, const char *side) {
        const Memory &memory = state.device(index).memory;
        memory.check("[" + function + "] " + side, address, {0, static_cast<std::int64_t>(bytes)});
        return memory.worker_address(address);
    };
    const auto copying = [&](void *to, const void *from) {
        return [fault, to, from, bytes] {
            fault.happen();
            std::memmove(to, from, bytes);
        };
    };
    std::function<void()> work;
    switch (asked.kind) {
    case ATOLL_TRANSFER_HOST_TO_DEVICE: {
        char *to = device_side(call.device, asked.destination, "destination");
        const char *from = static_cast<const char *>(asked.source);
        if (asked.flags & ATOLL_TRANSFER_KEPT) {
            work = copying(to, from);
            break;
        }
        work = [fault, to, staged = std::vector<char>(from, from + bytes)] {
            fault.happen();
            std::memcpy(to, staged.data(), staged.size());
        };
        break;
    }
    case ATOLL_TRANSFER_DEVICE_TO_HOST:
        work = copying(asked.destination, device_side(call.device, asked.source, "source"));
        break;
    case ATOLL_TRANSFER_DEVICE_TO_DEVICE:
        work = copying(device_side(call.device, asked.destination, "destination"),
                       device_side(asked.peer, asked.source, "source"));
        break;
    default:
        throw sdk::Error(ATOLL_STATUS_NOT_SUPPORTED,
                         "[" + function + "] kind " + std::to_string(asked.kind));
    }
    state.stream(call).enqueue(function, std::move(work));
}

void stream_create(State &state, atoll_call &call) {
    const Device &device = state.device(call.device);
    sdk::params<atoll_stream_params>(call).stream = new Stream(device.name, device.memory);
}

void stream_destroy(State &state, atoll_call &call) {
    auto *stream = static_cast<Stream *>(sdk::params<atoll_stream_params>(call).stream);
    const std::shared_ptr<Failure> failure = stream->synchronize();
    if (failure && !failure->reported)
        state.host.log(
            state.host.self, ATOLL_LOG_WARN,
            ("destroyed with an unreported error of " + failure->function + ": " + failure->text)
                .c_str());
    delete stream;
}

// Waits in any case: the host may reuse memory that enqueued work still writes to.
void report_lost(State &state, const atoll_call &call) {
    if (state.faults.lost(call.device))
        throw sdk::Error(ATOLL_STATUS_DEVICE_LOST, "injected fault lost");
}

void stream_synchronize(State &state, atoll_call &call) {
    const std::shared_ptr<Failure> failure = state.stream(call).synchronize();
    report_lost(state, call);
    report(failure, call.error);
}

// A handle is a pointer to a shared pointer: enqueued work may outlive the host's handle.
using EventHandle = std::shared_ptr<Event>;

EventHandle &event_of(const atoll_call &call) {
    return *static_cast<EventHandle *>(sdk::params<atoll_event_params>(call).event);
}

void event_create(State &, atoll_call &call) {
    sdk::params<atoll_event_params>(call).event = new EventHandle(std::make_shared<Event>());
}

void event_destroy(State &, atoll_call &call) { delete &event_of(call); }

void event_record(State &state, atoll_call &call) { state.stream(call).record(event_of(call)); }

void event_wait(State &state, atoll_call &call) { state.stream(call).wait(event_of(call)); }

void event_synchronize(State &state, atoll_call &call) {
    const EventHandle event = event_of(call);
    const std::shared_ptr<Failure> failure = event->wait(event->latest());
    report_lost(state, call);
    report(failure, call.error);
}

void event_query(State &, atoll_call &call) {
    const EventHandle event = event_of(call);
    if (!event->done(event->latest()))
        throw sdk::Error(ATOLL_STATUS_NOT_READY, "the event is not reached yet");
}

void host_callback(State &state, atoll_call &call) {
    const auto &callback = sdk::params<atoll_callback_params>(call);
    state.stream(call).callback(callback.function, callback.argument,
                                state.faults.lost(call.device) ? ATOLL_STATUS_DEVICE_LOST
                                                               : ATOLL_STATUS_OK);
}

// Other streams' work, so by an event of its own.
void stream_order(State &state, atoll_call &call) {
    const auto &order = sdk::params<atoll_stream_order_params>(call);
    Device &device = state.device(order.done_device);
    Stream &done = order.done ? *static_cast<Stream *>(order.done) : device.default_stream;
    const auto mark = std::make_shared<Event>();
    Stream &waiting = state.stream(call);
    done.record(mark);
    waiting.wait(mark);
}

void native_handle(State &state, atoll_call &call) {
    auto &handle = sdk::params<atoll_native_handle_params>(call);
    switch (handle.kind) {
    case ATOLL_DUMMY_QUEUE:
        handle.value = reinterpret_cast<std::uintptr_t>(state.stream(call).queue());
        return;
    case ATOLL_DUMMY_DEVICE: handle.value = static_cast<std::uint64_t>(call.device); return;
    default:
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "there is no native handle of kind " +
                                                            std::to_string(handle.kind) +
                                                            "; see atoll/dummy.h");
    }
}

// All host memory is as good as any other to the workers.
void allocate_host(State &, atoll_call &call) {
    auto &memory = sdk::params<atoll_memory_params>(call);
    memory.data = ::operator new(memory.bytes, std::align_val_t(Memory::alignment));
}

void free_host(State &, atoll_call &call) {
    ::operator delete(sdk::params<atoll_memory_params>(call).data,
                      std::align_val_t(Memory::alignment));
}

void event_time(State &, atoll_call &call) {
    const EventHandle event = event_of(call);
    if (!event->done(event->latest()))
        throw sdk::Error(ATOLL_STATUS_NOT_READY, "the event is not reached yet");
    sdk::params<atoll_event_time_params>(call).nanoseconds = event->time();
}

// ---- Module `core` ------------------------------------------------------------------------------

void enqueue_kernel(State &state, atoll_call &call, Kernel kernel) {
    const std::string function = state.function(call);
    const auto copy = std::make_shared<EnqueuedCall>(call);
    copy->translate(function, state.device(call.device).memory);
    state.stream(call).enqueue(function, [kernel, copy, fault = state.faults.later(call)] {
        fault.happen();
        copy->check_offsets();
        kernel(copy->call());
    });
}
template <Kernel kernel> void enqueue(State &state, atoll_call &call) {
    enqueue_kernel(state, call, kernel);
}

// ---- Descriptor ---------------------------------------------------------------------------------

using Implementation = void (*)(State &, atoll_call &);

// Injects faults before the call. A real plugin's functions are as sdk::declare makes them.
// `always`: the function does its work even if a fault makes it fail, because nobody could do it
// later.
std::int32_t call_faulty(const atoll_link *self, atoll_call *call, Implementation function,
                         bool always) {
    State &state = *static_cast<State *>(self->ctx);
    std::int32_t injected = ATOLL_STATUS_OK;
    const std::int32_t status = sdk::guarded(call->error, [&] {
        if (state.process.left_behind()) refuse_child(DUMMY_NAME, state.function(*call));
        if (always) function(state, *call);
        injected = state.faults.before(*call);
        if (!always && injected == ATOLL_STATUS_OK) function(state, *call);
    });
    return injected != ATOLL_STATUS_OK ? injected : status;
}

template <auto Function> constexpr bool gives_back_or_waits =
    Function == free || Function == free_host || Function == stream_destroy ||
    Function == event_destroy || Function == stream_synchronize || Function == event_synchronize;

// What sdk::declare takes the function from, here replaced.
void replaced(State &, atoll_call &) {}

template <auto Function> constexpr atoll_function_decl faulty(atoll_function_decl function) {
    function.fn = [](const atoll_link *self, atoll_call *call) {
        return call_faulty(self, call, Function, gives_back_or_waits<Function>);
    };
    return function;
}

constexpr atoll_function_decl device_functions[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc)                                     \
    faulty<name>(sdk::declare<replaced>(id)),
#include "atoll/lists/device_functions.inc"
};

constexpr std::uint64_t caps_of(std::uint16_t function) {
    if (function == ATOLL_FN_copy) return copy_caps;
    return sdk::core_functions[function].signature.exact ? comparison_caps : kernel_caps;
}

constexpr atoll_function_decl core_functions[] = {
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    faulty<enqueue<Kernels::name>>(sdk::declare_core<replaced>(id, caps_of(id))),
#include "atoll/lists/functions.inc"
};

constexpr atoll_device_type_decl device_type = sdk::device_type(DUMMY_NAME, ATOLL_DEVICE_PEER);

// The minimal plugin leaves out what is optional, the last of the list.
#ifdef DUMMY_MINIMAL
constexpr std::size_t offered = ATOLL_DEVICE_FN_host_callback + 1;
#else
constexpr std::size_t offered = std::size(device_functions);
#endif
constexpr atoll_impl_decl device_impl =
    sdk::implement("device", DUMMY_NAME, std::span(device_functions).first(offered));
constexpr atoll_impl_decl core_impl = sdk::implement("core", DUMMY_NAME, core_functions);

constexpr const atoll_device_type_decl *device_types[] = {&device_type};
constexpr const atoll_impl_decl *impls[] = {&device_impl, &core_impl};

constexpr atoll_plugin plugin =
    sdk::describe<State>({DUMMY_NAME, "0.1.0", "Atoll", "Apache-2.0",
                          "a simulated accelerator with worker-thread streams"},
                         device_types, impls);

} // namespace

} // namespace Dummy

const atoll_plugin *atoll_plugin_query_v0(const atoll_host_info *) { return &Dummy::plugin; }
