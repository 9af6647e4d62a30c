// clang-format off
// The functions of the module core, generated from its list by `atoll header core`.
//
// Every function checks its arguments, moves operands to the device of the first one, promotes
// dtypes, broadcasts (aligning the first axes) and resolves overlap. With `out`, it writes the
// result there (converted to the dtype of `out`, which must have the shape of the result) and
// returns `out`: a named tensor by reference, without reference counting. On asynchronous devices a
// call returns when the work is enqueued. Throws Atoll::Error; the operands are then unchanged.
// Thread-safe, as long as no tensor is written while others use it.
//
// Above each declaration: the signature (see Note [Signatures] in abi/module.h), what the function
// computes, shapes, dtypes, errors of its own, and an example.
#pragma once

#include "atoll/abi/module.h"
#include "atoll/detail/call.hpp"

namespace Atoll {

// a + b; bool: logical or; integers wrap.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype); c has dtype T.
//   Tensor c = add(a, b);
inline Tensor add(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_add, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &add(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_add, {&a, &b}, out);
    return out;
}

// a - b; integers wrap.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype but bool); c has dtype T.
//   Tensor c = subtract(a, b);
inline Tensor subtract(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_subtract, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &subtract(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_subtract, {&a, &b}, out);
    return out;
}

// a * b, element by element; bool: logical and; integers wrap.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype); c has dtype T.
//   Tensor c = multiply(a, b);
inline Tensor multiply(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_multiply, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &multiply(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_multiply, {&a, &b}, out);
    return out;
}

// a / b (true division; integers give float64).
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, float64 for bool and integers (real or complex floats); c has dtype T.
// Throws Error: domain for zeros in b, if the mode says so.
//   Tensor c = divide(a, b);
inline Tensor divide(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_divide, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &divide(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_divide, {&a, &b}, out);
    return out;
}

// a == b; NaN is not equal to anything.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype); c has dtype bool.
//   Tensor c = equal(a, b);
inline Tensor equal(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_equal, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &equal(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_equal, {&a, &b}, out);
    return out;
}

// a != b.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype); c has dtype bool.
//   Tensor c = not_equal(a, b);
inline Tensor not_equal(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_not_equal, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &not_equal(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_not_equal, {&a, &b}, out);
    return out;
}

// a < b.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype but complex ones); c has dtype bool.
//   Tensor c = less(a, b);
inline Tensor less(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_less, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &less(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_less, {&a, &b}, out);
    return out;
}

// a <= b.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype but complex ones); c has dtype bool.
//   Tensor c = less_equal(a, b);
inline Tensor less_equal(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_less_equal, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &less_equal(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_less_equal, {&a, &b}, out);
    return out;
}

// a > b.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype but complex ones); c has dtype bool.
//   Tensor c = greater(a, b);
inline Tensor greater(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_greater, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &greater(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_greater, {&a, &b}, out);
    return out;
}

// a >= b.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype but complex ones); c has dtype bool.
//   Tensor c = greater_equal(a, b);
inline Tensor greater_equal(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_greater_equal, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &greater_equal(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_greater_equal, {&a, &b}, out);
    return out;
}

// -a; integers wrap.
//
// Signature: a () -> b (). T is the dtype of a (any dtype but bool); b has dtype T.
//   Tensor b = negative(a);
inline Tensor negative(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_negative, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &negative(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_negative, {&a}, out);
    return out;
}

// |a|; complex: the modulus, in the dtype of a part; INT_MIN wraps.
//
// Signature: a () -> b (): R. T is the dtype of a (any dtype); b has dtype real T.
//   Tensor b = abs(a);
inline Tensor abs(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_abs, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &abs(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_abs, {&a}, out);
    return out;
}

// square root; negative reals give NaN; complex: branch cut on the negative real axis (C99 Annex
// G).
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [0, inf], if the mode says so.
//   Tensor b = sqrt(a);
inline Tensor sqrt(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_sqrt, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &sqrt(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_sqrt, {&a}, out);
    return out;
}

// a * a; integers wrap.
//
// Signature: a () -> b (). T is the dtype of a (any dtype); b has dtype T.
//   Tensor b = square(a);
inline Tensor square(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_square, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &square(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_square, {&a}, out);
    return out;
}

// complex conjugate; reals are unchanged.
//
// Signature: a () -> b (). T is the dtype of a (any dtype); b has dtype T.
//   Tensor b = conj(a);
inline Tensor conj(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_conj, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &conj(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_conj, {&a}, out);
    return out;
}

struct SumOptions {
    bool skip_nan = false;
    bool keepdims = false; // reduced axes stay in the result with extent 1
};
// sum; bool and integers in 64 bits, halves accumulate in float32, pairwise; skip_nan ignores NaN;
// empty: 0.
//
// Signature: a (n*) -> s (). Reduces `axes`, by default all; s has the other axes. T is the dtype
// of a, int64 for bool and signed integers, uint64 for unsigned ones (64-bit integers, real or
// complex floats); s has dtype T.
//   Tensor s = sum(a, 0, {.skip_nan = true});
inline Tensor sum(const Tensor &a, const Axes &axes = {}, const SumOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_sum, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using ProdOptions = SumOptions;
// product; bool and integers in 64 bits; skip_nan ignores NaN; empty: 1.
//
// Signature: a (n*) -> s (). Reduces `axes`, by default all; s has the other axes. T is the dtype
// of a, int64 for bool and signed integers, uint64 for unsigned ones (64-bit integers, real or
// complex floats); s has dtype T.
//   Tensor s = prod(a, 0, {.skip_nan = true});
inline Tensor prod(const Tensor &a, const Axes &axes = {}, const ProdOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_prod, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using MinOptions = SumOptions;
// smallest element; NaN propagates; skip_nan ignores NaN unless all are NaN; empty: an error.
//
// Signature: a (n*) -> s (). Reduces `axes`, by default all; s has the other axes. T is the dtype
// of a (any dtype but complex ones); s has dtype T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = min(a, 0, {.skip_nan = true});
inline Tensor min(const Tensor &a, const Axes &axes = {}, const MinOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_min, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using MaxOptions = SumOptions;
// largest element; NaN propagates; skip_nan ignores NaN unless all are NaN; empty: an error.
//
// Signature: a (n*) -> s (). Reduces `axes`, by default all; s has the other axes. T is the dtype
// of a (any dtype but complex ones); s has dtype T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = max(a, 0, {.skip_nan = true});
inline Tensor max(const Tensor &a, const Axes &axes = {}, const MaxOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_max, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

struct AnyOptions {
    bool keepdims = false; // reduced axes stay in the result with extent 1
};
// true iff any element is non-zero (NaN is non-zero); empty: false.
//
// Signature: a (n*) -> s (): bool. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype bool.
//   Tensor s = any(a, 0, {.keepdims = true});
inline Tensor any(const Tensor &a, const Axes &axes = {}, const AnyOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_any, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using AllOptions = AnyOptions;
// true iff all elements are non-zero; empty: true.
//
// Signature: a (n*) -> s (): bool. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype bool.
//   Tensor s = all(a, 0, {.keepdims = true});
inline Tensor all(const Tensor &a, const Axes &axes = {}, const AllOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_all, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

// floor(a / b); integers: 0 if b is 0, INT_MIN / -1 wraps.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers or real floats); c has dtype T.
// Throws Error: domain for zeros in b, if the mode says so.
//   Tensor c = floor_divide(a, b);
inline Tensor floor_divide(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_floor_divide, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &floor_divide(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_floor_divide, {&a, &b}, out);
    return out;
}

// a - b * floor(a / b), with the sign of b; integers: 0 if b is 0.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers or real floats); c has dtype T.
// Throws Error: domain for zeros in b, if the mode says so.
//   Tensor c = remainder(a, b);
inline Tensor remainder(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_remainder, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &remainder(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_remainder, {&a, &b}, out);
    return out;
}

// a - b * trunc(a / b), with the sign of a; integers: 0 if b is 0.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers or real floats); c has dtype T.
// Throws Error: domain for zeros in b, if the mode says so.
//   Tensor c = fmod(a, b);
inline Tensor fmod(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_fmod, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &fmod(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_fmod, {&a, &b}, out);
    return out;
}

// trunc(a / b); integers: 0 if b is 0, INT_MIN / -1 wraps.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers or real floats); c has dtype T.
// Throws Error: domain for zeros in b, if the mode says so.
//   Tensor c = trunc_divide(a, b);
inline Tensor trunc_divide(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_trunc_divide, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &trunc_divide(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_trunc_divide, {&a, &b}, out);
    return out;
}

// a to the power of b; integers wrap, negative integer exponents are an error.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (any dtype but bool); c has dtype T.
// Throws Error: domain if an integer b is negative; domain for roots of negative numbers, if the
// mode says so.
//   Tensor c = pow(a, b);
inline Tensor pow(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_pow, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &pow(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_pow, {&a, &b}, out);
    return out;
}

// a & b.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (bool or integers); c has dtype T.
//   Tensor c = bitwise_and(a, b);
inline Tensor bitwise_and(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_bitwise_and, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &bitwise_and(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_bitwise_and, {&a, &b}, out);
    return out;
}

// a | b.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (bool or integers); c has dtype T.
//   Tensor c = bitwise_or(a, b);
inline Tensor bitwise_or(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_bitwise_or, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &bitwise_or(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_bitwise_or, {&a, &b}, out);
    return out;
}

// a ^ b.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (bool or integers); c has dtype T.
//   Tensor c = bitwise_xor(a, b);
inline Tensor bitwise_xor(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_bitwise_xor, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &bitwise_xor(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_bitwise_xor, {&a, &b}, out);
    return out;
}

// a << b; 0 if b is at least the bit width; negative b is an error.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers); c has dtype T.
// Throws Error: domain if an integer b is negative.
//   Tensor c = left_shift(a, b);
inline Tensor left_shift(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_left_shift, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &left_shift(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_left_shift, {&a, &b}, out);
    return out;
}

// a >> b; shifts in copies of the sign bit; negative b is an error.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, int8 for bool (integers); c has dtype T.
// Throws Error: domain if an integer b is negative.
//   Tensor c = right_shift(a, b);
inline Tensor right_shift(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_right_shift, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &right_shift(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_right_shift, {&a, &b}, out);
    return out;
}

// a and b are both non-zero (NaN is non-zero).
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype); c has dtype bool.
//   Tensor c = logical_and(a, b);
inline Tensor logical_and(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_logical_and, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &logical_and(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_logical_and, {&a, &b}, out);
    return out;
}

// a or b is non-zero.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype); c has dtype bool.
//   Tensor c = logical_or(a, b);
inline Tensor logical_or(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_logical_or, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &logical_or(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_logical_or, {&a, &b}, out);
    return out;
}

// exactly one of a and b is non-zero.
//
// Signature: a (), b () -> c (): bool. Shapes broadcast, first axes aligned. T is the common dtype
// of a and b (any dtype); c has dtype bool.
//   Tensor c = logical_xor(a, b);
inline Tensor logical_xor(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_logical_xor, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &logical_xor(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_logical_xor, {&a, &b}, out);
    return out;
}

// the smaller of a and b; NaN propagates.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype but complex ones); c has dtype T.
//   Tensor c = minimum(a, b);
inline Tensor minimum(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_minimum, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &minimum(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_minimum, {&a, &b}, out);
    return out;
}

// the larger of a and b; NaN propagates.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype but complex ones); c has dtype T.
//   Tensor c = maximum(a, b);
inline Tensor maximum(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_maximum, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &maximum(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_maximum, {&a, &b}, out);
    return out;
}

// the smaller of a and b; ignores NaN.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype but complex ones); c has dtype T.
//   Tensor c = fmin(a, b);
inline Tensor fmin(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_fmin, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &fmin(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_fmin, {&a, &b}, out);
    return out;
}

// the larger of a and b; ignores NaN.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b (any dtype but complex ones); c has dtype T.
//   Tensor c = fmax(a, b);
inline Tensor fmax(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_fmax, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &fmax(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_fmax, {&a, &b}, out);
    return out;
}

// -1, 0, 1 or NaN; complex: a / |a|, 0 for 0.
//
// Signature: a () -> b (). T is the dtype of a (any dtype but bool); b has dtype T.
//   Tensor b = sign(a);
inline Tensor sign(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_sign, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &sign(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_sign, {&a}, out);
    return out;
}

// the complex argument, in [-pi, pi]; reals: 0 or pi, by sign; NaN stays NaN.
//
// Signature: a () -> b (): R. T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype real T.
//   Tensor b = angle(a);
inline Tensor angle(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_angle, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &angle(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_angle, {&a}, out);
    return out;
}

// 1 / a.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for zeros in a, if the mode says so.
//   Tensor b = reciprocal(a);
inline Tensor reciprocal(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_reciprocal, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &reciprocal(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_reciprocal, {&a}, out);
    return out;
}

// real cube root.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real floats); b has
// dtype T.
//   Tensor b = cbrt(a);
inline Tensor cbrt(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_cbrt, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &cbrt(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_cbrt, {&a}, out);
    return out;
}

// e to the power of a.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = exp(a);
inline Tensor exp(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_exp, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &exp(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_exp, {&a}, out);
    return out;
}

// 2 to the power of a.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = exp2(a);
inline Tensor exp2(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_exp2, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &exp2(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_exp2, {&a}, out);
    return out;
}

// 10 to the power of a.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = exp10(a);
inline Tensor exp10(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_exp10, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &exp10(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_exp10, {&a}, out);
    return out;
}

// e to the power of a, minus 1; accurate near 0.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = expm1(a);
inline Tensor expm1(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_expm1, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &expm1(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_expm1, {&a}, out);
    return out;
}

// natural logarithm; complex: branch cut on the negative real axis.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [0, inf], if the mode says so.
//   Tensor b = log(a);
inline Tensor log(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_log, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &log(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_log, {&a}, out);
    return out;
}

// logarithm to base 2; branch cut as for log.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [0, inf], if the mode says so.
//   Tensor b = log2(a);
inline Tensor log2(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_log2, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &log2(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_log2, {&a}, out);
    return out;
}

// logarithm to base 10; branch cut as for log.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [0, inf], if the mode says so.
//   Tensor b = log10(a);
inline Tensor log10(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_log10, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &log10(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_log10, {&a}, out);
    return out;
}

// log(1 + a), accurate near 0; complex: branch cut on (-inf, -1].
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [-1, inf], if the mode says so.
//   Tensor b = log1p(a);
inline Tensor log1p(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_log1p, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &log1p(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_log1p, {&a}, out);
    return out;
}

// sine.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = sin(a);
inline Tensor sin(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_sin, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &sin(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_sin, {&a}, out);
    return out;
}

// cosine.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = cos(a);
inline Tensor cos(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_cos, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &cos(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_cos, {&a}, out);
    return out;
}

// tangent.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = tan(a);
inline Tensor tan(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_tan, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &tan(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_tan, {&a}, out);
    return out;
}

// arc sine; complex: branch cuts (-inf, -1] and [1, inf), C99 Annex G.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [-1, 1], if the mode says so.
//   Tensor b = asin(a);
inline Tensor asin(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_asin, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &asin(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_asin, {&a}, out);
    return out;
}

// arc cosine; complex: branch cuts as for asin.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [-1, 1], if the mode says so.
//   Tensor b = acos(a);
inline Tensor acos(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_acos, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &acos(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_acos, {&a}, out);
    return out;
}

// arc tangent; complex: branch cuts (-i inf, -i] and [i, i inf).
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = atan(a);
inline Tensor atan(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_atan, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &atan(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_atan, {&a}, out);
    return out;
}

// hyperbolic sine.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = sinh(a);
inline Tensor sinh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_sinh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &sinh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_sinh, {&a}, out);
    return out;
}

// hyperbolic cosine.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = cosh(a);
inline Tensor cosh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_cosh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &cosh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_cosh, {&a}, out);
    return out;
}

// hyperbolic tangent.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = tanh(a);
inline Tensor tanh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_tanh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &tanh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_tanh, {&a}, out);
    return out;
}

