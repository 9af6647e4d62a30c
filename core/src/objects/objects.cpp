// Devices, streams, events and storages: what the handles do through the module `device`.
#include "atoll/storage.hpp"
#include "base/printable.hpp"
#include "objects/layout.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/settings_access.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <thread>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

namespace {
const Chain &device_chain(const DeviceTypeRecord &type, int function) {
    return *type.chain(ATOLL_MODULE_DEVICE, function, 0);
}
} // namespace

void require_live(const DeviceRecord &device, std::string_view op) {
    if (!device.live.load(std::memory_order_acquire)) [[unlikely]]
        throw Error(
            Status::not_found, op,
            fmt::format("the plugin of device {} has been retired; load it again", device.name),
            device.name);
}

void device_call(const DeviceRecord &device, int function, void *params, void *stream,
                 const FunctionRecord *parent) {
    const ReadSection section;
    PreparedCall prepared(Registry::get().device_function(function), device, 0, stream, parent);
    prepared.call.params = params;
    dispatch(device_chain(*device.type, function), prepared);
}

std::int32_t try_device_call(const DeviceRecord &device, int function, void *params,
                             void *stream) noexcept {
    const ReadSection section;
    PreparedCall prepared(Registry::get().device_function(function), device, 0, stream, nullptr);
    prepared.call.params = params;
    return try_dispatch(device_chain(*device.type, function), prepared);
}

void transfer(const DeviceRecord &device, std::uint32_t kind, void *destination, const void *source,
              std::int64_t bytes, void *stream, int peer, const FunctionRecord *parent) {
    atoll_transfer_params params{
        sizeof params, kind, destination, source, static_cast<std::uint64_t>(bytes), peer, 0};
    device_call(device, ATOLL_DEVICE_FN_transfer, &params, stream, parent);
}

bool device_implements(const DeviceTypeRecord &type, int function) {
    const ReadSection section;
    return device_chain(type, function).implemented;
}

void synchronize_stream(const DeviceRecord &device, void *stream, const FunctionRecord *parent) {
    if (device.type->is_inline()) return;
    atoll_stream_params params{sizeof params, 0, stream};
    device_call(device, ATOLL_DEVICE_FN_stream_synchronize, &params, stream, parent);
}

namespace {
// An event for the time of a scope.
class ScopedEvent {
public:
    explicit ScopedEvent(const DeviceRecord &device, const FunctionRecord *parent = nullptr)
        : device_(device) {
        device_call(device_, ATOLL_DEVICE_FN_event_create, &params, nullptr, parent);
    }
    ~ScopedEvent() { try_device_call(device_, ATOLL_DEVICE_FN_event_destroy, &params, nullptr); }
    ScopedEvent(const ScopedEvent &) = delete;
    ScopedEvent &operator=(const ScopedEvent &) = delete;
    atoll_event_params params{sizeof(atoll_event_params), 0, nullptr};

private:
    const DeviceRecord &device_;
};

// Asks, since a plugin that waits cannot be called back.
void wait_for_event(const DeviceRecord &device, atoll_event_params &event,
                    std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    std::chrono::microseconds pause(10);
    while (try_device_call(device, ATOLL_DEVICE_FN_event_query, &event, nullptr) ==
           ATOLL_STATUS_NOT_READY) {
        if (std::chrono::steady_clock::now() >= end)
            throw Error(Status::not_ready, "synchronize",
                        fmt::format("the device did not finish within {} s "
                                    "(Settings::synchronize_deadline); its work goes on and may "
                                    "still write to its tensors; wait again, or end the process",
                                    std::chrono::duration<double>(deadline).count()),
                        device.name, device.type->plugin->name);
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::microseconds(1000));
    }
}
} // namespace

void synchronize_within_deadline(const DeviceRecord &device, void *stream) {
    const std::chrono::milliseconds deadline = current_settings().synchronize_deadline;
    if (device.type->is_inline()) return;
    if (deadline > deadline.zero()) {
        ScopedEvent mark(device);
        device_call(device, ATOLL_DEVICE_FN_event_record, &mark.params, stream);
        wait_for_event(device, mark.params, deadline);
    }
    synchronize_stream(device, stream); // also for the errors that stick to the stream
}

