// Every fault that the simulated device injects becomes an Error that names function and device;
// inputs and destinations stay as they were, nothing is left behind, and the device works again.
#include "../any_call.hpp"
#include "../any_output.hpp"
#include "../views.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace views;
using Atoll::Error;
using Atoll::Status;
using Atoll::Tensor;

namespace {

void set_fault(const std::string &setting) { Atoll::configure("dummy", "fault", setting); }

// Loads the plugins; at the end everything that the test made must be gone.
struct Session {
    Session() {
        Atoll::set_log_level("off"); // failures that nobody asks for are logged
        Atoll::load_plugin("cpu");
        set_fault("");
        Atoll::load_plugin("dummy");
    }
    ~Session() {
        set_fault("");
        CHECK_NOTHROW(Atoll::retire_plugin("dummy"));
        Atoll::set_log_level("warn");
    }
};

std::optional<Error> error_of(const std::function<void()> &body) {
    try {
        body();
    } catch (const Error &error) {
        return error;
    }
    return {};
}

#define CHECK_ERROR(error, expected_status, expected_function, expected_device)                    \
    do {                                                                                           \
        REQUIRE(error.has_value());                                                                \
        CAPTURE(std::string(error->what()));                                                       \
        CHECK(error->status() == expected_status);                                                 \
        CHECK(error->function() == expected_function);                                             \
        CHECK(error->device() == expected_device);                                                 \
        CHECK(error->plugin() == "dummy");                                                         \
    } while (false)

bool mentions(const std::optional<Error> &error, const std::string &text) {
    return error && std::string(error->what()).find(text) != std::string::npos;
}

std::vector<double> numbers(int count, double first) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double &value : values) value = first++;
    return values;
}
Tensor upload(const std::vector<double> &values, const Atoll::Placement &where) {
    return Atoll::from_values(values.data(), Atoll::float64,
                              static_cast<std::int64_t>(values.size()), where);
}

// Operands of one function of the module `core`, such that it alone is called.
struct Operation {
    int function;
    std::vector<double> before_a = numbers(9, 1), before_b = numbers(9, 3), before_out;
    Tensor a, b, out;

    explicit Operation(int function, Atoll::Device device) : function(function) {
        // Unsigned where floats have no meaning: their counts need no check of their own.
        const bool integers = !(functions[function].domain & ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64));
        const Atoll::DType dtype = integers ? Atoll::uint64 : Atoll::float64;
        a = upload(before_a, {dtype, device}).reshape({3, 3});
        b = upload(before_b, {dtype, device}).reshape({3, 3});
        const bool vector = gives_vector(function);
        // Of the result's dtype, so that nothing else need be called.
        const Atoll::DType result = call_any(function, a.replicate(), b).dtype();
        before_out = numbers(vector ? 3 : 9, 0);
        if (result == Atoll::bool_)
            for (double &value : before_out) value = static_cast<int>(value) % 2;
        out = upload(before_out, {Atoll::float64, device}).cast(result);
        if (!vector) out = out.reshape({3, 3});
        out.stream().synchronize();
    }
    // Some make their result, the index they need, or bools of the mask.
    bool allocates_first() const {
        return !takes_out(function) || functions[function].form == Form::scatter ||
               function == ATOLL_FN_where;
    }

    void call() const {
        call_any(function, a, b, takes_out(function) ? Atoll::Out(out) : Atoll::Out());
    }
    bool inputs_unchanged() const {
        return a.to_doubles() == before_a && b.to_doubles() == before_b;
    }
    bool output_unchanged() const { return out.to_doubles() == before_out; }
    // It works, and does something.
    bool works() const {
        call();
        const std::vector<double> again = out.to_doubles();
        return !takes_out(function) || again != before_out;
    }
};

} // namespace

