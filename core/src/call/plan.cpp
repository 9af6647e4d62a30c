// Type rules, materialisation and dispatch of a planned call.
#include "call/plan.hpp"

#include "atoll/type_rules.hpp"
#include "runtime/settings_access.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

std::string dtype_list(std::uint32_t bits) {
    std::string text;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i)
        if (bits >> i & 1)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name(static_cast<DType>(i)));
    return text;
}

DType with_weak_scalar(DType common, const Scalar &scalar, const FunctionRecord &function) {
    const Kind kind = info(scalar.dtype()).kind;
    if (common == DType::none) {
        if (kind == Kind::bool_) return bool_;
        if (kind == Kind::signed_ || kind == Kind::unsigned_) return int64;
        return kind == Kind::complex ? complex128 : float64;
    }
    switch (kind) {
    case Kind::bool_: return common;
    case Kind::signed_:
    case Kind::unsigned_:
        if (common == bool_) common = int64;
        if (function.rule == ATOLL_RULE_FLOAT || !scalar.overflows(common)) return common;
        // True values are compared or tested, so the number need not fit.
        if (function.signature.operands[0].dtype == ATOLL_BOOL)
            return promote(common, scalar.dtype());
        throw Error(Status::out_of_range, function.full_name,
                    fmt::format("the number {} does not fit {}; cast the tensor, or give the "
                                "number a dtype with Scalar(value, dtype)",
                                kind == Kind::signed_ ? fmt::to_string(scalar.raw().value.i64)
                                                      : fmt::to_string(scalar.raw().value.u64),
                                name(common)));
    case Kind::complex:
        if (is_complex(common)) return common;
        return is_real_float(common) ? promote(common, complex32) : complex128;
    default: return is_floating(common) ? common : float64;
    }
}

} // namespace

Dtypes apply_rule(const FunctionRecord &function, DType common) {
    const std::uint32_t T = sdk::make_T(function.rule, static_cast<std::uint32_t>(common));
    if (!(function.domain >> T & 1)) [[unlikely]]
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got {}, need one of {}", name(static_cast<DType>(T)),
                                dtype_list(function.domain)));
    const std::uint32_t result = sdk::dtype_of_operand(function.signature.operands[0], T);
    return {static_cast<DType>(T), static_cast<DType>(result ? result : T)};
}

DType common_dtype(const FunctionRecord &function, std::span<const Operand *const> inputs) {
    DType common = DType::none;
    bool mixed = false;
    // Inputs behind those of the signature are factors, which promote too.
    const auto makes_T = [&](std::size_t i) {
        return static_cast<int>(i) >= function.signature.input_count() ||
               function.signature.input(static_cast<int>(i)).type == sdk::TypeOf::T;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!makes_T(i)) continue;
        const Operand *operand = inputs[i];
        DType dtype;
        if (operand->tensor())
            dtype = impl(*operand->tensor()).dtype;
        else if (!operand->scalar().is_weak())
            dtype = operand->scalar().dtype();
        else
            continue;
        if (common == DType::none)
            common = dtype;
        else if (dtype != common) {
            mixed = true;
            common = promote(common, dtype);
        }
    }
    if (mixed && !current_settings().auto_cast) {
        std::string list;
        for (const Operand *operand : inputs)
            if (operand->tensor())
                list += fmt::format("{}{}", list.empty() ? "" : " and ",
                                    name(impl(*operand->tensor()).dtype));
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got dtypes {} with automatic casting off; cast one of them, or "
                                "set Settings::auto_cast",
                                list));
    }
    const DType strong = common;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (makes_T(i) && !inputs[i]->tensor() && inputs[i]->scalar().is_weak())
            common = with_weak_scalar(common, inputs[i]->scalar(), function);
    if (common != strong && strong != DType::none && !current_settings().auto_cast)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got a number that makes {} of {} with automatic casting off; "
                                "cast the tensor, or set Settings::auto_cast",
                                name(common), name(strong)));
    return common;
}

DeviceRecord *common_device(const FunctionRecord &function,
                            std::span<const Operand *const> inputs) {
    DeviceRecord *device = nullptr;
    for (const Operand *operand : inputs) {
        if (!operand->tensor()) continue;
        DeviceRecord *own = impl(*operand->tensor()).device();
        if (!device)
            device = own;
        else if (own != device && !current_settings().auto_cast)
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("got operands on {} and {} with automatic casting off; move "
                                    "one with Tensor::to, or set Settings::auto_cast",
                                    device->name, own->name));
    }
    return device ? device : default_device().record();
}

void require_auto_cast(const TensorImpl &to, const TensorImpl &from, std::string_view op) {
    require_auto_cast(to, from.dtype, from.device(), op);
}

