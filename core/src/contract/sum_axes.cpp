// Sums over the last axes.
#include "contract/sum_axes.hpp"

#include <numeric>

namespace Atoll::detail {

Tensor sum_axes(const FunctionRecord &sum, const Tensor &tensor, int first, const Tensor *out,
                const Context &context) {
    std::vector<int> axes(static_cast<std::size_t>(tensor.impl()->shape.size() - first));
    std::iota(axes.begin(), axes.end(), first);
    const Operand input(tensor);
    const Operand *const inputs[] = {&input};
    const atoll_scalar skip_nan = Scalar(false).raw();
    return run_one(sum,
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = {&skip_nan, sum.signature.attribute_count},
                    .axes = axes,
                    .axes_given = true},
                   context);
}

} // namespace Atoll::detail
