// Events: what they order, what they answer, what they outlive. Note [Events] in abi/device.h.
#include "raw_device.hpp"
#include "suites.hpp"

#include <functional>
#include <optional>

namespace Atoll::conformance {

namespace {

void completes_after_its_work(const RawDevice &device) {
    const RawStream stream(device);
    const Block block(device, large, stream.handle());
    for (unsigned k = 0; k < rounds; ++k) {
        const auto want = bytes_of(large, k);
        std::vector<char> got(large);
        device.to_device(block.data(), want.data(), large, stream.handle());
        device.to_host(got.data(), block.data(), large, stream.handle());
        const RawEvent event(device);
        event.record(stream.handle());
        event.synchronize();
        const std::vector<char> seen = got; // before synchronising the stream
        device.synchronize(stream.handle());
        require_bytes(want, seen,
                      "event_synchronize returned before the work preceding the event was done");
    }
}

// `event` was recorded behind `work`.
void require_honest_answer(const RawDevice &device, const RawEvent &event, const LongWork &work) {
    const std::int32_t status = event.query();
    if (status != ATOLL_STATUS_OK && status != ATOLL_STATUS_NOT_READY)
        fail("event_query returned status {} ({}), need OK or NOT_READY", status, device.text());
    if (status == ATOLL_STATUS_OK && !work.done())
        fail("event_query returned OK while the work before the event was under way, need "
             "NOT_READY");
}

void answers(const RawDevice &device) {
    const RawStream stream(device);
    const RawEvent event(device);
    if (const std::int32_t unused = event.query(); unused != ATOLL_STATUS_OK)
        fail("event_query returned status {} for an event that was never recorded, need OK",
             unused);
    event.synchronize();
    for (unsigned k = 0; k < 8; ++k) {
        const LongWork work(device, stream.handle(), 8);
        event.record(stream.handle());
        require_honest_answer(device, event, work);
        device.synchronize(stream.handle());
        if (const std::int32_t late = event.query(); late != ATOLL_STATUS_OK)
            fail("event_query returned status {} after the event's stream was synchronised, need "
                 "OK",
                 late);
    }
}

// Makes work on `second` of `to` wait for what is on `first` of `from`.
using Order =
    std::function<void(const RawDevice &from, void *first, const RawDevice &to, void *second)>;

void by_event(const RawDevice &from, void *first, const RawDevice &to, void *second) {
    const RawEvent event(from);
    event.record(first);
    event.wait(to, second);
}
void by_stream_order(const RawDevice &from, void *first, const RawDevice &to, void *second) {
    atoll_stream_order_params params{sizeof params, from.index(), first};
    to.call(ATOLL_DEVICE_FN_stream_order, &params, second);
}

// One stream writes; the other waits and reads.
void orders_streams(const RawDevice &from, const RawDevice &to, bool peer, const char *function,
                    const Order &order) {
    const RawStream first(from), second(to);
    const Block source(from, large, first.handle()), landed(to, large, second.handle());
    from.synchronize(first.handle());
    to.synchronize(second.handle());
    for (unsigned k = 0; k < rounds; ++k) {
        const auto want = bytes_of(large, k);
        std::vector<char> got(large);
        for (unsigned i = 0; i < 4; ++i) { // overwritten by the transfer below
            const auto other = bytes_of(large, 1000 + i);
            from.to_device(source.data(), other.data(), large, first.handle());
        }
        from.to_device(source.data(), want.data(), large, first.handle());
        order(from, first.handle(), to, second.handle());
        if (peer) {
            to.from_peer(landed.data(), from, source.data(), large, second.handle());
            to.to_host(got.data(), landed.data(), large, second.handle());
        } else {
            to.to_host(got.data(), source.data(), large, second.handle());
        }
        to.synchronize(second.handle());
        from.synchronize(first.handle());
        require_bytes(want, got,
                      fmt::format("work after {0} on {1} ran before the work that it waits for on "
                                  "{2}; {0} orders streams",
                                  function, to.name(), from.name()));
    }
}

void outlives_its_stream(const RawDevice &device) {
    const RawStream other(device);
    const Block block(device, large);
    const RawEvent event(device);
    for (unsigned k = 0; k < 4; ++k) { // recorded again on a stream that may have the same address
        const auto want = bytes_of(large, k);
        std::vector<char> got(large);
        std::optional<RawStream> stream(std::in_place, device);
        LongWork before(device, stream->handle(), 4);
        device.to_device(block.data(), want.data(), large, stream->handle());
        event.record(stream->handle());
        before.stream_is_gone();
        stream.reset();
        if (const std::int32_t status = event.query(); status != ATOLL_STATUS_OK)
            fail("event_query returned status {} after the event's stream was destroyed, need OK: "
                 "an event may outlive its stream",
                 status);
        event.synchronize();
        event.wait(device, other.handle());
        device.to_host(got.data(), block.data(), large, other.handle());
        device.synchronize(other.handle());
        require_bytes(want, got, "work that waits for an event of a destroyed stream ran early");
    }
}

void is_recorded_again(const RawDevice &device) {
    const RawStream first(device), second(device);
    const Block block(device, large);
    for (unsigned k = 0; k < 4; ++k) {
        const auto want = bytes_of(large, k);
        std::vector<char> got(large);
        const RawEvent event(device);
        const LongWork before(device, first.handle(), 4);
        device.to_device(block.data(), want.data(), large, first.handle());
        event.record(first.handle());
        event.wait(device, second.handle());
        device.to_host(got.data(), block.data(), large, second.handle());
        event.record(second.handle()); // behind a wait for the first record: no circle
        device.synchronize(second.handle());
        require_bytes(want, got,
                      "an event was recorded again, and work that waits for the first record ran "
                      "before it; a wait is for the latest record at the time of the call");
        // The first record is done, the latest is not.
        const LongWork work(device, first.handle(), 8);
        event.record(first.handle());
        require_honest_answer(device, event, work);
        event.synchronize();
        if (!work.done())
            fail("event_synchronize returned when an earlier record of the event was done, need "
                 "the latest");
    }
}

// Its memory may be reused at once.
void may_be_destroyed_at_once(const RawDevice &device) {
    const RawStream first(device), second(device);
    const Block block(device, large);
    const auto want = bytes_of(large, 3);
    std::vector<char> got(large);
    const LongWork before(device, first.handle(), 4);
    device.to_device(block.data(), want.data(), large, first.handle());
    by_event(device, first.handle(), device, second.handle());
    for (int i = 0; i < 16; ++i) RawEvent(device).record(second.handle());
    device.to_host(got.data(), block.data(), large, second.handle());
    device.synchronize(second.handle());
    device.synchronize(first.handle());
    require_bytes(want, got,
                  "work ran before the event that it waits for; the event was destroyed at once "
                  "after event_wait");
}

void tells_the_time(const RawDevice &device) {
    const RawStream stream(device);
    const auto time = [&](const RawEvent &event) {
        atoll_event_time_params params{sizeof params, 0, event.handle(), 0};
        const std::int32_t status = device.try_call(ATOLL_DEVICE_FN_event_time, &params);
        return std::pair(status, params.nanoseconds);
    };
    const RawEvent before(device), after(device);
    before.record(stream.handle());
    before.synchronize();
    const LongWork work(device, stream.handle(), 8);
    after.record(stream.handle());
    if (const std::int32_t early = time(after).first;
        early != ATOLL_STATUS_NOT_READY && (early != ATOLL_STATUS_OK || !work.done()))
        fail("event_time returned status {} while the work before the event was under way, need "
             "NOT_READY",
             early);
    after.synchronize();
    const auto [first, start] = time(before);
    const auto [second, end] = time(after);
    if (first != ATOLL_STATUS_OK || second != ATOLL_STATUS_OK || end <= start)
        fail("event_time returned statuses {} and {}, {} ns and then {} ns behind a transfer of "
             "{} bytes; need OK and a clock that goes forward",
             first, second, start, end, LongWork::bytes);
}

bool has_peer(const Target &target, const std::string &type) {
    for (const auto *own : device_types_of(*target.descriptor))
        if (type == own->name) return own->flags & ATOLL_DEVICE_PEER;
    return false;
}

} // namespace

void add_event_checks(Checks &checks, const Target &target, const std::string &type, int index) {
    const RawDevice device(target, type, index);
    if (!device.has(ATOLL_DEVICE_FN_event_create)) return;
    const auto add = [&](const std::string &variant, std::function<void(const RawDevice &)> body) {
        checks.push_back({"streams", device.name(), "", variant,
                          [=, &target] { body(RawDevice(target, type, index)); }});
    };
    add("an event completes after its work", completes_after_its_work);
    add("event_query", answers);
    add("an event outlives its stream", outlives_its_stream);
    add("an event is recorded again", is_recorded_again);
    add("an event is destroyed at once", may_be_destroyed_at_once);
    if (device.has(ATOLL_DEVICE_FN_event_time)) add("event_time", tells_the_time);
    std::vector<std::tuple<int, const char *, Order>> ways{
        {ATOLL_DEVICE_FN_event_wait, "event_wait", by_event},
        {ATOLL_DEVICE_FN_stream_order, "stream_order", by_stream_order}};
    for (const auto &[function, name, order] : ways) {
        if (!device.has(function)) continue;
        add(fmt::format("{} orders two streams", name),
            [=, order = order, name = name](const RawDevice &own) {
                orders_streams(own, own, false, name, order);
            });
        add(fmt::format("{} does not block", name),
            [order = order, name = name](const RawDevice &own) {
                const RawStream waiting(own);
                require_no_block(own, name,
                                 [&](void *busy) { order(own, busy, own, waiting.handle()); });
            });
        if (!has_peer(target, type)) continue;
        for (const Device &other : devices_of(type))
            if (other.index() != index)
                add(fmt::format("{} orders streams of {} and {}", name, device.name(),
                                other.name()),
                    [=, &target, order = order, name = name,
                     to = other.index()](const RawDevice &own) {
                        orders_streams(own, RawDevice(target, type, to), true, name, order);
                    });
    }
    add("event_query does not block", [](const RawDevice &own) {
        require_no_block(own, "event_query", [&](void *busy) {
            const RawEvent event(own);
            event.record(busy);
            event.query();
        });
    });
}

} // namespace Atoll::conformance
