// What to do where an output shares memory with an input.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

enum class Hazard : std::uint8_t { none, copy_input, replace_output };

// Of one output. `input` is the operand to be copied, for copy_input. `whole` is all that an opaque
// operand may reach, or null.
//  - The very same elements in the same order are no hazard where the function has no core axes or
//    declares the input `in place`.
//  - Where one input is in the way and is no larger than the output, it is copied.
//  - Otherwise the output is written elsewhere and copied to its place.
Hazard overlap_policy(const Checked &call, int output, int &input);

} // namespace Atoll::detail
