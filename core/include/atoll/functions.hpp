// The functions on tensors, declared from the function list.
//
// Every function checks its arguments, moves operands to the device of the first one, promotes
// dtypes, broadcasts (aligning the first axes) and resolves overlap; see the list for the dtype
// rules. With `out`, it writes the result there (converted to the dtype of `out`, which must have
// the shape of the result) and returns `out`: a named tensor by reference, without reference
// counting. On asynchronous devices a call returns when the work is enqueued. Throws Atoll::Error;
// the operands are then unchanged.
#pragma once

#include "atoll/abi/module.h"
#include "atoll/selection.hpp"
#include "atoll/settings.hpp"
#include "atoll/tensor.hpp"

#include <optional>
#include <span>

namespace Atoll {

// The destination of a result: nothing (a new tensor) or an existing tensor.
class Out {
public:
    Out() = default;
    Out(const Tensor &tensor) : tensor_(&tensor) {}
    const Tensor *get() const noexcept { return tensor_; }

private:
    const Tensor *tensor_ = nullptr;
};

// The axes of a reduction; all axes by default.
struct Axes {
    Axes() = default;
    Axes(int axis) : list{axis}, given(true) {}
    Axes(std::initializer_list<int> axes) : list(axes), given(true) {}
    Axes(bool) = delete; // a flag in the wrong place
    Axes(std::initializer_list<bool>) = delete;
    Axes(std::vector<int> axes) : list(std::move(axes)), given(true) {}
    std::vector<int> list;
    bool given = false;
};

// Options of reductions, sorting and searching, passed by name: sum(a, 0, {.keepdims = true}).
struct ReduceOptions {
    bool keepdims = false; // reduced axes stay in the result with extent 1
};
struct SumOptions {
    bool keepdims = false;
    bool skip_nan = false; // ignore NaN
};
struct VarOptions {
    Scalar ddof = 0; // delta degrees of freedom: the divisor is n - ddof
    bool keepdims = false;
};
struct NormOptions {
    Scalar p = 2; // (sum of |x|^p)^(1/p); 0 counts the non-zero elements, infinity: the largest |x|
    bool keepdims = false;
    bool skip_nan = false;
};
struct SortOptions {
    bool descending = false;
};
struct SearchOptions {
    bool right = false; // insert after equal elements instead of before them
};

// How this call treats elements outside the function's mathematical domain; without a value it uses
// Settings::compute_mode. See settings.hpp. Not a std::optional, which would make
// argument-dependent lookup find std::equal and the like.
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
// Writes into `out` without counting another reference.
void call_into(int function, std::span<const Operand *const> inputs, const Tensor &out);
// `attributes` are the first attributes of the function. The remaining ones are flags, which stay
// unset.
Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out = {},
                   std::span<const Scalar> attributes = {});
Tensor call_scan(int function, const Tensor &a, std::optional<int> axis, Out out = {});
Tensor call_sort(int function, const Tensor &a, std::optional<int> axis, bool descending,
                 Out out = {});
Tensor call_search(int function, const Operand &a, const Tensor &b, bool right, Out out = {});
Tensor call_find(const Tensor &a);
// A named tensor. Temporaries are passed as Out, so that no reference to one is returned.
template <class T>
concept TensorHandle = std::same_as<std::remove_const_t<T>, Tensor>;
} // namespace detail

// Element-wise functions. `mode` selects how elements outside the function's domain are treated.
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
// Reductions over axes, all by default. The positions that argmin and argmax return count with the
// first of the axes, in the tensor's order, fastest.
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
// The 2-norm by default (for all elements of a matrix: the Frobenius norm).
inline Tensor norm(const Tensor &a, const Axes &axes = {}, const NormOptions &options = {},
                   Out out = {}) {
    const Scalar attributes[] = {options.p, options.skip_nan};
    return detail::call_reduce(ATOLL_FN_norm, a, axes, options.keepdims, out, attributes);
}
// The axis may be omitted only for tensors of rank 1 or lower.
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
// Blocks, because the number of non-zero elements determines the size of the result.
inline Tensor find(const Tensor &a) { return detail::call_find(a); }

// The coordinates of the non-zero elements, int64 of shape (rank, count): each column is one
// element, in column-major order. As an index it selects these elements. Blocks.
Tensor nonzero(const Tensor &a);
// Views of the real and the imaginary part; imag of a real tensor is a view of read-only zeros.
inline View real(const Tensor &a) { return a.real(); }
inline View imag(const Tensor &a) { return a.imag(); }
// Whether all elements are below (…) a bound, which keeps its exact value; empty: true. Complex
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
// Whether low <= element <= high for all elements.
inline Tensor all_in_range(const Tensor &a, const Scalar &low, const Scalar &high,
                           const Axes &axes = {}, ReduceOptions options = {}, Out out = {}) {
    return all(logical_and(greater_equal(a, low), less_equal(a, high)), axes, options, out);
}

// The matrix product over axes 0 and 1; the other axes form a stack that broadcasts: (2,3)·(3,4) →
// (2,4); (2,3)·(3) → (2); (3)·(1,4) → (3,4); (2,3,5)·(3,4) → (2,4,5); (2,3,5)·(3) → (2,5). An
// operand with one element, or of rank >= 3 with leading extents 1×1, scales the other operand.
Tensor matmul(const Operand &a, const Operand &b, Out out = {});

enum class Op : char { N = 'N', T = 'T', C = 'C' }; // unchanged, transposed, conjugate transposed
// Computes c = alpha op_a(a) op_b(b) + beta c. If beta == 0, c is not read; if alpha == 0, a and b
// are not read.
const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c);

// Copies `source` to `destination`, the same as destination.assign(source): broadcasts and converts
// dtype and layout.
void copy(const Tensor &destination, const Operand &source);

// Copies between pinned host memory (Storage::pinned) and the device that it is pinned for, without
// waiting. Both tensors must be dense, native, and of the same dtype and shape. Do not change the
// host tensor or read its elements until the returned event is reached. Throws Error
// (invalid_argument) that names the violated requirement.
Event enqueue_copy(const Tensor &destination, const Tensor &source);

namespace detail {
template <class T>
concept Array = std::derived_from<T, Tensor> || std::derived_from<T, Selection>;
template <class T>
concept ArrayOrNumber = Array<T> || std::constructible_from<Scalar, T>;
} // namespace detail

// `*` is the matrix product, all other operators are element-wise. None of them applies to two
// plain numbers. One template serves both sides: with an overload for `t == 2` only, the compiler
// would rewrite `2 == t` to it and then demand a bool.
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