TEST_CASE("a function that fails at the call is an error and changes nothing") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0");
    struct Kind {
        std::string fault;
        Status status;
        std::string text;
    };
    const Kind kinds[] = {{"enqueue", Status::kernel_failed, "injected fault enqueue:"},
                          {"throw", Status::internal, "injected fault throw:"},
                          {"status", Status::plugin_fault, "status 9999, which does not exist"},
                          {"lost", Status::device_lost, "injected fault lost"}};
    for (int function = 0; function < static_cast<int>(std::size(functions)); ++function) {
        const Operation operation(function, device);
        for (const Kind &kind : kinds) {
            const std::string name = std::string("core.") + functions[function].name;
            CAPTURE(name);
            CAPTURE(kind.fault);
            const bool steps = operation.allocates_first(); // a lost device shows there
            const bool lost = kind.fault == "lost";
            set_fault(lost ? kind.fault : kind.fault + ':' + functions[function].name);
            const auto error = error_of([&] { operation.call(); });
            set_fault("");
            CHECK_ERROR(error, kind.status, (lost && steps ? "device.allocate" : name), "dummy:0");
            CHECK(mentions(error, kind.text));
            const std::string text = error->what(); // says once where
            CHECK(text.find("dummy:0") == text.rfind("dummy:0"));
            CHECK(operation.inputs_unchanged());
            CHECK(operation.output_unchanged());
        }
        CHECK(operation.works());
    }
}

TEST_CASE("a kernel that fails later is reported by the next synchronisation, once, by its name") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0");
    for (int function = 0; function < static_cast<int>(std::size(functions)); ++function) {
        const std::string name = std::string("core.") + functions[function].name;
        CAPTURE(name);
        const Operation operation(function, device);
        set_fault("kernel:" + name);
        CHECK_NOTHROW(operation.call());
        set_fault("");
        const auto error = error_of([&] { device.synchronize(); });
        CHECK_ERROR(error, Status::kernel_failed, name, "dummy:0");
        CHECK(mentions(error, "reported by device.stream_synchronize"));
        CHECK_NOTHROW(device.synchronize());
        CHECK(operation.inputs_unchanged());
        CHECK(operation.output_unchanged());
        CHECK(operation.works());
    }
}

TEST_CASE("a failure travels with events to the streams that depend on it") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0");
    const Atoll::Stream one = device.new_stream(), two = device.new_stream();
    const Tensor a = upload(numbers(4, 1), {Atoll::float64, device, one}),
                 b = upload(numbers(4, 1), {Atoll::float64, device, two});
    set_fault("kernel:square");
    const Tensor squares = square(a);
    set_fault("");
    const Tensor sum = add(b, squares); // on b's stream
    const auto error = error_of([&] { two.synchronize(); });
    CHECK_ERROR(error, Status::kernel_failed, "core.square", "dummy:0");
    CHECK_NOTHROW(one.synchronize());

    set_fault("kernel:square");
    const Tensor again = square(a);
    set_fault("");
    const auto by_event = error_of([&] { one.record().synchronize(); });
    CHECK_ERROR(by_event, Status::kernel_failed, "core.square", "dummy:0");
    // Reading is a synchronisation, too.
    set_fault("kernel:square");
    const Tensor read = square(a);
    set_fault("");
    const auto by_read = error_of([&] { read.to_doubles(); });
    CHECK_ERROR(by_read, Status::kernel_failed, "core.square", "dummy:0");
    CHECK(a.to_doubles() == numbers(4, 1));
}

TEST_CASE("transfers that fail are reported and leave their destination alone") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0"), other = Atoll::device("dummy:1");
    Tensor there = upload(numbers(4, 1), {Atoll::float64, device});
    Tensor here = upload(numbers(4, 5), {Atoll::float64, Atoll::device("cpu")});
    Tensor beside = upload(numbers(4, 9), {Atoll::float64, other});
    for (const Atoll::Device &d : {device, other}) d.synchronize();

    set_fault("transfer");
    auto down = error_of([&] { here.assign(there); });
    CHECK_ERROR(down, Status::kernel_failed, "device.transfer", "dummy:0");
    CHECK(here.to_doubles() == numbers(4, 5));

    CHECK_NOTHROW(there.assign(here));
    const auto up = error_of([&] { device.synchronize(); });
    CHECK_ERROR(up, Status::kernel_failed, "device.transfer", "dummy:0");

    CHECK_NOTHROW(beside.assign(there));
    const auto across = error_of([&] { other.synchronize(); });
    CHECK_ERROR(across, Status::kernel_failed, "device.transfer", "dummy:1");
    set_fault("");
    CHECK_NOTHROW(device.synchronize());
    CHECK(there.to_doubles() == numbers(4, 1));
    CHECK(beside.to_doubles() == numbers(4, 9));
}

