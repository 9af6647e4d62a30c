// Offsets of what a bound index picks.
#include "call/parts.hpp"
#include "index/index_range.hpp"
#include "index/index_state.hpp"

namespace Atoll::detail {

namespace {

// The sum of the pick's positions times strides; `own`: the positions may be overwritten.
Offsets pick_offsets(const Pick &pick, const Dims &input, const Dims &strides, DeviceRecord *device,
                     bool own, const Context &parts) {
    Offsets sum;
    const auto add_term = [&](const Tensor &positions, std::int64_t stride, bool overwrite) {
        if (!sum.values.is_defined()) { // a single term needs no arithmetic
            sum = {positions, stride};
            return;
        }
        const Tensor term =
            part(ATOLL_FN_multiply, {positions, stride}, parts, overwrite ? &positions : nullptr);
        sum = {part(ATOLL_FN_add, {sum.in_bytes(parts), term}, parts, &term)};
    };
    if (pick.positions.size() == static_cast<std::size_t>(pick.count)) {
        for (int i = 0; i < pick.count; ++i) {
            const Tensor &positions = pick.positions[static_cast<std::size_t>(i)];
            const Tensor here = moved(positions, device, parts);
            add_term(here, strides[pick.source + i], own || here.impl() != positions.impl());
        }
        return sum;
    }
    Tensor rest = moved(pick.positions.front(), device, parts);
    own = own || rest.impl() != pick.positions.front().impl();
    if (rest.size() == 0) return {rest};
    // Axes that lie in memory like one are taken as one.
    Dims extents, steps;
    for (int axis = pick.source; axis < pick.source + pick.count; ++axis) {
        if (input[axis] == 1) continue;
        if (!extents.empty() && strides[axis] == steps.back() * extents.back()) {
            extents[extents.size() - 1] *= input[axis];
        } else {
            extents.push_back(input[axis]);
            steps.push_back(strides[axis]);
        }
    }
    if (extents.empty()) return {rest}; // all are 0
    for (int i = 0; i + 1 < extents.size(); ++i) {
        add_term(part(ATOLL_FN_remainder, {rest, extents[i]}, parts), steps[i], true);
        rest = part(ATOLL_FN_floor_divide, {rest, extents[i]}, parts, own ? &rest : nullptr);
        own = true;
    }
    add_term(rest, steps.back(), own);
    return sum;
}

} // namespace

Offsets make_offsets(const IndexState &state, const Dims &strides, DeviceRecord *device) {
    const Context parts = for_index();
    Offsets sum;
    for (const Pick &pick : state.picks) {
        const bool own = state.once && !pick.borrowed;
        Offsets offsets = pick_offsets(pick, state.input, strides, device, own, parts);
        Dims place = Dims::filled(pick.first, 1);
        for (std::int64_t extent : offsets.values.shape()) place.push_back(extent);
        offsets.values = offsets.values.reshape(place);
        if (!sum.values.is_defined())
            sum = offsets;
        else
            sum = {part(ATOLL_FN_add, {sum.in_bytes(parts), offsets.in_bytes(parts)}, parts)};
    }
    return sum;
}

Tensor base_view(const IndexState &state, const TensorImpl &t) {
    // Strides of a tensor without elements are no numbers to calculate with.
    const bool none = std::find(state.output.begin(), state.output.end(), 0) != state.output.end();
    std::int64_t offset = t.offset;
    for (int i = 0; i < t.shape.size() && !none; ++i) offset += state.base[i] * t.strides[i];
    Dims shape, strides;
    for (int i = 0; i < state.output.size(); ++i) {
        const Axis &axis = state.axes[static_cast<std::size_t>(i)];
        const bool walks = axis.kind == Axis::Kind::walk && !none;
        shape.push_back(axis.kind == Axis::Kind::pick ? 1 : state.output[i]);
        strides.push_back(walks ? t.strides[axis.source] * axis.step : size_of(t.dtype));
    }
    return make_view(t, offset, std::move(shape), std::move(strides));
}

void require_same_layout(const IndexState &state, const TensorImpl &t) {
    for (int i = 0; state.has_offsets && i < t.shape.size(); ++i)
        if (t.shape[i] > 1 && state.strides[i] != t.strides[i]) // else there is no step
            refuse_index(fmt::format("got a tensor with strides {} for an index bound to strides "
                                     "{}; bind it to the shape only, or to this tensor",
                                     shape_text(t.strides), shape_text(state.strides)));
}

} // namespace Atoll::detail
