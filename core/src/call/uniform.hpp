// The fast path of small calls.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// Runs a call of a `fast` function whose operands are uniform: Note [Uniform operands]. False: they
// are not, and nothing has happened.
bool run_uniform(const FunctionRecord &function, Inputs inputs, const TensorImpl *out,
                 Tensor &result, const Context &context);

} // namespace Atoll::detail