// inverse hyperbolic sine; complex: branch cuts as for atan.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
//   Tensor b = asinh(a);
inline Tensor asinh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_asinh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &asinh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_asinh, {&a}, out);
    return out;
}

// inverse hyperbolic cosine; complex: branch cut (-inf, 1].
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [1, inf], if the mode says so.
//   Tensor b = acosh(a);
inline Tensor acosh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_acosh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &acosh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_acosh, {&a}, out);
    return out;
}

// inverse hyperbolic tangent; complex: branch cuts as for asin.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real or complex
// floats); b has dtype T.
// Throws Error: domain for a outside [-1, 1], if the mode says so.
//   Tensor b = atanh(a);
inline Tensor atanh(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_atanh, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &atanh(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_atanh, {&a}, out);
    return out;
}

// the smallest integer not below a, in the dtype of a.
//
// Signature: a () -> b (). T is the dtype of a (any dtype but complex ones); b has dtype T.
//   Tensor b = ceil(a);
inline Tensor ceil(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_ceil, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &ceil(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_ceil, {&a}, out);
    return out;
}

// the largest integer not above a, in the dtype of a.
//
// Signature: a () -> b (). T is the dtype of a (any dtype but complex ones); b has dtype T.
//   Tensor b = floor(a);
inline Tensor floor(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_floor, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &floor(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_floor, {&a}, out);
    return out;
}

