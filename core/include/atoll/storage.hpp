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

// A handle; copies share. The bytes are freed in the order of the storage's stream when the last
// handle and tensor are gone.
class Storage {
public:
    Storage() noexcept = default;
    // `bytes` uninitialised bytes. Throws Error (out_of_memory, overflow).
    Storage(std::int64_t bytes, Device device, DType dtype = DType::uint8, Stream stream = {});
    // Borrows `data` of a device with host memory (or device memory of that device); `deleter` runs
    // when the last user is gone, on the thread that let go.
    static Storage borrow(void *data, std::int64_t bytes, Device device, DType dtype,
                          std::function<void()> deleter);

    // `bytes` of host memory from which, and to which, transfers of `device` run without staging:
    // see enqueue_copy. It belongs to the first device with host memory. Throws Error
    // (not_supported) where the device does not offer it.
    static Storage pinned(std::int64_t bytes, Device device, DType dtype = DType::uint8);

    explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
    std::int64_t bytes() const;
    Device device() const;
    Stream stream() const;
    void *data() const; // an address in the device's memory
    // For tensors that name none, and for display. Changing it does not affect tensors.
    DType dtype() const;
    void set_dtype(DType dtype);
    // Every tensor over a read-only storage is read-only.
    bool is_read_only() const;
    void set_read_only(bool read_only = true);
    // The effective byte order of a tensor is its own flag XOR this one.
    bool is_byteswapped() const;
    void set_byteswapped(bool swapped);
    friend bool operator==(const Storage &, const Storage &) = default;

    explicit Storage(detail::Ref<detail::StorageImpl> impl) noexcept : impl_(std::move(impl)) {}
    const detail::Ref<detail::StorageImpl> &impl() const noexcept { return impl_; }

private:
    detail::Ref<detail::StorageImpl> impl_;
};

} // namespace Atoll
