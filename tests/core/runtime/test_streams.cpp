// The order between streams, and what a device offers beside computing: native handles, pinned host
// memory, event times. A worker of dummy that is held up tells what waits for it, without clocks.
#include "../support.hpp"
#include "atoll/dummy.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

using namespace Atoll;
using namespace support;

namespace {

Device dummy() {
    load_devices();
    return device("dummy:0");
}
Tensor numbers(const Placement &where) { return vector({1.0, 2.0, 3.0}, where); }
using Doubles = std::vector<double>;

// Holds a stream of dummy up from here on, until release().
class Hold {
public:
    explicit Hold(const Stream &stream) {
        auto *queue =
            reinterpret_cast<atoll_dummy_queue *>(stream.native_handle(ATOLL_DUMMY_QUEUE));
        queue->enqueue(
            queue, "test.hold",
            [](void *argument) {
                static_cast<std::promise<void> *>(argument)->get_future().wait();
                return std::int32_t{ATOLL_STATUS_OK};
            },
            &promise_);
        stream_ = stream;
    }
    ~Hold() { release(); }
    void release() {
        if (!held_) return;
        held_ = false;
        promise_.set_value();
        stream_.synchronize();
    }

private:
    std::promise<void> promise_;
    Stream stream_;
    bool held_ = true;
};

// What would never happen is not waited for.
bool soon(const Event &event) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!event.done())
        if (std::chrono::steady_clock::now() > end) return false;
    return true;
}

// Counts the calls of some functions while it lives.
class Counter {
public:
    explicit Counter(const std::string &target)
        : handle_(push_interposer(
              target,
              [](const atoll_link *self, atoll_call *call) {
                  ++*static_cast<std::atomic<int> *>(self->ctx);
                  return self->next->fn(self->next, call);
              },
              &count_)) {}
    ~Counter() { pop_interposer(handle_); }
    int count() const { return count_; }

private:
    std::atomic<int> count_{0};
    InterposerHandle handle_;
};

} // namespace

TEST_CASE("readers of one tensor on several streams do not wait for each other; a writer does") {
    Tensor x = numbers({dummy()});
    const Stream first = dummy().new_stream(), second = dummy().new_stream();
    const Tensor a = zeros({3}, {float64, dummy(), first}),
                 b = zeros({3}, {float64, dummy(), second});
    {
        Hold hold(first);
        square(x, a);
        square(x, b);
        CHECK(soon(second.record()));
        CHECK(b.to_doubles() == Doubles{1, 4, 9});
        // Held up by the first reader, so it does not overtake it.
        x.fill(7);
        const Event written = x.stream().record();
        CHECK(!written.done());
        hold.release();
        CHECK(soon(written));
    }
    CHECK(a.to_doubles() == Doubles{1, 4, 9});
    CHECK(x.to_doubles() == Doubles{7, 7, 7});
}

TEST_CASE("a reader on another stream waits for the write") {
    const Stream other = dummy().new_stream();
    Tensor x = zeros({3}, {float64, dummy()}), y = zeros({3}, {float64, dummy(), other});
    Hold hold(x.stream());
    x.fill(3);
    square(x, y);
    const Event read = other.record();
    // What else there is of the other stream is through by now.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(!read.done());
    hold.release();
    CHECK(y.to_doubles() == Doubles{9, 9, 9});
}

