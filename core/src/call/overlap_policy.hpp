// What to do if an output shares memory with an input.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// The operand to copy so that writing the output does no harm; -1: none.
//  - Identical elements in the same order are no hazard if the function has no core axes or
//  declares
//    the input `in place`.
//  - A single overlapping input is copied if it is no larger than the output.
//  - Otherwise the output is written elsewhere and copied to its place.
int operand_to_copy(const Checked &call, int output);

} // namespace Atoll::detail
