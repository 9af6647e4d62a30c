// Retiring plugins, loading them again, and modules whose interface and implementations come and go
// in every order.
#include "../plugin_tests.hpp"

#include <algorithm>
#include <array>
#include <thread>

using namespace Atoll;
using namespace plugin_tests;

namespace {

// Of the module `hello` on a device, this one included.
std::int64_t calls(const Device &device) {
    return Function("hello.calls")({}, {.device = device})[0].item().to_int();
}

// 2a + b where it is served, else the status.
Status try_scale_add(const char *device_name) {
    return caught([&] {
               const Placement where(float64, device(device_name));
               const Tensor result =
                   Function("hello.scale_add")({full({3}, 4.0, where), full({3}, 1.0, where)})[0];
               CHECK(result.to_vector<double>() == std::vector<double>(3, 9.0));
           })
        .status;
}

bool is_loaded(std::string_view name) {
    for (const PluginReport &report : load_report())
        if (report.name == name && report.loaded) return true;
    return false;
}

std::string join(const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &line : lines) text += (text.empty() ? "" : "; ") + line;
    return text;
}

} // namespace

TEST_CASE("a plugin stays while storages, streams or events of its devices live") {
    load_plugin("cpu");
    load_plugin("dummy");
    const auto refused = [](const char *alive) {
        const Caught error = caught([] { retire_plugin("dummy"); });
        CHECK(error.status == Status::busy);
        CHECK(error.function == "retire_plugin");
        CHECK_MESSAGE(contains(error.text, alive), error.text);
        CHECK(contains(error.text, "release the tensors first"));
        CHECK(is_loaded("dummy"));
    };
    const Device zero = device("dummy:0"), one = device("dummy:1");
    Tensor a = full({4}, 2.0, {float64, zero}), b = full({4}, 2.0, {float64, zero});
    Tensor view = a(0);
    refused("2 of dummy:0");
    Stream stream = one.new_stream();
    Event event = stream.record();
    refused("2 of dummy:0, 2 of dummy:1");
    // Refused means untouched: everything still works.
    CHECK(add(a, b).to_vector<double>() == std::vector<double>(4, 4.0));
    stream.synchronize();
    event.synchronize();
    a = {};
    refused("2 of dummy:0"); // the view keeps a's storage
    view = {};
    b = {};
    refused("plugin dummy cannot be retired while its storages, streams or events are alive: 2 of "
            "dummy:1");
    event = {};
    refused("1 of dummy:1");
    stream = {};
    // A result that is only on its way counts no more than its handle.
    { const Tensor gone = sqrt(full({1000}, 2.0, {float64, one})); }
    // What a thread that is no more made and left behind counts too.
    Tensor kept;
    std::thread([&] { kept = full({2}, 1.0, {float64, one}); }).join();
    refused("1 of dummy:1");
    std::thread([&] { kept = {}; }).join();
    // An empty storage is one as well; borrowed memory likewise.
    kept = empty({0}, {float64, zero});
    refused("1 of dummy:0");
    kept = {};
    retire_plugin("dummy");
    CHECK_FALSE(is_loaded("dummy"));
    double memory[2] = {1, 2};
    kept = from_memory(memory, {2}, {8}, float64, device("cpu"));
    CHECK(caught([] { retire_plugin("cpu"); }).status == Status::busy);
    kept = {};
    retire_plugin("cpu");
    CHECK(devices().empty());
    const Caught nothing = caught([] { retire_plugin("cpu"); });
    CHECK(nothing.status == Status::not_found);
    CHECK(contains(nothing.text, "loaded: none"));
    CHECK(contains(caught([] { zeros({2}); }).text, "Atoll::load_plugin(\"cpu\")"));
}

TEST_CASE("retire and load again works many times, also for handles from before") {
    load_plugin("cpu");
    load_plugin("dummy");
    const Device zero = device("dummy:0");
    const Stream default_stream = zero.default_stream();
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        {
            const Tensor t = full({64}, 9.0, {float64, zero});
            CHECK(sqrt(t).to_vector<double>() == std::vector<double>(64, 3.0));
            default_stream.synchronize();
        }
        retire_plugin("dummy");
        CHECK(devices() == std::vector<Device>{device("cpu")});
        for (const Caught &error :
             {caught([&] {
                  zeros({2}, {float64, zero});
              }),
              caught([&] { zero.synchronize(); }), caught([&] { zero.new_stream(); }),
              caught([&] { zero.properties(); }), caught([&] { default_stream.synchronize(); }),
              caught([&] { default_stream.record(); })}) {
            CHECK(error.status == Status::not_found);
            CHECK_MESSAGE(contains(error.text, "has been retired; load it again"), error.text);
        }
        CHECK(zero.name() == "dummy:0");
        load_plugin("dummy");
        CHECK(device("dummy:0") == zero);
        CHECK(devices().size() == 3);
        check_cpu_works();
    }
    // The cpu too, whose pool and allocator go and come; tensors of others live meanwhile.
    const Device cpu = device("cpu");
    const Tensor other = full({8}, 2.0, {float64, zero});
    for (int round = 0; round < 5; ++round) {
        retire_plugin("cpu");
        CHECK(caught([&] { zeros({2}, {float64, cpu}); }).status == Status::not_found);
        CHECK(square(other).to_vector<double>() == std::vector<double>(8, 4.0));
        load_plugin("cpu");
        CHECK(device("cpu") == cpu);
        check_cpu_works();
        const Tensor big = ones({300, 300}, {float32, cpu});
        CHECK(sum(matmul(big, big)).item().to_double() == 27'000'000.0);
    }
}

