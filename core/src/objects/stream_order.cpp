// Orders streams by what they do with storages.
#include "objects/stream_order.hpp"

#include "objects/objects.hpp"

#include <boost/container/static_vector.hpp>

namespace Atoll::detail {

namespace {

bool same(const StreamOf &a, const StreamOf &b) {
    return a.device == b.device && a.handle() == b.handle();
}

// Later work on `waiting` happens after the work enqueued on `done` so far.
void order(StreamOf waiting, StreamOf done, const FunctionRecord *parent) {
    if (same(waiting, done)) return;
    StreamWork &work = done.work();
    const std::uint64_t ticket = work.count();
    if (waiting.work().waits_for(work.id(), ticket)) return;
    order_streams(*waiting.device, waiting.handle(), *done.device, done.handle(), parent);
    waiting.work().note_wait(work.id(), ticket);
    waiting.work().enqueued(); // who waits for `waiting` later waits for `done`, too
}

// For a stream that gives memory back, or remembers one reader less. Where it is of another type
// than the reader, as with pinned host memory, the host waits; errors stay with the reader.
void order_home(StreamOf home, StreamOf reader, const FunctionRecord *parent) {
    if (home.device->type == reader.device->type) return order(home, reader, parent);
    wait_for_stream(*reader.device, reader.handle());
}

} // namespace

class Readers {
public:
    // `home` waits at once for one of them where there are too many.
    void add(StreamOf reader, StreamOf home, const FunctionRecord *parent) {
        const std::lock_guard lock(mutex_);
        for (const Reader &known : list_)
            if (same(known.of(), reader)) return;
        if (list_.size() == list_.capacity()) {
            order_home(home, list_.front().of(), parent);
            list_.erase(list_.begin());
        }
        list_.push_back({reader.device, reader.stream});
    }
    void order_before(StreamOf writer, const FunctionRecord *parent) const {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) order(writer, reader.of(), parent);
    }
    // For a home that gives the memory back.
    void end(StreamOf home) noexcept {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) try {
                order_home(home, reader.of(), nullptr);
            } catch (...) { // a destructor has nobody to tell
                wait_for_stream(*reader.device, reader.of().handle());
            }
        list_.clear();
    }
    void forget() {
        const std::lock_guard lock(mutex_);
        list_.clear();
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

void before_read(const StorageImpl &storage, StreamOf on, const FunctionRecord *parent) {
    if (storage.device->type->is_inline()) return;
    const StreamOf home = home_of(storage);
    if (same(home, on)) return;
    order(on, home, parent);
    // Before the work, since this may fail. Who writes next waits for what was enqueued by then.
    readers_of(storage).add(on, home, parent);
}

void before_write(const StorageImpl &storage, StreamOf on, const FunctionRecord *parent) {
    if (storage.device->type->is_inline()) return;
    order(on, home_of(storage), parent);
    if (const Readers *readers = known_readers(storage)) readers->order_before(on, parent);
}

void after_write(const StorageImpl &storage, StreamOf on, const FunctionRecord *parent) {
    if (storage.device->type->is_inline()) return;
    try {
        order(home_of(storage), on, parent);
    } catch (const Error &) { // the work is under way: where it cannot be ordered, wait for it
        synchronize_stream(*on.device, on.handle(), parent);
    }
    if (Readers *readers = known_readers(storage)) readers->forget();
}

void keep_for(const StorageImpl &storage, StreamOf on) {
    readers_of(storage).add(on, home_of(storage), nullptr);
}

void wait_for_readers_of(const StorageImpl &storage, const FunctionRecord *parent) {
    before_write(storage, home_of(storage), parent);
    if (Readers *readers = known_readers(storage)) readers->forget();
}

void wait_for_readers_at_end(const StorageImpl &storage) noexcept {
    if (Readers *readers = known_readers(storage)) readers->end(home_of(storage));
}

} // namespace Atoll::detail
