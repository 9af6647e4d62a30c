// The plugin `dummy` alone: memory, streams, events, errors, injected faults.
#include "device.hpp"
#include "memory_is_gone.hpp"

#include <csignal>
#include <memory>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace FakeHost;

TEST_CASE("declares every core function on its whole domain, and what it takes") {
    Dummy dummy;
    for (const Atoll::sdk::FunctionLine &line : Atoll::sdk::core_functions) {
        CAPTURE(line.name);
        const atoll_function_decl *function = dummy.plugin.find("core", line.id);
        REQUIRE(function);
        CHECK(function->dtypes == line.domain);
        CHECK(function->attributes == line.signature.attribute_count);
        CHECK(function->inputs == static_cast<std::uint32_t>(line.signature.input_count()));
        CHECK(((function->caps & ATOLL_CAP_MIXED_INPUTS) != 0) ==
              (line.signature.exact || line.id == ATOLL_FN_copy));
        if (line.signature.slot_count > 0)
            CHECK((~function->caps & (ATOLL_CAP_STRIDED | ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS)) ==
                  0);
    }
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc)                                     \
    CHECK(dummy.plugin.find("device", id) != nullptr);
#include "atoll/lists/device_functions.inc"
}

TEST_CASE("the minimal variant declares capabilities for copy only") {
    Dummy::prepare("", "1", "1048576");
    Plugin minimal(folder("DUMMY_MIN_DIR") + "atoll-dummy-min.so");
    CHECK(minimal.descriptor->name == std::string("dummy_min"));
    CHECK(minimal.descriptor->device_types[0]->name == std::string("dummy_min"));
    for (std::uint16_t id = 0; id < ATOLL_FN_COUNT; ++id)
        CHECK((minimal.find("core", id)->caps != 0) == (id == ATOLL_FN_copy));
}

TEST_CASE("memory faults when the host touches it") {
    Dummy dummy;
    char *data = dummy.allocate(64);
    for (const bool write : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
            // The sanitizers' and doctest's handlers would report; the default one just ends.
            std::signal(SIGSEGV, SIG_DFL);
            volatile char *memory = data;
            if (write)
                *memory = 1;
            else
                (void)*memory;
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == SIGSEGV);
    }
}

