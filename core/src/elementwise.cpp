// Element-wise functions: one path for every unary, binary and ternary function of every module.
#include "domain.hpp"
#include "exact_compare.hpp"
#include "families.hpp"
#include "plan.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

struct ScalarSpace {
    alignas(16) atoll_scalar value;
};

// The common shape of the inputs; with an output, its shape, to which all must broadcast.
Dims result_shape(const FunctionRecord &function, std::span<const Operand *const> inputs,
                  const TensorImpl *out) {
    Dims shape;
    bool first = true;
    for (const Operand *operand : inputs) {
        if (!operand->tensor()) continue;
        const Dims &own = operand->tensor()->impl()->shape;
        if (out) {
            if (!broadcasts_to(own, out->shape))
                throw Error(Status::invalid_argument, function.full_name,
                            fmt::format("got an operand of shape {} for a destination of shape "
                                        "{}; destinations are never broadcast",
                                        shape_text(own), shape_text(out->shape)));
            require_auto_broadcast(out->shape, own, function.full_name);
        } else if (first) {
            shape = own;
        } else if (!(own == shape)) {
            require_auto_broadcast(shape, own, function.full_name);
            broadcast_shapes(shape, own, function.full_name);
        }
        first = false;
    }
    return out ? out->shape : shape;
}

} // namespace

Tensor run_elementwise(const FunctionRecord &function, std::span<const Operand *const> inputs,
                       const Tensor *out) {
    const ReadSection section;
    DeviceRecord *device = common_device(function, inputs);
    const bool selects = function.rule == ATOLL_RULE_SELECT;
    const Dtypes dtypes =
        apply_rule(function, common_dtype(function, selects ? inputs.subspan(1) : inputs));
    const bool exact = compares_beyond(function, inputs, dtypes.compute);
    const TensorImpl *given = out ? &impl(*out) : nullptr;
    const Dims shape = result_shape(function, inputs, given);
    if (given) {
        check_output(*given, function.full_name);
        require_auto_cast(*given, dtypes.result, device, function.full_name);
    }
    Tensor result = out ? *out : Tensor();
    Ref<StreamImpl> stream;
    if (given && given->device() == device)
        stream = given->storage->stream;
    else
        for (const Operand *operand : inputs)
            if (operand->tensor() && operand->tensor()->impl()->device() == device) {
                stream = operand->tensor()->impl()->storage->stream;
                break;
            }
    Plan plan(function, device, dtypes.compute, dtypes.result, stream);
    require_counts(function, inputs, dtypes.compute);
    if (exact && !plan.takes(ATOLL_CAP_MIXED_INPUTS))
        return compare_apart(function, *inputs[0], *inputs[1], out);
    if (!given) result = make_tensor(shape, dtypes.result, device, stream);
    TensorImpl *destination = result.impl();
    if (destination->size() == 0) return result;

    const TensorImpl *target = given ? &plan.prepare_output(*given) : destination;
    const TensorImpl *prepared[max_operands] = {};
    ScalarSpace scalars[max_operands];
    int count = 0;
    for (const Operand *operand : inputs) {
        DType natural = selects && count == 0 ? bool_ : dtypes.compute;
        if (operand->tensor()) {
            prepared[count] = &plan.prepare_input(*operand->tensor()->impl(),
                                                  given == target ? given : nullptr, natural);
        } else {
            if (exact) natural = operand->scalar().dtype();
            scalars[count].value = operand->scalar().cast(natural).raw();
            if (!plan.takes(ATOLL_CAP_SCALARS))
                prepared[count] = &plan.scalar_tensor(operand->scalar(), natural);
        }
        ++count;
    }

    Iteration it;
    const auto build = [&] {
        it.rank = shape.size();
        std::copy(shape.begin(), shape.end(), it.shape);
        it.count = 0;
        it.add(*target);
        for (int i = 0; i < count; ++i) {
            if (prepared[i])
                it.add(*prepared[i]);
            else
                it.add_scalar(scalars[i].value.value.bytes,
                              static_cast<DType>(scalars[i].value.dtype));
        }
        coalesce(it, 0, it.rank);
    };
    build();
    if (!plan.takes_layout(it)) {
        if (!plan.takes(ATOLL_CAP_STRIDED) && !dense(*target, Order::F))
            target = &plan.replace_output(*given);
        for (int i = 0; i < count; ++i)
            if (prepared[i] && !(dense(*prepared[i], Order::F) && prepared[i]->shape == shape))
                prepared[i] = &plan.expand(*prepared[i], shape, nullptr, prepared[i]->dtype);
        build();
    }
    plan.run(it, 1, nullptr);
    return result;
}

Tensor call_unary(int function, const Operand &a, Out out, Mode mode) {
    const Operand *const inputs[] = {&a};
    const FunctionRecord &record = Registry::get().core_function(function);
    if (domain_of(function).kind != Domain::Kind::none) [[unlikely]]
        if (Tensor result; check_domain(record, inputs, out.get(), mode, result)) return result;
    return run_elementwise(record, inputs, out.get());
}

Tensor call_binary(int function, const Operand &a, const Operand &b, Out out, Mode mode) {
    const Operand *const inputs[] = {&a, &b};
    const FunctionRecord &record = Registry::get().core_function(function);
    if (domain_of(function).kind != Domain::Kind::none) [[unlikely]]
        if (Tensor result; check_domain(record, inputs, out.get(), mode, result)) return result;
    return run_elementwise(record, inputs, out.get());
}

Tensor call_ternary(int function, const Operand &a, const Operand &b, const Operand &c, Out out) {
    const Operand *const inputs[] = {&a, &b, &c};
    return run_elementwise(Registry::get().core_function(function), inputs, out.get());
}

void steps_elements(const TensorImpl &destination, const Scalar &start, const Scalar &step,
                    const Scalar *last) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_steps);
    const DType dtype = apply_rule(function, destination.dtype).compute;
    Plan plan(function, destination.device(), dtype, dtype, destination.storage->stream);
    if (destination.size() == 0) return;
    const TensorImpl *target = &plan.prepare_output(destination);
    if (!plan.takes(ATOLL_CAP_STRIDED) && !dense(*target, Order::F))
        target = &plan.replace_output(destination);
    atoll_steps_params params{};
    params.struct_size = sizeof params;
    params.start = start.raw();
    params.step = step.raw();
    params.has_last = last ? 1 : 0;
    if (last) params.last = last->raw();
    Iteration it;
    it.rank = 1;
    it.shape[0] = destination.size();
    it.count = 0;
    it.add(*target);
    plan.run(it, 1, &params);
}

} // namespace Atoll::detail

namespace Atoll {

const Tensor &Tensor::operator+=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_add, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator-=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_subtract, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator*=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_multiply, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator/=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_divide, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator%=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_remainder, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator&=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_bitwise_and, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator|=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_bitwise_or, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator^=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_bitwise_xor, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator<<=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_left_shift, *this, b, *this);
    return *this;
}
const Tensor &Tensor::operator>>=(const Operand &b) const {
    detail::call_binary(ATOLL_FN_right_shift, *this, b, *this);
    return *this;
}

} // namespace Atoll
