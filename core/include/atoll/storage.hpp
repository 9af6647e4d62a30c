// Storage: bytes on one device, shared by any number of tensors of any dtypes.
#pragma once

#include "atoll/detail/ref.hpp"
#include "atoll/dtype.hpp"
#include "atoll/stream.hpp"

#include <cstdint>
#include <functional>

namespace Atoll {

namespace detail {
struct StorageImpl;
}

// A handle; copies share the bytes. The bytes are freed, in the order of the storage's stream, when
// the last handle and the last tensor are gone.
class Storage {
public:
    Storage() noexcept = default;
    // Allocates `bytes` uninitialised bytes. Throws Error (out_of_memory, invalid_argument).
    Storage(std::int64_t bytes, Device device, DType dtype = DType::uint8, Stream stream = {});
    // Borrows `data`: host memory for a device with host memory, or device memory of `device`.
    // `deleter` runs when the last user is gone, on the thread that released it; it does not run if
    // this throws.
    static Storage borrow(void *data, std::int64_t bytes, Device device, DType dtype,
                          std::function<void()> deleter);

    // Allocates `bytes` of host memory that transfers from and to `device` access without staging;
    // see enqueue_copy. The storage belongs to the first device with host memory. Throws Error
    // (not_supported) if the device does not provide such memory.
    static Storage pinned(std::int64_t bytes, Device device, DType dtype = DType::uint8);

    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    std::int64_t bytes() const;
    Device device() const;
    Stream stream() const;
    void *data() const; // an address in the device's memory
    // The default dtype of tensors on this storage, and for display. Changing it does not affect
    // tensors.
    DType dtype() const;
    void set_dtype(DType dtype);
    // Every tensor on a read-only storage is read-only.
    bool is_read_only() const;
    void set_read_only(bool read_only = true);
    // The effective byte-order flag of a tensor is its own flag XOR this flag.
    bool is_byteswapped() const;
    void set_byteswapped(bool swapped);
    friend bool operator==(const Storage &, const Storage &) = default;

    explicit Storage(detail::Ref<detail::StorageImpl> impl) noexcept : impl_(std::move(impl)) {}
    const detail::Ref<detail::StorageImpl> &impl() const noexcept { return impl_; }

private:
    detail::Ref<detail::StorageImpl> impl_;
};

} // namespace Atoll
