// Storages, and new tensors with a storage of their own.
#include "atoll/storage.hpp"

#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "objects/layout.hpp"
#include "runtime/dispatch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

namespace {

constexpr std::uintptr_t device_alignment = 64; // bytes: atoll_memory_params

[[noreturn, gnu::cold]] void refuse_null(const DeviceRecord &device, int function,
                                         std::int64_t bytes) {
    throw Error(Status::plugin_fault, Registry::get().device_function(function).full_name,
                fmt::format("returned NULL for {} bytes without an error", bytes), device.name);
}
// Memory that a function of the device gives; throws Error where it gives none. Call inside a
// ReadSection.
[[gnu::always_inline]] inline void *allocate(const DeviceRecord &device, int function,
                                             std::int64_t bytes, void *stream = nullptr,
                                             Cause cause = {}) {
    atoll_memory_params params{sizeof params, 0, static_cast<std::uint64_t>(bytes), nullptr};
    PreparedDeviceCall call(device, function, &params, stream, cause);
    dispatch(call.chain(), call);
    if (!params.data) [[unlikely]]
        refuse_null(device, function, bytes);
    return params.data;
}
void give_back(const DeviceRecord &device, int function, std::int64_t bytes, void *data,
               void *stream = nullptr) noexcept {
    atoll_memory_params params{sizeof params, 0, static_cast<std::uint64_t>(bytes), data};
    last_device_call(device, function, &params, stream);
}

// Lets go of the memory; the object itself is the caller's business.
void close(StorageImpl &storage) noexcept {
    if (storage.readers.load(std::memory_order_acquire)) [[unlikely]]
        wait_for_readers_at_end(storage);
    if (storage.owned)
        give_back(*storage.device, ATOLL_DEVICE_FN_free, storage.bytes, storage.data,
                  storage.stream_handle());
    if (storage.deleter) {
        // The owner may reuse the memory at once, so nothing may still be running on it.
        wait_for_stream(*storage.device, storage.stream_handle());
        try {
            (*storage.deleter)();
        } catch (...) { // a destructor has nobody to tell
        }
    }
    count_live(storage.device->slot, -1);
}

[[noreturn, gnu::cold]] void refuse_unaligned(const StorageImpl &storage, void *data) {
    const DeviceRecord &device = *storage.device;
    give_back(device, ATOLL_DEVICE_FN_free, storage.bytes, data, storage.stream_handle());
    throw Error(Status::plugin_fault, "device.allocate",
                fmt::format("returned memory at {}, need a multiple of {} bytes; report it to the "
                            "plugin's vendor",
                            data, device_alignment),
                device.name, device.type->plugin->name);
}

// The rest of making a storage that has memory of its own.
void take_memory(StorageImpl &storage, Cause cause) {
    DeviceRecord &device = *storage.device;
    require_live(device, "storage");
    storage.id = next_storage_id();
    if (storage.bytes > 0) {
        void *data = allocate(device, ATOLL_DEVICE_FN_allocate, storage.bytes,
                              storage.stream_handle(), cause);
        if (!device.type->is_inline()) home_of(storage).work().enqueued();
        if (reinterpret_cast<std::uintptr_t>(data) % device_alignment != 0) [[unlikely]]
            refuse_unaligned(storage, data);
        storage.data = static_cast<char *>(data);
        storage.owned = true;
    }
    count_live(device.slot, 1);
}

// A new tensor and its storage come from one allocation, which half of the objects of a small call
// would otherwise cost. Each lives by its own count; whichever goes last frees the block.
struct Block : Reused<&ThreadRecord::blocks> {
    alignas(TensorImpl) std::byte tensor[sizeof(TensorImpl)];
    alignas(StorageImpl) std::byte storage[sizeof(StorageImpl)];
    std::atomic<std::uint32_t> parts{1}; // at first there is the storage

