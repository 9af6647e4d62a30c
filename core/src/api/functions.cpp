// The front doors of functions.hpp: arguments as C++ gives them become those of the pipeline.
#include "api/front_doors.hpp"
#include "atoll/create.hpp"
#include "atoll/format.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "call/uniform.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

const FunctionRecord &core(int function) { return Registry::get().core_function(function); }

// Whether elements outside the function's domain are to be looked for before the call.
bool looks_at_elements(const FunctionRecord &function, Mode mode) {
    return function.signature.domain != sdk::MathDomain::all &&
           mode.value_or(current_settings().compute_mode) != ComputeMode::standard;
}

} // namespace

Tensor call_elementwise(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                        Mode mode) {
    const ReadSection section;
    Tensor result;
    if (looks_at_elements(function, mode) ||
        !run_uniform(function, inputs, out ? &impl(*out) : nullptr, result, {}))
        run(function, {.inputs = inputs, .outputs = {&out, 1}, .mode = mode}, &result, {});
    if (out) return *out;
    return result;
}

Tensor call_unary(int function, const Operand &a, Out out, Mode mode) {
    const Operand *const inputs[] = {&a};
    return call_elementwise(core(function), inputs, out.get(), mode);
}

Tensor call_binary(int function, const Operand &a, const Operand &b, Out out, Mode mode) {
    const Operand *const inputs[] = {&a, &b};
    return call_elementwise(core(function), inputs, out.get(), mode);
}

Tensor call_ternary(int function, const Operand &a, const Operand &b, const Operand &c, Out out) {
    const Operand *const inputs[] = {&a, &b, &c};
    return call_elementwise(core(function), inputs, out.get(), {});
}

void call_into(int function, std::span<const Operand *const> inputs, const Tensor &out) {
    const ReadSection section;
    const FunctionRecord &record = core(function);
    Tensor unused;
    if (!looks_at_elements(record, {}) && run_uniform(record, inputs, &impl(out), unused, {}))
        return;
    const Tensor *const outputs[] = {&out};
    run(record, {.inputs = inputs, .outputs = outputs}, &unused, {});
}

Tensor call_reduction(const FunctionRecord &function, const Tensor &a, const Axes &axes,
                      bool keepdims, const Tensor *out, std::span<const Scalar> given) {
    const sdk::Signature &signature = function.signature;
    atoll_scalar attributes[2];
    for (std::size_t i = 0; i < signature.attribute_count; ++i) {
        const sdk::AttributeSpec &spec = signature.attributes[i];
        if (spec.type == sdk::AttributeType::boolean) {
            attributes[i] = bool_attribute(i < given.size() && given[i].to_int() != 0);
            continue;
        }
        if (is_complex(given[i].dtype()))
            throw Error(
                Status::invalid_argument, function.full_name,
                fmt::format("{} is {}, needs a real number", spec.name, to_string(given[i])));
        attributes[i] = given[i].cast(float64).raw();
        if (spec.name == "p" && !(attributes[i].value.f64[0] >= 0))
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("p is {}, needs 0 or more", to_string(given[i])));
    }
    const std::span<const atoll_scalar> all(attributes, signature.attribute_count);
    const ReadSection section;
    Tensor result;
    if (!axes.given && !keepdims && !out && run_uniform_core(function, a, all, result, {}))
        return result;
    const Operand operand(a);
    const Operand *const inputs[] = {&operand};
    return run_one(function,
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = all,
                    .axes = axes.list,
                    .axes_given = axes.given,
                    .keepdims = keepdims},
                   {});
}

Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out,
                   std::span<const Scalar> attributes) {
    return call_reduction(core(function), a, axes, keepdims, out.get(), attributes);
}

Tensor call_along(const FunctionRecord &function, const Tensor &a, std::optional<int> axis,
                  const Tensor *out, std::span<const atoll_scalar> attributes) {
    const int own = axis.value_or(0);
    const ReadSection section;
    Tensor result;
    if (!out && impl(a).shape.size() == 1 && (own == 0 || own == -1) &&
        run_uniform_core(function, a, attributes, result, {}))
        return result;
    const Operand operand(a);
    const Operand *const inputs[] = {&operand};
    return run_one(function,
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = attributes,
                    .axes = {&own, axis ? 1u : 0u},
                    .axes_given = axis.has_value()},
                   {});
}

Tensor call_scan(int function, const Tensor &a, std::optional<int> axis, Out out) {
    return call_along(core(function), a, axis, out.get(), {});
}

Tensor call_sort(int function, const Tensor &a, std::optional<int> axis, bool descending, Out out) {
    const atoll_scalar flag = bool_attribute(descending);
    return call_along(core(function), a, axis, out.get(), {&flag, 1});
}

Tensor call_searching(const FunctionRecord &function, const Operand &a, const Tensor &b, bool right,
                      const Tensor *out) {
    if (impl(b).shape.size() != 1)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("{} needs one axis", shape_text("sorted", b.shape())));
    const Operand table(b);
    const Operand *const inputs[] = {&a, &table};
    const atoll_scalar flag = bool_attribute(right);
    return run_one(function, {.inputs = inputs, .outputs = {&out, 1}, .attributes = {&flag, 1}},
                   {});
}

Tensor call_search(int function, const Operand &a, const Tensor &b, bool right, Out out) {
    return call_searching(core(function), a, b, right, out.get());
}

Tensor call_find(const Tensor &a) { return find_part(a, {}); }

} // namespace Atoll::detail

namespace Atoll {

using namespace detail;

Event enqueue_copy(const Tensor &destination, const Tensor &source) {
    const TensorImpl &to = detail::impl(destination), &from = detail::impl(source);
    enqueue_transfer(to, from);
    return (to.storage->pinned_for ? source : destination).stream().record();
}

Tensor nonzero(const Tensor &a) {
    const Tensor positions = find(a);
    const std::int64_t count = positions.size();
    const int rank = a.rank();
    const Tensor result = empty({rank, count}, {int64, a.device()});
    if (count == 0) return result;
    Tensor rest = positions;
    for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t extent = a.shape()[axis];
        remainder(rest, extent, result(axis, all_));
        if (axis + 1 < rank) rest = floor_divide(rest, extent);
    }
    return result;
}

#define ATOLL_IN_PLACE(op, name)                                                                   \
    const Tensor &Tensor::operator op(const Operand &b) const {                                    \
        name(*this, b, *this);                                                                     \
        return *this;                                                                              \
    }                                                                                              \
    const Selection &Selection::operator op(const Operand &b) const {                              \
        return apply(ATOLL_FN_##name, b);                                                          \
    }
ATOLL_IN_PLACE(+=, add)
ATOLL_IN_PLACE(-=, subtract)
ATOLL_IN_PLACE(*=, multiply)
ATOLL_IN_PLACE(/=, divide)
ATOLL_IN_PLACE(%=, remainder)
ATOLL_IN_PLACE(&=, bitwise_and)
ATOLL_IN_PLACE(|=, bitwise_or)
ATOLL_IN_PLACE(^=, bitwise_xor)
ATOLL_IN_PLACE(<<=, left_shift)
ATOLL_IN_PLACE(>>=, right_shift)
#undef ATOLL_IN_PLACE

} // namespace Atoll
