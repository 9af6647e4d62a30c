// The factors alpha and beta of products.
#pragma once

#include "call/promotion.hpp"

namespace Atoll::detail {

// 0 or 1: what a factor can be among bools.
bool is_flag(const Scalar &factor);
bool is_zero(const Scalar &factor);

// T of alpha a b + beta c; `c` may be null. The factors promote like scalars beside tensors, but
// for 0 and 1 beside bool.
DType decide_product_T(const Operand &a, const Operand &b, const Operand *c, const Operand &alpha,
                       const Operand &beta);

// Whether the device has core.multiply.
inline bool multiplies(const DeviceRecord &device, DType T) {
    const FunctionRecord &multiply = Registry::get().core_function(ATOLL_FN_multiply);
    return device.type->chain(multiply, static_cast<int>(T))->implemented;
}
// The tensor times a factor that is not weak, or `out`; by core.matmul where the device does not
// multiply otherwise.
Tensor scaled(const Tensor &tensor, const Scalar &factor, const Context &context,
              const Tensor *out = nullptr);

// d = beta c in T; c may be d, or null for zeros.
void scale_into(const Tensor &d, const Tensor *c, const Scalar &beta, DType T,
                const Context &parts);

// Throws Error unless the factor's value exists in the kind of T, which somebody else has decided.
void require_factor(std::string_view name, const Scalar &factor, DType T, std::string_view op);

} // namespace Atoll::detail