// a without its fractional part, in the dtype of a.
//
// Signature: a () -> b (). T is the dtype of a (any dtype but complex ones); b has dtype T.
//   Tensor b = trunc(a);
inline Tensor trunc(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_trunc, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &trunc(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_trunc, {&a}, out);
    return out;
}

// the nearest integer, ties to even, in the dtype of a; complex: rounds both parts.
//
// Signature: a () -> b (). T is the dtype of a (any dtype); b has dtype T.
//   Tensor b = round(a);
inline Tensor round(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_round, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &round(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_round, {&a}, out);
    return out;
}

// a is NaN; complex: either part is.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype); b has dtype bool.
//   Tensor b = isnan(a);
inline Tensor isnan(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_isnan, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &isnan(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_isnan, {&a}, out);
    return out;
}

// a is infinite; complex: either part is.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype); b has dtype bool.
//   Tensor b = isinf(a);
inline Tensor isinf(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_isinf, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &isinf(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_isinf, {&a}, out);
    return out;
}

// a is finite; complex: both parts are.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype); b has dtype bool.
//   Tensor b = isfinite(a);
inline Tensor isfinite(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_isfinite, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &isfinite(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_isfinite, {&a}, out);
    return out;
}

// a is +inf.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype but complex ones); b has dtype
// bool.
//   Tensor b = isposinf(a);
inline Tensor isposinf(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_isposinf, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &isposinf(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_isposinf, {&a}, out);
    return out;
}

