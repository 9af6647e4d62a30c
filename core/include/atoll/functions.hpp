// The functions on tensors, declared from the function list.
//
// Every function checks its arguments, brings operands to the device of the first, promotes,
// broadcasts (first axes aligned) and resolves overlap; see the list for the dtype rules. With
// `out` the result is written there (converted to its dtype; shape must be the result's) and `out`
// is returned: a named tensor by reference, which costs no counting of handles. Asynchronous
// devices: the call returns when the work is enqueued. Errors: Atoll::Error; the operands are
// unchanged then.
#pragma once

#include "atoll/selection.hpp"
#include "atoll/settings.hpp"
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

// How a function treats elements outside its mathematical domain, for this call; empty: as
// Settings::compute_mode says. See settings.hpp.
using Mode = std::optional<ComputeMode>;

namespace detail {
Tensor call_unary(int function, const Operand &a, Out out = {}, Mode mode = {});
Tensor call_binary(int function, const Operand &a, const Operand &b, Out out = {}, Mode mode = {});
Tensor call_ternary(int function, const Operand &a, const Operand &b, const Operand &c,
                    Out out = {});
// Into `out`, whose handle need not be counted again.
void call_into(int function, std::span<const Operand *const> inputs, const Tensor &out);
Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out = {},
                   std::span<const Scalar> numbers = {});
Tensor call_scan(int function, const Tensor &a, std::optional<int> axis, Out out = {});
Tensor call_sort(int function, const Tensor &a, int axis, bool descending, Out out = {});
Tensor call_search(int function, const Operand &a, const Tensor &b, bool right, Out out = {});
Tensor call_find(int function, const Tensor &a);
// A named tensor. Temporaries go by Out, so that no reference to one is returned.
template <class T>
concept TensorHandle = std::same_as<std::remove_const_t<T>, Tensor>;
} // namespace detail

// clang-format off
#define ATOLL_FUNCTION_UNARY(id, name, ...) \
    inline Tensor name(const Operand &a, Out out = {}, Mode mode = {}) {                           \
        return detail::call_unary(id, a, out, mode);                                               \
    }                                                                                              \
    template <detail::TensorHandle T> T &name(const Operand &a, T &out) {                          \
        const Operand *const inputs[] = {&a};                                                      \
        detail::call_into(id, inputs, out);                                                        \
        return out;                                                                                \
    }