TEST_CASE("allocations are aligned, disjoint, limited, and come back") {
    Dummy dummy;
    const std::uint64_t total = dummy.free_memory();
    CHECK(total == 1048576);
    std::mt19937 random(1);
    std::vector<std::pair<char *, std::uint64_t>> blocks;
    for (int round = 0; round < 2000; ++round) {
        if (blocks.size() < 20 && random() % 2) {
            const std::uint64_t bytes = 1 + random() % 20000;
            char *data = dummy.allocate(bytes);
            CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
            for (const auto &[other, size] : blocks)
                CHECK((data + bytes <= other || other + size <= data));
            blocks.emplace_back(data, bytes);
        } else if (!blocks.empty()) {
            const std::size_t i = random() % blocks.size();
            dummy.free(blocks[i].first, blocks[i].second);
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    for (const auto &[data, bytes] : blocks) dummy.free(data, bytes);
    dummy.synchronize();
    CHECK(dummy.free_memory() == total);
    char *all = dummy.allocate(total); // the gaps have grown together again
    const Failed failed = failure([&] { dummy.allocate(100); });
    CHECK(failed.status == ATOLL_STATUS_OUT_OF_MEMORY);
    CHECK(has(failed.what(), "dummy:0"));
    CHECK(has(failed.what(), "100 bytes"));
    CHECK(has(failed.what(), " 0 of 1048576"));
    CHECK(failure([&] { dummy.allocate(std::uint64_t(-1)); }).status == ATOLL_STATUS_OUT_OF_MEMORY);
    dummy.free(all, total);
    CHECK(failure([&] { dummy.free(all, total); }).status == ATOLL_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("free takes effect after the work before it") {
    Dummy dummy;
    const std::uint64_t total = dummy.free_memory();
    Gate gate;
    void *stream = dummy.stream();
    char *data = dummy.allocate(total, 0, stream);
    dummy.callback(Gate::pass, &gate, stream);
    dummy.free(data, total, 0, stream);
    CHECK(dummy.free_memory() == 0);
    std::thread opener([&] { gate.open = true; });
    char *again = dummy.allocate(total); // waits for what is on its way back
    opener.join();
    CHECK(again == data);
    dummy.destroy_stream(stream);
}

TEST_CASE("operands outside the device's memory are refused") {
    Dummy dummy;
    char *out = dummy.allocate(64), *in = dummy.allocate(64), *other = dummy.allocate(64, 1);
    std::vector<char> host(64);
    const auto square = [&](void *to, void *from, std::int64_t step) {
        return failure([&] {
            dummy.compute(ATOLL_FN_square, ATOLL_DTYPE_FLOAT64, {8},
                          {{to, {8}, ATOLL_DTYPE_FLOAT64}, {from, {step}, ATOLL_DTYPE_FLOAT64}});
        });
    };
    CHECK(square(out, in, 8).status == ATOLL_STATUS_OK);
    CHECK(square(out, in + 56, -8).status == ATOLL_STATUS_OK);
    CHECK(square(out, in + 8, 0).status == ATOLL_STATUS_OK);
    CHECK(square(out, in + 8, 8).status == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(square(out, in + 48, -8).status == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(square(out, other, 8).status == ATOLL_STATUS_INVALID_ARGUMENT);
    const Failed failed = square(host.data(), in, 8);
    CHECK(failed.status == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(has(failed.what(), "core.square"));
    CHECK(has(failed.what(), "dummy:0"));
    dummy.free(in, 64);
    CHECK(has(square(out, in, 8).what(), "[core.square] operand 1"));
    CHECK(failure([&] {
              dummy.transfer(ATOLL_TRANSFER_HOST_TO_DEVICE, out, host.data(), 65);
          }).status == ATOLL_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("calls enqueue and return; streams run concurrently; events order them") {
    Dummy dummy;
    void *first = dummy.stream(0), *second = dummy.stream(1);
    void *event = dummy.event();
    std::vector<double> source{1, 2, 3, 4};
    char *a = dummy.allocate(32, 0, first), *b = dummy.allocate(32, 1, second);
    Gate gate;
    dummy.event_call(ATOLL_DEVICE_FN_event_query, event); // never recorded: done
    dummy.callback(Gate::pass, &gate, first);
    dummy.transfer(ATOLL_TRANSFER_HOST_TO_DEVICE, a, source.data(), 32, 0, first);
    std::fill(source.begin(), source.end(), -1); // was staged
    dummy.event_call(ATOLL_DEVICE_FN_event_record, event, first);
    dummy.event_call(ATOLL_DEVICE_FN_event_wait, event, second, 1);
    dummy.transfer(ATOLL_TRANSFER_DEVICE_TO_DEVICE, b, a, 32, 1, second, 0);
    std::vector<double> result(4, 0);
    dummy.transfer(ATOLL_TRANSFER_DEVICE_TO_HOST, result.data(), b, 32, 1, second);
    CHECK(failure([&] { dummy.event_call(ATOLL_DEVICE_FN_event_query, event); }).status ==
          ATOLL_STATUS_NOT_READY);
    dummy.synchronize(nullptr, 1); // other streams are not held up
    gate.open = true;
    dummy.event_call(ATOLL_DEVICE_FN_event_synchronize, event);
    dummy.event_call(ATOLL_DEVICE_FN_event_query, event);
    dummy.event_call(ATOLL_DEVICE_FN_event_destroy, event);
    dummy.synchronize(second, 1);
    CHECK(result == std::vector<double>{1, 2, 3, 4});
    dummy.destroy_stream(first);
    dummy.destroy_stream(second);
}

TEST_CASE("a stream of another device is refused") {
    Dummy dummy;
    void *stream = dummy.stream(0);
    const Failed failed = failure([&] { dummy.synchronize(stream, 1); });
    CHECK(failed.status == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(has(failed.what(), "dummy:0"));
    CHECK(has(failed.what(), "dummy:1"));
    CHECK(failure([&] { dummy.synchronize(nullptr, 2); }).status == ATOLL_STATUS_INVALID_ARGUMENT);
    dummy.destroy_stream(stream);
}

TEST_CASE("one stream keeps the order of arrival") {
    Dummy dummy;
    char *x = dummy.upload(std::vector<std::int64_t>{1});
    for (int i = 0; i < 500; ++i)
        dummy.compute(
            ATOLL_FN_add, ATOLL_DTYPE_INT64, {},
            {{x, {}, ATOLL_DTYPE_INT64}, {x, {}, ATOLL_DTYPE_INT64}, {x, {}, ATOLL_DTYPE_INT64}}),
            dummy.compute(ATOLL_FN_square, ATOLL_DTYPE_INT64, {},
                          {{x, {}, ATOLL_DTYPE_INT64}, {x, {}, ATOLL_DTYPE_INT64}});
    std::uint64_t expected = 1;
    for (int i = 0; i < 500; ++i) expected *= 2, expected *= expected;
    CHECK(dummy.download<std::uint64_t>(x, 1)[0] == expected);
}

TEST_CASE("threads use one device at the same time") {
    Dummy dummy;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            void *stream = t % 2 ? dummy.stream() : nullptr;
            for (int i = 0; i < 100; ++i) {
                const std::vector<float> values(50, static_cast<float>(t + i));
                char *in = dummy.upload(values, 0, stream), *out = dummy.allocate(200, 0, stream);
                dummy.compute(ATOLL_FN_add, ATOLL_DTYPE_FLOAT32, {50},
                              {{out, {4}, ATOLL_DTYPE_FLOAT32},
                               {in, {4}, ATOLL_DTYPE_FLOAT32},
                               {in, {4}, ATOLL_DTYPE_FLOAT32}},
                              {.stream = stream});
                if (dummy.download<float>(out, 50, 0, stream) !=
                    std::vector<float>(50, 2 * static_cast<float>(t + i)))
                    ++wrong;
                dummy.free(in, 200, 0, stream);
                dummy.free(out, 200, 0, stream);
            }
            if (stream) dummy.destroy_stream(stream);
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("a failing kernel surfaces once, at the next synchronisation, with its name") {
    Dummy dummy;
    char *x = dummy.upload(std::vector<float>{1, 2});
    const auto add = [&](void *stream = nullptr) {
        const View view{x, {4}, ATOLL_DTYPE_FLOAT32};
        dummy.compute(ATOLL_FN_add, ATOLL_DTYPE_FLOAT32, {2}, {view, view, view},
                      {.stream = stream});
    };
    for (const char *setting : {"kernel:add", "kernel:core.add"}) {
        dummy.fault(setting);
        add();
        dummy.fault("");
        const Failed failed = failure([&] { dummy.synchronize(); });
        CHECK(failed.status == ATOLL_STATUS_KERNEL_FAILED);
        CHECK(failed.function == "core.add");
        CHECK(has(failed.what(), "injected fault kernel:")); // the host adds what and where
        dummy.synchronize();
    }
    CHECK(dummy.download<float>(x, 2) == std::vector<float>{1, 2}); // untouched
    add();
    CHECK(dummy.download<float>(x, 2) == std::vector<float>{2, 4});

    SUBCASE("through an event, also on a stream that waited for it, but once in all") {
        void *other = dummy.stream(1), *event = dummy.event();
        dummy.fault("kernel:add");
        add();
        dummy.fault("");
        dummy.event_call(ATOLL_DEVICE_FN_event_record, event);
        dummy.event_call(ATOLL_DEVICE_FN_event_wait, event, other, 1);
        SUBCASE("event first") {
            CHECK(failure([&] {
                      dummy.event_call(ATOLL_DEVICE_FN_event_synchronize, event);
                  }).function == "core.add");
            dummy.synchronize(other, 1);
        }
        SUBCASE("waiting stream first") {
            CHECK(failure([&] { dummy.synchronize(other, 1); }).function == "core.add");
            dummy.event_call(ATOLL_DEVICE_FN_event_synchronize, event);
        }
        dummy.synchronize();
        dummy.destroy_stream(other);
        dummy.event_call(ATOLL_DEVICE_FN_event_destroy, event);
    }
    SUBCASE("callbacks run all the same, and hear of it") {
        static std::atomic<int> status;
        status = -1;
        dummy.fault("kernel:add");
        add();
        dummy.fault("");
        dummy.callback([](void *, std::int32_t value) { status = value; }, nullptr);
        CHECK(failure([&] { dummy.synchronize(); }).status == ATOLL_STATUS_KERNEL_FAILED);
        CHECK(status == ATOLL_STATUS_KERNEL_FAILED);
    }
    SUBCASE("destroying the stream logs what nobody asked for") {
        void *stream = dummy.stream();
        dummy.fault("kernel:add");
        add(stream);
        dummy.fault("");
        Host::instance().logged.clear();
        dummy.destroy_stream(stream);
        REQUIRE(Host::instance().logged.size() == 1);
        CHECK(has(Host::instance().logged[0], "core.add"));
    }
}

TEST_CASE("memory that is gone on the worker is an error of the stream") {
    Dummy dummy;
    const std::vector<std::int8_t> values(1000);
    char *in = dummy.upload(values), *out = dummy.allocate(8 * values.size());
    const auto sort = [&] {
        dummy.compute(ATOLL_FN_argsort, ATOLL_DTYPE_INT8, {std::ssize(values)},
                      {{out, {8}, ATOLL_DTYPE_INT64}, {in, {1}, ATOLL_DTYPE_INT8}},
                      {.attributes = {scalar(ATOLL_DTYPE_BOOL, false)}});
    };
    Gate gate;
    dummy.callback(&Gate::pass, &gate);
    sort();
    dummy.free(dummy.allocate(64), 64);
    memory_is_gone = true;
    gate.open = true;
    const Failed failed = failure([&] { dummy.synchronize(); });
    memory_is_gone = false;
    CHECK(failed.status == ATOLL_STATUS_OUT_OF_MEMORY);
    CHECK(failed.function == "core.argsort");
    CHECK(has(failed.what(), "out of host memory"));
    CHECK(dummy.free_memory() == 1048576 - 1024 - 8000);
    sort();
    dummy.synchronize();
}

TEST_CASE("a forked child is refused and ends") {
    auto dummy = std::make_unique<Dummy>();
    void *const stream = dummy->stream();
    char *const data = dummy->allocate(64);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20); // a hang is a failure
        const auto refused = [](const Failed &failed) {
            return failed.status == ATOLL_STATUS_DEVICE_LOST && has(failed.what(), "forked");
        };
        if (!refused(failure([&] { dummy->allocate(64); }))) _exit(1);
        if (!refused(failure([&] { dummy->synchronize(stream); }))) _exit(2);
        if (!refused(failure([&] { dummy->free(data, 64); }))) _exit(3);
        if (!refused(failure([&] { dummy->destroy_stream(stream); }))) _exit(4);
        dummy.reset(); // unloads
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    dummy->synchronize(stream);
    dummy->destroy_stream(stream);
    dummy->free(data, 64);
}

TEST_CASE("every other fault does what its list says") {
    Dummy dummy;
    char *x = dummy.upload(std::vector<float>{1, 2});
    dummy.synchronize();
    const auto add = [&] {
        const View view{x, {4}, ATOLL_DTYPE_FLOAT32};
        dummy.compute(ATOLL_FN_add, ATOLL_DTYPE_FLOAT32, {2}, {view, view, view});
    };
    SUBCASE("allocate") {
        dummy.fault("allocate:2");
        dummy.allocate(8);
        const Failed failed = failure([&] { dummy.allocate(8); });
        CHECK(failed.status == ATOLL_STATUS_OUT_OF_MEMORY);
        CHECK(has(failed.what(), "injected fault allocate:2"));
        dummy.allocate(8);
    }
    SUBCASE("enqueue, in a list") {
        dummy.fault("latency:1,enqueue:add");
        const Failed failed = failure(add);
        CHECK(failed.status == ATOLL_STATUS_KERNEL_FAILED);
        CHECK(has(failed.what(), "injected fault enqueue:add"));
    }
    SUBCASE("transfer") {
        dummy.fault("transfer");
        float values[2] = {7, 7};
        dummy.transfer(ATOLL_TRANSFER_DEVICE_TO_HOST, values, x, 8);
        const Failed failed = failure([&] { dummy.synchronize(); });
        CHECK(failed.status == ATOLL_STATUS_KERNEL_FAILED);
        CHECK(failed.function == "device.transfer");
        CHECK(values[0] == 7);
    }
    SUBCASE("lost") {
        static std::atomic<int> status;
        status = -1;
        void *stream = dummy.stream();
        dummy.fault("lost:0");
        CHECK(failure(add).status == ATOLL_STATUS_DEVICE_LOST);
        CHECK(failure([&] { dummy.allocate(8); }).status == ATOLL_STATUS_DEVICE_LOST);
        CHECK(failure([&] { dummy.synchronize(); }).status == ATOLL_STATUS_DEVICE_LOST);
        CHECK(has(failure([&] { dummy.synchronize(); }).what(), "injected fault lost"));
        dummy.callback([](void *, std::int32_t value) { status = value; }, nullptr);
        dummy.free(x, 8);
        dummy.destroy_stream(stream);
        dummy.allocate(8, 1);
        dummy.fault("");
        dummy.synchronize();
        CHECK(status == ATOLL_STATUS_DEVICE_LOST);
        CHECK(dummy.free_memory() == 1048576);
    }
    SUBCASE("throw") {
        dummy.fault("throw:add");
        const Failed failed = failure(add);
        CHECK(failed.status == ATOLL_STATUS_INTERNAL);
        CHECK(has(failed.what(), "throw:add"));
    }
    SUBCASE("status") {
        dummy.fault("status:add");
        const Failed failed = failure(add);
        CHECK(failed.status == 9999);
        CHECK(failed.what() == std::string());
    }
    SUBCASE("stream_create and event_create") {
        dummy.fault("stream_create,event_create");
        CHECK(failure([&] { dummy.stream(); }).status == ATOLL_STATUS_OUT_OF_MEMORY);
        CHECK(failure([&] { dummy.event(); }).status == ATOLL_STATUS_OUT_OF_MEMORY);
    }
    SUBCASE("nonsense is refused with its words") {
        for (const char *setting : {"nonsense", "allocate:x", "kernel", "transfer:3"}) {
            dummy.fault(setting);
            const Failed failed = failure(add);
            CHECK(failed.status == ATOLL_STATUS_INVALID_ARGUMENT);
            CHECK(has(failed.what(), setting));
        }
    }
    dummy.fault("");
    dummy.synchronize();
}

TEST_CASE("bad settings refuse to load; no devices is no error") {
    CHECK(failure([] { Dummy dummy("", "many"); }).status == ATOLL_STATUS_INVALID_ARGUMENT);
    CHECK(failure([] { Dummy dummy("bang"); }).status == ATOLL_STATUS_INVALID_ARGUMENT);
    Dummy dummy("", "0");
    const auto result =
        dummy.device_call(ATOLL_DEVICE_FN_enumerate, atoll_enumerate_params{}, 0, nullptr);
    CHECK(result.count == 0);
    CHECK(has(result.reason, "devices"));
}

TEST_CASE("loads again after unload, and unload runs what is enqueued") {
    std::atomic<int> ran{0};
    for (int round = 0; round < 3; ++round) {
        Dummy dummy("latency:100");
        char *x = dummy.upload(std::vector<float>{1, 2});
        (void)x;
        dummy.callback([](void *count, std::int32_t) { ++*static_cast<std::atomic<int> *>(count); },
                       &ran);
        dummy.plugin.unload();
        CHECK(ran == round + 1);
    }
}
