// The fast path of small calls.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// Runs a call whose operands are uniform: Note [Uniform operands]. Returns false, having done
// nothing, if they are not. `temporary`: see Arguments. Call inside a ReadSection.
bool run_uniform(const FunctionRecord &function, Inputs inputs, const TensorImpl *out,
                 Tensor *temporary, Tensor &result, const Context &context);

// The same for functions of one input with one core axis or group, which covers the whole tensor: a
// reduction of all elements, a sorted vector. Into a new tensor.
bool run_uniform_core(const FunctionRecord &function, const Tensor &input,
                      std::span<const atoll_scalar> attributes, Tensor &result,
                      const Context &context);

// The same for the product of two matrices (core.matmul).
bool run_uniform_product(const FunctionRecord &function, const TensorImpl &a, const TensorImpl &b,
                         std::span<const atoll_scalar> attributes, Tensor &result,
                         const Context &context);

} // namespace Atoll::detail
