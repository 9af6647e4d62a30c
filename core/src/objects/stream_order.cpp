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

// The same once the work is enqueued and an error could no longer leave everything unchanged: where
// the device cannot order its streams, waits for `done` instead.
void order_after(StreamOf waiting, StreamOf done, const FunctionRecord *parent) {
    try {
        order(waiting, done, parent);
    } catch (const Error &) {
        synchronize_stream(*done.device, done.handle(), parent);
    }
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
            order_after(home, list_.front().of(), parent);
            list_.erase(list_.begin());
        }
        list_.push_back({reader.device, reader.stream});
    }
    void order_before(StreamOf writer, const FunctionRecord *parent) const {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) order(writer, reader.of(), parent);
    }
    // For a stream that waits for them or synchronises.
    void end(StreamOf home) noexcept {
        const std::lock_guard lock(mutex_);
        for (const Reader &reader : list_) try {
                order_after(home, reader.of(), nullptr);
            } catch (...) { // the device fails, and a destructor has nobody to tell
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

void delete_readers(Readers *readers) noexcept { delete readers; }

void *StreamOf::handle() const { return stream ? stream->handle : nullptr; }
StreamWork &StreamOf::work() const {
    return stream && stream->handle ? stream->work : device->default_work;
}

StreamOf home_of(const StorageImpl &storage) { return {storage.device, storage.stream}; }

void before_use(const StorageImpl &storage, bool writes, StreamOf on,
                const FunctionRecord *parent) {
    if (storage.device->type->is_inline()) return;
    order(on, home_of(storage), parent);
    if (!writes) return;
    if (const Readers *readers = storage.readers.load(std::memory_order_acquire))
        readers->order_before(on, parent);
}

void after_use(const StorageImpl &storage, bool writes, StreamOf on, const FunctionRecord *parent) {
    if (storage.device->type->is_inline()) return;
    const StreamOf home = home_of(storage);
    Readers *readers = storage.readers.load(std::memory_order_acquire);
    if (writes) {
        order_after(home, on, parent);
        if (readers) readers->forget();
        return;
    }
    if (same(home, on)) return;
    if (!readers) {
        auto fresh = std::make_unique<Readers>();
        if (storage.readers.compare_exchange_strong(readers, fresh.get(),
                                                    std::memory_order_acq_rel))
            readers = fresh.release();
    }
    readers->add(on, home, parent);
}

void wait_for_readers_of(const StorageImpl &storage, const FunctionRecord *parent) {
    before_use(storage, true, home_of(storage), parent);
    if (Readers *readers = storage.readers.load(std::memory_order_acquire)) readers->forget();
}

void wait_for_readers_at_end(const StorageImpl &storage) noexcept {
    if (Readers *readers = storage.readers.load(std::memory_order_acquire))
        readers->end(home_of(storage));
}

} // namespace Atoll::detail