void order_streams(const DeviceRecord &waiting_device, void *waiting,
                   const DeviceRecord &done_device, void *done, const FunctionRecord *parent) {
    if (done_device.type->is_inline() || (&waiting_device == &done_device && waiting == done))
        return;
    if (waiting_device.type != done_device.type) {
        synchronize_stream(done_device, done, parent);
        return;
    }
    ScopedEvent event(done_device, parent);
    device_call(done_device, ATOLL_DEVICE_FN_event_record, &event.params, done, parent);
    device_call(waiting_device, ATOLL_DEVICE_FN_event_wait, &event.params, waiting, parent);
}

void order_streams_after(const DeviceRecord &waiting_device, void *waiting,
                         const DeviceRecord &done_device, void *done,
                         const FunctionRecord *parent) {
    try {
        order_streams(waiting_device, waiting, done_device, done, parent);
    } catch (const Error &) {
        synchronize_stream(done_device, done, parent);
    }
}

void StreamImpl::destroy(RefCounted *object) noexcept {
    auto *stream = static_cast<StreamImpl *>(object);
    atoll_stream_params params{sizeof params, 0, stream->handle};
    if (stream->handle) {
        try_device_call(*stream->device, ATOLL_DEVICE_FN_stream_destroy, &params, nullptr);
        count_live(stream->device->slot, -1);
    }
    delete stream;
}

void EventImpl::destroy(RefCounted *object) noexcept {
    auto *event = static_cast<EventImpl *>(object);
    atoll_event_params params{sizeof params, 0, event->handle};
    if (event->handle) {
        try_device_call(*event->device, ATOLL_DEVICE_FN_event_destroy, &params, nullptr);
        count_live(event->device->slot, -1);
    }
    delete event;
}

