// Decides which layouts an implementation takes, orders streams, and calls it.
#include "call/route.hpp"

#include "objects/object.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace Atoll::detail {

void Route::refuse_missing() const {
    require_live(device_, function_.full_name);
    // The stub has the error text, and interposers see the attempt.
    PreparedCall prepared(function_, device_, static_cast<int>(T_), nullptr, context_.cause);
    dispatch(*chain_, prepared);
    throw Error(Status::not_supported, function_.full_name, "not implemented", device_.name);
}

std::uint32_t Route::refused_layout(const Space &space, int o) const {
    const SpaceOperand &operand = space.operands[o];
    if (!operand.lies) return 0;
    if (!takes_strides())
        return space.rank <= space.core + 1 && !has_groups(space) &&
                       lies_dense(space, function_.signature, o, space.item_size(o))
                   ? 0
                   : ATOLL_REASON_STRIDES;
    int axes[max_axes];
    const int count = axes_of(space, function_.signature, o, axes);
    if (!takes(ATOLL_CAP_STRIDED) && count > 0 && axes[0] < space.core &&
        space.shape[axes[0]] > 1 && operand.strides[axes[0]] != space.item_size(o))
        return ATOLL_REASON_STRIDES;
    for (int i = 0; i < count; ++i) {
        const std::int64_t stride = operand.strides[axes[i]];
        if (stride < 0 && !takes(ATOLL_CAP_NEGATIVE_STRIDES)) return ATOLL_REASON_NEGATIVE_STRIDES;
        if (stride == 0 && space.shape[axes[i]] > 1 && !takes(ATOLL_CAP_ZERO_STRIDES))
            return ATOLL_REASON_BROADCAST;
    }
    return 0;
}

bool Route::has_to_merge(const Space &space, int o) const {
    const sdk::OperandSpec &spec = function_.signature.operand(o);
    int axes[max_axes];
    return space.rank > max_rank() || (!takes(ATOLL_CAP_GROUPS) &&
                                       core_axes_of(spec, space.slot_axes, axes) > spec.axis_count);
}

bool Route::takes_layout(const Space &space) const {
    if (space.rank > max_rank() || !takes_groups(space)) return false;
    if (takes(any_strides)) [[likely]]
        return true;
    for (int o = 0; o < space.count; ++o)
        if (refused_layout(space, o)) return false;
    return true;
}

template <class TensorOf>
void Route::enqueue(PreparedCall &prepared, const TensorOf &tensor_of) const {
    if (device_.type->is_inline()) return dispatch(*chain_, prepared);
    const StreamOf on{&device_, stream_};
    const auto each = [&](bool written, auto &&use) {
        for (int o = 0; o < prepared.call.operand_count; ++o)
            if (const TensorImpl *tensor = tensor_of(o); tensor && writes(o) == written)
                use(*tensor->storage, on, context_.cause);
    };
    each(false, before_read);
    each(true, before_write);
    const auto enqueued = [&] {
        on.work().enqueued();
        each(false, after_read);
        each(true, after_write);
    };
    try {
        dispatch(*chain_, prepared);
    } catch (...) { // it may have enqueued a part
        enqueued();
        throw;
    }
    enqueued();
}

namespace {
// The only stride of a dense operand.
constexpr auto element_strides = [] {
    std::array<std::int64_t, ATOLL_DTYPE_COUNT> strides{};
    for (std::size_t i = 0; i < strides.size(); ++i) strides[i] = size_of(static_cast<DType>(i));
    return strides;
}();
} // namespace

void Route::send_alike(std::span<const TensorImpl *const> tensors, std::int64_t size) const {
    alignas(64) atoll_operand operands[max_operands];
    PreparedCall prepared(function_, device_, static_cast<int>(T_),
                          stream_ ? stream_->handle : nullptr, context_.cause);
    atoll_call &call = prepared.call;
    call.output_count = function_.signature.output_count;
    call.operand_count = static_cast<std::uint16_t>(tensors.size());
    call.rank = size != 1;
    call.shape = &size;
    call.operands = operands;
    atoll_operand *to = operands;
    for (const TensorImpl *tensor : tensors) {
        describe(*tensor, 0, *to);
        to->strides = &element_strides[static_cast<std::size_t>(tensor->dtype)];
        to->device = device_.index;
        ++to;
    }
    enqueue(prepared, [&](int o) { return tensors[static_cast<std::size_t>(o)]; });
}

void Route::send(Space &space, std::span<const atoll_scalar> attributes, Tensor *objects) const {
    if (space.rank > ATOLL_MAX_RANK) [[unlikely]]
        throw Error(Status::not_supported, function_.full_name,
                    fmt::format("needs {} axes at once, more than {}; merge some with "
                                "Tensor::reshape",
                                space.rank, ATOLL_MAX_RANK),
                    device_.name);
    atoll_operand *const operands = space.described;
    for (int o = 0; o < space.count; ++o) {
        operands[o].strides = space.operands[o].strides;
        operands[o].device = device_.index;
    }
    PreparedCall prepared(function_, device_, static_cast<int>(T_),
                          stream_ ? stream_->handle : nullptr, context_.cause);
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
    const auto tensor_of = [&](int o) { return space.operands[o].tensor; };
    if (!objects) [[likely]]
        return enqueue(prepared, tensor_of);
    const auto each_object = [&](auto &&use) {
        for (int o = 0; o < call.output_count; ++o)
            if (function_.signature.operand(o).is_object())
                use(o, static_cast<atoll_object *>(std::exchange(operands[o].data, nullptr)));
    };
    each_object([&](int o, atoll_object *) { operands[o].flags = ATOLL_OPERAND_OBJECT; });
    try {
        enqueue(prepared, tensor_of);
        each_object([&](int o, atoll_object *object) {
            objects[o] = take_object(object, &device_, stream_, function_);
        });
    } catch (...) { // objects that the plugin returned nevertheless have no owner
        each_object([](int, atoll_object *object) { object_release(object); });
        throw;
    }
}

void Route::send_parts(Space &space, int most, std::span<const atoll_scalar> attributes) const {
    if (space.rank <= most) [[likely]]
        return send(space, attributes);
    Space part = space;
    const int last = --part.rank;
    for (std::int64_t i = 0; i < space.shape[last]; ++i) {
        // Copied each time: a plugin may have modified its operands.
        std::copy_n(space.described, space.count, part.described);
        for (int o = 0; o < part.count; ++o)
            if (part.described[o].data) part.advance(o, i * space.operands[o].strides[last]);
        send_parts(part, most, attributes);
    }
}

} // namespace Atoll::detail
