// Layouts that an implementation takes, the order of streams, and the call itself.
#include "call/route.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

Route::Route(const FunctionRecord &function, DeviceRecord *device, DType T, void *stream,
             const Context &context)
    : function_(function), device_(*device), T_(T), stream_(stream), context_(context),
      chain_(device->type->chain(function.module->id, function.id, static_cast<int>(T))),
      caps_(chain_->caps) {
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
    if (!operand.tensor) return true;
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
    for (int i = space.core; i < space.rank; ++i) loops |= operand.strides[i] != 0;
    for (int i = space.core; i < space.rank && loops; ++i) own[count++] = i;
    if (takes(ATOLL_CAP_STRIDED)) {
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

namespace {

// The parameter structs of the families.
union Params {
    atoll_reduce_params reduce;
    atoll_sort_params sort;
    atoll_search_params search;
    atoll_matmul_params matmul;
    atoll_steps_params steps;
    atoll_fill_params fill;
};

std::uint32_t flag(const atoll_scalar &value) { return value.value.bytes[0] ? 1 : 0; }

// Brings the axes into the order of the family and fills its parameters in.
const void *to_family(std::uint16_t family, bool dense, Space &space,
                      std::span<const atoll_scalar> attributes, Params &params) {
    const bool one_loop_axis = dense && space.rank == space.core;
    switch (family) {
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_REDUCE_ONE:
    case ATOLL_FAMILY_ARG_REDUCE: {
        if (one_loop_axis) space.insert_axis(space.rank, 1);
        const auto kept = static_cast<std::uint32_t>(space.rank - space.core);
        space.rotate(space.core);
        params.reduce = {sizeof params.reduce, kept,
                         attributes.empty() ? atoll_scalar{} : attributes[0]};
        return &params.reduce;
    }
    case ATOLL_FAMILY_SCAN:
    case ATOLL_FAMILY_SORT:
    case ATOLL_FAMILY_SEARCH:
        if (one_loop_axis) space.insert_axis(space.rank, 1);
        space.rotate(space.core);
        if (family == ATOLL_FAMILY_SCAN) return nullptr;
        params.sort = {sizeof params.sort, flag(attributes[0])}; // search's look the same
        return &params.sort;
    case ATOLL_FAMILY_MATMUL:
        space.swap_axes(1, 2); // m, k, n
        space.count = 3;       // c is the output itself
        params.matmul = {sizeof params.matmul, flag(attributes[2]) | flag(attributes[3]) << 1,
                         attributes[0], attributes[1]};
        return &params.matmul;
    case ATOLL_FAMILY_FIND:
        space.rank = space.core - 1; // the last is the axis of the positions
        space.operands[0].strides[0] = size_of(int64);
        return nullptr;
    case ATOLL_FAMILY_STEPS:
        params.steps = {sizeof params.steps, attributes[2].dtype != 0, attributes[0], attributes[1],
                        attributes[2]};
        return &params.steps;
    case ATOLL_FAMILY_FILL:
        params.fill = {sizeof params.fill, 0, attributes[0]};
        return &params.fill;
    case ATOLL_FAMILY_SIGNATURE: return attributes.data();
    default: return nullptr;
    }
}

} // namespace

void Route::send(Space &space, std::span<const atoll_scalar> attributes) const {
    if (space.rank > ATOLL_MAX_RANK) [[unlikely]]
        throw Error(Status::not_supported, function_.full_name,
                    fmt::format("needs {} axes at once, more than {}; merge some with "
                                "Tensor::reshape",
                                space.rank, ATOLL_MAX_RANK),
                    device_.name);
    Params params;
    const void *parameters = nullptr;
    if (!function_.signature.elementwise() || !attributes.empty())
        parameters =
            to_family(function_.family, !takes(ATOLL_CAP_STRIDED), space, attributes, params);
    atoll_operand operands[max_operands];
    PreparedCall prepared(function_, device_, static_cast<int>(T_), stream_, context_.parent);
    prepared.call.output_count = function_.signature.output_count;
    prepared.call.operand_count = static_cast<std::uint16_t>(space.count);
    prepared.call.rank = static_cast<std::uint32_t>(space.rank);
    prepared.call.shape = space.shape;
    prepared.call.operands = operands;
    prepared.call.params = parameters;
    for (int o = 0; o < space.count; ++o) {
        const SpaceOperand &from = space.operands[o];
        operands[o] = {from.data,
                       from.strides,
                       static_cast<std::uint16_t>(from.dtype),
                       static_cast<std::uint16_t>((from.swapped ? ATOLL_OPERAND_SWAPPED : 0) |
                                                  (from.tensor ? 0
                                                   : from.data ? ATOLL_OPERAND_SCALAR
                                                               : ATOLL_OPERAND_ABSENT)),
                       0,
                       0};
    }
    const bool ordered = device_.type->is_inline();
    for (int o = 0; o < space.count && !ordered; ++o)
        if (const TensorImpl *t = space.operands[o].tensor;
            t && t->storage->stream_handle() != stream_)
            order_streams(device_, stream_, device_, t->storage->stream_handle(), context_.parent);
    dispatch(*chain_, prepared);
    // Whoever writes or frees the operands next, on their own streams, waits for this call.
    for (int o = 0; o < space.count && !ordered; ++o)
        if (const TensorImpl *t = space.operands[o].tensor;
            t && t->storage->stream_handle() != stream_)
            order_streams_after(device_, t->storage->stream_handle(), device_, stream_,
                                context_.parent);
}

} // namespace Atoll::detail
