// Compute modes: which elements are outside a function's domain, and what is done about them.
#pragma once

#include "call/plan.hpp"

namespace Atoll::detail {

// Does what the compute mode asks for a function that has a mathematical domain: raises a
// warning, throws Error (domain), or computes `result` in complex numbers. False: compute as ever.
bool check_domain(const FunctionRecord &function, std::span<const Operand *const> inputs,
                  const Tensor *out, Mode mode, Tensor &result);

// Throws where an integer exponent or a shift count is negative: neither has a result.
void require_counts(const FunctionRecord &function, std::span<const Operand *const> inputs,
                    DType compute);

} // namespace Atoll::detail
