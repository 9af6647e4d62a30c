// DLPack 1.x import and export.
#include "atoll/dlpack.hpp"

#include "base/throw_error.hpp"
#include "objects/layout.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

// --- the layout of DLPack 1.x --------------------------------------------------------------------
// Facts of https://dmlc.github.io/dlpack/latest/c_api.html under names of our own, so that a
// dlpack.h of the application's cannot clash. Strides are in elements, byte_offset in bytes.

struct Version {
    std::uint32_t major, minor;
};
struct ElementType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct Array {
    void *data;
    DlpackDevice device;
    std::int32_t ndim;
    ElementType dtype;
    std::int64_t *shape, *strides;
    std::uint64_t byte_offset;
};
struct Unversioned {
    using Public = ::DLManagedTensor;
    Array array;
    void *manager_ctx;
    void (*deleter)(Public *);
};
struct Versioned {
    using Public = ::DLManagedTensorVersioned;
    Version version;
    void *manager_ctx;
    void (*deleter)(Public *);
    std::uint64_t flags;
    Array array;
};
static_assert(sizeof(Array) == 48 && offsetof(Array, device) == 8 && offsetof(Array, ndim) == 16 &&
              offsetof(Array, dtype) == 20 && offsetof(Array, shape) == 24 &&
              offsetof(Array, strides) == 32 && offsetof(Array, byte_offset) == 40);
static_assert(sizeof(Unversioned) == 64 && offsetof(Unversioned, manager_ctx) == 48 &&
              offsetof(Unversioned, deleter) == 56);
static_assert(sizeof(Versioned) == 80 && offsetof(Versioned, manager_ctx) == 8 &&
              offsetof(Versioned, deleter) == 16 && offsetof(Versioned, flags) == 24 &&
              offsetof(Versioned, array) == 32);

constexpr Version version_written{1, 0};
constexpr std::uint64_t flag_read_only = 1;
constexpr std::int32_t ext_dev = 12;

// DLDataTypeCode
std::uint8_t type_code(DType dtype) {
    switch (info(dtype).kind) {
    case Kind::bool_: return 6;
    case Kind::signed_: return 0;
    case Kind::unsigned_: return 1;
    case Kind::float_: return 2;
    case Kind::brain: return 4;
    case Kind::complex: return 5;
    case Kind::none: break;
    }
    return 3; // opaque
}

// Memory that the host may read and write: plain, pinned for CUDA, pinned for ROCm.
bool is_host(std::int32_t code) { return code == 1 || code == 3 || code == 11; }

// The code that a device type declares for memory of code `code`: kDLCUDAManaged is CUDA's, too.
std::int32_t declared_code(std::int32_t code) { return code == 13 ? 2 : code; }

std::int32_t code_of(const DeviceTypeRecord &type) {
    const std::int32_t code = type.dlpack_type;
    return code ? code : ext_dev;
}

// --- export --------------------------------------------------------------------------------------

DlpackDevice device_of(const DeviceRecord &device) {
    const std::int32_t code = code_of(*device.type);
    return {code, is_host(code) ? 0 : device.index};
}

template <class Managed> struct Exported {
    Managed managed{};
    Ref<StorageImpl> storage;
    Dims shape, strides; // elements

    static void release(typename Managed::Public *self) {
        if (self) delete static_cast<Exported *>(reinterpret_cast<Managed *>(self)->manager_ctx);
    }
};

// The strides in elements. Throws Error where DLPack cannot say what the tensor is.
Dims element_strides(const TensorImpl &t, std::string_view op) {
    const auto refuse = [&](const std::string &why) {
        throw Error(Status::not_supported, op, why, t.device()->name);
    };
    if (t.dtype == complex32)
        refuse("DLPack has no complex32; cast to complex64, or export real() and imag()");
    if (t.swapped() && info(t.dtype).alignment > 1)
        refuse("the data are byte-swapped and DLPack knows native byte order only; turn them with "
               "byteswap(), or export replicate()");
    const std::int64_t itemsize = size_of(t.dtype);
    const bool empty = t.size() == 0;
    Dims strides = t.strides;
    for (int axis = 0; axis < strides.size(); ++axis) {
        const bool walked = !empty && t.shape[axis] != 1; // else any number will do
        if (walked && strides[axis] % itemsize != 0)
            refuse(fmt::format("axis {} has a stride of {} bytes, which is no multiple of the {} "
                               "bytes of {}; DLPack counts strides in elements: export clone()",
                               axis, strides[axis], itemsize, name(t.dtype)));
        strides[axis] /= itemsize;
    }
    if (!empty && !aligned(t))
        refuse(fmt::format("the elements are not aligned to the {} bytes of {}, as consumers of "
                           "DLPack expect; export clone()",
                           info(t.dtype).alignment, name(t.dtype)));
    return strides;
}

