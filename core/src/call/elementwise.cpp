// Element-wise functions: one path for every unary, binary and ternary function of every module.
#include "atoll/type_rules.hpp"
#include "call/domain.hpp"
#include "call/exact_compare.hpp"
#include "call/families.hpp"
#include "call/plan.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

struct ScalarSpace {
    alignas(16) atoll_scalar value;
};

// The common shape of the inputs, in `scratch` unless it is that of one of them; with an output,
// its shape, to which all must broadcast.
const Dims &result_shape(const FunctionRecord &function, std::span<const Operand *const> inputs,
                         const TensorImpl *out, Dims &scratch) {
    const Dims *shape = nullptr;
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
        } else if (!shape) {
            shape = &own;
        } else if (!(own == *shape)) {
            require_auto_broadcast(*shape, own, function.full_name);
            if (shape != &scratch) scratch = *shape;
            shape = &scratch;
            broadcast_shapes(scratch, own, function.full_name);
        }
    }
    if (out) return out->shape;
    return shape ? *shape : scratch;
}

// The stream of the output, or of the first input that is on the device.
const Ref<StreamImpl> &stream_of(const DeviceRecord *device, std::span<const Operand *const> inputs,
                                 const TensorImpl *out) {
    if (out && out->device() == device) return out->storage->stream;
    for (const Operand *operand : inputs)
        if (operand->tensor() && operand->tensor()->impl()->device() == device)
            return operand->tensor()->impl()->storage->stream;
    static const Ref<StreamImpl> default_stream;
    return default_stream;
}

// Note [Uniform operands]
// Most calls have tensors of one dtype, shape and device that lie dense, native and aligned in
// memory of their own, which every plugin takes. One look at each finds that out, and nothing has
// to be tested for conversion, broadcasting, overlap or merging: a third of the cost of a small
// call.

bool uniform(const TensorImpl &t) {
    return !t.swapped() && dense(t, Order::F) &&
           reinterpret_cast<std::uintptr_t>(t.data()) % info(t.dtype).alignment == 0;
}
bool uniform(const TensorImpl &t, const TensorImpl &with) {
    return t.device() == with.device() && t.shape == with.shape && uniform(t);
}

// Runs such a call. False: it is not one, and nothing has happened.
bool run_uniform(const FunctionRecord &function, std::span<const Operand *const> inputs,
                 const TensorImpl *out, Tensor &result) {
    if (!function.fast) return false;
    const Tensor *handle = inputs[0]->tensor();
    if (!handle || !handle->impl() || !uniform(*handle->impl())) return false;
    const TensorImpl &first = *handle->impl();
    for (const Operand *operand : inputs.subspan(1)) {
        const Tensor *other = operand->tensor();
        if (!other || !other->impl() || other->impl()->dtype != first.dtype ||
            !uniform(*other->impl(), first))
            return false;
    }
    const Dtypes dtypes = apply_rule(function, first.dtype);
    if (dtypes.compute != first.dtype) return false;
    if (out) {
        if (out->dtype != dtypes.result || out->read_only() || !uniform(*out, first)) return false;
        for (const Operand *operand : inputs) {
            const TensorImpl &input = *operand->tensor()->impl();
            const bool same = out->data() == input.data() && out->dtype == input.dtype;
            if (!same && !separate(*out, input)) return false;
        }
    }
    const Ref<StreamImpl> &stream = stream_of(first.device(), inputs, out);
    Plan plan(function, first.device(), dtypes.compute, dtypes.result, stream);
    if (!out) {
        result = make_tensor(first.shape, dtypes.result, first.device(), stream);
        out = result.impl();
    }
    const std::int64_t size = first.size();
    if (size == 0) return true;
    Iteration it;
    it.rank = size == 1 ? 0 : 1;
    it.shape[0] = size;
    it.count = 0;
    it.add_dense(*out);
    for (const Operand *operand : inputs) it.add_dense(*operand->tensor()->impl());
    plan.call(it, 1, nullptr);
    return true;
}

// Into `out`, or into a new tensor that becomes `result`.
void run(const FunctionRecord &function, std::span<const Operand *const> inputs, const Tensor *out,
         Tensor &result) {
    const ReadSection section;
    if (run_uniform(function, inputs, out ? &impl(*out) : nullptr, result)) return;
    DeviceRecord *device = common_device(function, inputs);
    const Dtypes dtypes = apply_rule(function, common_dtype(function, inputs));
    const bool exact = compares_beyond(function, inputs, dtypes.compute);
    const TensorImpl *given = out ? &impl(*out) : nullptr;
    Dims scratch;
    const Dims &shape = result_shape(function, inputs, given, scratch);
    if (given) {
        check_output(*given, function.full_name);
        require_auto_cast(*given, dtypes.result, device, function.full_name);
    }
    const Ref<StreamImpl> &stream = stream_of(device, inputs, given);
    Plan plan(function, device, dtypes.compute, dtypes.result, stream);
    require_counts(function, inputs, dtypes.compute);
    if (exact && !plan.takes(ATOLL_CAP_MIXED_INPUTS)) {
        result = compare_apart(function, *inputs[0], *inputs[1], out);
        return;
    }
    if (!given) result = make_tensor(shape, dtypes.result, device, stream);
    const TensorImpl *destination = given ? given : result.impl();
    if (destination->size() == 0) return;

    const TensorImpl *target = given ? &plan.prepare_output(*given) : destination;
    const TensorImpl *prepared[max_operands] = {};
    ScalarSpace scalars[max_operands];
    int count = 0;
    for (const Operand *operand : inputs) {
        DType natural = static_cast<DType>(sdk::dtype_of_operand(
            function.signature.input(count), static_cast<std::uint32_t>(dtypes.compute)));
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
}

// As the compute mode says, then as ever. `result` is a new tensor only where `out` is null.
void run_in_domain(int function, std::span<const Operand *const> inputs, const Tensor *out,
                   Mode mode, Tensor &result) {
    const FunctionRecord &record = Registry::get().core_function(function);
    if (record.signature.domain != sdk::MathDomain::all) [[unlikely]]
        if (check_domain(record, inputs, out, mode, result)) return;
    run(record, inputs, out, result);
}

Tensor new_or_given(int function, std::span<const Operand *const> inputs, const Tensor *out,
                    Mode mode = {}) {
    Tensor result;
    run_in_domain(function, inputs, out, mode, result);
    if (out) return *out;
    return result;
}

} // namespace

Tensor run_elementwise(const FunctionRecord &function, std::span<const Operand *const> inputs,
                       const Tensor *out) {
    Tensor result;
    run(function, inputs, out, result);
    if (out) return *out;
    return result;
}

Tensor call_unary(int function, const Operand &a, Out out, Mode mode) {
    const Operand *const inputs[] = {&a};
    return new_or_given(function, inputs, out.get(), mode);
}

Tensor call_binary(int function, const Operand &a, const Operand &b, Out out, Mode mode) {
    const Operand *const inputs[] = {&a, &b};
    return new_or_given(function, inputs, out.get(), mode);
}

Tensor call_ternary(int function, const Operand &a, const Operand &b, const Operand &c, Out out) {
    const Operand *const inputs[] = {&a, &b, &c};
    return new_or_given(function, inputs, out.get());
}

void call_into(int function, std::span<const Operand *const> inputs, const Tensor &out) {
    Tensor unused;
    run_in_domain(function, inputs, &out, {}, unused);
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

#define ATOLL_IN_PLACE(op, name)                                                                   \
    const Tensor &Tensor::operator op(const Operand &b) const {                                    \
        name(*this, b, *this);                                                                     \
        return *this;                                                                              \
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
