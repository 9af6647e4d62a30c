// The functions on tensors, declared from the function list.
//
// Every function checks its arguments, brings operands to the device of the first, promotes,
// broadcasts (first axes aligned) and resolves overlap; see the list for the dtype rules. With
// `out` the result is written there (converted to its dtype; shape must be the result's) and `out`
// is returned. Asynchronous devices: the call returns when the work is enqueued. Errors:
// Atoll::Error; the operands are unchanged then.
#pragma once

#include "atoll/tensor.hpp"

#include <optional>
#include <span>

namespace Atoll {

// Where a result goes: nothing (a new tensor) or a given one.
class Out {
public:
    Out() = default;
    Out(const Tensor &tensor) : tensor_(&tensor) {}
    const Tensor *get() const noexcept { return tensor_; }

private:
    const Tensor *tensor_ = nullptr;
};

// Axes of a reduction: none given means all.
struct Axes {
    Axes() = default;
    Axes(int axis) : list{axis}, given(true) {}
    Axes(std::initializer_list<int> axes) : list(axes), given(true) {}
    std::vector<int> list;
    bool given = false;
};

namespace detail {
Tensor call_unary(int function, const Operand &a, Out out);
Tensor call_binary(int function, const Operand &a, const Operand &b, Out out);
Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out);
} // namespace detail

#define ATOLL_DECLARE_UNARY(id, name)                                                              \
    inline Tensor name(const Operand &a, Out out = {}) { return detail::call_unary(id, a, out); }
#define ATOLL_DECLARE_BINARY(id, name)                                                             \
    inline Tensor name(const Operand &a, const Operand &b, Out out = {}) {                         \
        return detail::call_binary(id, a, b, out);                                                 \
    }
#define ATOLL_DECLARE_REDUCE(id, name)                                                             \
    inline Tensor name(const Tensor &a, const Axes &axes = {}, bool keepdims = false,              \
                       Out out = {}) {                                                             \
        return detail::call_reduce(id, a, axes, keepdims, out);                                    \
    }
#define ATOLL_DECLARE_COPY(id, name)
#define ATOLL_DECLARE_FILL(id, name)
#define ATOLL_DECLARE_STEPS(id, name)
#define ATOLL_DECLARE_MATMUL(id, name)
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc) ATOLL_DECLARE_##FAMILY(id, name)
#include "atoll/lists/functions.inc"
#undef ATOLL_DECLARE_UNARY
#undef ATOLL_DECLARE_BINARY
#undef ATOLL_DECLARE_REDUCE
#undef ATOLL_DECLARE_COPY
#undef ATOLL_DECLARE_FILL
#undef ATOLL_DECLARE_STEPS
#undef ATOLL_DECLARE_MATMUL

// The matrix product over axes 0 and 1, the rest a stack that broadcasts: (2,3)·(3,4) → (2,4);
// (2,3)·(3) → (2); (3)·(1,4) → (3,4); (2,3,5)·(3,4) → (2,4,5); (2,3,5)·(3) → (2,5). An operand of
// one element, or of rank >= 3 with leading 1×1, scales.
Tensor matmul(const Operand &a, const Operand &b, Out out = {});

enum class Op : char { N = 'N', T = 'T', C = 'C' }; // as it is, transposed, conjugate transposed
// c = alpha op_a(a) op_b(b) + beta c. With beta == 0 c is not read, with
// alpha == 0 neither are a and b.
const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c);
// The 2-norm of all elements (Frobenius for matrices) as a number. Blocks.
double norm(const Tensor &a);

// Dtype and layout conversions of two tensors of equal shape; see Tensor::assign.
void copy(const Tensor &destination, const Operand &source);

inline Tensor operator+(const Operand &a, const Tensor &b) { return add(a, b); }
inline Tensor operator-(const Operand &a, const Tensor &b) { return subtract(a, b); }
inline Tensor operator*(const Operand &a, const Tensor &b) { return matmul(a, b); }
inline Tensor operator/(const Operand &a, const Tensor &b) { return divide(a, b); }
template <class Number>
requires std::constructible_from<Scalar, Number> Tensor operator+(const Tensor &a,
                                                                  const Number &b) {
    return add(a, Scalar(b));
}
template <class Number>
requires std::constructible_from<Scalar, Number> Tensor operator-(const Tensor &a,
                                                                  const Number &b) {
    return subtract(a, Scalar(b));
}
template <class Number>
requires std::constructible_from<Scalar, Number> Tensor operator*(const Tensor &a,
                                                                  const Number &b) {
    return matmul(a, Scalar(b));
}
template <class Number>
requires std::constructible_from<Scalar, Number> Tensor operator/(const Tensor &a,
                                                                  const Number &b) {
    return divide(a, Scalar(b));
}
inline Tensor operator-(const Tensor &a) { return negative(a); }

} // namespace Atoll
