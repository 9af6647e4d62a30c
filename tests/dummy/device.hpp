// The functions of one dummy plugin under the fake host, one C++ function each. For tests.
#pragma once

#include "atoll/core_functions.hpp"
#include "fake_host.hpp"

#include <atomic>
#include <complex>
#include <limits>
#include <thread>

namespace FakeHost {

inline std::string folder(const char *variable) {
    const char *value = std::getenv(variable);
    return value ? std::string(value) + "/" : std::string("./");
}

inline constexpr std::int64_t zero = 0;

struct View {
    void *data;
    std::vector<std::int64_t> strides; // bytes
    std::uint16_t dtype;
    std::uint16_t flags = 0;
};

template <class T> atoll_scalar scalar(std::uint32_t dtype, T value) {
    atoll_scalar result{};
    result.dtype = dtype;
    std::memcpy(result.value.bytes, &value, sizeof value);
    return result;
}

// What not every call has.
struct CallOptions {
    std::vector<atoll_scalar> attributes = {}; // all of them
    std::vector<std::uint8_t> axes = {};       // of each slot; nothing: one, but for opaque ones
    void *stream = nullptr;
    std::int32_t device = 0;
};

// The device functions of one dummy plugin, one C++ function each.
struct Dummy {
    explicit Dummy(const std::string &settings_fault = "", const char *devices = "2",
                   const char *memory = "1048576")
        : plugin(
              (prepare(settings_fault, devices, memory), folder("DUMMY_DIR") + "atoll-dummy.so")) {}
    ~Dummy() { Host::instance().set("fault", ""); }

    static void prepare(const std::string &fault, const char *devices, const char *memory) {
        Host::instance().set("fault", fault);
        Host::instance().set("devices", devices);
        Host::instance().set("memory", memory);
    }
    void fault(const std::string &value) { Host::instance().set("fault", value); }

    template <class Params>
    Params device_call(std::uint16_t function, Params params, std::int32_t device, void *stream) {
        atoll_call call{};
        call.module = ATOLL_MODULE_DEVICE;
        call.function = function;
        call.device = device;
        call.stream = stream;
        params.struct_size = sizeof params;
        call.params = &params;
        plugin.call("device", call);
        return params;
    }
    char *allocate(std::uint64_t bytes, std::int32_t device = 0, void *stream = nullptr) {
        atoll_memory_params params{};
        params.bytes = bytes;
        return static_cast<char *>(
            device_call(ATOLL_DEVICE_FN_allocate, params, device, stream).data);
    }
    void free(void *data, std::uint64_t bytes, std::int32_t device = 0, void *stream = nullptr) {
        atoll_memory_params params{};
        params.bytes = bytes;
        params.data = data;
        device_call(ATOLL_DEVICE_FN_free, params, device, stream);
    }
    std::uint64_t free_memory(std::int32_t device = 0) {
        return device_call(ATOLL_DEVICE_FN_properties, atoll_properties_params{}, device, nullptr)
            .free_memory;
    }
    void transfer(std::uint32_t kind, void *to, const void *from, std::uint64_t bytes,
                  std::int32_t device = 0, void *stream = nullptr, std::int32_t peer = 0) {
        atoll_transfer_params params{};
        params.kind = kind;
        params.destination = to;
        params.source = from;
        params.bytes = bytes;
        params.peer = peer;
        device_call(ATOLL_DEVICE_FN_transfer, params, device, stream);
    }
    void *stream(std::int32_t device = 0) {
        return device_call(ATOLL_DEVICE_FN_stream_create, atoll_stream_params{}, device, nullptr)
            .stream;
    }
    void destroy_stream(void *stream) {
        device_call(ATOLL_DEVICE_FN_stream_destroy, atoll_stream_params{0, 0, stream}, 0, nullptr);
    }
    void synchronize(void *stream = nullptr, std::int32_t device = 0) {
        device_call(ATOLL_DEVICE_FN_stream_synchronize, atoll_stream_params{}, device, stream);
    }
    void *event() {
        return device_call(ATOLL_DEVICE_FN_event_create, atoll_event_params{}, 0, nullptr).event;
    }
    void event_call(std::uint16_t function, void *event, void *stream = nullptr,
                    std::int32_t device = 0) {
        device_call(function, atoll_event_params{0, 0, event}, device, stream);
    }
    void callback(void (*function)(void *, std::int32_t), void *argument, void *stream = nullptr) {
        device_call(ATOLL_DEVICE_FN_host_callback, atoll_callback_params{0, 0, function, argument},
                    0, stream);
    }

