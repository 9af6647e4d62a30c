// Which axes of the operands are core axes of the call, which are its loop, and their extents.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// For functions with core axes. Fills in rank, core, slot_axes, shape, axis, output_rank and empty;
// operands and T must be there. Throws Error that names operands and axes.
void place_axes(const FunctionRecord &function, const Arguments &arguments, const Context &context,
                Checked &checked);

} // namespace Atoll::detail
