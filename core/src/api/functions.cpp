// What the declarations of functions.hpp come down to.
#include "atoll/create.hpp"
#include "atoll/operations.hpp"
#include "call/attributes.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "call/pipeline.hpp"
#include "call/uniform.hpp"

namespace Atoll::detail {

namespace {

const FunctionRecord &core(int function) { return Registry::get().core_function(function); }
Inputs span_of(std::initializer_list<const Operand *> list) { return {list.begin(), list.size()}; }

// Whether elements outside the function's domain are to be looked for before the call.
bool looks_at_elements(const FunctionRecord &function, Mode mode) {
    return function.signature.domain != sdk::MathDomain::all &&
           mode.value_or(current_settings().compute_mode) != ComputeMode::standard;
}

// The only input, where the call takes all of it into a new result.
const Tensor *uniform_input(const FunctionRecord &f, Inputs inputs, const CallDetails &details) {
    if (inputs.size() != 1 || details.keepdims || !inputs[0]->tensor()) return nullptr;
    const Tensor &input = *inputs[0]->tensor();
    if (details.axes.given) {
        if (f.signature.axes != sdk::AxesOf::named || details.axes.list.size() != 1) return nullptr;
        const int axis = details.axes.list[0];
        if (axis != 0 && axis != -1) return nullptr;
    }
    if (f.signature.axes == sdk::AxesOf::named && impl(input).shape.size() != 1) return nullptr;
    return &input;
}

} // namespace

Tensor call_elementwise(int core_function, std::initializer_list<const Operand *> list, Out given,
                        Mode mode, Tensor *temporary) {
    const ReadSection section;
    const FunctionRecord &function = core(core_function);
    const Inputs inputs = span_of(list);
    const Tensor *const out = given.get();
    Tensor result;
    if (looks_at_elements(function, mode) ||
        !run_uniform(function, inputs, out ? &impl(*out) : nullptr, temporary, result, {}))
        run(function,
            {.inputs = inputs, .outputs = {&out, 1}, .mode = mode, .temporary = temporary}, &result,
            {});
    if (out) return *out;
    return result;
}

void call_into(int core_function, std::initializer_list<const Operand *> list, const Tensor &out) {
    const ReadSection section;
    const FunctionRecord &function = core(core_function);
    const Inputs inputs = span_of(list);
    Tensor unused;
    if (!looks_at_elements(function, {}) &&
        run_uniform(function, inputs, &impl(out), nullptr, unused, {}))
        return;
    const Tensor *const outputs[] = {&out};
    run(function, {.inputs = inputs, .outputs = outputs}, &unused, {});
}

Tensor call_core(int core_function, std::initializer_list<const Operand *> list,
                 const CallDetails &details) {
    const ReadSection section;
    const FunctionRecord &function = core(core_function);
    const Inputs inputs = span_of(list);
    const AttributeValues values = attribute_values(function, details.attributes, DType::none);
    const std::span attributes(values.data(), function.signature.attribute_count);
    const Tensor *const out = details.out.size() ? details.out.begin()->get() : nullptr;
    Tensor result;
    if (!out)
        if (const Tensor *input = uniform_input(function, inputs, details))
            if (run_uniform_core(function, *input, attributes, result, {})) return result;
    return run_one(function,
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = attributes,
                    .axes = details.axes.list,
                    .axes_given = details.axes.given,
                    .keepdims = details.keepdims},
                   {});
}

} // namespace Atoll::detail

namespace Atoll {

using namespace detail;

Event enqueue_copy(const Tensor &destination, const Tensor &source) {
    const TensorImpl &to = detail::impl(destination), &from = detail::impl(source);
    enqueue_transfer(to, from);
    return (to.storage->pinned_for ? source : destination).stream().record();
}

#define ATOLL_IN_PLACE(op, name, Right)                                                            \
    Tensor &Tensor::operator op(const Right &b) {                                                  \
        name(*this, b, *this);                                                                     \
        return *this;                                                                              \
    }                                                                                              \
    Selection &Selection::operator op(const Right &b) { return apply(ATOLL_FN_##name, b); }
ATOLL_IN_PLACE(+=, add, Operand)
ATOLL_IN_PLACE(-=, subtract, Operand)
ATOLL_IN_PLACE(*=, multiply, Scalar)
ATOLL_IN_PLACE(/=, divide, Operand)
ATOLL_IN_PLACE(%=, remainder, Operand)
ATOLL_IN_PLACE(&=, bitwise_and, Operand)
ATOLL_IN_PLACE(|=, bitwise_or, Operand)
ATOLL_IN_PLACE(^=, bitwise_xor, Operand)
ATOLL_IN_PLACE(<<=, left_shift, Operand)
ATOLL_IN_PLACE(>>=, right_shift, Operand)
#undef ATOLL_IN_PLACE

} // namespace Atoll
