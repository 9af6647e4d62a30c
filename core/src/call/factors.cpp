// Factors of products.
#include "call/factors.hpp"

#include <algorithm>

namespace Atoll::detail {

bool is_flag(const Scalar &factor) {
    return !is_floating(factor.dtype()) && (factor.to_int() == 0 || factor.to_int() == 1);
}
bool is_zero(const Scalar &factor) { return factor.to_complex() == std::complex<double>(0); }

DType decide_product_T(const Operand &a, const Operand &b, const Operand *c, const Operand &alpha,
                       const Operand &beta) {
    const Operand *inputs[5] = {&a, &b, c};
    const bool bools = std::all_of(inputs, inputs + 3, [](const Operand *input) {
        return !input || dtype_of(*input) == bool_;
    });
    std::size_t count = 3;
    for (const Operand *factor : {&alpha, &beta})
        if (!bools || !is_flag(factor->scalar())) inputs[count++] = factor;
    return decide_T(Registry::get().core_function(ATOLL_FN_matmul), {inputs, count}, {});
}

} // namespace Atoll::detail
