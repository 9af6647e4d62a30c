// The order between streams: what has to wait for what.
//
// Note [Order between streams]
// A storage belongs to a stream, its home: the last write of it is on the home, or the home waits
// for it. Work on another stream that reads a storage waits for the home, and is remembered with
// the storage: readers on different streams do not wait for each other. Who writes next, on
// whatever stream, waits for the home and for all readers, and so does what gives the memory back.
// An order holds for all that is enqueued on a stream so far; where nothing was enqueued since the
// last time, there is nothing to do.
#pragma once

#include "atoll/detail/ref.hpp"
#include "runtime/registry.hpp"

namespace Atoll::detail {

struct StreamImpl;
struct StorageImpl;

// A stream of a device; null: the default stream.
struct StreamOf {
    DeviceRecord *device;
    const Ref<StreamImpl> &stream;
    void *handle() const;
    StreamWork &work() const;
};
StreamOf home_of(const StorageImpl &storage);

// Around work on stream `on` that reads or writes a storage, `after` once it is enqueued. Nothing
// on inline devices. What can fail does so before.
void before_read(const StorageImpl &storage, StreamOf on, Cause cause);
void before_write(const StorageImpl &storage, StreamOf on, Cause cause);
void after_read(const StorageImpl &storage, StreamOf on, Cause cause) noexcept;
void after_write(const StorageImpl &storage, StreamOf on, Cause cause) noexcept;
// Around a transfer from or to pinned host memory, which is kept until it is done. The host's own
// accesses are not ordered.
void before_transfer(const StorageImpl &pinned);
void after_transfer(const StorageImpl &pinned, StreamOf on) noexcept;
// Lets the home stream wait for all readers: before it writes by itself, or gives the memory back.
void wait_for_readers_of(const StorageImpl &storage, Cause cause = {});
// The same where nothing may be thrown; waits on the host where the device cannot order streams.
void wait_for_readers_at_end(const StorageImpl &storage) noexcept;

// Who reads a storage on other streams than its home since the last write.
class Readers;
void delete_readers(Readers *readers) noexcept;

} // namespace Atoll::detail
