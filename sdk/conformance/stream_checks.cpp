// Order on a stream and between streams, host callbacks.
//
// The checks enqueue transfers that write different bytes to the same block and read each back
// without waiting; the results show the order in which they ran.
#include "operands.hpp"
#include "raw_device.hpp"
#include "suites.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace Atoll::conformance {

namespace {

// Alternates writes and reads of different sizes on one stream.
void order_of_arrival(const RawDevice &device, void *stream) {
    const Block block(device, large, stream);
    std::vector<std::vector<char>> want, got;
    for (unsigned k = 0; k < rounds; ++k) {
        const std::size_t bytes = k % 3 ? 64 : large;
        want.push_back(bytes_of(bytes, k));
        got.emplace_back(bytes, '\0');
    }
    for (unsigned k = 0; k < rounds; ++k) {
        device.to_device(block.data(), want[k].data(), want[k].size(), stream);
        device.to_host(got[k].data(), block.data(), got[k].size(), stream);
    }
    device.synchronize(stream);
    for (unsigned k = 0; k < rounds; ++k)
        require_bytes(want[k], got[k],
                      fmt::format("work on one stream ran out of order: the transfer back number "
                                  "{} does not see the preceding one to the device; calls on a "
                                  "stream take effect in the order of arrival",
                                  k));
}

// Two threads use one stream; each sees its own work in order.
void order_from_threads(const RawDevice &device) {
    const RawStream stream(device);
    on_threads(2, [&](std::size_t) { order_of_arrival(RawDevice(device), stream.handle()); });
}

// Freed memory may be reused only by work that is enqueued after the free, also on other streams.
void free_is_ordered(const RawDevice &device) {
    const RawStream first(device), second(device);
    for (unsigned k = 0; k < rounds; ++k) {
        const auto early = bytes_of(large, k), late = bytes_of(large, 1000 + k);
        std::vector<char> got_early(large), got_late(large);
        void *block = device.allocate(large, first.handle());
        device.to_device(block, early.data(), large, first.handle());
        device.to_host(got_early.data(), block, large, first.handle());
        device.free(block, large, first.handle()); // before the work above has begun
        const Block other(device, large, second.handle());
        device.to_device(other.data(), late.data(), large, second.handle());
        device.synchronize(second.handle());
        device.synchronize(first.handle());
        device.to_host(got_late.data(), other.data(), large, second.handle());
        device.synchronize(second.handle());
        const char *what = "memory was reused while work enqueued before its free still "
                           "used it; free takes effect after the work on its stream";
        require_bytes(early, got_early, what);
        require_bytes(late, got_late, what);
    }
}

void kernels_in_order(const Target &target, const std::string &type) {
    for (const Declared &declared : target.functions) {
        if (declared.function.name != "core.add" || declared.device_type != type) continue;
        for (const DType dtype : {float64, float32, int32}) {
            if (!declared.has(dtype)) continue;
            const Device device = Target::device_of(type);
            const Shape shape{5000};
            const Values ones(5000, Scalar(1).cast(dtype));
            const Guarded one = lay_out(ones, shape, dtype, device),
                          total = lay_out(ones, shape, dtype, device);
            for (int i = 0; i < 60; ++i) add(total.tensor, one.tensor, total.tensor);
            for (const Scalar &value : values_of(total.tensor))
                if (value.to_double() != 61)
                    fail("60 additions in place on one stream gave {}, need "
                         "61; they ran out of order, or some did not run",
                         text(value));
            return;
        }
    }
    skip("core.add is not implemented for float64, float32 or int32");
}

void streams_are_apart(const RawDevice &device) {
    const RawStream first(device), second(device);
    if (first.handle() == second.handle()) fail("stream_create returns the same stream twice");
    order_of_arrival(device, first.handle());
    order_of_arrival(device, second.handle());
    order_of_arrival(device, nullptr);
}

// Enough work that a device which returns early is still at it.
void synchronizing_waits(const RawDevice &device) {
    const RawStream own(device);
    for (void *stream : {own.handle(), static_cast<void *>(nullptr)})
        for (int turn = 0; turn < 3; ++turn) {
            const LongWork work(device, stream, 64);
            device.synchronize(stream);
            if (!work.done())
                fail("stream_synchronize returned before the work on {} was done",
                     stream ? "the stream" : "the default stream");
        }
}

// What it has taken on is done when it is gone.
void destroying_drains(const RawDevice &device) {
    for (int turn = 0; turn < 3; ++turn) {
        std::optional<RawStream> stream(std::in_place, device);
        LongWork work(device, stream->handle(), 64);
        work.stream_is_gone();
        stream.reset();
        if (!work.done()) fail("stream_destroy returned before the work on the stream was done");
    }
}

// Streams, events and pinned memory cost nothing once they are gone.
void gives_back(const RawDevice &device) {
    constexpr int rounds = 200, batches = 6;
    const auto run = [&] {
        for (int i = 0; i < rounds; ++i) {
            if (i % 10 == 0) RawStream{device};
            const RawEvent event(device);
            event.record(nullptr);
            event.wait(device, nullptr);
            if (!device.has(ATOLL_DEVICE_FN_allocate_host)) continue;
            atoll_memory_params params{sizeof params, 0, 64, nullptr};
            device.call(ATOLL_DEVICE_FN_allocate_host, &params);
            device.call(ATOLL_DEVICE_FN_free_host, &params);
        }
        device.synchronize();
    };
    run();
    const std::size_t threads = threads_alive();
    // See the check of host memory: malloc's caches grow now and then, a leak every time.
    for (int batch = 0;; ++batch) {
        const std::size_t before = heap_in_use();
        run();
        if (heap_in_use() <= before + rounds * 4) break;
        if (batch == batches)
            fail("leaks host memory: it grows with every {} events and {} streams that are created "
                 "and destroyed",
                 rounds, rounds / 10);
    }
    if (const std::size_t now = threads_alive(); now >= threads + rounds / 10)
        fail("leaks threads: {} more after creating and destroying {} streams", now - threads,
             rounds / 10);
}

// ---- host callbacks -----------------------------------------------------------------------------

struct Called {
    std::atomic<int> *count;
    std::atomic<int> *when;
    const char *seen; // the last byte of the preceding transfer
    char expected;
    std::atomic<bool> early{false};
    std::atomic<int> calls{0}, order{0}, status{-1};
    static void note(void *argument, std::int32_t status) {
        Called &own = *static_cast<Called *>(argument);
        own.early = *static_cast<const volatile char *>(own.seen) != own.expected;
        own.order = (*own.when)++;
        own.status = status;
        ++own.calls;
        ++*own.count;
    }
};

void callbacks(const RawDevice &device) {
    constexpr int asked = 10;
    const RawStream stream(device);
    const Block block(device, large, stream.handle());
    std::atomic<int> count{0}, when{0};
    std::vector<std::unique_ptr<Called>> called;
    std::vector<std::vector<char>> want, got;
    for (int k = 0; k < asked; ++k) {
        want.emplace_back(large, static_cast<char>(k + 1));
        got.emplace_back(large, '\0');
    }
    for (std::size_t k = 0; k < asked; ++k) {
        device.to_device(block.data(), want[k].data(), large, stream.handle());
        device.to_host(got[k].data(), block.data(), large, stream.handle());
        called.emplace_back(new Called{&count, &when, &got[k].back(), want[k].back()});
        atoll_callback_params params{sizeof params, 0, &Called::note, called[k].get()};
        device.call(ATOLL_DEVICE_FN_host_callback, &params, stream.handle());
    }
    device.synchronize(stream.handle());
    // Callbacks run on another thread, possibly after the stream is idle.
    for (int i = 0; i < 2000 && count < asked; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (std::size_t k = 0; k < asked; ++k) {
        if (called[k]->calls != 1)
            fail("callback {} was called {} times, need once", k, called[k]->calls.load());
        if (called[k]->status != ATOLL_STATUS_OK)
            fail("callback {} received status {} although no work failed", k,
                 called[k]->status.load());
        if (called[k]->early) fail("callback {} ran before the work enqueued before it", k);
        if (called[k]->order != static_cast<int>(k))
            fail("callback {} ran as number {}", k, called[k]->order.load());
    }
}

} // namespace

void add_stream_checks(Checks &checks, const Target &target, const std::string &type, int index) {
    const RawDevice device(target, type, index);
    const auto add = [&](const std::string &variant, std::function<void()> body) {
        checks.push_back({"streams", device.name(), "", variant, std::move(body)});
    };
    const auto raw = [&target, type](int which) { return RawDevice(target, type, which); };
    add("order on the default stream", [=] { order_of_arrival(raw(index), nullptr); });
    add("order of kernels", [&target, type] { kernels_in_order(target, type); });
    add("free is in order", [=] { free_is_ordered(raw(index)); });
    if (device.has(ATOLL_DEVICE_FN_stream_synchronize))
        add("synchronizing waits", [=] { synchronizing_waits(raw(index)); });
    add("order from two threads on one stream", [=] { order_from_threads(raw(index)); });
    if (device.has(ATOLL_DEVICE_FN_stream_create))
        add("several streams", [=] { streams_are_apart(raw(index)); });
    if (device.has(ATOLL_DEVICE_FN_stream_destroy))
        add("destroying a stream drains it", [=] { destroying_drains(raw(index)); });
    if (device.has(ATOLL_DEVICE_FN_host_callback))
        add("host callbacks", [=] { callbacks(raw(index)); });
    if (!device.has(ATOLL_DEVICE_FN_event_create)) return; // inline
    add("streams and events are given back", [=] { gives_back(raw(index)); });
    add("free does not block", [=] {
        const RawDevice own = raw(index);
        // One per attempt; allocate may wait.
        std::vector<void *> blocks;
        for (int i = 0; i < most_attempts; ++i) blocks.push_back(own.allocate(large));
        const auto release = [&](void *stream) {
            own.free(blocks.back(), large, stream);
            blocks.pop_back();
        };
        require_no_block(own, "free", release);
        while (!blocks.empty()) release(nullptr);
    });
}

} // namespace Atoll::conformance
