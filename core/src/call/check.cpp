// Checks the arguments of a call, and decides device, T and axes.
#include "call/check.hpp"

#include "base/throw_error.hpp"
#include "call/check_part.hpp"
#include "objects/object.hpp"

#include <algorithm>

namespace Atoll::detail {

namespace {

[[noreturn]] void refuse_kind(const FunctionRecord &function, int o, const Operand &operand) {
    const sdk::OperandSpec &spec = function.signature.operand(o);
    throw_error(Status::invalid_argument, function.full_name, "{} is {}", spec.name,
                !spec.is_object()  ? "an object, needs a tensor"
                : operand.tensor() ? "a tensor, needs an object"
                                   : "a number, needs an object");
}
// An object where the signature has one, a tensor or number elsewhere.
inline void require_kind(const FunctionRecord &function, int o, const Operand &operand) {
    const bool given = operand.tensor() && is_object(impl(*operand.tensor()));
    if (given != function.signature.operand(o).is_object()) [[unlikely]]
        refuse_kind(function, o, operand);
}

class Checker : CheckPart {
public:
    using CheckPart::CheckPart;

    void run() {
        take_operands();
        c_.function = &f_;
        c_.device = decide_device(f_, given_.inputs, context_);
        c_.T = decide_T(f_, given_.inputs, context_);
        if (s_.takes_objects) [[unlikely]]
            check_object_devices();
        if (s_.elementwise())
            broadcast_all();
        else
            place_axes(*this);
        check_outputs();
    }

private:
    void take_operands() {
        const int outputs = s_.output_count, count = s_.operand_count;
        for (int o = 0; o < count; ++o) {
            c_.tensor[o] = nullptr;
            c_.scalar[o] = nullptr;
            const auto i = static_cast<std::size_t>(o < outputs ? o : o - outputs);
            if (o < outputs) {
                if (i < given_.outputs.size() && given_.outputs[i])
                    c_.tensor[o] = &impl(*given_.outputs[i]);
                continue;
            }
            const Operand *operand = i < given_.inputs.size() ? given_.inputs[i] : nullptr;
            if (!operand) continue;
            if (!operand->tensor())
                c_.scalar[o] = &operand->scalar();
            else if (!(c_.tensor[o] = operand->tensor()->impl())) [[unlikely]]
                refuse("{} is undefined (default-constructed); assign a tensor first",
                       spec(o).name);
            require_kind(f_, o, *operand);
        }
    }
    // Objects stay where they were made.
    void check_object_devices() const {
        for (int o = s_.output_count; o < s_.operand_count; ++o)
            if (spec(o).is_object() && c_.tensor[o] && tensor(o).device() != c_.device)
                refuse("{} lies on {}, the call runs on {}; objects are not copied", spec(o).name,
                       tensor(o).device()->name, c_.device->name);
    }

    // --- functions without core axes -------------------------------------------------------------

    void broadcast_all() {
        c_.core = 0;
        int first = -1; // the operand that gives the shape
        if (c_.tensor[0]) take_shape(first = 0);
        for (int o = s_.output_count; o < s_.operand_count; ++o) {
            if (!c_.tensor[o] || spec(o).is_object()) continue;
            if (first < 0)
                take_shape(first = o);
            else if (!(tensor(o).shape == tensor(first).shape))
                broadcast(first, o);
        }
        if (first < 0) c_.rank = 0;
        c_.empty = false;
        for (int i = 0; i < c_.rank; ++i) c_.empty |= c_.shape[i] == 0;
    }
    void take_shape(int o) {
        c_.rank = tensor(o).shape.size();
        std::copy_n(tensor(o).shape.data(), c_.rank, c_.shape);
    }
    void broadcast(int first, int o) {
        const Dims &own = tensor(o).shape;
        if (first == 0 && !broadcasts_to(own, tensor(0).shape))
            refuse("got {} for {}; results are never broadcast", text(o), text(0));
        if (!context_.settings().auto_broadcast)
            refuse_auto_broadcast(named(first), named(o), f_.full_name);
        if (first == 0) return;
        if (const int i = broadcast_shapes(c_.shape, c_.rank, own); i >= 0)
            refuse_broadcast(named(operand_with(c_.shape[i], i)), i, named(o), i, f_.full_name);
    }
    int operand_with(std::int64_t extent, int axis) const {
        int o = s_.output_count;
        while (!c_.tensor[o] || axis >= tensor(o).shape.size() || tensor(o).shape[axis] != extent)
            ++o;
        return o;
    }

    // --- outputs that the caller gives -----------------------------------------------------------

    void check_outputs() {
        for (int o = 0; o < s_.output_count; ++o) {
            if (!c_.tensor[o]) {
                if (spec(o).updated && !(given_.unwanted >> o & 1))
                    refuse("{} is also read, needs a tensor to update: give one with "
                           "CallOptions::out",
                           spec(o).name);
                continue;
            }
            const TensorImpl &out = tensor(o);
            if (spec(o).is_object())
                refuse("{} is an object, which the call makes; leave it out", spec(o).name);
            check_output(out, spec(o).name, f_.full_name);
            if (!s_.elementwise() || o > 0)
                if (const Dims shape = c_.output_shape(o); !(out.shape == shape))
                    refuse("{} needs shape {}", text(o), shape_text(shape));
            if (const DType natural = natural_dtype(spec(o), c_.T); natural != DType::none)
                require_output_dtype(out, spec(o).name, natural, c_.device, f_.full_name, context_);
            for (int other = 0; other < o; ++other)
                if (c_.tensor[other] && overlapping(out, tensor(other)))
                    refuse("{} and {} share memory; results need memory of their own",
                           spec(other).name, spec(o).name);
        }
    }
};

} // namespace

void require_kinds(const FunctionRecord &function, Inputs inputs) {
    const sdk::Signature &signature = function.signature;
    const auto count = static_cast<std::size_t>(signature.input_count());
    for (std::size_t i = 0; i < std::min(inputs.size(), count); ++i)
        if (inputs[i])
            require_kind(function, signature.output_count + static_cast<int>(i), *inputs[i]);
}

void check(const FunctionRecord &function, const Arguments &arguments, const Context &context,
           Checked &checked) {
    Checker(function, arguments, context, checked).run();
}

Dims Checked::output_shape(int output) const {
    if (function->signature.elementwise()) return Dims(shape, static_cast<std::size_t>(rank));
    Dims result = Dims::filled(output_rank[output], 1);
    for (int i = 0; i < rank; ++i)
        if (axis[output][i] >= 0) result[axis[output][i]] = shape[i];
    return result;
}

void check_output(const TensorImpl &out, std::string_view name, std::string_view op) {
    if (out.read_only()) [[unlikely]]
        throw Error(Status::read_only, op,
                    fmt::format("{} is read-only; write to a clone()", shape_text(name, out.shape)),
                    out.device()->name);
    if (self_overlapping(out)) [[unlikely]]
        throw Error(Status::invalid_argument, op,
                    fmt::format("{} {}; write to a replicate()", shape_text(name, out.shape),
                                self_overlap_text(
                                    self_overlap_of(out.shape, out.strides, size_of(out.dtype)))),
                    out.device()->name);
}

} // namespace Atoll::detail