// a is -inf.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype but complex ones); b has dtype
// bool.
//   Tensor b = isneginf(a);
inline Tensor isneginf(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_isneginf, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &isneginf(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_isneginf, {&a}, out);
    return out;
}

// inverts every bit; bool: logical not.
//
// Signature: a () -> b (). T is the dtype of a (bool or integers); b has dtype T.
//   Tensor b = bitwise_not(a);
inline Tensor bitwise_not(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_bitwise_not, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &bitwise_not(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_bitwise_not, {&a}, out);
    return out;
}

// a is zero.
//
// Signature: a () -> b (): bool. T is the dtype of a (any dtype); b has dtype bool.
//   Tensor b = logical_not(a);
inline Tensor logical_not(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_logical_not, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &logical_not(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_logical_not, {&a}, out);
    return out;
}

// a where mask is non-zero, else b.
//
// Signature: mask (): bool, a (), b () -> c (). Shapes broadcast, first axes aligned. T is the
// common dtype of a and b (any dtype); c has dtype T.
//   Tensor c = where(mask, a, b);
inline Tensor where(const Operand &mask, const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_where, {&mask, &a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &where(const Operand &mask, const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_where, {&mask, &a, &b}, out);
    return out;
}

// minimum(maximum(a, low), high): limits a to [low, high]; NaN stays NaN.
//
// Signature: a (), low (), high () -> b (). Shapes broadcast, first axes aligned. T is the common
// dtype of a, low and high (any dtype but complex ones); b has dtype T.
//   Tensor b = clip(a, low, high);
inline Tensor clip(const Operand &a, const Operand &low, const Operand &high, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_clip, {&a, &low, &high}, out, mode);
}
template <detail::TensorHandle Handle> Handle &clip(const Operand &a, const Operand &low, const Operand &high, Handle &out) {
    detail::call_into(ATOLL_FN_clip, {&a, &low, &high}, out);
    return out;
}