#define ATOLL_FUNCTION_BINARY(id, name, ...) \
    inline Tensor name(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {         \
        return detail::call_binary(id, a, b, out, mode);                                           \
    }                                                                                              \
    template <detail::TensorHandle T> T &name(const Operand &a, const Operand &b, T &out) {        \
        const Operand *const inputs[] = {&a, &b};                                                  \
        detail::call_into(id, inputs, out);                                                        \
        return out;                                                                                \
    }
#define ATOLL_FUNCTION_TERNARY(id, name, ...) \
    inline Tensor name(const Operand &a, const Operand &b, const Operand &c, Out out = {}) {       \
        return detail::call_ternary(id, a, b, c, out);                                             \
    }                                                                                              \
    template <detail::TensorHandle T>                                                              \
    T &name(const Operand &a, const Operand &b, const Operand &c, T &out) {                        \
        const Operand *const inputs[] = {&a, &b, &c};                                              \
        detail::call_into(id, inputs, out);                                                        \
        return out;                                                                                \
    }
#define ATOLL_FUNCTION_REDUCE(id, name, ...) \
    inline Tensor name(const Tensor &a, const Axes &axes = {}, bool keepdims = false,              \
                       Out out = {}) {                                                             \
        return detail::call_reduce(id, a, axes, keepdims, out);                                    \
    }
// Over several axes the position counts with the first of them, in the tensor's order, fastest.
#define ATOLL_FUNCTION_ARG_REDUCE ATOLL_FUNCTION_REDUCE
#define ATOLL_FUNCTION_REDUCE_ONE(id, name, ...) \
    inline Tensor name(const Tensor &a, const Scalar &x, const Axes &axes = {},                    \
                       bool keepdims = false, Out out = {}) {                                      \
        return detail::call_reduce(id, a, axes, keepdims, out, {&x, 1});                           \
    }
// Without an axis only at rank 1 and below.
#define ATOLL_FUNCTION_SCAN(id, name, ...) \
    inline Tensor name(const Tensor &a, std::optional<int> axis = {}, Out out = {}) {              \
        return detail::call_scan(id, a, axis, out);                                                \
    }
#define ATOLL_FUNCTION_SORT(id, name, ...) \
    inline Tensor name(const Tensor &a, int axis = -1, bool descending = false, Out out = {}) {    \
        return detail::call_sort(id, a, axis, descending, out);                                    \
    }
#define ATOLL_FUNCTION_SEARCH(id, name, ...) \
    inline Tensor name(const Operand &a, const Tensor &b, bool right = false, Out out = {}) {      \
        return detail::call_search(id, a, b, right, out);                                          \
    }
// Blocks: how many there are decides the result's size.
#define ATOLL_FUNCTION_FIND(id, name, ...) \
    inline Tensor name(const Tensor &a) { return detail::call_find(id, a); }
// clang-format on
#include "atoll/lists/functions_by_family.inc"

// The coordinates of the non-zero elements, int64 of shape (rank, count): each column one element,
// in column-major order. As an index it selects them. Blocks.
Tensor nonzero(const Tensor &a);
// Views of the parts; imag of a real tensor: read-only zeros.
inline Tensor real(const Tensor &a) { return a.real(); }
inline Tensor imag(const Tensor &a) { return a.imag(); }
// Whether every element is below (…) a bound, which keeps its true value; empty: true. Complex
// numbers have no order: an error.
inline Tensor all_lt(const Tensor &a, const Scalar &x, const Axes &axes = {}, bool keepdims = false,
                     Out out = {}) {
    return all(less(a, x), axes, keepdims, out);
}
inline Tensor all_le(const Tensor &a, const Scalar &x, const Axes &axes = {}, bool keepdims = false,
                     Out out = {}) {
    return all(less_equal(a, x), axes, keepdims, out);
}
inline Tensor all_gt(const Tensor &a, const Scalar &x, const Axes &axes = {}, bool keepdims = false,
                     Out out = {}) {
    return all(greater(a, x), axes, keepdims, out);
}
inline Tensor all_ge(const Tensor &a, const Scalar &x, const Axes &axes = {}, bool keepdims = false,
                     Out out = {}) {
    return all(greater_equal(a, x), axes, keepdims, out);
}
// low <= every element <= high
inline Tensor all_in_range(const Tensor &a, const Scalar &low, const Scalar &high,
                           const Axes &axes = {}, bool keepdims = false, Out out = {}) {
    return all(logical_and(greater_equal(a, low), less_equal(a, high)), axes, keepdims, out);
}
// With x = 0.
inline Tensor var(const Tensor &a) { return var(a, 0); }
inline Tensor stddev(const Tensor &a) { return stddev(a, 0); }

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

// Element by element. Between two plain numbers none of these is considered.
#define ATOLL_OPERATOR(symbol, name)                                                               \
    inline Tensor operator symbol(const Operand &a, const Tensor &b) { return name(a, b); }        \
    template <class Number>                                                                        \
    requires std::constructible_from<Scalar, Number> Tensor operator symbol(const Tensor &a,       \
                                                                            const Number &b) {     \
        return name(a, Scalar(b));                                                                 \
    }
ATOLL_OPERATOR(%, remainder)
ATOLL_OPERATOR(&, bitwise_and)
ATOLL_OPERATOR(|, bitwise_or)
ATOLL_OPERATOR(^, bitwise_xor)
ATOLL_OPERATOR(<<, left_shift)
ATOLL_OPERATOR(>>, right_shift)
ATOLL_OPERATOR(<, less)
ATOLL_OPERATOR(<=, less_equal)
ATOLL_OPERATOR(>, greater)
ATOLL_OPERATOR(>=, greater_equal)
ATOLL_OPERATOR(==, equal)
ATOLL_OPERATOR(!=, not_equal)
#undef ATOLL_OPERATOR
inline Tensor operator~(const Tensor &a) { return bitwise_not(a); }

} // namespace Atoll
