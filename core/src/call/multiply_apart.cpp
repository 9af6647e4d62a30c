// alpha * op(a) op(b) + beta * c, part by part.
#include "call/multiply_apart.hpp"

#include "call/copy.hpp"
#include "call/parts.hpp"
#include "call/pipeline.hpp"

#include <optional>

namespace Atoll::detail {

namespace {

enum Attribute { alpha, beta, conj_a, conj_b };

} // namespace

bool is_product(const FunctionRecord &function) {
    return function.module->id == ATOLL_MODULE_CORE && function.id == ATOLL_FN_matmul;
}

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
        if (!given.attributes[conj_a + i].value.bytes[0] || !is_complex(call.T)) continue;
        conjugate[i] = part(ATOLL_FN_conj, {*inputs[i]}, context);
        inputs[i] = &replaced[i].emplace(conjugate[i]);
    }
    const auto factor = [&](Attribute which) {
        return Scalar(given.attributes[which]).cast(context.dtype);
    };
    Tensor d = run_one(matmul,
                       {.inputs = inputs,
                        .attributes = plain_product(context.dtype),
                        .axes = given.axes,
                        .axes_given = given.axes_given,
                        .group_axes = given.group_axes},
                       context);
    if (factor(alpha).to_complex() != std::complex<double>(1))
        d = part(ATOLL_FN_multiply, {d, factor(alpha)}, context);
    const bool adds = given.inputs.size() > 2 && given.inputs[2] &&
                      factor(beta).to_complex() != std::complex<double>(0);
    if (adds) {
        const Tensor c = part(ATOLL_FN_multiply, {*given.inputs[2], factor(beta)}, context);
        d = part(ATOLL_FN_add, {d, c}, context);
    }
    if (call.tensor[0])
        copy_elements(*call.tensor[0], *d.impl(), parts);
    else
        result = d.impl()->dtype == call.T ? d : cast_elements(impl(d), call.T, call.device, parts);
}

} // namespace Atoll::detail
