// Layouts that an implementation takes, the order of streams, and the call itself.
#include "call/route.hpp"

#include "objects/object.hpp"

#include <cstring>

#include <fmt/format.h>

namespace Atoll::detail {

Route::Route(const FunctionRecord &function, DeviceRecord *device, DType T,
             const Ref<StreamImpl> &stream, const Context &context)
    : function_(function), device_(*device), T_(T), stream_(stream), context_(context),
      chain_(device->type->chain(function.module->id, function.id, static_cast<int>(T))),
      can_{chain_->caps} {
    if (chain_->implemented) [[likely]]
        return;
    require_live(*device, function.full_name);
    // The stub knows what to say, and interposers see the attempt.
    PreparedCall prepared(function, *device, static_cast<int>(T), nullptr, context.parent);
    dispatch(*chain_, prepared);
    throw Error(Status::not_supported, function.full_name, "not implemented", device->name);
}

bool Route::takes_layout(const Space &space, int o) const {
    const SpaceOperand &operand = space.operands[o];
    if (!operand.tensor || operand.dtype == DType::none) return true; // a number or object
    const sdk::Signature &signature = function_.signature;
    const sdk::OperandSpec &spec = signature.operands[static_cast<std::size_t>(o)];
    // The axes on which the operand lies by the signature, fastest first where it must be dense.
    int own[max_axes], count = 0, begin = 0;
    bool loops = signature.input_count() == 1 || spec.axis_count == 0 || o < signature.output_count;
    for (int i = 0; i < spec.axis_count; ++i) {
        const std::uint8_t slot = spec.axes[static_cast<std::size_t>(i)];
        begin = 0;
        for (int s = 0; s < slot; ++s) begin += space.slot_axes[s];
        for (int k = 0; k < space.slot_axes[slot]; ++k) own[count++] = begin + k;
    }
    const int core_count = count;
    for (int i = space.core; i < space.rank; ++i) loops |= operand.strides[i] != 0;
    for (int i = space.core; i < space.rank && loops; ++i) own[count++] = i;
    if (takes_strides()) {
        if (!takes(ATOLL_CAP_STRIDED) && core_count > 0 && space.shape[own[0]] > 1 &&
            operand.strides[own[0]] != size_of(operand.dtype))
            return false;
        for (int i = 0; i < count; ++i) {
            const std::int64_t stride = operand.strides[own[i]];
            if (stride < 0 && !takes(ATOLL_CAP_NEGATIVE_STRIDES)) return false;
            if (stride == 0 && space.shape[own[i]] > 1 && !takes(ATOLL_CAP_ZERO_STRIDES))
                return false;
        }
        return true;
    }
    if (space.rank > space.core + 1) return false;
    for (int s = 0; s < signature.slot_count; ++s)
        if (space.slot_axes[s] > 1) return false;
    std::int64_t expected = size_of(operand.dtype);
    for (int i = 0; i < count; ++i) {
        if (space.shape[own[i]] > 1 && operand.strides[own[i]] != expected) return false;
        expected *= space.shape[own[i]];
    }
    return true;
}

bool Route::has_to_merge(const Space &space, int o) const {
    if (space.rank > static_cast<int>(chain_->max_rank)) return true;
    if (takes(ATOLL_CAP_GROUPS)) return false;
    const sdk::OperandSpec &spec = function_.signature.operands[static_cast<std::size_t>(o)];
    for (int i = 0; i < spec.axis_count; ++i)
        if (space.slot_axes[spec.axes[static_cast<std::size_t>(i)]] > 1) return true;
    return false;
}

bool Route::takes_layout(const Space &space) const {
    if (space.rank > static_cast<int>(chain_->max_rank)) return false;
    for (int s = 0; s < function_.signature.slot_count && !takes(ATOLL_CAP_GROUPS); ++s)
        if (space.slot_axes[s] > 1) return false;
    if (takes(any_strides)) [[likely]]
        return true;
    for (int o = 0; o < space.count; ++o)
        if (!takes_layout(space, o)) return false;
    return true;
}

// Member by member: what is reserved costs nothing.
void Route::pass(const SpaceOperand &from, atoll_operand &to) const {
    to.data = from.data;
    to.strides = from.strides;
    to.dtype = static_cast<std::uint16_t>(from.dtype);
    to.device = device_.index;
    if (const TensorImpl *tensor = from.tensor) [[likely]] {
        to.flags = static_cast<std::uint16_t>((from.swapped ? ATOLL_OPERAND_SWAPPED : 0) |
                                              (from.disposable ? ATOLL_OPERAND_DISPOSABLE : 0) |
                                              (is_object(*tensor) ? ATOLL_OPERAND_OBJECT : 0));
        to.storage = tensor->storage->id;
        to.base = tensor->storage->data;
    } else {
        to.flags = from.data ? ATOLL_OPERAND_SCALAR : ATOLL_OPERAND_ABSENT;
        to.storage = 0;
        to.base = from.data;
    }
}

void Route::send(const Space &space, std::span<const atoll_scalar> attributes,
                 Tensor *objects) const {
    if (space.rank > ATOLL_MAX_RANK) [[unlikely]]
        throw Error(Status::not_supported, function_.full_name,
                    fmt::format("needs {} axes at once, more than {}; merge some with "
                                "Tensor::reshape",
                                space.rank, ATOLL_MAX_RANK),
                    device_.name);
    alignas(64) atoll_operand operands[max_operands];
    PreparedCall prepared(function_, device_, static_cast<int>(T_),
                          stream_ ? stream_->handle : nullptr, context_.parent);
    atoll_call &call = prepared.call;
    call.output_count = function_.signature.output_count;
    call.operand_count = static_cast<std::uint16_t>(space.count);
    call.attribute_count = static_cast<std::uint16_t>(attributes.size());
    call.rank = static_cast<std::uint16_t>(space.rank);
    call.core = static_cast<std::uint16_t>(space.core);
    call.shape = space.shape;
    call.operands = operands;
    call.attributes = attributes.data();
    if (!function_.signature.elementwise())
        std::memcpy(call.axes, space.slot_axes, sizeof call.axes);
    for (int o = 0; o < space.count; ++o) pass(space.operands[o], operands[o]);
    if (objects) [[unlikely]]
        for (int o = 0; o < call.output_count; ++o)
            if (makes_object(o)) operands[o].flags = ATOLL_OPERAND_OBJECT;
    if (!objects) [[likely]]
        return enqueue(space, prepared);
    const auto each_object = [&](auto &&use) {
        for (int o = 0; o < call.output_count; ++o)
            if (makes_object(o)) use(o, static_cast<atoll_object *>(operands[o].data));
    };
    try {
        enqueue(space, prepared);
    } catch (...) { // what it gave back all the same is nobody's
        each_object([](int, atoll_object *made) { object_release(made); });
        throw;
    }
    each_object([&](int o, atoll_object *made) {
        objects[o] = take_object(made, &device_, stream_, function_);
    });
}

void Route::enqueue(const Space &space, PreparedCall &prepared) const {
    if (device_.type->is_inline()) return dispatch(*chain_, prepared);
    const StreamOf on{&device_, stream_};
    const auto each = [&](bool written, auto &&use) {
        for (int o = 0; o < space.count; ++o)
            if (const TensorImpl *tensor = space.operands[o].tensor; tensor && writes(o) == written)
                use(*tensor->storage, on, context_.parent);
    };
    each(false, before_read);
    each(true, before_write);
    dispatch(*chain_, prepared);
    on.work().enqueued();
    each(true, after_write);
}

} // namespace Atoll::detail
