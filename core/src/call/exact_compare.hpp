// Comparisons of true values where no dtype holds both operands: 64-bit integers beside each other
// (signed and unsigned) or beside floats.
#pragma once

#include "call/plan.hpp"

namespace Atoll::detail {

// True iff the function is a comparison whose compute dtype cannot hold an operand that is a 64-bit
// integer tensor (or a strong number).
bool compares_beyond(const FunctionRecord &function, std::span<const Operand *const> inputs,
                     DType compute);

// Such a comparison for plugins that do not take mixed inputs, out of calls that they do take.
Tensor compare_apart(const FunctionRecord &function, const Operand &a, const Operand &b,
                     const Tensor *out);

} // namespace Atoll::detail
