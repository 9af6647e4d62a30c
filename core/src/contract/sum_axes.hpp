// Sums over labels that one operand alone has.
#pragma once

#include "call/pipeline.hpp"

namespace Atoll::detail {

// core.sum; of bools core.any, as `or` is their sum.
inline const FunctionRecord &sum_function(DType T) {
    return Registry::get().core_function(T == bool_ ? ATOLL_FN_any : ATOLL_FN_sum);
}

// The sum over all axes from `first` on, into `out` unless that is null. Integers are summed in 64
// bits, of which a narrower result takes the lowest.
Tensor sum_axes(const FunctionRecord &sum, const Tensor &tensor, int first, const Tensor *out,
                const Context &context);

} // namespace Atoll::detail
