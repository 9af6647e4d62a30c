// Calls that serve another one.
#include "call/parts.hpp"

#include "call/copy.hpp"
#include "call/pipeline.hpp"
#include "call/route.hpp"

namespace Atoll::detail {

Tensor part(int core_function, std::initializer_list<Operand> inputs, const Context &context,
            const Tensor *out, bool skip_nan) {
    const Operand *list[max_operands];
    std::size_t count = 0;
    for (const Operand &input : inputs) list[count++] = &input;
    const FunctionRecord &function = Registry::get().core_function(core_function);
    const atoll_scalar flag = Scalar(skip_nan).raw();
    return run_one(function,
                   {.inputs = Inputs(list, count),
                    .outputs = {&out, 1},
                    .attributes = {&flag, function.signature.attribute_count}},
                   context);
}

void steps_part(const Tensor &vector, const Scalar &start, const Scalar &step, const Scalar *last,
                const Context &context) {
    const Tensor *const outputs[] = {&vector};
    const atoll_scalar attributes[] = {start.raw(), step.raw(),
                                       last ? last->raw() : atoll_scalar{}};
    const std::int64_t extents[] = {vector.size()};
    Context own = context;
    own.dtype = vector.dtype();
    own.device = vector.impl()->device();
    run_one(Registry::get().core_function(ATOLL_FN_steps),
            {.inputs = {}, .outputs = outputs, .attributes = attributes, .extents = extents}, own);
}

Tensor moved(const Tensor &tensor, DeviceRecord *device, const Context &context) {
    const TensorImpl &t = impl(tensor);
    return t.device() == device ? tensor : cast_elements(t, t.dtype, device, context);
}

Tensor scalar_part(const Scalar &value, DeviceRecord *device, const Context &context) {
    Tensor result = make_tensor({}, value.dtype(), device, {}, Order::F, context.cause);
    fill_elements(*result.impl(), value, context);
    return result;
}

Scalar item_part(const Tensor &tensor, const Context &context) {
    const TensorImpl &t = impl(tensor);
    atoll_scalar raw{};
    raw.dtype = static_cast<std::uint32_t>(t.dtype);
    read_elements(t, raw.value.bytes, t.dtype, context);
    return Scalar(raw);
}

} // namespace Atoll::detail