template <class Managed> typename Managed::Public *
export_as(const Tensor &tensor, DlpackExport options, std::string_view op) {
    const TensorImpl &t = detail::impl(tensor);
    auto exported = std::make_unique<Exported<Managed>>();
    exported->shape = t.shape;
    exported->strides = element_strides(t, op);
    exported->storage = t.storage;
    wait_for_readers_of(*t.storage); // the consumer may write
    if (options.synchronize) synchronize_stream(*t.device(), t.storage->stream_handle());
    Managed &managed = exported->managed;
    managed.array.data = t.size() == 0 ? nullptr : t.data();
    managed.array.device = device_of(*t.device());
    managed.array.ndim = t.shape.size();
    managed.array.dtype = {type_code(t.dtype), static_cast<std::uint8_t>(size_of(t.dtype) * 8), 1};
    managed.array.shape = exported->shape.data();
    managed.array.strides = exported->strides.data();
    managed.array.byte_offset = 0;
    managed.deleter = &Exported<Managed>::release;
    managed.manager_ctx = exported.get();
    if constexpr (std::is_same_v<Managed, Versioned>) {
        managed.version = version_written;
        managed.flags = t.read_only() ? flag_read_only : 0;
    }
    return reinterpret_cast<typename Managed::Public *>(&exported.release()->managed);
}

// --- import --------------------------------------------------------------------------------------

// Runs the producer's deleter, which also frees the struct.
template <class Managed> struct RunDeleter {
    void operator()(Managed *managed) const {
        if (managed->deleter)
            managed->deleter(reinterpret_cast<typename Managed::Public *>(managed));
    }
};

DType dtype_from(ElementType type, std::string_view op) {
    if (type.lanes == 1)
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            if (type_code(dtype) == type.code && size_of(dtype) * 8 == type.bits) return dtype;
        }
    throw_error(Status::not_supported, op,
                "got elements of DLPack type code {}, {} bits, {} lane(s), for which "
                "there is no dtype; convert them in the producing library",
                type.code, type.bits, type.lanes);
}

// The device type whose memory it is, where a loaded plugin says so; for memory of the host the
// first one.
const DeviceTypeRecord *owner_of(std::int32_t code) {
    if (is_host(code)) {
        const DeviceRecord *first = Registry::get().first_host_device();
        return first ? first->type : nullptr;
    }
    if (code == ext_dev) return nullptr;
    for (int i = 0; const DeviceTypeRecord *type = Registry::get().device_type(i); ++i)
        if (type->live && code_of(*type) == declared_code(code)) return type;
    return nullptr;
}

Device device_from(DlpackDevice device, const DlpackImport &options, std::string_view op) {
    const bool host = is_host(device.type);
    std::string type(options.device_type);
    if (type.empty()) {
        if (const DeviceTypeRecord *owner = owner_of(device.type))
            type = owner->name;
        else if (options.stream && !host)
            type = options.stream.device().type();
    }
    if (type.empty())
        throw_error(device.type == ext_dev ? Status::invalid_argument : Status::not_found, op,
                    "no device type that is loaded says that memory of DLPack device "
                    "type {} is its own; load its plugin, or name the Atoll device "
                    "type in DlpackImport::device_type",
                    device.type);
    const Device found = Atoll::device(fmt::format("{}:{}", type, host ? 0 : device.id));
    const std::int32_t code = code_of(*found.record()->type);
    if (host ? !found.is_host_memory() : declared_code(device.type) != code)
        throw_error(Status::invalid_argument, op,
                    "got memory of DLPack device type {} for a tensor on {}, whose "
                    "memory is of type {}",
                    device.type, found.name(), code);
    return found;
}

