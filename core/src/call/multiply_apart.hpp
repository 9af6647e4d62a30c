// Products with factors for implementations that multiply matrices and no more.
#pragma once

#include "call/check.hpp"

#include <array>

namespace Atoll::detail {

// Whether it is core.matmul, which can be taken apart.
bool is_product(const FunctionRecord &function);

// alpha, beta, conj_a, conj_b.
using ProductAttributes = std::array<atoll_scalar, 4>;
// Those of a product without factors: the defaults of core.matmul for each T.
const ProductAttributes &plain_product(DType T);

// d = alpha * op(a) op(b) + beta * c by a product without factors and element-wise functions, in
// what T is accumulated in where the device multiplies that. Into the output that is given, or a
// new `result`.
void multiply_apart(const Checked &call, const Arguments &given, Tensor &result,
                    const Context &parts);

} // namespace Atoll::detail