void require_auto_cast(const TensorImpl &to, DType dtype, const DeviceRecord *device,
                       std::string_view op) {
    if ((to.dtype == dtype && to.device() == device) || current_settings().auto_cast) return;
    throw Error(Status::invalid_argument, op,
                fmt::format("got {} on {} for a destination of {} on {} with automatic casting "
                            "off; cast first, or set Settings::auto_cast",
                            name(dtype), device->name, name(to.dtype), to.device()->name));
}

void require_auto_broadcast(const Dims &a, const Dims &b, std::string_view op) {
    if (a == b || current_settings().auto_broadcast) return;
    throw Error(Status::invalid_argument, op,
                fmt::format("got shapes {} and {} with automatic broadcasting off; use "
                            "Tensor::broadcast_to, or set Settings::auto_broadcast",
                            shape_text(a), shape_text(b)));
}

void check_output(const TensorImpl &out, std::string_view op) {
    if (out.read_only()) [[unlikely]]
        throw Error(Status::read_only, op,
                    fmt::format("the destination (shape {}, {}) is read-only; write to a clone()",
                                shape_text(out.shape), name(out.dtype)),
                    out.device()->name);
    if (self_overlapping(out)) [[unlikely]]
        throw Error(Status::invalid_argument, op,
                    fmt::format("the destination (shape {}, {}) overlaps itself in memory; write "
                                "to a replicate()",
                                shape_text(out.shape), name(out.dtype)),
                    out.device()->name);
}

Plan::Plan(const FunctionRecord &function, DeviceRecord *device, DType compute, DType result,
           Ref<StreamImpl> stream)
    : function_(&function), device_(device), compute_(compute), result_(result),
      stream_(std::move(stream)),
      chain_(device->type->chain(function.module->id, function.id, static_cast<int>(compute))),
      caps_(chain_->caps) {
    if (!chain_->implemented) [[unlikely]]
        require_implemented();
}

void Plan::require_implemented() {
    if (chain_->implemented) return;
    require_live(*device_, function_->full_name);
    // The stub knows what to say, and interposers see the attempt.
    PreparedCall prepared(*function_, *device_, static_cast<int>(compute_), nullptr);
    dispatch(*chain_, prepared);
    throw Error(Status::not_supported, function_->full_name, "not implemented", device_->name);
}

bool Plan::takes_elements(const TensorImpl &tensor, DType natural, std::uint32_t mixed) const {
    if (tensor.dtype != natural && !takes(mixed)) return false;
    if (!takes(ATOLL_CAP_SWAPPED) && tensor.swapped()) return false;
    return takes(ATOLL_CAP_UNALIGNED) || aligned(tensor);
}

const TensorImpl &Plan::keep(Tensor tensor) {
    kept_.push_back(std::move(tensor));
    return *kept_.back().impl();
}

namespace {
// A view of the elements that the tensor really holds: broadcast axes cut to one element.
Tensor without_broadcast(const TensorImpl &t) {
    Dims shape = t.shape;
    for (int i = 0; i < shape.size(); ++i)
        if (t.strides[i] == 0 && shape[i] > 1) shape[i] = 1;
    return make_view(t.storage, t.offset, std::move(shape), t.strides, t.dtype, t.flags);
}
// The same with the axes stretched again.
Tensor with_broadcast(const Tensor &cut, const Dims &shape) {
    TensorImpl &t = *cut.impl();
    Dims strides = t.strides;
    for (int i = 0; i < shape.size(); ++i)
        if (t.shape[i] != shape[i]) strides[i] = 0;
    return make_view(t.storage, t.offset, shape, std::move(strides), t.dtype, t.flags);
}
} // namespace

const TensorImpl &Plan::prepare_input(const TensorImpl &input, const TensorImpl *output,
                                      DType natural) {
    const bool here = input.device() == device_;
    if (here && takes_elements(input, natural, ATOLL_CAP_MIXED_INPUTS) &&
        !(output && hazardous_overlap(*output, input))) [[likely]]
        return input;
    const InsertedScope inserted(function_);
    const Tensor held = without_broadcast(input);
    const DType dtype = takes(ATOLL_CAP_MIXED_INPUTS) ? input.dtype : natural;
    const Tensor copy = make_tensor(held.impl()->shape, dtype, device_, stream_);
    copy_elements(*copy.impl(), *held.impl());
    return keep(with_broadcast(copy, input.shape));
}