template <class Managed>
Tensor import_as(typename Managed::Public *given, const DlpackImport &options) {
    const std::string_view op = "from_dlpack";
    const auto refuse = [&](Status status, const std::string &why) {
        throw Error(status, op, why);
    };
    if (!given) refuse(Status::invalid_argument, "got NULL");
    std::unique_ptr<Managed, RunDeleter<Managed>> managed(reinterpret_cast<Managed *>(given));
    bool read_only = false;
    if constexpr (std::is_same_v<Managed, Versioned>) {
        // The place of everything past the flags is another in another major version.
        if (managed->version.major != version_written.major)
            refuse(Status::incompatible,
                   fmt::format("got DLPack {}.{}, need major version {}", managed->version.major,
                               managed->version.minor, version_written.major));
        read_only = managed->flags & flag_read_only;
    }
    const Array &array = managed->array;
    if (array.ndim < 0 || array.ndim > ATOLL_MAX_RANK || (array.ndim > 0 && !array.shape))
        refuse(Status::invalid_argument,
               fmt::format("got {} axes{}, need 0 to {} with their extents", array.ndim,
                           array.shape ? "" : " without extents", ATOLL_MAX_RANK));
    const DType dtype = dtype_from(array.dtype, op);
    const std::int64_t itemsize = size_of(dtype);
    const Dims shape(array.shape, static_cast<std::size_t>(array.ndim));
    const std::int64_t size = checked_bytes(shape, itemsize, op);
    Dims strides = dense_strides(shape, itemsize, Order::C);
    for (int axis = 0; array.strides && axis < array.ndim; ++axis) {
        std::int64_t stride;
        if (!__builtin_mul_overflow(array.strides[axis], itemsize, &stride))
            strides[axis] = stride;
        else if (size > 0 && shape[axis] > 1) // it will be walked
            refuse(Status::overflow, fmt::format("axis {} has a stride of {} elements, which is "
                                                 "beyond 63 bits in bytes",
                                                 axis, array.strides[axis]));
    }
    ByteRange range{};
    std::uintptr_t address = 0, begin = 0, end = 0;
    if (size > 0) {
        if (!array.data)
            refuse(Status::invalid_argument,
                   fmt::format("got no data (NULL) for shape {}", shape_text(shape)));
        if (!byte_range(shape, strides, itemsize, range) ||
            __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(array.data), array.byte_offset,
                                   &address) ||
            __builtin_add_overflow(address, range.begin, &begin) ||
            __builtin_add_overflow(address, range.end, &end))
            refuse(Status::overflow,
                   fmt::format("shape {} at byte offset {} reaches outside the address space",
                               shape_text(shape), array.byte_offset));
    }
    const Device device = device_from(array.device, options, op);
    Ref<StreamImpl> stream = checked_stream(options.stream, *device.record(), op, "the data");
    Storage storage =
        Storage::borrow(reinterpret_cast<void *>(begin), range.end - range.begin, device, dtype,
                        [self = managed.get()] { RunDeleter<Managed>()(self); });
    (void)managed.release(); // the storage's now
    storage.impl()->stream = std::move(stream);
    storage.set_read_only(read_only);
    return Tensor(storage, -range.begin, shape, strides, dtype);
}

} // namespace

DLManagedTensorVersioned *to_dlpack(const Tensor &tensor, DlpackExport options) {
    return export_as<Versioned>(tensor, options, "to_dlpack");
}

DLManagedTensor *to_dlpack_unversioned(const Tensor &tensor, DlpackExport options) {
    const std::string_view op = "to_dlpack_unversioned";
    const TensorImpl &t = detail::impl(tensor);
    if (t.read_only())
        throw Error(Status::read_only, op,
                    "the tensor is read-only, which the struct from before DLPack 1.0 cannot say; "
                    "use to_dlpack, or export clone()",
                    t.device()->name);
    return export_as<Unversioned>(tensor, options, op);
}

Tensor from_dlpack(DLManagedTensorVersioned *managed, const DlpackImport &options) {
    return import_as<Versioned>(managed, options);
}
Tensor from_dlpack(DLManagedTensor *managed, const DlpackImport &options) {
    return import_as<Unversioned>(managed, options);
}

DlpackDevice dlpack_device(const Tensor &tensor) {
    return device_of(*detail::impl(tensor).device());
}

} // namespace Atoll
