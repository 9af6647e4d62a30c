// Random operations for the machine.
#pragma once

#include "machine.hpp"

#include <functional>

namespace interpreter {

// Draws operations that mostly fit what the machine has. What an operation is depends on shapes and
// dtypes only, which the machine knows while elements are still on their way.
std::function<Op()> drawer(const Machine &machine, std::uint64_t seed);

} // namespace interpreter
