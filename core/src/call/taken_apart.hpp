// Calls that an implementation does not take, made of calls that it does take: products with
// factors, and comparisons of true values.
#pragma once

#include "call/check.hpp"

#include <array>

namespace Atoll::detail {

// Whether it is core.matmul, which can be taken apart.
inline bool is_product(const FunctionRecord &function) {
    return function.id == ATOLL_FN_matmul && function.module->id == ATOLL_MODULE_CORE;
}

enum ProductAttribute { product_alpha, product_beta, product_conj_a, product_conj_b };
using ProductAttributes = std::array<atoll_scalar, 4>;
// Those of a product without factors: the defaults of core.matmul for each T.
const ProductAttributes &plain_product(DType T);

// d = alpha * op(a) op(b) + beta * c by a product without factors and element-wise functions, in
// the accumulator of T if the device multiplies that. Into the given output, or a new `result`. Not
// for products of nothing.
void multiply_apart(const Checked &call, const Arguments &given, Tensor &result,
                    const Context &parts);

// Whether no dtype T contains both operands, of a function that compares true values: a 64-bit
// integer tensor (or a strong number) beside one of the other signedness or beside a float.
bool compares_beyond(Inputs inputs, DType T);

// Such a comparison for implementations that do not take mixed inputs. Into the call's output, or
// into a new `result`.
void compare_apart(const Checked &call, Inputs inputs, Tensor &result, const Context &parts);

} // namespace Atoll::detail