TEST_CASE("memory of the host is no longer in use when a transfer has failed") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0"), cpu = Atoll::device("cpu");
    using Fails = std::int32_t(const atoll_link *, atoll_call *);
    struct Kind {
        const char *function;
        Fails *fails;
    };
    const Kind kinds[] = {
        {"device.transfer@dummy",
         [](const atoll_link *self, atoll_call *call) -> std::int32_t {
             self->next->fn(self->next, call);
             return 9999;
         }},
        {"device.transfer@dummy",
         [](const atoll_link *self, atoll_call *call) -> std::int32_t {
             self->next->fn(self->next, call);
             throw std::runtime_error("once it is enqueued");
         }},
        {"device.transfer@dummy",
         [](const atoll_link *self, atoll_call *call) -> std::int32_t {
             self->next->fn(self->next, call);
             return ATOLL_STATUS_OUT_OF_MEMORY; // the interposer's own
         }},
        {"device.stream_synchronize@dummy", [](const atoll_link *, atoll_call *) -> std::int32_t {
             return ATOLL_STATUS_KERNEL_FAILED;
         }}};
    const std::vector<double> before = numbers(4, 5);
    const Tensor there = upload(numbers(4, 1), {Atoll::float64, device});
    Tensor here = upload(before, {Atoll::float64, cpu});
    const auto is_left_alone = [&](double *memory, const std::function<void()> &transfer) {
        for (const Kind &kind : kinds) {
            CAPTURE(kind.function);
            device.synchronize();
            set_fault("latency:5000");
            const auto handle = Atoll::push_interposer(kind.function, kind.fails, nullptr);
            const auto error = error_of(transfer);
            std::ranges::copy(before, memory); // its owner goes on
            Atoll::pop_interposer(handle);
            set_fault("");
            CHECK((error || kind.function == kinds[3].function));
            device.synchronize();
            CHECK(std::ranges::equal(before, std::span(memory, 4)));
        }
    };
    std::vector<double> values(4);
    is_left_alone(values.data(), [&] { there.read(values.data(), Atoll::float64); });
    is_left_alone(static_cast<double *>(here.data()), [&] { here.assign(there); });

    // A transfer that keeps its source reads it until it has failed.
    const Tensor kept(Atoll::Storage::pinned(32, device), 0, {4}, {8}, Atoll::float64);
    kept.shallow_copy().assign(here);
    for (const Kind &kind : std::span(kinds, 3)) {
        set_fault("latency:5000");
        const auto handle = Atoll::push_interposer(kind.function, kind.fails, nullptr);
        CHECK(error_of([&] { enqueue_copy(there, kept); }));
        Atoll::pop_interposer(handle);
        set_fault("");
        std::fill_n(static_cast<double *>(kept.data()), 4, 0);
        CHECK(there.to_doubles() == before);
        kept.shallow_copy().assign(here);
    }
}

