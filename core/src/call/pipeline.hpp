// One way for every function: check → plan → materialise → dispatch → finish.
//
//   check        arguments, device, T, axes, extents; nothing is touched    check.hpp
//   plan         what has to be done to each operand                       plan.hpp
//   materialise  the copies that this takes                                materialise.hpp
//   dispatch     axes merged, streams ordered, the plugin called           route.hpp
//   finish       outputs written elsewhere are copied to their places
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// `results`: one handle per output; those that are not given are made there.
void run(const FunctionRecord &function, const Arguments &arguments, Tensor *results,
         const Context &context);

// The same for functions of one output: it, or the given one.
Tensor run_one(const FunctionRecord &function, const Arguments &arguments, const Context &context);

// A call that serves another one.
Tensor part(int core_function, std::initializer_list<Operand> inputs, const Context &context,
            const Tensor *out = nullptr);

// Element i of a vector becomes start + i * step, as a part.
void steps_part(const Tensor &vector, std::int64_t start, std::int64_t step,
                const Context &context);

// The positions of the non-zero elements. Waits, to count them.
Tensor find_part(const Tensor &tensor, const Context &context);

// Casts to a dtype on a device, as a part.
Tensor cast_part(const Tensor &tensor, DType dtype, DeviceRecord *device, const Context &context);
// A tensor of one element of the value's dtype.
Tensor scalar_part(const Scalar &value, DeviceRecord *device, const Context &context);
// The only element of a tensor, converted. Waits.
Scalar item_part(const Tensor &tensor, const Context &context);

} // namespace Atoll::detail
