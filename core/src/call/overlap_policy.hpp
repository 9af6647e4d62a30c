// What to do where an output shares memory with an input.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// The operand that is copied so that writing the output does no harm; -1: none.
//  - The very same elements in the same order are no hazard where the function has no core axes or
//    declares the input `in place`.
//  - Where one input is in the way and is no larger than the output, it is copied.
//  - Otherwise the output itself: it is written elsewhere and copied to its place.
int operand_to_copy(const Checked &call, int output);

} // namespace Atoll::detail
