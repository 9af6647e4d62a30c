// Calls that serve another one: the context says which.
#pragma once

#include "atoll/tensor.hpp"
#include "call/context.hpp"

#include <initializer_list>

namespace Atoll::detail {

// Runs a core function of one output; returns it, or `out`. `skip_nan`: for functions with this
// attribute only.
Tensor part(int core_function, std::initializer_list<Operand> inputs, const Context &context,
            const Tensor *out = nullptr, bool skip_nan = false);

// Element i of a vector becomes start + i * step; the last one `last`, unless that is null.
void steps_part(const Tensor &vector, const Scalar &start, const Scalar &step, const Scalar *last,
                const Context &context);

// The tensor itself, or a copy on another device.
Tensor moved(const Tensor &tensor, DeviceRecord *device, const Context &context);
// A tensor of one element of the value's dtype.
Tensor scalar_part(const Scalar &value, DeviceRecord *device, const Context &context);
// The only element of a tensor, converted. Waits.
Scalar item_part(const Tensor &tensor, const Context &context);

} // namespace Atoll::detail
