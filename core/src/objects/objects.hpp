// What the handles of the public API point to.
#pragma once

#include "atoll/detail/ref.hpp"
#include "atoll/dims.hpp"
#include "atoll/dtype.hpp"
#include "atoll/error.hpp"
#include "atoll/tensor.hpp"
#include "base/overlap.hpp"
#include "objects/stream_order.hpp"
#include "runtime/registry.hpp"
#include "runtime/thread_state.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace Atoll::detail {

struct StreamImpl : RefCounted {
    StreamImpl(DeviceRecord &its_device, void *its_handle)
        : RefCounted(&destroy), device(&its_device), handle(its_handle) {}
    DeviceRecord *device;
    void *handle; // the plugin's; null: the default stream
    StreamWork work;
    static void destroy(RefCounted *object) noexcept;
};

struct EventImpl : RefCounted {
    explicit EventImpl(const DeviceRecord &its_device)
        : RefCounted(&destroy), device(&its_device) {}
    const DeviceRecord *device;
    void *handle = nullptr; // the plugin's; null on inline devices
    static void destroy(RefCounted *object) noexcept;
};

struct StorageImpl : RefCounted {
    StorageImpl(DeviceRecord *its_device, std::int64_t its_bytes, DType its_dtype,
                Ref<StreamImpl> its_stream, Destroy how = &destroy)
        : RefCounted(how), device(its_device), bytes(its_bytes), dtype(its_dtype),
          stream(std::move(its_stream)) {}
    DeviceRecord *const device;
    char *data = nullptr;
    const std::int64_t bytes;
    std::uint64_t id = 0; // atoll_operand::storage
    std::atomic<DType> dtype;
    std::atomic<bool> read_only{false};
    std::atomic<bool> swapped{false};
    bool owned = false;                 // allocated by the device, to be freed there
    DeviceRecord *pinned_for = nullptr; // whose transfers reach this host memory without staging
    Ref<StreamImpl> stream;             // null: the device's default stream
    std::unique_ptr<std::function<void()>> deleter;
    mutable std::atomic<Readers *> readers{nullptr}; // made by the first on another stream
    ~StorageImpl() { delete_readers(readers.load(std::memory_order_relaxed)); }
    void *stream_handle() const { return stream ? stream->handle : nullptr; }
    static void destroy(RefCounted *object) noexcept;
};

enum TensorFlags : std::uint8_t { tensor_swapped = 1, tensor_read_only = 2 };

struct TensorImpl : RefCounted, Reused<&ThreadRecord::views> {
    TensorImpl() : RefCounted(&destroy) {}
    TensorImpl(Destroy how, DType its_dtype, Ref<StorageImpl> its_storage, const Dims &its_shape)
        : RefCounted(how), dtype(its_dtype), storage(std::move(its_storage)), shape(its_shape) {}
    DType dtype = DType::none;
    std::uint8_t flags = 0;
    std::int64_t offset = 0; // bytes
    // The number of elements where they lie one after the other in order F, each aligned; else, and
    // where there are none, -1. See find_dense_size().
    std::int64_t dense_size = -1;
    Ref<StorageImpl> storage;
    Dims shape, strides;

    DeviceRecord *device() const { return storage->device; }
    char *data() const { return storage->data + offset; }
    bool swapped() const {
        return ((flags & tensor_swapped) != 0) != storage->swapped.load(std::memory_order_relaxed);
    }
    bool read_only() const {
        return (flags & tensor_read_only) || storage->read_only.load(std::memory_order_relaxed);
    }
    std::int64_t size() const {
        std::int64_t n = 1;
        for (std::int64_t extent : shape) n *= extent;
        return n;
    }
    static void destroy(RefCounted *object) noexcept { delete static_cast<TensorImpl *>(object); }
};

// The implementation of a defined tensor; throws otherwise.
inline TensorImpl &impl(const Tensor &tensor) {
    if (!tensor.impl()) [[unlikely]]
        throw Error(Status::invalid_argument, "tensor",
                    "the tensor is undefined (default-constructed); assign one first");
    return *tensor.impl();
}

// --- devices -------------------------------------------------------------------------------------
// Throws where there is no device.
DeviceRecord &checked(DeviceRecord *record);
// Throws unless the device's plugin is loaded.
[[noreturn]] void refuse_retired(const DeviceRecord &device, std::string_view op);
inline void require_live(const DeviceRecord &device, std::string_view op) {
    if (!device.live.load(std::memory_order_acquire)) [[unlikely]]
        refuse_retired(device, op);
}
// Calls a function of the module `device`; throws Error on failure. `stream` may be null.
void device_call(const DeviceRecord &device, int function, void *params, void *stream = nullptr,
                 Cause cause = {});
// As above, but returns the status and says nothing, for queries.
std::int32_t try_device_call(const DeviceRecord &device, int function, void *params,
                             void *stream) noexcept;
// As above, but a failure is a warning, for destructors.
void last_device_call(const DeviceRecord &device, int function, void *params,
                      void *stream) noexcept;
// Copies bytes to, from or within a device (ATOLL_TRANSFER_*); `peer` is the source's index. Where
// it throws, the memory is no longer in use.
void transfer(StreamOf on, std::uint32_t kind, void *destination, const void *source,
              std::int64_t bytes, int peer = 0, Cause cause = {}, std::uint32_t flags = 0);
bool device_implements(const DeviceTypeRecord &type, int function);
void synchronize_stream(const DeviceRecord &device, void *stream, Cause cause = {});
// The same for destructors, which have nobody to tell: errors stay with the stream, for who
// synchronises it next.
void wait_for_stream(const DeviceRecord &device, void *stream) noexcept;
// The same for at most Settings::synchronize_deadline; Error (not_ready) after that. Not where
// memory of the host is at stake: the device would go on writing to it.
void synchronize_within_deadline(const DeviceRecord &device, void *stream);
// Later work on `waiting` happens after the work enqueued on `done` so far.
void order_streams(StreamOf waiting, StreamOf done, Cause cause);

// --- storages and tensors ------------------------------------------------------------------------
// The stream that a caller names for `what`, if any. Throws unless it is one of the device's.
Ref<StreamImpl> checked_stream(const Stream &stream, const DeviceRecord &device,
                               std::string_view op, std::string_view what);
Ref<StorageImpl> make_storage(std::int64_t bytes, DeviceRecord *device, DType dtype,
                              Ref<StreamImpl> stream = {});
// A storage on memory, or an object, that `deleter` (or nobody: null) gives back.
Ref<StorageImpl> borrow_storage(void *data, std::int64_t bytes, DeviceRecord *device, DType dtype,
                                Ref<StreamImpl> stream, std::function<void()> deleter);
// A dense tensor of its own.
Tensor make_tensor(const Dims &shape, DType dtype, DeviceRecord *device,
                   Ref<StreamImpl> stream = {}, Order order = Order::F, Cause cause = {});
// A tensor whose shape and strides the caller fills in, without any check, and then its offset; of
// a tensor without elements, which must not point outside the storage, it is the other one.
Ref<TensorImpl> new_view(Ref<StorageImpl> storage, DType dtype, std::uint8_t flags);
Tensor finish_view(Ref<TensorImpl> view, std::int64_t offset, std::int64_t offset_if_empty);
// A tensor on `storage` without any check.
Tensor make_view(Ref<StorageImpl> storage, std::int64_t offset, Dims shape, Dims strides,
                 DType dtype, std::uint8_t flags);
// Another view of the same data with the flags of `tensor`.
Tensor make_view(const TensorImpl &tensor, std::int64_t offset, Dims shape, Dims strides);

} // namespace Atoll::detail
