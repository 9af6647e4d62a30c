// alpha * op(a) op(b) + beta * c, part by part.
#include "call/multiply_apart.hpp"

#include "call/copy.hpp"
#include "call/pipeline.hpp"

#include <array>
#include <optional>

namespace Atoll::detail {

namespace {

enum Attribute { alpha, beta, conj_a, conj_b };

} // namespace

bool is_product(const FunctionRecord &function) {
    return function.module->id == ATOLL_MODULE_CORE && function.id == ATOLL_FN_matmul;
}

void multiply_apart(const Checked &call, const Arguments &given, Tensor &result,
                    const Context &parts) {
    const FunctionRecord &matmul = *call.function;
    const auto T = static_cast<std::uint32_t>(call.T);
    const std::uint32_t wide = sdk::accumulator_of(T);
    Context context = parts;
    context.device = call.device;
    const Chain &chain =
        *call.device->type->chain(matmul.module->id, matmul.id, static_cast<int>(wide));
    context.dtype = static_cast<DType>(chain.implemented ? wide : T);

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
    // As the defaults are, or the product would be taken apart again.
    const auto A =
        static_cast<DType>(sdk::accumulator_of(static_cast<std::uint32_t>(context.dtype)));
    const Scalar one = Scalar(1).cast(A), zero = Scalar(0).cast(A);
    const std::array<atoll_scalar, 4> plain = {one.raw(), zero.raw(), Scalar(false).raw(),
                                               Scalar(false).raw()};
    Tensor d = run_one(matmul,
                       {.inputs = inputs,
                        .attributes = plain,
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
        result = d.impl()->dtype == call.T ? d : cast_part(d, call.T, call.device, parts);
}

} // namespace Atoll::detail
