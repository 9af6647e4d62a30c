// Moves elements by offsets, which implements index tensors.
#pragma once

#include "call/context.hpp"
#include "objects/layout.hpp"

namespace Atoll::detail {

// How far elements are from the addresses that they have by strides: int64 `values` times `unit`
// bytes.
struct Offsets {
    Tensor values;
    std::int64_t unit = 1;
    // The product: `values` themselves where the unit is 1.
    Tensor in_bytes(const Context &context) const;
};

// True iff the plugin's `function` (gather or scatter) takes the tensor's addresses as they are.
bool takes_in_place(const TensorImpl &tensor, int function);

// Byte offsets that include strides: element i of the dense tensor of `shape` is `start` plus the
// sum of i's indices times `strides` (missing ones are 0) plus the offset at i, if there are any.
// Offsets do not vary along axes that have a stride.
Tensor expand_offsets(std::int64_t start, const Dims &strides, const Tensor &offsets,
                      const Dims &shape, DeviceRecord *device, const Context &context);

// A dense native tensor of `shape` on in's device: element i is in's element at i plus the offset
// at i. `in` and the offsets broadcast to `shape`.
Tensor gather_elements(const TensorImpl &in, const Offsets &offsets, const Dims &shape,
                       const Context &context);
// Writes `values`, broadcast to `shape`, to out's elements at i plus the offset at i, in
// column-major order. `whole` is the tensor that contains all of them.
void scatter_elements(const TensorImpl &out, const Offsets &offsets, const Dims &shape,
                      const TensorImpl &values, const TensorImpl &whole, const Context &context);

} // namespace Atoll::detail
