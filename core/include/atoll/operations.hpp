// What has no declaration in functions.hpp: functions with rules of their own, compositions, and
// the operators. The rules of functions.hpp hold for these, too.
#pragma once

#include "atoll/functions.hpp"
#include "atoll/selection.hpp"

namespace Atoll {

// The coordinates of the non-zero elements, int64 of shape (rank, count): each column is one
// element, in column-major order. As an index it selects these elements, unless the rank is 0: a
// scalar has no coordinates. Blocks.
Tensor nonzero(const Tensor &a);
// Views of the real and the imaginary part; imag of a real tensor is a view of read-only zeros.
inline View real(const Tensor &a) { return a.real(); }
inline View imag(const Tensor &a) { return a.imag(); }
// Whether all elements are below (…) a bound, which is rounded to a floating dtype of the tensor as
// any number is; empty: true. Complex numbers have no order: an error.
inline Tensor all_lt(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     AllOptions options = {}, Out out = {}) {
    return all(less(a, x), axes, options, out);
}
inline Tensor all_le(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     AllOptions options = {}, Out out = {}) {
    return all(less_equal(a, x), axes, options, out);
}
inline Tensor all_gt(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     AllOptions options = {}, Out out = {}) {
    return all(greater(a, x), axes, options, out);
}
inline Tensor all_ge(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     AllOptions options = {}, Out out = {}) {
    return all(greater_equal(a, x), axes, options, out);
}
// Whether low <= element <= high for all elements.
inline Tensor all_in_range(const Tensor &a, const Scalar &low, const Scalar &high,
                           const Axes &axes = {}, AllOptions options = {}, Out out = {}) {
    return all(logical_and(greater_equal(a, low), less_equal(a, high)), axes, options, out);
}

// The matrix product over axes 0 and 1; the other axes form a stack that broadcasts: (2,3)·(3,4) →
// (2,4); (2,3)·(3) → (2); (3)·(1,4) → (3,4); (2,3,5)·(3,4) → (2,4,5); (2,3,5)·(3) → (2,5). An
// operand with one element, or of rank >= 3 with leading extents 1×1, scales the other operand.
Tensor matmul(const Operand &a, const Operand &b, Out out = {});

enum class Op : char { N = 'N', T = 'T', C = 'C' }; // unchanged, transposed, conjugate transposed
// Computes c = alpha op_a(a) op_b(b) + beta c, in the dtype to which a, b, c, alpha and beta
// promote. If beta == 0, c is not read and its dtype does not count; if alpha == 0, a and b are not
// read.
const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c);

// Copies `source` to `destination`, the same as destination.assign(source): broadcasts and converts
// dtype and layout.
void copy(Tensor destination, const Operand &source);

// Copies between pinned host memory (Storage::pinned) and the device that it is pinned for, without
// waiting. Both tensors must be dense, native, and of the same dtype and shape. Do not change the
// host tensor or read its elements until the returned event is reached. Throws Error
// (invalid_argument) that names the violated requirement.
Event enqueue_copy(const Tensor &destination, const Tensor &source);

namespace detail {
template <class T>
concept Array = std::derived_from<std::remove_cvref_t<T>, Tensor> ||
    std::derived_from<std::remove_cvref_t<T>, Selection>;
template <class T>
concept ArrayOrNumber = Array<T> || std::constructible_from<Scalar, T>;

// The tensor that an operator was given as a temporary: its memory may hold the result.
template <class T> Tensor *temporary(T &given) {
    if constexpr (std::same_as<T, Tensor>)
        return &given;
    else
        return nullptr;
}
// A and B are not references if the operands are temporaries.
template <class A, class B> Tensor combine(int core_function, A &a, B &b) {
    const Operand left(a), right(b);
    Tensor *const first = temporary<A>(a);
    return call_elementwise(core_function, {&left, &right}, {}, {},
                            first ? first : temporary<B>(b));
}
} // namespace detail

// `*` is the matrix product, all other operators are element-wise. None of them applies to two
// plain numbers. One template serves both sides: with an overload for `t == 2` only, the compiler
// would rewrite `2 == t` to it and then demand a bool. A result may take over the memory of an
// operand that is a temporary or moved.
#define ATOLL_OPERATOR(symbol, ...)                                                                \
    template <detail::ArrayOrNumber A, detail::ArrayOrNumber B>                                    \
    requires(detail::Array<A> || detail::Array<B>) Tensor operator symbol(A &&a, B &&b) {          \
        return __VA_ARGS__;                                                                        \
    }
#define ATOLL_ELEMENTWISE_OPERATOR(symbol, name)                                                   \
    ATOLL_OPERATOR(symbol, detail::combine<A, B>(ATOLL_FN_##name, a, b))
ATOLL_ELEMENTWISE_OPERATOR(+, add)
ATOLL_ELEMENTWISE_OPERATOR(-, subtract)
ATOLL_ELEMENTWISE_OPERATOR(/, divide)
ATOLL_ELEMENTWISE_OPERATOR(%, remainder)
ATOLL_ELEMENTWISE_OPERATOR(&, bitwise_and)
ATOLL_ELEMENTWISE_OPERATOR(|, bitwise_or)
ATOLL_ELEMENTWISE_OPERATOR(^, bitwise_xor)
ATOLL_ELEMENTWISE_OPERATOR(<<, left_shift)
ATOLL_ELEMENTWISE_OPERATOR(>>, right_shift)
ATOLL_OPERATOR(<, less(Operand(a), Operand(b)))
ATOLL_OPERATOR(<=, less_equal(Operand(a), Operand(b)))
ATOLL_OPERATOR(>, greater(Operand(a), Operand(b)))
ATOLL_OPERATOR(>=, greater_equal(Operand(a), Operand(b)))
ATOLL_OPERATOR(==, equal(Operand(a), Operand(b)))
ATOLL_OPERATOR(!=, not_equal(Operand(a), Operand(b)))
// A number scales the elements.
template <detail::ArrayOrNumber A, detail::ArrayOrNumber B>
requires(detail::Array<A> || detail::Array<B>) Tensor operator*(A &&a, B &&b) {
    if constexpr (detail::Array<A> && detail::Array<B>)
        return matmul(Operand(a), Operand(b));
    else
        return detail::combine<A, B>(ATOLL_FN_multiply, a, b);
}
#undef ATOLL_ELEMENTWISE_OPERATOR
#undef ATOLL_OPERATOR
inline Tensor operator-(const Tensor &a) { return negative(a); }
inline Tensor operator~(const Tensor &a) { return bitwise_not(a); }

} // namespace Atoll
