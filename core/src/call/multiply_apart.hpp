// Products with factors for implementations that multiply matrices and no more.
#pragma once

#include "call/check.hpp"

namespace Atoll::detail {

// Whether it is core.matmul, which can be taken apart.
bool is_product(const FunctionRecord &function);

// d = alpha * op(a) op(b) + beta * c by a product without factors and element-wise functions, in
// what T is accumulated in where the device multiplies that. Into the output that is given, or a
// new `result`.
void multiply_apart(const Checked &call, const Arguments &given, Tensor &result,
                    const Context &parts);

} // namespace Atoll::detail