TEST_CASE("a reader whose call is under way is not forgotten by a write elsewhere in the storage") {
    struct Gate {
        std::promise<void> entered, open;
    } gate;
    const Stream other = dummy().new_stream();
    Tensor x = ones({4}, {float64, dummy()}), low = x.slice(0, 0, 2), high = x.slice(0, 2, 4);
    const Tensor out = zeros({2}, {float64, dummy(), other});
    const InterposerHandle handle = push_interposer(
        "core.square@dummy",
        [](const atoll_link *self, atoll_call *call) {
            auto &own = *static_cast<Gate *>(self->ctx);
            own.entered.set_value();
            own.open.get_future().wait();
            return self->next->fn(self->next, call);
        },
        &gate);
    Hold hold(other);
    std::thread reader([&] { square(low, out); });
    gate.entered.get_future().wait();
    high.fill(2); // the reader's work is not in the queue yet
    gate.open.set_value();
    reader.join();
    low.fill(3);
    const Event written = x.stream().record();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(!written.done());
    hold.release();
    CHECK(out.to_doubles() == Doubles{1, 1});
    CHECK(x.to_doubles() == Doubles{3, 3, 2, 2});
    pop_interposer(handle);
}

TEST_CASE("what a failed call has enqueued is waited for") {
    const Stream other = dummy().new_stream(), third = dummy().new_stream();
    Tensor x = numbers({dummy()});
    const Tensor twin = x.replicate(), y = zeros({3}, {float64, dummy(), other}),
                 beside = y.replicate(), z = zeros({3}, {float64, dummy(), third});
    // Both streams wait for what they are to wait for as yet.
    square(twin, beside);
    negative(beside, z);
    const InterposerHandle handle = push_interposer(
        "core.square@dummy",
        [](const atoll_link *self, atoll_call *call) -> std::int32_t {
            self->next->fn(self->next, call);
            return ATOLL_STATUS_KERNEL_FAILED;
        },
        nullptr);
    Hold hold(other);
    CHECK_THROWS_AS(square(x, y), Error);
    pop_interposer(handle);
    x.fill(7);
    negative(y, z);
    const Event written = x.stream().record(), read = third.record();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(!written.done());
    CHECK(!read.done());
    hold.release();
    CHECK(y.to_doubles() == Doubles{1, 4, 9});
    CHECK(z.to_doubles() == Doubles{-1, -4, -9});
}

TEST_CASE("a tensor is given back when its readers on other streams are through") {
    const Stream other = dummy().new_stream();
    const Tensor a = zeros({3}, {float64, dummy(), other});
    const Tensor twin = zeros({3}, {float64, dummy(), other});
    {
        Hold hold(other);
        {
            const Tensor x = numbers({dummy()});
            square(x, a);
        }
        // Memory that comes back too early would be taken and overwritten here.
        for (int i = 0; i < 20; ++i) full({3}, 9.0, {float64, dummy()});
        hold.release();
    }
    CHECK(a.to_doubles() == Doubles{1, 4, 9});
}

TEST_CASE("more readers than a tensor remembers are all waited for") {
    Tensor x = numbers({dummy()});
    std::vector<Stream> streams;
    std::vector<Tensor> results;
    for (int i = 0; i < 7; ++i) {
        streams.push_back(dummy().new_stream());
        results.push_back(zeros({3}, {float64, dummy(), streams.back()}));
    }
    {
        Hold hold(streams[0]);
        for (const Tensor &result : results) square(x, result);
        x.fill(7);
        const Event written = x.stream().record();
        for (std::size_t i = 1; i < 4; ++i) CHECK(soon(streams[i].record()));
        CHECK(!written.done());
        hold.release();
    }
    for (const Tensor &result : results) CHECK(result.to_doubles() == Doubles{1, 4, 9});
    CHECK(x.to_doubles() == Doubles{7, 7, 7});
}

TEST_CASE("an order between streams is asked for once, until there is more to wait for") {
    for (const char *type : {"dummy", "dummy_min"}) {
        CAPTURE(type);
        load_devices();
        const Device device = Atoll::device(std::string(type) + ":0");
        // One call where the device orders streams itself, events where it does not.
        const std::string how = type == std::string("dummy") ? "stream_order" : "event_wait";
        const Stream other = device.new_stream();
        Tensor x = numbers({device}), y = zeros({3}, {float64, device, other});
        square(x, y);
        const Counter orders("device." + how + "@" + type);
        square(x, y);
        square(x, y);
        CHECK(orders.count() == 0);
        x.fill(2); // after its readers
        CHECK(orders.count() == 1);
        square(x, y); // after the write
        CHECK(orders.count() == 2);
        CHECK(y.to_doubles() == Doubles{4, 4, 4});
    }
}

