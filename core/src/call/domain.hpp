// Compute modes: what happens to elements outside a function's mathematical domain; and counts that
// must not be negative.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// The dtype to compute in, for a function that has a domain: that of the context, or in mode
// `complex` a complex one if an element requires it; throws if the given output cannot contain
// that. The modes `warning` and `error` warn or throw Error (domain) if an element is outside.
// Waits for the device, except in mode `standard`.
DType dtype_for_domain(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                       ComputeMode mode, const Context &context);

// Throws if the input that counts (an integer exponent, a shift) is negative. Waits for the device
// if that is a tensor. `parts`: the context for calls that serve this one.
void require_counts(const FunctionRecord &function, Inputs inputs, DType T, const Context &parts);

} // namespace Atoll::detail