namespace {

constexpr std::uintptr_t device_alignment = 64; // bytes: atoll_memory_params

// Lets go of the memory; the object itself is the caller's business.
void close(StorageImpl &storage) noexcept {
    if (storage.owned) {
        atoll_memory_params params{sizeof params, 0, static_cast<std::uint64_t>(storage.bytes),
                                   storage.data};
        try_device_call(*storage.device, ATOLL_DEVICE_FN_free, &params, storage.stream_handle());
    }
    if (storage.deleter) {
        // The owner may reuse the memory at once, so nothing may still be running on it.
        if (!storage.device->type->is_inline()) {
            atoll_stream_params params{sizeof params, 0, storage.stream_handle()};
            try_device_call(*storage.device, ATOLL_DEVICE_FN_stream_synchronize, &params,
                            storage.stream_handle());
        }
        try {
            (*storage.deleter)();
        } catch (...) { // a destructor has nobody to tell
        }
    }
    count_live(storage.device->slot, -1);
}

void open(StorageImpl &storage, std::int64_t bytes, DeviceRecord *device, DType dtype,
          Ref<StreamImpl> stream, const FunctionRecord *parent) {
    require_live(*device, "storage");
    storage.device = device;
    storage.bytes = bytes;
    storage.dtype.store(dtype, std::memory_order_relaxed);
    storage.stream = std::move(stream);
    if (bytes > 0) {
        atoll_memory_params params{sizeof params, 0, static_cast<std::uint64_t>(bytes), nullptr};
        device_call(*device, ATOLL_DEVICE_FN_allocate, &params, storage.stream_handle(), parent);
        if (!params.data)
            throw Error(Status::plugin_fault, "device.allocate",
                        fmt::format("returned NULL for {} bytes without an error", bytes),
                        device->name);
        if (reinterpret_cast<std::uintptr_t>(params.data) % device_alignment != 0) {
            try_device_call(*device, ATOLL_DEVICE_FN_free, &params, storage.stream_handle());
            throw Error(Status::plugin_fault, "device.allocate",
                        fmt::format("returned memory at {}, need a multiple of {} bytes; report it "
                                    "to the plugin's vendor",
                                    params.data, device_alignment),
                        device->name, device->type->plugin->name);
        }
        storage.data = static_cast<char *>(params.data);
        storage.owned = true;
    }
    count_live(device->slot, 1);
}

// Note [One block]
// A new tensor and its storage come from one allocation, which half of the objects of a small call
// would otherwise cost. Each lives by its own count; whichever goes last frees the block.
struct Block {
    alignas(TensorImpl) std::byte tensor[sizeof(TensorImpl)];
    alignas(StorageImpl) std::byte storage[sizeof(StorageImpl)];
    std::atomic<std::uint32_t> parts{2};

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
    tensor->~TensorImpl();
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

void StorageImpl::destroy(RefCounted *object) noexcept {
    auto *storage = static_cast<StorageImpl *>(object);
    close(*storage);
    delete storage;
}

Ref<StorageImpl> make_storage(std::int64_t bytes, DeviceRecord *device, DType dtype,
                              Ref<StreamImpl> stream) {
    const ReadSection section; // a retiring plugin sees the count or we see that it is gone
    auto storage = std::make_unique<StorageImpl>();
    open(*storage, bytes, device, dtype, std::move(stream), nullptr);
    return Ref<StorageImpl>::adopt(storage.release());
}

Tensor make_tensor(const Dims &shape, DType dtype, DeviceRecord *device, Ref<StreamImpl> stream,
                   Order order, const FunctionRecord *parent) {
    if (dtype == DType::none) [[unlikely]]
        throw Error(Status::invalid_argument, "tensor", "got no dtype, need one");
    const std::int64_t bytes = checked_bytes(shape, size_of(dtype), "tensor");
    const ReadSection section;
    auto block = std::make_unique_for_overwrite<Block>();
    auto *storage = new (block->storage) StorageImpl(&destroy_storage_part);
    try {
        open(*storage, bytes, device, dtype, std::move(stream), parent);
    } catch (...) {
        storage->~StorageImpl();
        throw;
    }
    auto *tensor = new (block.release()->tensor) TensorImpl(&destroy_tensor_part);
    tensor->storage = Ref<StorageImpl>::adopt(storage);
    Tensor result(Ref<TensorImpl>::adopt(tensor));
    tensor->dtype = dtype;
    tensor->shape = shape;
    tensor->strides = dense_strides(shape, size_of(dtype), order);
    return result;
}

} // namespace detail

using namespace detail;

// --- Device --------------------------------------------------------------------------------------

namespace {
DeviceRecord &checked(DeviceRecord *record) {
    if (!record)
        throw Error(Status::invalid_argument, "device",
                    "no device (default-constructed); get one with device(\"cpu\")");
    return *record;
}
} // namespace

std::string Device::name() const { return checked(record_).name; }
std::string_view Device::type() const { return checked(record_).type->name; }
int Device::index() const { return checked(record_).index; }
bool Device::is_host_memory() const { return checked(record_).type->host_memory(); }
bool Device::is_inline() const { return checked(record_).type->is_inline(); }

namespace {
bool takes(const DeviceRecord &device, int function, std::uint32_t cap) {
    const ReadSection section;
    const Chain &chain = *device.type->chain(ATOLL_MODULE_CORE, function, ATOLL_FLOAT64);
    return chain.implemented && (chain.caps & cap);
}
} // namespace

bool Device::supports_byteswap() const {
    return takes(checked(record_), ATOLL_FN_copy, ATOLL_CAP_SWAPPED);
}
bool Device::supports_mixed_dtypes() const {
    return takes(checked(record_), ATOLL_FN_add, ATOLL_CAP_MIXED_INPUTS);
}

DeviceProperties Device::properties() const {
    require_live(checked(record_), "device.properties");
    atoll_properties_params params{};
    params.struct_size = sizeof params;
    device_call(*record_, ATOLL_DEVICE_FN_properties, &params);
    params.name[sizeof params.name - 1] = '\0';
    return {printable(params.name), params.units, params.total_memory, params.free_memory,
            params.alignment};
}

std::vector<std::string> Device::modules() const {
    const ReadSection section;
    std::vector<std::string> names;
    for (int m = 0; m < max_modules; ++m) {
        const ModuleRecord *module = Registry::get().module(m);
        if (!module) break;
        SlotTable &table = *checked(record_).type->tables[m].load(std::memory_order_acquire);
        const std::size_t count =
            module->functions.size() * static_cast<std::size_t>(table.columns);
        for (std::size_t i = 0; i < count; ++i) {
            if (!table.slots[i].head.load(std::memory_order_acquire)->implemented) continue;
            names.push_back(module->name);
            break;
        }
    }
    return names;
}

Stream Device::default_stream() const {
    auto *stream = new StreamImpl;
    stream->device = &checked(record_);
    stream->handle = nullptr;
    return Stream(Ref<StreamImpl>::adopt(stream));
}

Stream Device::new_stream() const {
    if (checked(record_).type->is_inline()) return default_stream();
    const ReadSection section;
    require_live(*record_, "device.stream_create");
    atoll_stream_params params{sizeof params, 0, nullptr};
    device_call(*record_, ATOLL_DEVICE_FN_stream_create, &params);
    if (!params.stream) // NULL is the default stream
        throw Error(Status::plugin_fault, "device.stream_create",
                    "returned no stream without an error", record_->name);
    auto *stream = new StreamImpl;
    stream->device = record_;
    stream->handle = params.stream;
    count_live(record_->slot, 1);
    return Stream(Ref<StreamImpl>::adopt(stream));
}

void Device::synchronize() const {
    require_live(checked(record_), "device.stream_synchronize");
    synchronize_within_deadline(*record_, nullptr);
}

Device device(std::string_view name) {
    const std::size_t colon = name.find(':');
    const std::string_view type_name = name.substr(0, colon);
    int index = 0;
    bool valid = true;
    if (colon != std::string_view::npos) {
        const std::string_view digits = name.substr(colon + 1);
        valid = !digits.empty() && digits.size() < 5;
        for (char c : digits) {
            valid = valid && c >= '0' && c <= '9';
            if (valid) index = index * 10 + (c - '0');
        }
    }
    const DeviceTypeRecord *type = Registry::get().find_device_type(type_name);
    if (valid && type && type->live && index < type->device_count)
        return Device(type->devices[index].load(std::memory_order_acquire));
    std::string known;
    for (const Device &d : devices()) known += (known.empty() ? "" : ", ") + d.name();
    std::string why = "load its plugin first, e.g. Atoll::load(\"" + std::string(type_name) + "\")";
    if (!valid)
        why = "write a type, or a type and an index, e.g. \"dummy:0\"";
    else if (type && type->live && type->device_count == 0)
        why = "its plugin found no device: " + type->no_device_reason.get();
    else if (type && type->live)
        why = fmt::format("{} has {} device(s), counted from 0", type_name, type->device_count);
    throw Error(Status::not_found, "device",
                fmt::format("there is no device '{}'; {}; devices now: {}", name, why,
                            known.empty() ? "none" : known));
}

std::vector<Device> devices() {
    std::vector<Device> found;
    for (int t = 0; t < max_device_types; ++t) {
        const DeviceTypeRecord *type = Registry::get().device_type(t);
        if (!type) break;
        if (!type->live.load(std::memory_order_acquire)) continue;
        for (int i = 0; i < type->device_count; ++i)
            found.emplace_back(type->devices[i].load(std::memory_order_acquire));
    }
    return found;
}

Device default_device() {
    const Settings &now = current_settings();
    if (!now.default_device.empty()) return device(std::string(now.default_device));
    if (DeviceRecord *first = Registry::get().first_host_device()) return Device(first);
    throw Error(Status::not_found, "device",
                "no default device: no plugin with a host device is loaded; call "
                "Atoll::load(\"cpu\") or set Settings::default_device");
}

// --- Stream and Event ----------------------------------------------------------------------------

namespace {
StreamImpl &checked(StreamImpl *stream) {
    if (!stream)
        throw Error(Status::invalid_argument, "stream",
                    "the stream is undefined; make one with "
                    "Device::new_stream");
    require_live(*stream->device, "stream");
    return *stream;
}
EventImpl &checked(EventImpl *event) {
    if (!event)
        throw Error(Status::invalid_argument, "event",
                    "the event is undefined; make one with "
                    "Stream::record");
    require_live(*event->device, "event");
    return *event;
}
} // namespace

Device Stream::device() const { return Device(checked(impl()).device); }

bool Stream::same_as(const Stream &other) const {
    if (!impl() || !other.impl()) return impl() == other.impl();
    return impl()->device == other.impl()->device && impl()->handle == other.impl()->handle;
}

void Stream::synchronize() const {
    const StreamImpl &stream = checked(impl());
    synchronize_within_deadline(*stream.device, stream.handle);
}

Event Stream::record() const {
    const StreamImpl &stream = checked(impl());
    auto event = std::make_unique<EventImpl>();
    event->device = stream.device;
    event->handle = nullptr;
    if (!stream.device->type->is_inline()) {
        const ReadSection section;
        require_live(*stream.device, "device.event_create");
        atoll_event_params params{sizeof params, 0, nullptr};
        device_call(*stream.device, ATOLL_DEVICE_FN_event_create, &params);
        if (!params.event)
            throw Error(Status::plugin_fault, "device.event_create",
                        "returned no event without an error", stream.device->name);
        event->handle = params.event;
        count_live(stream.device->slot, 1);
        Event result(Ref<EventImpl>::adopt(event.release()));
        device_call(*stream.device, ATOLL_DEVICE_FN_event_record, &params, stream.handle);
        return result;
    }
    return Event(Ref<EventImpl>::adopt(event.release()));
}

void Stream::wait(const Event &event) const {
    const StreamImpl &stream = checked(impl());
    const EventImpl &mark = checked(event.impl());
    if (!mark.handle) return;
    if (mark.device->type != stream.device->type) {
        event.synchronize();
        return;
    }
    atoll_event_params params{sizeof params, 0, mark.handle};
    device_call(*stream.device, ATOLL_DEVICE_FN_event_wait, &params, stream.handle);
}

void Event::synchronize() const {
    const EventImpl &mark = checked(impl());
    if (!mark.handle) return;
    atoll_event_params params{sizeof params, 0, mark.handle};
    const std::chrono::milliseconds deadline = current_settings().synchronize_deadline;
    if (deadline > deadline.zero()) wait_for_event(*mark.device, params, deadline);
    device_call(*mark.device, ATOLL_DEVICE_FN_event_synchronize, &params);
}

bool Event::done() const {
    const EventImpl &mark = checked(impl());
    if (!mark.handle) return true;
    atoll_event_params params{sizeof params, 0, mark.handle};
    return try_device_call(*mark.device, ATOLL_DEVICE_FN_event_query, &params, nullptr) !=
           ATOLL_STATUS_NOT_READY;
}

// --- Storage -------------------------------------------------------------------------------------

namespace {
StorageImpl &checked(const Ref<StorageImpl> &storage) {
    if (!storage) throw Error(Status::invalid_argument, "storage", "the storage is undefined");
    return *storage;
}
Ref<StreamImpl> checked_stream(const Stream &stream, Device device) {
    if (!stream) return {};
    if (!(stream.device() == device))
        throw Error(Status::invalid_argument, "storage",
                    fmt::format("the stream belongs to {}, the storage to {}",
                                stream.device().name(), device.name()));
    return Ref<StreamImpl>::share(stream.impl());
}
} // namespace

Storage::Storage(std::int64_t bytes, Device device, DType dtype, Stream stream) {
    if (bytes < 0)
        throw Error(Status::invalid_argument, "storage",
                    fmt::format("got {} bytes, need 0 or more", bytes));
    impl_ = make_storage(bytes, &checked(device.record()), dtype, checked_stream(stream, device));
}

Storage Storage::borrow(void *data, std::int64_t bytes, Device device, DType dtype,
                        std::function<void()> deleter) {
    checked(device.record());
    if (bytes < 0 || (bytes > 0 && !data))
        throw Error(Status::invalid_argument, "storage",
                    fmt::format("got {} bytes at {}, need memory", bytes, data));
    const ReadSection section;
    require_live(*device.record(), "storage");
    auto storage = std::make_unique<StorageImpl>();
    storage->device = device.record();
    storage->data = static_cast<char *>(data);
    storage->bytes = bytes;
    storage->dtype = dtype;
    if (deleter) storage->deleter = std::make_unique<std::function<void()>>(std::move(deleter));
    count_live(storage->device->slot, 1);
    return Storage(Ref<StorageImpl>::adopt(storage.release()));
}

std::int64_t Storage::bytes() const { return checked(impl_).bytes; }
Device Storage::device() const { return Device(checked(impl_).device); }
void *Storage::data() const { return checked(impl_).data; }
DType Storage::dtype() const { return checked(impl_).dtype; }
void Storage::set_dtype(DType dtype) { checked(impl_).dtype = dtype; }
bool Storage::is_read_only() const { return checked(impl_).read_only; }
void Storage::set_read_only(bool read_only) { checked(impl_).read_only = read_only; }
bool Storage::is_byteswapped() const { return checked(impl_).swapped; }
void Storage::set_byteswapped(bool swapped) { checked(impl_).swapped = swapped; }
Stream Storage::stream() const {
    const StorageImpl &storage = checked(impl_);
    return storage.stream ? Stream(storage.stream) : Device(storage.device).default_stream();
}

} // namespace Atoll
