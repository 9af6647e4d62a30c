// Compute modes: which elements are outside a function's mathematical domain, and what is done
// about them; and counts that must not be negative.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

enum class DomainAction { compute, compute_complex };

// What the compute mode asks for a function that has a domain. Raises a warning or throws Error
// (domain). Waits for the device, but in mode `standard`.
DomainAction check_domain(const FunctionRecord &function, Inputs inputs, ComputeMode mode,
                          const Context &context);
// The dtype for compute_complex; throws where a given output cannot hold it.
DType complex_T(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                const Context &context);

// Throws where the input that counts (an integer exponent, a shift) is negative. Waits for the
// device where that is a tensor. `parts`: the context for calls that serve this one.
void require_counts(const FunctionRecord &function, Inputs inputs, DType T, const Context &parts);

} // namespace Atoll::detail
