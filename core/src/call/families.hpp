// Entry points of the families, for the functions of any module.
#pragma once

#include "call/plan.hpp"

namespace Atoll::detail {

Tensor run_elementwise(const FunctionRecord &function, std::span<const Operand *const> inputs,
                       const Tensor *out);
Tensor run_reduce(const FunctionRecord &function, const Tensor &a, const Axes &axes, bool keepdims,
                  const Tensor *out, std::span<const Scalar> numbers = {});
Tensor run_scan(const FunctionRecord &function, const Tensor &a, std::optional<int> axis,
                const Tensor *out);
Tensor run_sort(const FunctionRecord &function, const Tensor &a, int axis, bool descending,
                const Tensor *out);
Tensor run_search(const FunctionRecord &function, const Operand &a, const Tensor &b, bool right,
                  const Tensor *out);
// Element i of a dense vector becomes start + i * step; see atoll_steps_params.
void steps_elements(const TensorImpl &destination, const Scalar &start, const Scalar &step,
                    const Scalar *last);

} // namespace Atoll::detail
