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

} // namespace Atoll::detail
