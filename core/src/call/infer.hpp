// Extents that only results have.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// Replaces those of -1 in `checked.shape` by what the function's `infer` callback makes of the
// others; an axis that stands twice in a result has the extent of the first. Throws Error where one
// stays unknown, or as the callback refuses.
void infer_extents(const FunctionRecord &function, const Arguments &arguments,
                   const Context &context, Checked &checked);

} // namespace Atoll::detail
