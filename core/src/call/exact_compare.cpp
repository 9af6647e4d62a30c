// Comparisons of true values, taken apart for plugins that compare equal dtypes only.
//
// Note [Two parts]
// A 64-bit integer x becomes h = float64(x) and the small integer l = x - h, so that x = h + l
// exactly. h does not decrease as x grows, so pairs (h, l) order as their numbers do: by h, and by
// l among equal h: whatever is compared, it is compared by l where the h are equal and by h where
// they are not. A float is its own h, with l = 0.
#include "call/exact_compare.hpp"

#include "atoll/create.hpp"
#include "atoll/functions.hpp"
#include "call/families.hpp"

namespace Atoll::detail {

namespace {

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
    if (!function.signature.exact || !is_floating(compute)) [[likely]]
        return false;
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
    const auto compared = [&](const Tensor &left, const Tensor &right) {
        const Operand l(left), r(right);
        const Operand *const parts[] = {&l, &r};
        return run_elementwise(function, parts, nullptr);
    };
    const Tensor result =
        where(equal(x.high, y.high), compared(x.low, y.low), compared(x.high, y.high));
    if (!out) return result;
    copy_elements(*out->impl(), *result.impl());
    return *out;
}

} // namespace Atoll::detail
