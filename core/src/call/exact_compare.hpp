// Comparisons of true values where no dtype holds both operands: 64-bit integers beside each other
// (signed and unsigned) or beside floats.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// True iff T cannot hold an operand that is a 64-bit integer tensor (or a strong number). For
// functions that compare true values.
bool compares_beyond(Inputs inputs, DType T);

// Such a comparison for implementations that do not take mixed inputs, out of calls that they do
// take. Into the call's output, or into a new one.
void compare_apart(const Checked &call, Inputs inputs, Tensor &result, const Context &parts);

} // namespace Atoll::detail
