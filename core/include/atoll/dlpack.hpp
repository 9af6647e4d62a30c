// DLPack 1.x: tensors from and for other libraries, without a copy.
#pragma once

#include "atoll/tensor.hpp"

#include <cstdint>
#include <string_view>

// DLPack's own structs, declared but not defined: they are those of any dlpack.h of major version 1
// (or, for DLManagedTensor, older), which may be included before or after this header.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace Atoll {

struct DlpackExport {
    // Waits until the work that writes the tensor is done. False: the consumer is told of the
    // tensor's stream by other means, or the caller waits.
    bool synchronize = true;
};

// The tensor's memory for another library, which must call the deleter once; that lets go of the
// memory, on any thread. The dtype, shape and address are those of now: later views, casts or
// dealloc() of the tensor change nothing, writes to its elements are seen.
//
// Strides are in elements, never NULL; `data` is the address of element (0, …, 0) and byte_offset
// 0, since many consumers do not look at byte_offset; an empty tensor has `data` NULL. The version
// says 1.0: nothing of later minor versions is used. A read-only tensor sets the read-only flag.
// The device's code is what its plugin declares (atoll_device_type_decl::dlpack_type), else
// kDLExtDev, with the device's index.
//
// Throws Error: not_supported for what DLPack cannot express (byte-swapped data, complex32, byte
// strides that are no multiple of the element's size, elements at unaligned addresses), or what
// waiting for the device throws. Each says which copy helps.
[[nodiscard]] DLManagedTensorVersioned *to_dlpack(const Tensor &tensor, DlpackExport options = {});
// The struct from before DLPack 1.0, for consumers that know no other. It has no flags, so that
// read-only tensors are refused (read_only).
[[nodiscard]] DLManagedTensor *to_dlpack_unversioned(const Tensor &tensor,
                                                     DlpackExport options = {});

struct DlpackImport {
    // The Atoll device type that the memory belongs to. Needed for kDLExtDev, which says nothing of
    // whose it is; other codes belong to the device type that declares them, and host memory may be
    // given to any device with host memory (unless named: that of the first such device).
    std::string_view device_type{};
    // Where the tensor's work will be enqueued. None: the device's default stream. The data must be
    // ready for that stream.
    Stream stream{};
};

// A tensor over another library's memory. Takes the struct over in any case: its deleter runs once,
// when the last user of the memory is gone (after the device has done its work on it), or before an
// error leaves this function. The read-only flag makes the storage read-only. NULL strides mean
// row-major. complex of 32 bits, which some producers write though the standard does not name it,
// is complex32. Unaligned data are taken.
//
// Throws Error: incompatible (another major version), not_supported (dtypes that Atoll has not,
// lanes), not_found (no such device; its plugin may not be loaded), invalid_argument, overflow.
Tensor from_dlpack(DLManagedTensorVersioned *managed, const DlpackImport &options = {});
Tensor from_dlpack(DLManagedTensor *managed, const DlpackImport &options = {});

// What to_dlpack says of the tensor's device: DLDevice's device_type and device_id.
struct DlpackDevice {
    std::int32_t type;
    std::int32_t id;
    friend bool operator==(DlpackDevice, DlpackDevice) = default;
};
DlpackDevice dlpack_device(const Tensor &tensor);

} // namespace Atoll
