// The stages of every call: check → plan → materialise → dispatch → finish.
//
//   check        arguments, device, T, axes, extents; changes nothing      check.hpp
//   plan         which operands need copies                                plan.hpp
//   materialise  makes the copies                                          materialise.hpp
//   dispatch     merges axes, orders streams, calls the plugin             route.hpp
//   finish       copies outputs written elsewhere to their places
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// `results`: one handle per output, for the outputs that are not given.
void run(const FunctionRecord &function, const Arguments &arguments, Tensor *results,
         const Context &context);

// The same for functions of one output; returns it.
Tensor run_one(const FunctionRecord &function, const Arguments &arguments, const Context &context);

} // namespace Atoll::detail