TEST_CASE("a temporary that cannot be had leaves operands and destination as they were") {
    const Session session;
    const AnyOutput any_output;
    const Atoll::Device device = Atoll::device("dummy:0");
    using Atoll::float64;
    struct Entry {
        std::string name;
        std::function<void(const Tensor &a, const Tensor &out)> call;
    };
    const Entry entries[] = {
        {"mixed dtypes", [](const Tensor &a, const Tensor &out) { add(a.real(), a, out); }},
        {"in place", [](const Tensor &, Tensor out) { out += out.T(); }},
        {"an own dtype", [](const Tensor &a, const Tensor &out) { multiply(a, 2.5, out); }},
        {"swapped",
         [](const Tensor &a, const Tensor &out) { subtract(a.clone().byteswap(), a, out); }},
        {"assign", [](const Tensor &, Tensor out) { out.assign(out.T()); }},
        {"to the host", [](const Tensor &a, const Tensor &) { a.T().to_doubles(); }},
        {"from the other device",
         [](const Tensor &a, Tensor out) { out.assign(a.T().to(Atoll::device("dummy:1"))); }},
        {"reduction", [](const Tensor &a, const Tensor &out) { Atoll::sum(a, 0, {}, out(0)); }},
        {"product", [](const Tensor &a, const Tensor &out) { matmul(a, out, out); }},
        {"gemm", [](const Tensor &a,
                    const Tensor &out) { gemm(2, out, Atoll::Op::C, a, Atoll::Op::T, 1, out); }},
    };
    for (const Entry &entry : entries) {
        CAPTURE(entry.name);
        const Tensor a =
            upload(numbers(9, 1), {float64, device}).reshape({3, 3}).cast(Atoll::complex64);
        const Tensor out = upload(numbers(9, 5), {float64, device}).reshape({3, 3});
        device.synchronize();
        int failures = 0;
        for (int n = 1; n < 50; ++n) {
            set_fault("allocate:" + std::to_string(n));
            const auto error = error_of([&] { entry.call(a, out); });
            set_fault("");
            if (!error) break;
            ++failures;
            REQUIRE(n < 20);
            const bool other = error->device() == "dummy:1";
            CHECK_ERROR(error, Status::out_of_memory, "device.allocate",
                        (other ? "dummy:1" : "dummy:0"));
            CHECK(mentions(error, "injected fault allocate:"));
            CHECK(a.to_doubles() == numbers(9, 1));
            CHECK(out.to_doubles() == numbers(9, 5));
            CHECK_NOTHROW(device.synchronize());
        }
        CHECK(failures > 0);
    }
}

TEST_CASE(
    "streams and events that cannot be made are errors, and calls on several streams unharmed") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0");
    const Atoll::Stream stream = device.new_stream();
    const Tensor a = upload(numbers(4, 1), {Atoll::float64, device, stream}),
                 out = upload(numbers(4, 5), {Atoll::float64, device});

    set_fault("stream_create");
    CHECK_ERROR(error_of([&] { device.new_stream(); }), Status::out_of_memory,
                "device.stream_create", "dummy:0");
    set_fault("event_create");
    CHECK_ERROR(error_of([&] { stream.record(); }), Status::out_of_memory, "device.event_create",
                "dummy:0");
    set_fault("");
    // Two streams have to be ordered.
    for (const std::string kind : {"enqueue:", "throw:", "status:"}) {
        CAPTURE(kind);
        set_fault(kind + "stream_order");
        const auto error = error_of([&] { square(a, out); });
        set_fault("");
        REQUIRE(error);
        CHECK(error->function() == "device.stream_order");
        CHECK(error->device() == "dummy:0");
        CHECK(out.to_doubles() == numbers(4, 5));
        CHECK(a.to_doubles() == numbers(4, 1));
    }
    square(a, out);
    CHECK(out.to_doubles() == std::vector<double>{1, 4, 9, 16});
}

namespace {
struct FailSecond {
    int calls = 0;
    static std::int32_t call(const atoll_link *self, atoll_call *call) {
        if (++static_cast<FailSecond *>(self->ctx)->calls == 2) return ATOLL_STATUS_KERNEL_FAILED;
        return self->next->fn(self->next, call);
    }
};
} // namespace

TEST_CASE("who cannot wait for the readers of what it writes fails before it has written") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0"), other = Atoll::device("dummy:1");
    Tensor a = upload(numbers(4, 1), {Atoll::float64, device, device.new_stream()}),
           out = upload(numbers(4, 5), {Atoll::float64, device}),
           beside = upload(numbers(4, 5), {Atoll::float64, other});
    // The first use orders the call after its operands, the second who writes to them next.
    for (Tensor destination : {out, beside}) {
        FailSecond fail;
        const auto handle =
            Atoll::push_interposer("device.stream_order@dummy", &FailSecond::call, &fail);
        set_fault("latency:1000");
        destination.assign(a);
        auto error = error_of([&] { a.fill(0); });
        CHECK(fail.calls == 2);
        Atoll::pop_interposer(handle);
        REQUIRE(error);
        CHECK(error->function() == "device.stream_order");
        CHECK(a.to_doubles() == numbers(4, 1));
        a.fill(0); // must not overtake
        set_fault("");
        CHECK(destination.to_doubles() == numbers(4, 1));
        CHECK(a.to_doubles() == std::vector<double>(4, 0));
        a.assign(upload(numbers(4, 1), {Atoll::float64, device, a.stream()}));
    }
}