namespace {
// Dense, with the axes in memory in the order of `axes`, fastest first; null: column-major.
Tensor make_permuted(const Dims &shape, const int *axes, DType dtype, DeviceRecord *device,
                     const Ref<StreamImpl> &stream) {
    if (!axes) return make_tensor(shape, dtype, device, stream);
    Dims permuted = shape;
    for (int i = 0; i < shape.size(); ++i) permuted[i] = shape[axes[i]];
    const Tensor memory = make_tensor(permuted, dtype, device, stream);
    Dims strides = shape;
    for (int i = 0; i < shape.size(); ++i) strides[axes[i]] = memory.impl()->strides[i];
    return make_view(memory.impl()->storage, memory.impl()->offset, shape, std::move(strides),
                     dtype, 0);
}
} // namespace

const TensorImpl &Plan::replace_output(const TensorImpl &output, const int *axes) {
    const InsertedScope inserted(function_);
    output_ = &output;
    replacement_ = &keep(make_permuted(output.shape, axes, result_, device_, stream_));
    return *replacement_;
}

const TensorImpl &Plan::prepare_output(const TensorImpl &output) {
    if (output.device() == device_ && takes_elements(output, result_, ATOLL_CAP_MIXED_OUTPUTS))
        [[likely]]
        return output;
    return replace_output(output);
}

const TensorImpl &Plan::expand(const TensorImpl &input, const Dims &shape, const int *axes,
                               DType dtype) {
    const InsertedScope inserted(function_);
    const Tensor copy = make_permuted(shape, axes, dtype, device_, stream_);
    copy_elements(*copy.impl(), input);
    return keep(copy);
}

const TensorImpl &Plan::scalar_tensor(const Scalar &value, DType dtype) {
    const InsertedScope inserted(function_);
    const Tensor one = make_tensor({}, dtype, device_, stream_);
    fill_elements(*one.impl(), value);
    return keep(one);
}

bool Plan::takes_layout(const Iteration &it) const {
    constexpr std::uint32_t all =
        ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;
    if (takes(all)) [[likely]]
        return true;
    for (int o = 0; o < it.count; ++o) {
        const IterationOperand &operand = it.operands[o];
        if (!operand.tensor) continue;
        if (!takes(ATOLL_CAP_STRIDED) &&
            (it.rank > 1 || (it.rank == 1 && operand.strides[0] != size_of(operand.dtype))))
            return false;
        for (int i = 0; i < it.rank; ++i) {
            if (operand.strides[i] < 0 && !takes(ATOLL_CAP_NEGATIVE_STRIDES)) return false;
            if (operand.strides[i] == 0 && !takes(ATOLL_CAP_ZERO_STRIDES)) return false;
        }
    }
    return true;
}

void Plan::call(Iteration &it, int output_count, const void *params) {
    if (it.rank > ATOLL_MAX_RANK) [[unlikely]]
        throw Error(Status::not_supported, function_->full_name,
                    fmt::format("needs {} axes at once, more than {}; merge some with "
                                "Tensor::reshape",
                                it.rank, ATOLL_MAX_RANK),
                    device_->name);
    atoll_operand operands[max_operands];
    void *stream = stream_ ? stream_->handle : nullptr;
    PreparedCall prepared(*function_, *device_, static_cast<int>(compute_), stream);
    prepared.call.output_count = static_cast<std::uint16_t>(output_count);
    prepared.call.operand_count = static_cast<std::uint16_t>(it.count);
    prepared.call.rank = static_cast<std::uint32_t>(it.rank);
    prepared.call.shape = it.shape;
    prepared.call.operands = operands;
    prepared.call.params = params;
    for (int o = 0; o < it.count; ++o) {
        const IterationOperand &from = it.operands[o];
        operands[o] = {from.data,
                       from.strides,
                       static_cast<std::uint16_t>(from.dtype),
                       static_cast<std::uint16_t>((from.swapped ? ATOLL_OPERAND_SWAPPED : 0) |
                                                  (from.tensor ? 0 : ATOLL_OPERAND_SCALAR)),
                       0,
                       0};
    }
    const bool ordered = device_->type->is_inline();
    for (int o = 0; o < it.count && !ordered; ++o)
        if (const TensorImpl *t = it.operands[o].tensor; t && t->storage->stream_handle() != stream)
            order_streams(*device_, stream, *device_, t->storage->stream_handle());
    dispatch(*chain_, prepared);
    // Whoever writes or frees the operands next, on their own streams, waits for this call.
    for (int o = 0; o < it.count && !ordered; ++o)
        if (const TensorImpl *t = it.operands[o].tensor; t && t->storage->stream_handle() != stream)
            order_streams_after(*device_, t->storage->stream_handle(), *device_, stream);
}

void Plan::finish() {
    if (!replacement_) return;
    const InsertedScope inserted(function_);
    copy_elements(*output_, *replacement_);
}

void Plan::run(Iteration &it, int output_count, const void *params) {
    call(it, output_count, params);
    finish();
}

} // namespace Atoll::detail