// cumulative sums along an axis; dtypes as for sum.
//
// Signature: a (n) -> b (n). Along `axis`, which may be left out for rank 1 and 0. T is the dtype
// of a, int64 for bool and signed integers, uint64 for unsigned ones (64-bit integers, real or
// complex floats); b has dtype T.
//   Tensor b = cumsum(a, 0);
inline Tensor cumsum(const Tensor &a, std::optional<int> axis = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_cumsum, {detail::operand(a)},
        {.axes = axis,
         .out = {out}});
}

// cumulative products along an axis; dtypes as for prod.
//
// Signature: a (n) -> b (n). Along `axis`, which may be left out for rank 1 and 0. T is the dtype
// of a, int64 for bool and signed integers, uint64 for unsigned ones (64-bit integers, real or
// complex floats); b has dtype T.
//   Tensor b = cumprod(a, 0);
inline Tensor cumprod(const Tensor &a, std::optional<int> axis = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_cumprod, {detail::operand(a)},
        {.axes = axis,
         .out = {out}});
}

struct SortOptions {
    bool descending = false;
};
// sorts along an axis, ascending or descending; NaN last; complex by real, then imaginary part.
//
// Signature: a (n) -> b (n). Along `axis`, which may be left out for rank 1 and 0. T is the dtype
// of a (any dtype); b has dtype T.
//   Tensor b = sort(a, 0, {.descending = true});
inline Tensor sort(const Tensor &a, std::optional<int> axis = {}, const SortOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_sort, {detail::operand(a)},
        {.attributes = {options.descending},
         .axes = axis,
         .out = {out}});
}