TEST_CASE("every function of the device that fails gives an error or a warning with its name") {
    const Session session;
    const Atoll::Device device = Atoll::device("dummy:0");
    enum Outcome { error, warning /* of destructors */, nothing };
    struct Entry {
        std::string function;
        std::function<void(const Atoll::Stream &, const Tensor &)> call;
        Outcome outcome = Outcome::error;
    };
    const Entry entries[] = {
        {"properties", [&](auto &, auto &) { device.properties(); }},
        {"facts", [&](auto &, auto &) { device.facts(); }},
        {"allocate",
         [&](auto &, auto &) {
             Atoll::empty({3}, {Atoll::float64, device});
         }},
        {"free",
         [&](auto &, auto &) {
             Atoll::empty({3}, {Atoll::float64, device});
         },
         warning},
        {"transfer", [&](auto &, auto &t) { t.to_doubles(); }},
        {"stream_create", [&](auto &, auto &) { device.new_stream(); }},
        {"stream_destroy", [&](auto &, auto &) { device.new_stream(); }, warning},
        {"stream_synchronize", [&](auto &s, auto &) { s.synchronize(); }},
        {"stream_synchronize", [&](auto &, auto &t) { t.to_doubles(); }},
        {"event_create", [&](auto &s, auto &) { s.record(); }},
        {"event_destroy", [&](auto &s, auto &) { s.record(); }, warning},
        {"event_record", [&](auto &s, auto &) { s.record(); }},
        {"event_wait", [&](auto &s, auto &) { s.wait(device.default_stream().record()); }},
        {"event_synchronize", [&](auto &s, auto &) { s.record().synchronize(); }},
        {"event_time", [&](auto &s, auto &) { s.record().time(); }},
        {"native_handle", [&](auto &s, auto &) { s.native_handle(1); }},
        {"allocate_host", [&](auto &, auto &) { Atoll::Storage::pinned(8, device); }},
        {"free_host", [&](auto &, auto &) { Atoll::Storage::pinned(8, device); }, warning},
        {"event_query", [&](auto &s, auto &) { s.record().done(); }, nothing},
    };
    const Atoll::ScopedSettings scope(
        [](Atoll::Settings &settings) { settings.warning_mode = Atoll::WarningMode::always; });
    std::vector<std::string> warnings;
    Atoll::set_warning_handler([&](const Atoll::Warning &raised) {
        CHECK(raised.text.starts_with("on dummy:0 (plugin dummy): "));
        warnings.emplace_back(raised.function);
        throw std::runtime_error("from a handler"); // does not leave a destructor
    });
    const Atoll::Stream stream = device.new_stream();
    const Tensor tensor = upload(numbers(4, 1), {Atoll::float64, device, stream});
    for (const Entry &entry : entries)
        for (const std::string kind : {"enqueue:", "throw:", "status:"}) {
            CAPTURE(kind + entry.function);
            // Work under way while it fails.
            set_fault("latency:2000");
            const Tensor busy = square(tensor);
            set_fault(kind + entry.function);
            warnings.clear();
            const auto error = error_of([&] { entry.call(stream, tensor); });
            set_fault("");
            CHECK(warnings ==
                  std::vector<std::string>(entry.outcome == warning, "device." + entry.function));
            if (entry.outcome != Outcome::error) {
                CHECK(!error);
            } else {
                REQUIRE(error);
                CHECK(error->status() == (kind == "enqueue:" ? Status::kernel_failed
                                          : kind == "throw:" ? Status::internal
                                                             : Status::plugin_fault));
                CHECK(error->function() == "device." + entry.function);
                CHECK(error->device() == "dummy:0");
                CHECK(error->plugin() == "dummy");
            }
            CHECK(tensor.to_doubles() == numbers(4, 1));
            CHECK(busy.to_doubles() == std::vector<double>{1, 4, 9, 16});
        }
    Atoll::set_warning_handler({});
}