    template <class T>
    char *upload(const std::vector<T> &values, std::int32_t device = 0, void *stream = nullptr) {
        char *data = allocate(values.size() * sizeof(T), device, stream);
        transfer(ATOLL_TRANSFER_HOST_TO_DEVICE, data, values.data(), values.size() * sizeof(T),
                 device, stream);
        return data;
    }
    template <class T> std::vector<T> download(const void *data, std::size_t count,
                                               std::int32_t device = 0, void *stream = nullptr) {
        std::vector<T> values(count);
        transfer(ATOLL_TRANSFER_DEVICE_TO_HOST, values.data(), data, count * sizeof(T), device,
                 stream);
        synchronize(stream, device);
        return values;
    }

    void compute(std::uint16_t function, std::uint16_t dtype, std::vector<std::int64_t> shape,
                 std::vector<View> views, CallOptions options = {}) {
        const Atoll::sdk::Signature &signature = Atoll::sdk::core_functions[function].signature;
        std::vector<atoll_operand> operands;
        for (View &view : views) {
            if (view.flags & ATOLL_OPERAND_ABSENT) view.strides.resize(shape.size());
            operands.push_back({view.data,
                                view.strides.data(),
                                view.dtype,
                                view.flags,
                                options.device,
                                0,
                                view.data,
                                {7, 7, 7}});
        }
        atoll_call call{};
        call.module = ATOLL_MODULE_CORE;
        call.function = function;
        call.dtype = dtype;
        call.output_count = 1;
        call.operand_count = static_cast<std::uint16_t>(operands.size());
        call.attribute_count = static_cast<std::uint16_t>(options.attributes.size());
        if (operands.size() != signature.operand_count ||
            options.attributes.size() != signature.attribute_count)
            throw std::logic_error("not the operands and attributes of the signature");
        call.rank = static_cast<std::uint16_t>(shape.size());
        for (std::size_t slot = 0; slot < signature.slot_count; ++slot) {
            call.axes[slot] =
                options.axes.empty() ? !signature.slots[slot].opaque : options.axes[slot];
            call.core = static_cast<std::uint16_t>(call.core + call.axes[slot]);
        }
        call.shape = shape.data();
        call.operands = operands.data();
        call.attributes = options.attributes.data();
        call.device = options.device;
        call.stream = options.stream;
        std::fill_n(call.reserved, std::size(call.reserved), 7);
        plugin.call("core", call);
        // The plugin must have copied all of it.
        std::fill(shape.begin(), shape.end(), -77);
        std::fill(operands.begin(), operands.end(), atoll_operand{});
        for (View &view : views) std::fill(view.strides.begin(), view.strides.end(), -77);
        for (atoll_scalar &attribute : options.attributes)
            std::memset(&attribute, 0xee, sizeof attribute);
    }

    // function(a[, b]) over dense vectors.
    template <class R, class T>
    std::vector<R> elementwise(std::uint16_t function, std::uint16_t dtype, std::uint16_t result,
                               const std::vector<T> &a, const std::vector<T> *b = nullptr) {
        const auto count = static_cast<std::int64_t>(a.size());
        char *out = allocate(a.size() * sizeof(R)), *left = upload(a), *right = nullptr;
        std::vector<View> views{{out, {sizeof(R)}, result}, {left, {sizeof(T)}, dtype}};
        if (b) views.push_back({right = upload(*b), {sizeof(T)}, dtype});
        compute(function, dtype, {count}, views);
        std::vector<R> values = download<R>(out, a.size());
        free(out, a.size() * sizeof(R));
        free(left, a.size() * sizeof(T));
        if (b) free(right, a.size() * sizeof(T));
        return values;
    }

    Plugin plugin;
};

template <class Body> Failed failure(const Body &body) {
    try {
        body();
    } catch (const Failed &failed) {
        return failed;
    }
    return {ATOLL_STATUS_OK, "", ""};
}

inline bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// A task that holds a stream until it is opened.
struct Gate {
    std::atomic<bool> open{false}, reached{false};
    static void pass(void *self, std::int32_t) {
        auto &gate = *static_cast<Gate *>(self);
        gate.reached = true;
        while (!gate.open) std::this_thread::yield();
    }
};

using Complex128 = std::complex<double>;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

} // namespace FakeHost
