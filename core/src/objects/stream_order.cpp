// Orders streams by what they do with storages.
#include "objects/stream_order.hpp"

#include "objects/objects.hpp"

#include <algorithm>

#include <boost/container/static_vector.hpp>

namespace Atoll::detail {

namespace {

bool same(const StreamOf &a, const StreamOf &b) {
    return a.device == b.device && a.handle() == b.handle();
}

// Later work on `waiting` happens after the work enqueued on `done` so far.
void order(StreamOf waiting, StreamOf done, Cause cause) {
    if (same(waiting, done)) return;
    StreamWork &work = done.work();
    const std::uint64_t ticket = work.count();
    if (waiting.work().waits_for(work.id(), ticket)) return;
    order_streams(waiting, done, cause);
    waiting.work().note_wait(work.id(), ticket);
    waiting.work().enqueued(); // who waits for `waiting` later waits for `done`, too
}

// The same once work is under way, which an error can no longer undo. Waits on the host where the
// devices cannot do it, as with pinned host memory; errors stay with the stream that is waited for.
void order_surely(StreamOf waiting, StreamOf done, Cause cause) noexcept {
    try {
        if (waiting.device->type == done.device->type) return order(waiting, done, cause);
    } catch (...) { // waits below
    }
    wait_for_stream(*done.device, done.handle());
}

} // namespace

class Readers {
public:
    // Once the reader's work is enqueued: what waits for it earlier would wait for nothing. `home`
    // waits at once for one of them where there are too many.
    void add(StreamOf reader, StreamOf home, Cause cause) noexcept {
        const std::lock_guard lock(mutex_);
        for (const Reader &known : list_)
            if (same(known.of(), reader)) return;
        if (list_.size() == list_.capacity()) {
            order_surely(home, list_.front().of(), cause);
            list_.erase(list_.begin());
        }
        list_.push_back({reader.device, reader.stream});
    }
    void order_before(StreamOf writer, Cause cause) const {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) order(writer, reader.of(), cause);
    }
    // For a home that gives the memory back.
    void end(StreamOf home) noexcept {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) order_surely(home, reader.of(), {});
        list_.clear();
    }
    // After a write: those that the writer waits for. Others may have come since, from elements
    // that it did not write.
    void forget(StreamOf writer) {
        const std::lock_guard lock(mutex_);
        const auto waited_for = [&](const Reader &reader) {
            const StreamWork &work = reader.of().work();
            return same(reader.of(), writer) || writer.work().waits_for(work.id(), work.count());
        };
        list_.erase(std::remove_if(list_.begin(), list_.end(), waited_for), list_.end());
    }

private:
    struct Reader {
        DeviceRecord *device;
        Ref<StreamImpl> stream;
        StreamOf of() const { return {device, stream}; }
    };
    mutable std::mutex mutex_;
    boost::container::static_vector<Reader, 4> list_;
};

namespace {

Readers *known_readers(const StorageImpl &storage) {
    return storage.readers.load(std::memory_order_acquire);
}
Readers &readers_of(const StorageImpl &storage) {
    Readers *readers = known_readers(storage);
    if (readers) return *readers;
    auto fresh = std::make_unique<Readers>();
    if (storage.readers.compare_exchange_strong(readers, fresh.get(), std::memory_order_acq_rel))
        readers = fresh.release();
    return *readers;
}

} // namespace

void delete_readers(Readers *readers) noexcept { delete readers; }

void *StreamOf::handle() const { return stream ? stream->handle : nullptr; }
StreamWork &StreamOf::work() const {
    return stream && stream->handle ? stream->work : device->default_work;
}

StreamOf home_of(const StorageImpl &storage) { return {storage.device, storage.stream}; }

void before_read(const StorageImpl &storage, StreamOf on, Cause cause) {
    if (storage.device->type->is_inline()) return;
    const StreamOf home = home_of(storage);
    if (same(home, on)) return;
    order(on, home, cause);
    readers_of(storage); // after_read() cannot fail
}

void after_read(const StorageImpl &storage, StreamOf on, Cause cause) noexcept {
    if (storage.device->type->is_inline()) return;
    const StreamOf home = home_of(storage);
    if (!same(home, on)) known_readers(storage)->add(on, home, cause);
}

void before_write(const StorageImpl &storage, StreamOf on, Cause cause) {
    if (storage.device->type->is_inline()) return;
    order(on, home_of(storage), cause);
    if (const Readers *readers = known_readers(storage)) readers->order_before(on, cause);
}

void after_write(const StorageImpl &storage, StreamOf on, Cause cause) noexcept {
    if (storage.device->type->is_inline()) return;
    order_surely(home_of(storage), on, cause);
    if (Readers *readers = known_readers(storage)) readers->forget(on);
}

void before_transfer(const StorageImpl &pinned) { readers_of(pinned); }
void after_transfer(const StorageImpl &pinned, StreamOf on) noexcept {
    known_readers(pinned)->add(on, home_of(pinned), {});
}

void wait_for_readers_of(const StorageImpl &storage, Cause cause) {
    before_write(storage, home_of(storage), cause);
    if (Readers *readers = known_readers(storage)) readers->forget(home_of(storage));
}

void wait_for_readers_at_end(const StorageImpl &storage) noexcept {
    if (Readers *readers = known_readers(storage)) readers->end(home_of(storage));
}

} // namespace Atoll::detail
