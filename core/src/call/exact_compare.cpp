// Comparisons of true values, taken apart for plugins that compare equal dtypes only.
//
// Note [Two parts]
// A 64-bit integer x becomes h = float64(x) and the small integer l = x - h, so that x = h + l
// exactly. h does not decrease as x grows, so pairs (h, l) order as their numbers do: by h, and by
// l among equal h. A float is its own h, with l = 0.
#include "call/exact_compare.hpp"

#include "atoll/create.hpp"
#include "atoll/functions.hpp"

namespace Atoll::detail {

namespace {

bool is_comparison(const FunctionRecord &function) {
    return function.module->id == ATOLL_MODULE_CORE && function.id >= ATOLL_FN_equal &&
           function.id <= ATOLL_FN_greater_equal;
}
bool long_integer(DType dtype) { return dtype == int64 || dtype == uint64; }

struct Parts {
    Tensor high, low; // float64 or complex128; int64
};

Parts split(const Operand &x, DeviceRecord *device, DType compute) {
    Tensor own;
    if (x.tensor())
        own = x.tensor()->to(Device(device));
    else
        own = full({}, x.scalar(), {x.scalar().dtype(), Device(device)});
    Parts parts{own.cast(compute), {}};
    if (!long_integer(own.dtype())) {
        parts.low = zeros({}, {int64, Device(device)});
        return parts;
    }
    // The way back saturates: 2^63 (2^64) becomes one less, which the comparison puts right.
    const Scalar end(own.dtype() == int64 ? 0x1p63 : 0x1p64);
    const Tensor rounded = own.cast(float64);
    parts.low = subtract(own, rounded.cast(own.dtype())).view_as(int64) -
                greater_equal(rounded, end).cast(int64);
    return parts;
}

} // namespace

bool compares_beyond(const FunctionRecord &function, std::span<const Operand *const> inputs,
                     DType compute) {
    if (function.rule != ATOLL_RULE_COMPARE || !is_floating(compute)) [[likely]]
        return false;
    if (!is_comparison(function)) return false;
    for (const Operand *x : inputs)
        if (x->tensor() ? long_integer(x->tensor()->impl()->dtype)
                        : !x->scalar().is_weak() && long_integer(x->scalar().dtype()))
            return true;
    return false;
}

Tensor compare_apart(const FunctionRecord &function, const Operand &a, const Operand &b,
                     const Tensor *out) {
    const Operand *const inputs[] = {&a, &b};
    DeviceRecord *device = common_device(function, inputs);
    const DType compute = common_dtype(function, inputs);
    const InsertedScope inserted(&function);
    const Parts x = split(a, device, compute), y = split(b, device, compute);
    const auto by_parts = [&](int strict, int id) {
        return logical_or(call_binary(strict, x.high, y.high),
                          logical_and(equal(x.high, y.high), call_binary(id, x.low, y.low)));
    };
    Tensor result;
    switch (function.id) {
    case ATOLL_FN_equal: result = logical_and(equal(x.high, y.high), equal(x.low, y.low)); break;
    case ATOLL_FN_not_equal:
        result = logical_or(not_equal(x.high, y.high), not_equal(x.low, y.low));
        break;
    case ATOLL_FN_less:
    case ATOLL_FN_less_equal: result = by_parts(ATOLL_FN_less, function.id); break;
    default: result = by_parts(ATOLL_FN_greater, function.id); break;
    }
    if (!out) return result;
    copy_elements(*out->impl(), *result.impl());
    return *out;
}

} // namespace Atoll::detail