TEST_CASE("a stream tells what the device's own API calls it") {
    const Stream stream = dummy().new_stream();
    CHECK(stream.native_handle(ATOLL_DUMMY_QUEUE) !=
          dummy().default_stream().native_handle(ATOLL_DUMMY_QUEUE));
    CHECK(device("dummy:1").default_stream().native_handle(ATOLL_DUMMY_DEVICE) == 1);
    CHECK(contains(error_text([&] { stream.native_handle(99); }),
                   "there is no native handle of kind 99; see atoll/dummy.h"));
    CHECK(error_status([&] { cpu().default_stream().native_handle(1); }) == Status::not_supported);
}

TEST_CASE("work that was put on a stream by its native handle fails as the device's own does") {
    const Stream stream = dummy().new_stream();
    auto *queue = reinterpret_cast<atoll_dummy_queue *>(stream.native_handle(ATOLL_DUMMY_QUEUE));
    queue->enqueue(
        queue, "test.fails", [](void *) { return std::int32_t{ATOLL_STATUS_KERNEL_FAILED}; },
        nullptr);
    try {
        stream.synchronize();
        FAIL_CHECK("no error");
    } catch (const Error &error) {
        CHECK(error.status() == Status::kernel_failed);
        CHECK(error.function() == "test.fails");
    }
}

TEST_CASE("copies from and to pinned memory wait for nothing") {
    const Storage pinned = Storage::pinned(3 * 8, dummy(), float64);
    CHECK(pinned.device() == cpu());
    Tensor host(pinned, 0, {3}, {8}, float64);
    host.assign(numbers({cpu()}));
    const Stream stream = dummy().new_stream();
    Tensor there = zeros({3}, {float64, dummy(), stream});
    {
        Hold hold(stream);
        const Event up = enqueue_copy(there, host);
        CHECK(!up.done());
        // Read when the device gets there, so not staged: a program must not rely on this.
        host.fill(5);
        hold.release();
        CHECK(soon(up));
        CHECK(there.to_doubles() == Doubles{5, 5, 5});
    }
    there.fill(6);
    {
        Hold hold(stream);
        const Event down = enqueue_copy(host, there);
        CHECK(!down.done());
        CHECK(host.to_doubles() == Doubles{5, 5, 5});
        hold.release();
        CHECK(soon(down));
        CHECK(host.to_doubles() == Doubles{6, 6, 6});
    }
    const Tensor pageable = zeros({3}, {float64, cpu()});
    CHECK(contains(error_text([&] { enqueue_copy(there, pageable); }), "Storage::pinned"));
    const Tensor elsewhere = zeros({3}, {float64, device("dummy:1")});
    CHECK(contains(error_text([&] { enqueue_copy(elsewhere, host); }), "Storage::pinned"));
    CHECK(contains(error_text([&] {
                       enqueue_copy(zeros({3}, {float32, dummy()}), host);
                   }),
                   "nothing is converted here"));
    CHECK(contains(error_text([&] { enqueue_copy(there, host.flip(0)); }), "needs dense tensors"));
    CHECK(error_status([&] { Storage::pinned(8, cpu()); }) == Status::not_supported);
    CHECK(error_status([&] { Storage::pinned(0, dummy()); }) == Status::invalid_argument);
}

