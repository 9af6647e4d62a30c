// Calls that an implementation does not take, made of calls that it does take.
#include "call/taken_apart.hpp"

#include "call/copy.hpp"
#include "call/factors.hpp"
#include "call/parts.hpp"
#include "call/pipeline.hpp"

#include <optional>

namespace Atoll::detail {

namespace {

// Note [Two parts]
// A 64-bit integer x becomes h = float64(x) and the small integer l = x - h, so that x = h + l
// exactly. h does not decrease as x grows, so pairs (h, l) order as their numbers do: by h, and by
// l among equal h: whatever is compared, it is compared by l where the h are equal and by h where
// they are not. A float is its own h, with l = 0.
bool long_integer(DType dtype) { return dtype == int64 || dtype == uint64; }

struct Parts {
    Tensor high, low; // of T (float64 or complex128); int64
};

Parts split(const Operand &x, const Checked &call, const Context &parts) {
    const Tensor own = x.tensor() ? moved(*x.tensor(), call.device, parts)
                                  : scalar_part(x.scalar(), call.device, parts);
    const DType dtype = own.impl()->dtype;
    const Tensor high = cast_elements(impl(own), call.T, call.device, parts);
    if (!long_integer(dtype)) return {high, scalar_part(std::int64_t{0}, call.device, parts)};
    // The way back saturates: 2^63 (2^64) becomes one less, which the comparison puts right.
    const Scalar end(dtype == int64 ? 0x1p63 : 0x1p64);
    const Tensor rounded = cast_elements(impl(own), float64, call.device, parts);
    const Tensor back = cast_elements(impl(rounded), dtype, call.device, parts);
    const Tensor rest = part(ATOLL_FN_subtract, {own, back}, parts).view_as(int64);
    const Tensor beyond = part(ATOLL_FN_greater_equal, {rounded, end}, parts);
    return {high, part(ATOLL_FN_subtract,
                       {rest, cast_elements(impl(beyond), int64, call.device, parts)}, parts)};
}

} // namespace

const ProductAttributes &plain_product(DType T) {
    static const auto all = [] {
        std::array<ProductAttributes, ATOLL_DTYPE_COUNT> made{};
        for (std::size_t i = 1; i < made.size(); ++i) {
            const DType factor = accumulator(static_cast<DType>(i));
            made[i] = {Scalar(1).cast(factor).raw(), Scalar(0).cast(factor).raw(),
                       Scalar(false).raw(), Scalar(false).raw()};
        }
        return made;
    }();
    return all[static_cast<std::size_t>(T)];
}

void multiply_apart(const Checked &call, const Arguments &given, Tensor &result,
                    const Context &parts) {
    const FunctionRecord &matmul = *call.function;
    const DType wide = accumulator(call.T);
    Context context = parts;
    context.device = call.device;
    const Chain &chain = *call.device->type->chain(matmul, static_cast<int>(wide));
    context.dtype = chain.implemented ? wide : call.T;

    const Operand *inputs[] = {given.inputs[0], given.inputs[1]};
    Tensor conjugate[2];
    std::optional<Operand> replaced[2];
    for (int i = 0; i < 2; ++i) {
        if (!given.attributes[product_conj_a + i].value.bytes[0] || !is_complex(call.T)) continue;
        conjugate[i] = part(ATOLL_FN_conj, {*inputs[i]}, context);
        inputs[i] = &replaced[i].emplace(conjugate[i]);
    }
    const auto factor = [&](ProductAttribute which) {
        return Scalar(given.attributes[which]).cast(context.dtype);
    };
    Tensor d = run_one(matmul,
                       {.inputs = inputs,
                        .attributes = plain_product(context.dtype),
                        .axes = given.axes,
                        .axes_given = given.axes_given,
                        .group_axes = given.group_axes},
                       context);
    if (factor(product_alpha).to_complex() != std::complex<double>(1))
        d = scaled(d, factor(product_alpha), context);
    const bool adds = given.inputs.size() > 2 && given.inputs[2] && !is_zero(factor(product_beta));
    if (adds) {
        const Tensor c = scaled(*given.inputs[2]->tensor(), factor(product_beta), context);
        d = part(ATOLL_FN_add, {d, c}, context);
    }
    if (call.tensor[0])
        copy_elements(*call.tensor[0], *d.impl(), parts);
    else
        result = d.impl()->dtype == call.T ? d : cast_elements(impl(d), call.T, call.device, parts);
}

bool compares_beyond(Inputs inputs, DType T) {
    if (!is_floating(T)) return false;
    for (const Operand *x : inputs)
        if (!is_weak(*x) && long_integer(dtype_of(*x))) return true;
    return false;
}

void compare_apart(const Checked &call, Inputs inputs, Tensor &result, const Context &parts) {
    const Parts x = split(*inputs[0], call, parts), y = split(*inputs[1], call, parts);
    const auto compared = [&](const Operand &left, const Operand &right) {
        const Operand *const operands[] = {&left, &right};
        return run_one(*call.function, {.inputs = operands}, parts);
    };
    const Tensor same = part(ATOLL_FN_equal, {x.high, y.high}, parts);
    const Tensor low = compared(x.low, y.low), high = compared(x.high, y.high);
    const Tensor chosen = part(ATOLL_FN_where, {same, low, high}, parts);
    if (call.tensor[0])
        copy_elements(*call.tensor[0], *chosen.impl(), parts);
    else
        result = chosen;
}

} // namespace Atoll::detail
