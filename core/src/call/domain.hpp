// Compute modes: which elements are outside a function's mathematical domain, and what is done
// about them; and counts that must not be negative.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// The dtype to compute in, for a function that has a domain: what the context asks for, or a
// complex one where the mode is to compute so and an element requires it; throws where the output
// that is given cannot hold that. In other modes raises a warning or throws Error (domain) where an
// element is outside. Waits for the device, but in mode `standard`.
DType dtype_for_domain(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                       ComputeMode mode, const Context &context);

// Throws where the input that counts (an integer exponent, a shift) is negative. Waits for the
// device where that is a tensor. `parts`: the context for calls that serve this one.
void require_counts(const FunctionRecord &function, Inputs inputs, DType T, const Context &parts);

} // namespace Atoll::detail