TEST_CASE("a copy from pinned memory waits for those who read its destination on other streams") {
    Tensor host(Storage::pinned(3 * 8, dummy(), float64), 0, {3}, {8}, float64);
    host.assign(numbers({cpu()}));
    const Stream other = dummy().new_stream();
    Tensor there = full({3}, 6, {float64, dummy()});
    const Tensor squares = zeros({3}, {float64, dummy(), other});
    Hold hold(other);
    square(there, squares);
    const Event up = enqueue_copy(there, host);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(!up.done());
    hold.release();
    CHECK(soon(up));
    CHECK(squares.to_doubles() == Doubles{36, 36, 36});
    CHECK(there.to_doubles() == Doubles{1, 2, 3});
}

TEST_CASE("pinned memory is given back when the copies that use it are through") {
    const Stream streams[] = {dummy().new_stream(), dummy().new_stream()};
    for (const bool upload : {true, false}) {
        CAPTURE(upload);
        const Counter freed("device.free_host@dummy");
        int freed_early = -1;
        std::thread releaser;
        {
            Tensor host(Storage::pinned(3 * 8, dummy(), float64), 0, {3}, {8}, float64);
            host.assign(numbers({cpu()}));
            auto hold = std::make_unique<Hold>(streams[0]);
            std::vector<Tensor> there;
            for (const Stream &stream : streams)
                there.push_back(zeros({3}, {float64, dummy(), stream}));
            for (const Tensor &t : there) upload ? enqueue_copy(t, host) : enqueue_copy(host, t);
            releaser = std::thread([&freed, &freed_early, hold = std::move(hold)] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                freed_early = freed.count();
                hold->release();
            });
        }
        CHECK(freed.count() == 1);
        releaser.join();
        CHECK(freed_early == 0);
    }
}

TEST_CASE("direct access to pinned memory waits for transfers") {
    Tensor host(Storage::pinned(3 * 8, dummy(), float64), 0, {3}, {8}, float64);
    host.assign(numbers({cpu()}));
    const Stream stream = dummy().new_stream();
    const Tensor there = full({3}, 6, {float64, dummy(), stream});
    for (const bool upload : {true, false}) {
        CAPTURE(upload);
        auto hold = std::make_unique<Hold>(stream);
        const Event copied = upload ? enqueue_copy(there, host) : enqueue_copy(host, there);
        std::thread releaser([hold = std::move(hold)] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            hold->release();
        });
        if (upload)
            host.host_span<double>()[0] = 0;
        else
            CHECK(host.host_span<const double>()[0] == there(0).item<double>());
        CHECK(copied.done());
        releaser.join();
    }
    CHECK(there(0).item<double>() == numbers({cpu()})(0).item<double>());
}

TEST_CASE("a device is not retired while memory is pinned for it") {
    const Storage pinned = Storage::pinned(8, dummy());
    CHECK(contains(error_text([] { retire_plugin("dummy"); }), "1 of dummy:0"));
}

TEST_CASE("an event outlives its stream") {
    Tensor x = zeros({3}, {float64, dummy()});
    Event event;
    {
        const Stream stream = dummy().new_stream();
        square(x, zeros({3}, {float64, dummy(), stream}));
        event = stream.record();
    }
    CHECK(soon(event));
    event.synchronize();
    x.stream().wait(event);
    x.fill(2);
    CHECK(x.to_doubles() == Doubles{2, 2, 2});
}

TEST_CASE("events tell the time of the device") {
    const Stream stream = dummy().new_stream();
    const Event before = stream.record();
    auto *queue = reinterpret_cast<atoll_dummy_queue *>(stream.native_handle(ATOLL_DUMMY_QUEUE));
    queue->enqueue(
        queue, "test.sleep",
        [](void *) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            return std::int32_t{ATOLL_STATUS_OK};
        },
        nullptr);
    const Event after = stream.record();
    CHECK(after.time() - before.time() >= std::chrono::milliseconds(5));
    CHECK(error_status([&] { cpu().default_stream().record().time(); }) == Status::not_supported);
    CHECK(error_status([&] { device("dummy_min:0").default_stream().record().time(); }) ==
          Status::not_supported);
}
