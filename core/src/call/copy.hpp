// Copies between any two tensors, and fills. They prepare all other calls.
#pragma once

#include "call/context.hpp"
#include "objects/layout.hpp"

namespace Atoll::detail {

// Copies elements; shapes broadcast. Device, dtype, byte order and layout may differ, and the
// tensors may overlap.
void copy_elements(const TensorImpl &destination, const TensorImpl &source, const Context &context);
// A dense native copy of this dtype on this device.
Tensor cast_elements(const TensorImpl &tensor, DType dtype, DeviceRecord *device,
                     const Context &context);
// Sets every element; the value is converted as cast does.
void fill_elements(const TensorImpl &destination, const Scalar &value, const Context &context);

// The elements as a dense column-major array of `dtype` in host memory. Waits.
void read_elements(const TensorImpl &tensor, void *host, DType dtype, const Context &context);

// Copies between pinned host memory and its device, without waiting. Throws Error if that is
// impossible.
void enqueue_transfer(const TensorImpl &destination, const TensorImpl &source);

} // namespace Atoll::detail