TEST_CASE("fewer or more devices may come back") {
    load_plugin("dummy");
    const Device one = device("dummy:1");
    retire_plugin("dummy");
    configure("dummy", "devices", "1");
    load_plugin("dummy");
    CHECK(device("dummy").name() == "dummy");
    CHECK(caught([] { device("dummy:1"); }).status == Status::not_found);
    CHECK(caught([&] { zeros({2}, {float64, one}); }).status == Status::not_found);
    CHECK(one.index() == 1);
    retire_plugin("dummy");
    configure("dummy", "devices", "3");
    load_plugin("dummy");
    CHECK(device("dummy:1") == one);
    CHECK(full({1}, 4.0, {float64, one}).item().to_double() == 4.0);
    CHECK(device("dummy:2").name() == "dummy:2");
    configure("dummy", "devices", "");
    retire_plugin("dummy");
}

TEST_CASE("an interface and its implementations load and retire in every order") {
    load_plugin("cpu");
    load_plugin("dummy");
    std::array<const char *, 3> in{"hello", "hello_cpu", "hello_dummy"};
    std::sort(in.begin(), in.end(), [](auto a, auto b) { return std::string_view(a) < b; });
    const auto served = [](const char *device, bool expected) {
        const Status status = try_scale_add(device);
        if (!is_loaded("hello"))
            CHECK(status == Status::not_found);
        else
            CHECK(status == (expected ? Status::ok : Status::not_supported));
    };
    const auto check = [&] {
        served("cpu", is_loaded("hello_cpu"));
        served("dummy", is_loaded("hello_dummy"));
        check_cpu_works();
    };
    do {
        std::array<const char *, 3> out{"hello", "hello_cpu", "hello_dummy"};
        do {
            CAPTURE(join({in[0], in[1], in[2], "then", out[0], out[1], out[2]}));
            for (const char *name : in) {
                load_plugin(name);
                check();
            }
            // State was opened afresh, once.
            for (const char *name : {"cpu", "dummy:0", "dummy:1"}) {
                const std::int64_t count = calls(device(name));
                const bool used = std::string_view(name) != "dummy:1"; // by check() above
                CHECK(used == (count > 1));
            }
            for (const char *name : out) {
                retire_plugin(name);
                check();
            }
        } while (std::next_permutation(out.begin(), out.end()));
    } while (std::next_permutation(in.begin(), in.end()));
    retire_plugin("dummy");
}

TEST_CASE("an implementation waits for its device type as well as for its module") {
    const PluginReport waiting = load_plugin("hello_dummy");
    CHECK(waiting.implements == std::vector<std::string>{"hello for dummy (waits for the module)"});
    load_plugin("hello");
    const auto now = load_report();
    CHECK(find_report(now, "atoll-hello-dummy.so")->implements ==
          std::vector<std::string>{"hello for dummy (waits for the device type)"});
    load_plugin("dummy");
    CHECK(calls(device("dummy:1")) == 1);
    CHECK(calls(device("dummy:1")) == 2);
    retire_plugin("dummy"); // closes the state of others on its devices
    const auto after = load_report();
    CHECK(find_report(after, "atoll-hello-dummy.so")->implements ==
          std::vector<std::string>{"hello for dummy (waits for the device type)"});
    load_plugin("dummy");
    CHECK(calls(device("dummy:1")) == 1);
    // A Function from before lives as long as its module does, and again when that comes back.
    const Function function("hello.calls");
    retire_plugin("hello");
    Caught error = caught([&] { function({}, {.device = device("dummy:0")}); });
    CHECK(error.status == Status::not_found);
    CHECK(contains(error.text, "has been retired; load its plugin again"));
    CHECK(function.support().empty());
    load_plugin("hello");
    CHECK(function.support().size() == 1);
    CHECK(calls(device("dummy:0")) == 1);
    for (const char *name : {"hello", "hello_dummy", "dummy"}) retire_plugin(name);
}

