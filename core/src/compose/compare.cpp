// Closeness, and numbers in the place of NaN.
#include "call/promotion.hpp"
#include "compose/compose.hpp"
#include "runtime/registry.hpp"

#include <limits>

namespace Atoll {

using namespace detail;

namespace {

Tensor in_dtype(const Operand &a, DType dtype, const Device &device) {
    return a.tensor() ? a.tensor()->ensure(dtype, device)
                      : full({}, a.scalar().cast(dtype), {dtype, device});
}

double largest_finite(DType dtype) {
    switch (dtype) {
    case float16: return 65504;
    case bfloat16: return 0x1.FEp127;
    case float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
    }
}

} // namespace

Tensor isclose(const Operand &a, const Operand &b, const IsCloseOptions &options) {
    if (!(options.rtol >= 0) || !(options.atol >= 0))
        throw_error(Status::invalid_argument, "isclose", "got rtol {} and atol {}, need 0 or more",
                    options.rtol, options.atol);
    const Tensor close = equal(a, b); // checks the operands as the user's settings say
    const OwnCalls scope;
    const Operand *const operands[] = {&a, &b};
    const DType T = decide_T(Registry::get().core_function(ATOLL_FN_divide), operands, {});
    const DType dtype = promote(T, float32); // halves have too few bits for the tolerances
    const Tensor x = in_dtype(a, dtype, close.device()), y = in_dtype(b, dtype, close.device());
    const Tensor bound = abs(y), distance = abs(subtract(x, y));
    multiply(bound, options.rtol, bound);
    add(bound, options.atol, bound);
    const Tensor near = logical_and(less_equal(distance, bound), isfinite(y));
    // From a number, what is infinite is within no bound but an infinite one.
    const double largest = largest_finite(bound.dtype());
    if (is_complex(dtype) || options.rtol * largest + options.atol > largest / 2)
        logical_and(near, isfinite(x), near);
    logical_or(close, near, close);
    if (options.equal_nan) logical_or(close, logical_and(isnan(x), isnan(y)), close);
    return close;
}

bool allclose(const Operand &a, const Operand &b, const IsCloseOptions &options) {
    return static_cast<bool>(all(isclose(a, b, options)));
}

Tensor nan_to_num(const Tensor &a, const NanToNumOptions &options) {
    const OwnCalls scope;
    if (!is_floating(a.dtype())) return a.replicate();
    if (is_complex(a.dtype())) {
        const Tensor result = a.replicate();
        result.real() = nan_to_num(a.real(), options);
        result.imag() = nan_to_num(a.imag(), options);
        return result;
    }
    const auto number = [&](double value) { return Scalar(Scalar(value), a.dtype()); };
    const double largest = largest_finite(a.dtype());
    Tensor finite;
    if (!options.posinf && !options.neginf) {
        finite = clip(a, number(-largest), number(largest)); // NaN stays
    } else {
        finite = where(isposinf(a), number(options.posinf.value_or(largest)), a);
        where(isneginf(a), number(options.neginf.value_or(-largest)), finite, finite);
    }
    where(isnan(a), number(options.nan), finite, finite);
    return finite;
}

} // namespace Atoll