using ArgsortOptions = SortOptions;
// indices that sort along an axis; stable.
//
// Signature: a (n) -> at (n): int64. Along `axis`, which may be left out for rank 1 and 0. T is the
// dtype of a (any dtype); at has dtype int64.
//   Tensor at = argsort(a, 0, {.descending = true});
inline Tensor argsort(const Tensor &a, std::optional<int> axis = {}, const ArgsortOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_argsort, {detail::operand(a)},
        {.attributes = {options.descending},
         .axes = axis,
         .out = {out}});
}

struct SearchsortedOptions {
    bool right = false;
};
// the first (right: last) position at which a keeps the ascending vector `sorted` sorted; order as
// for sort.
//
// Signature: a (), sorted (n) -> at (): int64. The named axes come first; all further axes
// broadcast. T is the common dtype of a and sorted (any dtype); at has dtype int64.
//   Tensor at = searchsorted(a, sorted, {.right = true});
inline Tensor searchsorted(const Operand &a, const Tensor &sorted, const SearchsortedOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_searchsorted, {detail::operand(a), detail::operand(sorted)},
        {.attributes = {options.right},
         .out = {out}});
}

using ArgminOptions = AnyOptions;
// position of the smallest element, the first of equal ones; NaN propagates; empty: an error.
//
// Signature: a (n*) -> at (): int64. Reduces `axes`, by default all; at has the other axes. T is
// the dtype of a (any dtype but complex ones); at has dtype int64.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor at = argmin(a, 0, {.keepdims = true});
inline Tensor argmin(const Tensor &a, const Axes &axes = {}, const ArgminOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_argmin, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using ArgmaxOptions = AnyOptions;
// position of the largest element, the first of equal ones; NaN propagates; empty: an error.
//
// Signature: a (n*) -> at (): int64. Reduces `axes`, by default all; at has the other axes. T is
// the dtype of a (any dtype but complex ones); at has dtype int64.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor at = argmax(a, 0, {.keepdims = true});
inline Tensor argmax(const Tensor &a, const Axes &axes = {}, const ArgmaxOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_argmax, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using AllFiniteOptions = AnyOptions;
// true iff no element is infinite or NaN; empty: true.
//
// Signature: a (n*) -> s (): bool. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype bool.
//   Tensor s = all_finite(a, 0, {.keepdims = true});
inline Tensor all_finite(const Tensor &a, const Axes &axes = {}, const AllFiniteOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_all_finite, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using AnyInfOptions = AnyOptions;
// true iff any element is infinite; empty: false.
//
// Signature: a (n*) -> s (): bool. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype bool.
//   Tensor s = any_inf(a, 0, {.keepdims = true});
inline Tensor any_inf(const Tensor &a, const Axes &axes = {}, const AnyInfOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_any_inf, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using AnyNanOptions = AnyOptions;
// true iff any element is NaN; empty: false.
//
// Signature: a (n*) -> s (): bool. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype bool.
//   Tensor s = any_nan(a, 0, {.keepdims = true});
inline Tensor any_nan(const Tensor &a, const Axes &axes = {}, const AnyNanOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_any_nan, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using MeanOptions = SumOptions;
// sum / count, accumulated as for sum; skip_nan ignores NaN unless all are NaN; empty: an error.
//
// Signature: a (n*) -> s (). Reduces `axes`, by default all; s has the other axes. T is the dtype
// of a, float64 for bool and integers (real or complex floats); s has dtype T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = mean(a, 0, {.skip_nan = true});
inline Tensor mean(const Tensor &a, const Axes &axes = {}, const MeanOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_mean, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using SumAbsOptions = SumOptions;
// sum of moduli; skip_nan ignores NaN; empty: 0.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a, int64 for bool and signed integers, uint64 for unsigned ones (64-bit integers, real
// or complex floats); s has dtype real T.
//   Tensor s = sum_abs(a, 0, {.skip_nan = true});
inline Tensor sum_abs(const Tensor &a, const Axes &axes = {}, const SumAbsOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_sum_abs, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using MinAbsOptions = AnyOptions;
// smallest modulus (INT_MIN wraps, as abs); NaN propagates; empty: an error.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype real T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = min_abs(a, 0, {.keepdims = true});
inline Tensor min_abs(const Tensor &a, const Axes &axes = {}, const MinAbsOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_min_abs, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using MaxAbsOptions = AnyOptions;
// largest modulus (INT_MIN wraps, as abs); NaN propagates; empty: an error.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype real T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = max_abs(a, 0, {.keepdims = true});
inline Tensor max_abs(const Tensor &a, const Axes &axes = {}, const MaxAbsOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_max_abs, {detail::operand(a)},
        {.axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

struct VarOptions {
    Scalar ddof = 0;
    bool keepdims = false; // reduced axes stay in the result with extent 1
};
// sum of |a - mean|^2 / (count - ddof); NaN if count <= ddof; empty: an error.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a, float64 for bool and integers (real or complex floats); s has dtype real T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = var(a, 0, {.ddof = 1});
inline Tensor var(const Tensor &a, const Axes &axes = {}, const VarOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_var, {detail::operand(a)},
        {.attributes = {options.ddof},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

using StddevOptions = VarOptions;
// square root of var.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a, float64 for bool and integers (real or complex floats); s has dtype real T.
// Throws Error: invalid_argument if there are no elements to reduce.
//   Tensor s = stddev(a, 0, {.ddof = 1});
inline Tensor stddev(const Tensor &a, const Axes &axes = {}, const StddevOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_stddev, {detail::operand(a)},
        {.attributes = {options.ddof},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

struct NormOptions {
    Scalar p = 2; // 0 or more
    bool skip_nan = false;
    bool keepdims = false; // reduced axes stay in the result with extent 1
};
// p-norm: (sum of |a|^p)^(1/p); p = 0: the number of non-zero elements; p = inf: the largest
// modulus; skip_nan ignores NaN; empty: 0.
//
// Signature: a (n*) -> s (): R. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a, float64 for bool and integers (real or complex floats); s has dtype real T.
//   Tensor s = norm(a, 0, {.p = 1});
inline Tensor norm(const Tensor &a, const Axes &axes = {}, const NormOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_norm, {detail::operand(a)},
        {.attributes = {options.p, options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

// column-major positions of the non-zero elements, ascending.
//
// Signature: a (n*) -> at (c): int64. Over all axes of a; at has shape (c), c the number of
// non-zero elements of a. T is the dtype of a (any dtype); at has dtype int64. Blocks.
//   Tensor at = find(a);
inline Tensor find(const Tensor &a, Out out = {}) {
    return detail::call_core(ATOLL_FN_find, {detail::operand(a)},
        {.out = {out}});
}

// sqrt(a^2 + b^2); no intermediate overflow or underflow; infinite if a or b is, even beside NaN.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, float64 for bool and integers (real floats); c has dtype T.
//   Tensor c = hypot(a, b);
inline Tensor hypot(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_hypot, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &hypot(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_hypot, {&a, &b}, out);
    return out;
}

// |a| with the sign of b, including zeros and NaN.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, float64 for bool and integers (real floats); c has dtype T.
//   Tensor c = copysign(a, b);
inline Tensor copysign(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_copysign, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &copysign(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_copysign, {&a, &b}, out);
    return out;
}

// the angle of the point (b, a), in [-pi, pi]; zeros and infinities as in C99.
//
// Signature: a (), b () -> c (). Shapes broadcast, first axes aligned. T is the common dtype of a
// and b, float64 for bool and integers (real floats); c has dtype T.
//   Tensor c = atan2(a, b);
inline Tensor atan2(const Operand &a, const Operand &b, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_atan2, {&a, &b}, out, mode);
}
template <detail::TensorHandle Handle> Handle &atan2(const Operand &a, const Operand &b, Handle &out) {
    detail::call_into(ATOLL_FN_atan2, {&a, &b}, out);
    return out;
}

using CountNonzeroOptions = SumOptions;
// number of non-zero elements (NaN is non-zero; skip_nan ignores it); empty: 0.
//
// Signature: a (n*) -> s (): int64. Reduces `axes`, by default all; s has the other axes. T is the
// dtype of a (any dtype); s has dtype int64.
//   Tensor s = count_nonzero(a, 0, {.skip_nan = true});
inline Tensor count_nonzero(const Tensor &a, const Axes &axes = {}, const CountNonzeroOptions &options = {}, Out out = {}) {
    return detail::call_core(ATOLL_FN_count_nonzero, {detail::operand(a)},
        {.attributes = {options.skip_nan},
         .axes = axes,
         .keepdims = options.keepdims,
         .out = {out}});
}

// error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to a.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real floats); b has
// dtype T.
//   Tensor b = erf(a);
inline Tensor erf(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_erf, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &erf(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_erf, {&a}, out);
    return out;
}

// 1 - erf(a), accurate where erf(a) is near 1.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real floats); b has
// dtype T.
//   Tensor b = erfc(a);
inline Tensor erfc(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_erfc, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &erfc(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_erfc, {&a}, out);
    return out;
}

// gamma function, (a - 1)! for integers; zeros give infinities, negative integers NaN.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real floats); b has
// dtype T.
//   Tensor b = tgamma(a);
inline Tensor tgamma(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_tgamma, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &tgamma(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_tgamma, {&a}, out);
    return out;
}

// logarithm of the gamma function's modulus; +inf at its poles.
//
// Signature: a () -> b (). T is the dtype of a, float64 for bool and integers (real floats); b has
// dtype T.
//   Tensor b = lgamma(a);
inline Tensor lgamma(const Operand &a, Out out = {}, Mode mode = {}) {
    return detail::call_elementwise(ATOLL_FN_lgamma, {&a}, out, mode);
}
template <detail::TensorHandle Handle> Handle &lgamma(const Operand &a, Handle &out) {
    detail::call_into(ATOLL_FN_lgamma, {&a}, out);
    return out;
}

// the elements of a where mask is true, in column-major order.
//
// Signature: a (n*), mask (n*): bool -> b (c). Over all axes of mask; b has shape (c), c the number
// of non-zero elements of mask. T is the dtype of a (any dtype); b has dtype T. Blocks.
//   Tensor b = compress(a, mask);
inline Tensor compress(const Tensor &a, const Tensor &mask, Out out = {}) {
    return detail::call_core(ATOLL_FN_compress, {detail::operand(a), detail::operand(mask)},
        {.out = {out}});
}

} // namespace Atoll
