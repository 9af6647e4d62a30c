// The functions on tensors, declared from the function list.
//
// Every function checks its arguments, brings operands to the device of the first, promotes,
// broadcasts (first axes aligned) and resolves overlap; see the list for the dtype rules. With
// `out` the result is written there (converted to its dtype; shape must be the result's) and `out`
// is returned: a named tensor by reference, which costs no counting of handles. Asynchronous
// devices: the call returns when the work is enqueued. Errors: Atoll::Error; the operands are
// unchanged then.
#pragma once

#include "atoll/abi/module.h"
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
    Axes(std::vector<int> axes) : list(std::move(axes)), given(true) {}
    std::vector<int> list;
    bool given = false;
};

// The flags and numbers of reductions and of functions along an axis, given by name:
// sum(a, 0, {.keepdims = true}).
struct ReduceOptions {
    bool keepdims = false; // the axes stay in the result, with extent 1
};
struct SumOptions {
    bool keepdims = false;
    bool skip_nan = false; // only of the elements that are not NaN
};
struct VarOptions {
    Scalar ddof = 0; // the divisor is the number of elements minus this
    bool keepdims = false;
};
struct NormOptions {
    Scalar p = 2; // sum of |x|^p, to the power of 1/p; 0: how many are not zero; inf: the largest
    bool keepdims = false;
    bool skip_nan = false;
};
struct SortOptions {
    bool descending = false;
};
struct SearchOptions {
    bool right = false; // behind elements that are equal, not before them
};

// How a function treats elements outside its mathematical domain, for this call; without a value:
// as Settings::compute_mode says. See settings.hpp.
class Mode {
public:
    Mode() = default;
    Mode(ComputeMode mode) : mode_(mode), given_(true) {}
    ComputeMode value_or(ComputeMode other) const { return given_ ? mode_ : other; }

private:
    ComputeMode mode_ = ComputeMode::standard;
    bool given_ = false;
};

namespace detail {
Tensor call_unary(int function, const Operand &a, Out out = {}, Mode mode = {});
Tensor call_binary(int function, const Operand &a, const Operand &b, Out out = {}, Mode mode = {});
Tensor call_ternary(int function, const Operand &a, const Operand &b, const Operand &c,
                    Out out = {});
// Into `out`, whose handle need not be counted again.
void call_into(int function, std::span<const Operand *const> inputs, const Tensor &out);
// `attributes`: the first ones of the function. The others are flags, which are not set.
Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out = {},
                   std::span<const Scalar> attributes = {});
Tensor call_scan(int function, const Tensor &a, std::optional<int> axis, Out out = {});
Tensor call_sort(int function, const Tensor &a, std::optional<int> axis, bool descending,
                 Out out = {});
Tensor call_search(int function, const Operand &a, const Tensor &b, bool right, Out out = {});
Tensor call_find(const Tensor &a);
// A named tensor. Temporaries go by Out, so that no reference to one is returned.
template <class T>
concept TensorHandle = std::same_as<std::remove_const_t<T>, Tensor>;
} // namespace detail