TEST_CASE("a lost device refuses work, gives back what it has, and works when it is found again") {
    const Session session;
    const Atoll::Device first = Atoll::device("dummy:0"), second = Atoll::device("dummy:1");
    Tensor a = upload(numbers(4, 1), {Atoll::float64, first}),
           b = upload(numbers(4, 5), {Atoll::float64, second});
    {
        const Atoll::Stream stream = second.new_stream();
        const Tensor dropped = upload(numbers(4, 1), {Atoll::float64, second, stream});
        const Atoll::Event event = stream.record();
        set_fault("lost:1");
        CHECK_ERROR(error_of([&] { square(b); }), Status::device_lost, "device.allocate",
                    "dummy:1");
        CHECK_ERROR(error_of([&] { b += b; }), Status::device_lost, "core.add", "dummy:1");
        CHECK_ERROR(error_of([&] { b.to_doubles(); }), Status::device_lost, "device.transfer",
                    "dummy:1");
        CHECK_ERROR(error_of([&] { second.synchronize(); }), Status::device_lost,
                    "device.stream_synchronize", "dummy:1");
        CHECK_ERROR(error_of([&] { event.synchronize(); }), Status::device_lost,
                    "device.event_synchronize", "dummy:1");
        CHECK_ERROR(error_of([&] { a.to(second); }), Status::device_lost, "device.allocate",
                    "dummy:1");
        // The other device does not notice.
        CHECK((a + a).to_doubles() == std::vector<double>{2, 4, 6, 8});
    } // gives back while lost
    set_fault("");
    CHECK(b.to_doubles() == numbers(4, 5));
    CHECK((b + b).to_doubles() == std::vector<double>{10, 12, 14, 16});
}

TEST_CASE("memory that really runs out says how much there is, and comes back") {
    const Session session;
    Atoll::retire_plugin("dummy");
    Atoll::configure("dummy", "memory", "4096");
    Atoll::load_plugin("dummy");
    {
        const Atoll::Device device = Atoll::device("dummy:0");
        const Tensor half = Atoll::zeros({256}, {Atoll::float64, device}); // 2048 bytes
        const auto error = error_of([&] { Atoll::zeros({300}, {Atoll::float64, device}); });
        CHECK_ERROR(error, Status::out_of_memory, "device.allocate", "dummy:0");
        CHECK(mentions(error, "asked for 2400 bytes, 2048 of 4096 bytes are free"));
        // Whoever frees as much as he takes never runs out, however slow the device is.
        set_fault("latency:300");
        Tensor turn = half;
        for (int i = 0; i < 50; ++i) {
            turn = Tensor();
            turn = Atoll::negative(half);
        }
        CHECK(turn.to_doubles() == std::vector<double>(256, -0.0));
    }
    Atoll::configure("dummy", "memory", "");
}

TEST_CASE("a setting that makes no sense is an error that quotes it") {
    const Session session;
    Tensor a = upload(numbers(4, 1), {Atoll::float64, Atoll::device("dummy:0")});
    for (const std::string setting : {"nonsense", "allocate:x", "kernel", "latency:", "lost:x"}) {
        CAPTURE(setting);
        set_fault(setting);
        auto error = error_of([&] { a += a; });
        set_fault("");
        CHECK_ERROR(error, Status::invalid_argument, "core.add", "dummy:0");
        CHECK(mentions(error, "cannot understand '" + setting + "'"));
        CHECK(a.to_doubles() == numbers(4, 1));
    }
}

TEST_CASE("retiring is refused while objects live and says how many") {
    const Session session;
    {
        const Tensor a = upload(numbers(4, 1), {Atoll::float64, Atoll::device("dummy:0")});
        const auto error = error_of([&] { Atoll::retire_plugin("dummy"); });
        REQUIRE(error);
        CHECK(error->status() == Status::busy);
        CHECK(mentions(error, "1 of dummy:0"));
    }
}
