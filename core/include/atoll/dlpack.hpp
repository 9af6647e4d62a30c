// DLPack 1.x: exchanges tensors with other libraries without copying.
#pragma once

#include "atoll/tensor.hpp"

#include <cstdint>
#include <string_view>

// DLPack's own structs, declared but not defined. They match any dlpack.h of major version 1 (or,
// for DLManagedTensor, older), which may be included before or after this header.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace Atoll {

struct DlpackExport {
    // Waits until the work that writes the tensor is done. If false, the caller waits, or the
    // consumer learns the tensor's stream by other means.
    bool synchronize = true;
};

// Exports the tensor's memory to another library, which must call the deleter once, on any thread;
// the deleter releases the memory. Dtype, shape and address are those at the time of the call:
// later views, casts or dealloc() of the tensor do not affect them; writes to its elements are
// visible.
//
// Strides are in elements and never NULL. `data` is the address of element (0, …, 0) and
// byte_offset is 0, because many consumers ignore byte_offset; an empty tensor has NULL `data`. The
// version is 1.0: nothing of later minor versions is used. A read-only tensor sets the read-only
// flag. The device type is the one that its plugin declares (atoll_device_type_decl::dlpack_type),
// otherwise kDLExtDev, with the device's index.
//
// Throws Error: not_supported for what DLPack cannot express (byte-swapped data, complex32, byte
// strides that are not multiples of the element size, elements at unaligned addresses), or the
// error of waiting for the device. Each error says which copy helps.
[[nodiscard]] DLManagedTensorVersioned *to_dlpack(const Tensor &tensor, DlpackExport options = {});
// Exports the struct from before DLPack 1.0, for consumers that support no other. It has no flags,
// so read-only tensors are refused (read_only).
[[nodiscard]] DLManagedTensor *to_dlpack_unversioned(const Tensor &tensor,
                                                     DlpackExport options = {});

struct DlpackImport {
    // The Atoll device type of the memory. Required for kDLExtDev, which does not identify a device
    // type. Other codes belong to the device type that declares them. Host memory may be assigned
    // to any device with host memory (default: the first such device).
    std::string_view device_type{};
    // The stream of the tensor's work. None: the device's default stream. The data must be ready
    // for that stream.
    Stream stream{};
};

// Creates a tensor on another library's memory. Always takes ownership of the struct: its deleter
// runs once, when the last user of the memory is gone (after the device has finished its work on
// it), or before the function throws. The read-only flag makes the storage read-only. NULL strides
// mean row-major. A 32-bit complex dtype, which some producers write although the standard does not
// name it, is complex32. Unaligned data are accepted.
//
// Throws Error: incompatible (another major version), not_supported (dtypes that Atoll lacks,
// lanes), not_found (no such device; its plugin may not be loaded), invalid_argument, overflow.
Tensor from_dlpack(DLManagedTensorVersioned *managed, const DlpackImport &options = {});
Tensor from_dlpack(DLManagedTensor *managed, const DlpackImport &options = {});

// The device that to_dlpack reports for the tensor: DLDevice's device_type and device_id.
struct DlpackDevice {
    std::int32_t type;
    std::int32_t id;
    friend bool operator==(DlpackDevice, DlpackDevice) = default;
};
DlpackDevice dlpack_device(const Tensor &tensor);

} // namespace Atoll
