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

// d = beta c, which may be the same tensor; zeros without c.
void scale_into(const Tensor &d, const Tensor *c, const Scalar &beta, DType T,
                const Context &parts);

// Throws Error unless the factor's value exists in the kind of T, which somebody else has decided.
void require_factor(std::string_view name, const Scalar &factor, DType T, std::string_view op);

} // namespace Atoll::detail