    void release() noexcept {
        if (parts.load(std::memory_order_acquire) == 1 ||
            parts.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
};

void destroy_tensor_part(RefCounted *object) noexcept {
    auto *tensor = static_cast<TensorImpl *>(object);
    auto *block =
        reinterpret_cast<Block *>(reinterpret_cast<std::byte *>(tensor) - offsetof(Block, tensor));
    StorageImpl *const storage = tensor->storage.get();
    const bool is_last = static_cast<void *>(storage) == block->storage &&
                         storage->references.load(std::memory_order_acquire) == 1;
    if (is_last) { // nobody else has either part
        tensor->storage.detach();
        close(*storage);
        storage->~StorageImpl();
    }
    tensor->~TensorImpl();
    if (is_last)
        delete block;
    else
        block->release();
}

void destroy_storage_part(RefCounted *object) noexcept {
    auto *storage = static_cast<StorageImpl *>(object);
    auto *block = reinterpret_cast<Block *>(reinterpret_cast<std::byte *>(storage) -
                                            offsetof(Block, storage));
    close(*storage);
    storage->~StorageImpl();
    block->release();
}

} // namespace

Ref<StreamImpl> checked_stream(const Stream &stream, const DeviceRecord &device,
                               std::string_view op, std::string_view what) {
    if (!stream) return {};
    if (stream.device().record() != &device)
        throw_error(Status::invalid_argument, op, "the stream belongs to {}, {} to {}",
                    stream.device().name(), what, device.name);
    return Ref<StreamImpl>::share(stream.impl());
}

void StorageImpl::destroy(RefCounted *object) noexcept {
    auto *storage = static_cast<StorageImpl *>(object);
    close(*storage);
    delete storage;
}

Ref<StorageImpl> make_storage(std::int64_t bytes, DeviceRecord *device, DType dtype,
                              Ref<StreamImpl> stream) {
    const ReadSection section; // a retiring plugin sees the count or we see that it is gone
    auto storage = std::make_unique<StorageImpl>(device, bytes, dtype, std::move(stream));
    take_memory(*storage, {});
    return Ref<StorageImpl>::adopt(storage.release());
}

Ref<StorageImpl> borrow_storage(void *data, std::int64_t bytes, DeviceRecord *device, DType dtype,
                                Ref<StreamImpl> stream, std::function<void()> deleter) {
    auto storage = std::make_unique<StorageImpl>(device, bytes, dtype, std::move(stream));
    storage->data = static_cast<char *>(data);
    storage->id = next_storage_id();
    if (deleter) storage->deleter = std::make_unique<std::function<void()>>(std::move(deleter));
    count_live(device->slot, 1);
    return Ref<StorageImpl>::adopt(storage.release());
}

Tensor make_tensor(const Dims &shape, DType dtype, DeviceRecord *device, Ref<StreamImpl> stream,
                   Order order, Cause cause) {
    require_dtype(dtype, "tensor");
    // In one go for what is nearly always asked for; checked_bytes() says what is wrong with
    // others.
    const std::int64_t item = size_of(dtype), *const extents = shape.data();
    const int rank = shape.size();
    std::int64_t bytes = item;
    bool plain = order == Order::F && rank <= ATOLL_MAX_RANK;
    for (int i = 0; i < rank && plain; ++i)
        plain = extents[i] > 0 && !__builtin_mul_overflow(bytes, extents[i], &bytes);
    if (!plain) [[unlikely]]
        bytes = checked_bytes(shape, item, "tensor");
    const ReadSection section;
    auto block = std::make_unique_for_overwrite<Block>();
    auto *storage = new (block->storage)
        StorageImpl(device, bytes, dtype, std::move(stream), &destroy_storage_part);
    try {
        take_memory(*storage, cause);
    } catch (...) {
        storage->~StorageImpl();
        throw;
    }
    Block *const both = block.release();
    auto *tensor = new (both->tensor)
        TensorImpl(&destroy_tensor_part, dtype, Ref<StorageImpl>::adopt(storage), shape);
    both->parts.store(2, std::memory_order_relaxed);
    Tensor result(Ref<TensorImpl>::adopt(tensor));
    if (!plain) [[unlikely]] {
        tensor->strides = dense_strides(shape, item, order);
        return result;
    }
    // In place: the processor would wait for a copy of what was just written.
    tensor->strides.resize(rank);
    std::int64_t *const strides = tensor->strides.data();
    for (std::int64_t i = 0, stride = item; i < rank; stride *= extents[i++]) strides[i] = stride;
    tensor->dense_size = elements_in(bytes, dtype);
    return result;
}

} // namespace detail

using namespace detail;

namespace {
StorageImpl &checked(const Ref<StorageImpl> &storage) {
    if (!storage) throw Error(Status::invalid_argument, "storage", "the storage is undefined");
    return *storage;
}
} // namespace

Storage::Storage(std::int64_t bytes, Device device, DType dtype, Stream stream) {
    if (bytes < 0)
        throw_error(Status::invalid_argument, "storage", "got {} bytes, need 0 or more", bytes);
    DeviceRecord &record = checked(device.record());
    require_dtype_or_none(dtype, "storage");
    impl_ = make_storage(bytes, &record, dtype,
                         checked_stream(stream, record, "storage", "the storage"));
}

Storage Storage::borrow(void *data, std::int64_t bytes, Device device, DType dtype,
                        std::function<void()> deleter) {
    checked(device.record());
    require_dtype_or_none(dtype, "storage");
    if (bytes < 0 || (bytes > 0 && !data))
        throw_error(Status::invalid_argument, "storage", "got {} bytes at {}, need memory", bytes,
                    data);
    const ReadSection section;
    require_live(*device.record(), "storage");
    return Storage(borrow_storage(data, bytes, device.record(), dtype, {}, std::move(deleter)));
}

Storage Storage::pinned(std::int64_t bytes, Device device, DType dtype) {
    if (bytes <= 0)
        throw_error(Status::invalid_argument, "storage", "got {} bytes, need 1 or more", bytes);
    DeviceRecord &pinned_for = checked(device.record());
    DeviceRecord *host = Registry::get().first_host_device();
    if (!host)
        throw Error(Status::not_found, "storage",
                    "no device with host memory: load one, e.g. Atoll::load_plugin(\"cpu\")");
    const ReadSection section;
    require_live(pinned_for, "storage");
    void *data = allocate(pinned_for, ATOLL_DEVICE_FN_allocate_host, bytes);
    count_live(pinned_for.slot, 1);
    const Storage storage = borrow(data, bytes, Device(host), dtype, [&pinned_for, bytes, data] {
        give_back(pinned_for, ATOLL_DEVICE_FN_free_host, bytes, data);
        count_live(pinned_for.slot, -1);
    });
    storage.impl_->pinned_for = &pinned_for;
    return storage;
}

std::int64_t Storage::bytes() const { return checked(impl_).bytes; }
Device Storage::device() const { return Device(checked(impl_).device); }
void *Storage::data() const { return checked(impl_).data; }
DType Storage::dtype() const { return checked(impl_).dtype; }
void Storage::set_dtype(DType dtype) {
    require_dtype_or_none(dtype, "storage.set_dtype");
    checked(impl_).dtype = dtype;
}
bool Storage::is_read_only() const { return checked(impl_).read_only; }
void Storage::set_read_only(bool read_only) { checked(impl_).read_only = read_only; }
bool Storage::is_byteswapped() const { return checked(impl_).swapped; }
void Storage::set_byteswapped(bool swapped) { checked(impl_).swapped = swapped; }
Stream Storage::stream() const {
    const StorageImpl &storage = checked(impl_);
    return storage.stream ? Stream(storage.stream) : Device(storage.device).default_stream();
}

} // namespace Atoll