// Element by element. With `mode`: how elements outside the function's domain are treated.
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Operand &a, Out out = {}, Mode mode = {}) {                           \
        return detail::call_unary(ATOLL_FN_##name, a, out, mode);                                  \
    }                                                                                              \
    template <detail::TensorHandle T> T &name(const Operand &a, T &out) {                          \
        const Operand *const inputs[] = {&a};                                                      \
        detail::call_into(ATOLL_FN_##name, inputs, out);                                           \
        return out;                                                                                \
    }
ATOLL_DECLARE(negative)
ATOLL_DECLARE(abs)
ATOLL_DECLARE(sqrt)
ATOLL_DECLARE(square)
ATOLL_DECLARE(conj)
ATOLL_DECLARE(sign)
ATOLL_DECLARE(angle)
ATOLL_DECLARE(reciprocal)
ATOLL_DECLARE(cbrt)
ATOLL_DECLARE(exp)
ATOLL_DECLARE(exp2)
ATOLL_DECLARE(exp10)
ATOLL_DECLARE(expm1)
ATOLL_DECLARE(log)
ATOLL_DECLARE(log2)
ATOLL_DECLARE(log10)
ATOLL_DECLARE(log1p)
ATOLL_DECLARE(sin)
ATOLL_DECLARE(cos)
ATOLL_DECLARE(tan)
ATOLL_DECLARE(asin)
ATOLL_DECLARE(acos)
ATOLL_DECLARE(atan)
ATOLL_DECLARE(sinh)
ATOLL_DECLARE(cosh)
ATOLL_DECLARE(tanh)
ATOLL_DECLARE(asinh)
ATOLL_DECLARE(acosh)
ATOLL_DECLARE(atanh)
ATOLL_DECLARE(ceil)
ATOLL_DECLARE(floor)
ATOLL_DECLARE(trunc)
ATOLL_DECLARE(round)
ATOLL_DECLARE(isnan)
ATOLL_DECLARE(isinf)
ATOLL_DECLARE(isfinite)
ATOLL_DECLARE(isposinf)
ATOLL_DECLARE(isneginf)
ATOLL_DECLARE(bitwise_not)
ATOLL_DECLARE(logical_not)
#undef ATOLL_DECLARE
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {         \
        return detail::call_binary(ATOLL_FN_##name, a, b, out, mode);                              \
    }                                                                                              \
    template <detail::TensorHandle T> T &name(const Operand &a, const Operand &b, T &out) {        \
        const Operand *const inputs[] = {&a, &b};                                                  \
        detail::call_into(ATOLL_FN_##name, inputs, out);                                           \
        return out;                                                                                \
    }
ATOLL_DECLARE(add)
ATOLL_DECLARE(subtract)
ATOLL_DECLARE(multiply)
ATOLL_DECLARE(divide)
ATOLL_DECLARE(equal)
ATOLL_DECLARE(not_equal)
ATOLL_DECLARE(less)
ATOLL_DECLARE(less_equal)
ATOLL_DECLARE(greater)
ATOLL_DECLARE(greater_equal)
ATOLL_DECLARE(floor_divide)
ATOLL_DECLARE(remainder)
ATOLL_DECLARE(fmod)
ATOLL_DECLARE(trunc_divide)
ATOLL_DECLARE(pow)
ATOLL_DECLARE(bitwise_and)
ATOLL_DECLARE(bitwise_or)
ATOLL_DECLARE(bitwise_xor)
ATOLL_DECLARE(left_shift)
ATOLL_DECLARE(right_shift)
ATOLL_DECLARE(logical_and)
ATOLL_DECLARE(logical_or)
ATOLL_DECLARE(logical_xor)
ATOLL_DECLARE(minimum)
ATOLL_DECLARE(maximum)
ATOLL_DECLARE(fmin)
ATOLL_DECLARE(fmax)
ATOLL_DECLARE(hypot)
ATOLL_DECLARE(copysign)
ATOLL_DECLARE(atan2)
#undef ATOLL_DECLARE
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Operand &a, const Operand &b, const Operand &c, Out out = {}) {       \
        return detail::call_ternary(ATOLL_FN_##name, a, b, c, out);                                \
    }                                                                                              \
    template <detail::TensorHandle T>                                                              \
    T &name(const Operand &a, const Operand &b, const Operand &c, T &out) {                        \
        const Operand *const inputs[] = {&a, &b, &c};                                              \
        detail::call_into(ATOLL_FN_##name, inputs, out);                                           \
        return out;                                                                                \
    }
ATOLL_DECLARE(where)
ATOLL_DECLARE(clip)
#undef ATOLL_DECLARE
// Over axes, all where none are given. The positions of argmin and argmax count with the first of
// the axes, in the tensor's order, fastest.
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Tensor &a, const Axes &axes = {}, ReduceOptions options = {},         \
                       Out out = {}) {                                                             \
        return detail::call_reduce(ATOLL_FN_##name, a, axes, options.keepdims, out);               \
    }
ATOLL_DECLARE(any)
ATOLL_DECLARE(all)
ATOLL_DECLARE(all_finite)
ATOLL_DECLARE(any_inf)
ATOLL_DECLARE(any_nan)
ATOLL_DECLARE(min_abs)
ATOLL_DECLARE(max_abs)
ATOLL_DECLARE(argmin)
ATOLL_DECLARE(argmax)
#undef ATOLL_DECLARE
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Tensor &a, const Axes &axes = {}, SumOptions options = {},            \
                       Out out = {}) {                                                             \
        const Scalar skip_nan(options.skip_nan);                                                   \
        return detail::call_reduce(ATOLL_FN_##name, a, axes, options.keepdims, out,                \
                                   {&skip_nan, 1});                                                \
    }
ATOLL_DECLARE(sum)
ATOLL_DECLARE(prod)
ATOLL_DECLARE(min)
ATOLL_DECLARE(max)
ATOLL_DECLARE(count_nonzero)
ATOLL_DECLARE(mean)
ATOLL_DECLARE(sum_abs)
#undef ATOLL_DECLARE
#define ATOLL_DECLARE(name)                                                                        \
    inline Tensor name(const Tensor &a, const Axes &axes = {}, const VarOptions &options = {},     \
                       Out out = {}) {                                                             \
        return detail::call_reduce(ATOLL_FN_##name, a, axes, options.keepdims, out,                \
                                   {&options.ddof, 1});                                            \
    }
ATOLL_DECLARE(var)
ATOLL_DECLARE(stddev)
#undef ATOLL_DECLARE
// The 2-norm of the elements (Frobenius for matrices), or another.
inline Tensor norm(const Tensor &a, const Axes &axes = {}, const NormOptions &options = {},
                   Out out = {}) {
    const Scalar attributes[] = {options.p, options.skip_nan};
    return detail::call_reduce(ATOLL_FN_norm, a, axes, options.keepdims, out, attributes);
}
// Without an axis only at rank 1 and below.
inline Tensor cumsum(const Tensor &a, std::optional<int> axis = {}, Out out = {}) {
    return detail::call_scan(ATOLL_FN_cumsum, a, axis, out);
}
inline Tensor cumprod(const Tensor &a, std::optional<int> axis = {}, Out out = {}) {
    return detail::call_scan(ATOLL_FN_cumprod, a, axis, out);
}
inline Tensor sort(const Tensor &a, std::optional<int> axis = {}, SortOptions options = {},
                   Out out = {}) {
    return detail::call_sort(ATOLL_FN_sort, a, axis, options.descending, out);
}
inline Tensor argsort(const Tensor &a, std::optional<int> axis = {}, SortOptions options = {},
                      Out out = {}) {
    return detail::call_sort(ATOLL_FN_argsort, a, axis, options.descending, out);
}
inline Tensor searchsorted(const Operand &a, const Tensor &b, SearchOptions options = {},
                           Out out = {}) {
    return detail::call_search(ATOLL_FN_searchsorted, a, b, options.right, out);
}
// Blocks: how many there are decides the result's size.
inline Tensor find(const Tensor &a) { return detail::call_find(a); }

// The coordinates of the non-zero elements, int64 of shape (rank, count): each column one element,
// in column-major order. As an index it selects them. Blocks.
Tensor nonzero(const Tensor &a);
// Views of the parts; imag of a real tensor: read-only zeros.
inline Tensor real(const Tensor &a) { return a.real(); }
inline Tensor imag(const Tensor &a) { return a.imag(); }
// Whether every element is below (…) a bound, which keeps its true value; empty: true. Complex
// numbers have no order: an error.
inline Tensor all_lt(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     ReduceOptions options = {}, Out out = {}) {
    return all(less(a, x), axes, options, out);
}
inline Tensor all_le(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     ReduceOptions options = {}, Out out = {}) {
    return all(less_equal(a, x), axes, options, out);
}
inline Tensor all_gt(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     ReduceOptions options = {}, Out out = {}) {
    return all(greater(a, x), axes, options, out);
}
inline Tensor all_ge(const Tensor &a, const Scalar &x, const Axes &axes = {},
                     ReduceOptions options = {}, Out out = {}) {
    return all(greater_equal(a, x), axes, options, out);
}
// low <= every element <= high
inline Tensor all_in_range(const Tensor &a, const Scalar &low, const Scalar &high,
                           const Axes &axes = {}, ReduceOptions options = {}, Out out = {}) {
    return all(logical_and(greater_equal(a, low), less_equal(a, high)), axes, options, out);
}

// The matrix product over axes 0 and 1, the rest a stack that broadcasts: (2,3)·(3,4) → (2,4);
// (2,3)·(3) → (2); (3)·(1,4) → (3,4); (2,3,5)·(3,4) → (2,4,5); (2,3,5)·(3) → (2,5). An operand of
// one element, or of rank >= 3 with leading 1×1, scales.
Tensor matmul(const Operand &a, const Operand &b, Out out = {});

enum class Op : char { N = 'N', T = 'T', C = 'C' }; // as it is, transposed, conjugate transposed
// c = alpha op_a(a) op_b(b) + beta c. With beta == 0 c is not read, with
// alpha == 0 neither are a and b.
const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c);

// Dtype and layout conversions of two tensors of equal shape; see Tensor::assign.
void copy(const Tensor &destination, const Operand &source);

// Copies between pinned host memory (Storage::pinned) and the device that it is pinned for, without
// waiting: both tensors dense, native, of one dtype and shape. The host's tensor must stay as it
// is, and its elements must not be looked at, until the returned event is reached. Throws Error
// (invalid_argument) that says what of this does not hold.
Event enqueue_copy(const Tensor &destination, const Tensor &source);

namespace detail {
template <class T>
concept Array = std::derived_from<T, Tensor> || std::derived_from<T, Selection>;
template <class T>
concept ArrayOrNumber = Array<T> || std::constructible_from<Scalar, T>;
} // namespace detail

// `*` is the matrix product, all others work element by element. Between two plain numbers none of
// these is considered. One template for both sides: an overload for `t == 2` alone would be taken,
// turned around, for `2 == t`.
#define ATOLL_OPERATOR(symbol, name)                                                               \
    template <detail::ArrayOrNumber A, detail::ArrayOrNumber B>                                    \
    requires(detail::Array<A> || detail::Array<B>) Tensor operator symbol(const A &a,              \
                                                                          const B &b) {            \
        return name(Operand(a), Operand(b));                                                       \
    }
ATOLL_OPERATOR(+, add)
ATOLL_OPERATOR(-, subtract)
ATOLL_OPERATOR(*, matmul)
ATOLL_OPERATOR(/, divide)
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
inline Tensor operator-(const Tensor &a) { return negative(a); }
inline Tensor operator~(const Tensor &a) { return bitwise_not(a); }

} // namespace Atoll