TEST_CASE("state per device is opened once and closed in reverse order") {
    const Variable path("ATOLL_PLUGIN_PATH",
                        std::string(std::getenv("ATOLL_PLUGIN_PATH")) + ":" + test_folder());
    load_plugin("cpu");
    load_plugin("dummy");
    LogCapture log;
    load_plugin("base_cpu");
    load_plugin("base_dummy");
    CHECK(join(log.take()) == "base_cpu: load 0; base_dummy: load 0");
    load_plugin(test_plugin("base"));
    CHECK(join(log.take()) ==
          "base: load 0; base_cpu: open 0; base_dummy: open 0; base_dummy: open 1");
    Function("base.ping")({}, {.device = device("dummy:1")});
    CHECK(join(log.take()) == "base_dummy: ping 1");
    retire_plugin("base");
    CHECK(join(log.take()) ==
          "base_dummy: close 1; base_dummy: close 0; base_cpu: close 0; base: unload 0");
    load_plugin(test_plugin("base"));
    log.take();
    // A device type takes the state of all implementations on it along.
    retire_plugin("dummy");
    CHECK(join(log.take()) == "base_dummy: close 1; base_dummy: close 0");
    load_plugin("dummy");
    CHECK(join(log.take()) == "base_dummy: open 0; base_dummy: open 1");
    retire_plugin("base_dummy");
    CHECK(join(log.take()) == "base_dummy: close 1; base_dummy: close 0; base_dummy: unload 0");
    retire_plugin("base_cpu");
    retire_plugin("base");
    CHECK(join(log.take()) == "base_cpu: close 0; base_cpu: unload 0; base: unload 0");
    retire_plugin("dummy");
}

TEST_CASE("an implementation for a newer module is left out until that comes") {
    load_plugin("cpu");
    load_plugin(test_plugin("base"));
    Caught error = caught([] { load_plugin(test_plugin("base_cpu_newer")); });
    CHECK(error.status == Status::incompatible);
    CHECK(contains(error.text, "needs version 2 of module base, which is version 1"));
    CHECK(contains(error.text, "update the plugin that defines the module"));
    CHECK(contains(error.text, test_plugin("base_cpu_newer")));
    retire_plugin("base");

    // In the other order the interface loads and the implementation is the one left out.
    load_plugin(test_plugin("base_cpu_newer"));
    load_plugin(test_plugin("base"));
    auto reports = load_report();
    CHECK(find_report(reports, "base_cpu_newer.so")->implements ==
          std::vector<std::string>{
              "base for cpu (refused: needs version 2 of module base, which is version 1; "
              "update the plugin that defines the module, or use an older build of this "
              "one)"});
    const Function ping("base.ping");
    CHECK(ping.support().empty());
    error = caught([&] { ping({}, {.device = device("cpu")}); });
    CHECK(error.status == Status::not_supported);
    retire_plugin("base");
    load_plugin(test_plugin("base_newer"));
    reports = load_report();
    CHECK(find_report(reports, "base_cpu_newer.so")->implements ==
          std::vector<std::string>{"base for cpu"});
    CHECK(ping.support().size() == 1);
    CHECK(caught([&] { ping({}, {.device = device("cpu")}); }).status == Status::ok);
    CHECK(Module("base").version() == 2);
    CHECK(Module("base").plugin() == "base_newer");
    CHECK(Module("base").function("ping").name() == "base.ping");
    CHECK_THROWS_AS(Module("base").function("pong"), Error);
    CHECK_THROWS_AS(Module("bass"), Error);
    // An implementation for an older version works with a newer one.
    load_plugin(test_plugin("base_cpu"));
    CHECK(ping.support().at(0).plugin == "base_cpu"); // the newest of equal priority
    for (const char *name : {"base_newer", "base_cpu", "base_cpu_newer"}) retire_plugin(name);
}

TEST_CASE("retire drains what is enqueued and tells of errors that nobody asked for") {
    load_plugin("dummy");
    LogCapture log;
    const Device zero = device("dummy:0");
    configure("dummy", "fault", "kernel:sqrt");
    { const Tensor lost = sqrt(full({4}, 1.0, {float64, zero})); }
    configure("dummy", "fault", "");
    retire_plugin("dummy");
    const std::string text = join(log.take());
    CHECK_MESSAGE(contains(text, "dummy:0: work failed whose result was never used"), text);
    load_plugin("dummy"); // the error went with it
    CHECK(sqrt(full({1}, 4.0, {float64, zero})).item().to_double() == 2.0);
    retire_plugin("dummy");
}
