// Merging of axes.
#include "call/space.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// Whether axis a should come before axis b: the smaller stride of the first operand that cares.
bool comes_before(const Space &it, int a, int b) {
    for (int o = 0; o < it.count; ++o) {
        const std::int64_t sa = std::abs(it.operands[o].strides[a]);
        const std::int64_t sb = std::abs(it.operands[o].strides[b]);
        if (sa == sb || sa == 0 || sb == 0) continue;
        return sa < sb;
    }
    return false;
}

bool mergeable(const Space &it, int inner, int outer) {
    for (int o = 0; o < it.count; ++o)
        if (it.operands[o].strides[outer] != it.operands[o].strides[inner] * it.shape[inner])
            return false;
    return true;
}

} // namespace

void Space::add(const TensorImpl &tensor) {
    SpaceOperand &operand = add_operand(tensor);
    const int own = std::min(tensor.shape.size(), rank);
    const std::int64_t *extents = tensor.shape.data(), *strides = tensor.strides.data();
    for (int i = 0; i < own; ++i) operand.strides[i] = extents[i] == 1 ? 0 : strides[i];
    for (int i = own; i < rank; ++i) operand.strides[i] = 0;
}

void Space::add_scalar(void *value, DType dtype) {
    SpaceOperand &operand = operands[count++];
    operand.data = static_cast<char *>(value);
    operand.tensor = nullptr;
    operand.dtype = dtype;
    operand.swapped = operand.disposable = operand.lies = false;
    std::fill_n(operand.strides, rank, 0);
}

void Space::swap_axes(int a, int b) {
    std::swap(shape[a], shape[b]);
    for (int o = 0; o < count; ++o) std::swap(operands[o].strides[a], operands[o].strides[b]);
}

void Space::remove_axis(int axis) {
    std::copy(shape + axis + 1, shape + rank, shape + axis);
    for (int o = 0; o < count; ++o)
        std::copy(operands[o].strides + axis + 1, operands[o].strides + rank,
                  operands[o].strides + axis);
    --rank;
}

void Space::insert_axis(int axis, std::int64_t extent) {
    std::copy_backward(shape + axis, shape + rank, shape + rank + 1);
    shape[axis] = extent;
    for (int o = 0; o < count; ++o) {
        std::int64_t *strides = operands[o].strides;
        std::copy_backward(strides + axis, strides + rank, strides + rank + 1);
        strides[axis] = 0;
    }
    ++rank;
}

int axes_of(const Space &space, const sdk::Signature &signature, int o, int *axes) {
    const sdk::OperandSpec &spec = signature.operand(o);
    const std::int64_t *strides = space.operands[o].strides;
    int count = 0;
    for (int i = 0; i < spec.axis_count; ++i) {
        const std::uint8_t slot = spec.axes[static_cast<std::size_t>(i)];
        int at = 0;
        for (int s = 0; s < slot; ++s) at += space.slot_axes[s];
        for (int k = 0; k < space.slot_axes[slot]; ++k) axes[count++] = at + k;
    }
    bool loops = signature.input_count() == 1 || spec.axis_count == 0 || o < signature.output_count;
    for (int i = space.core; i < space.rank; ++i) loops |= strides[i] != 0;
    for (int i = space.core; i < space.rank && loops; ++i) axes[count++] = i;
    return count;
}

bool lies_dense(const Space &space, const sdk::Signature &signature, int o, std::int64_t bytes) {
    int axes[max_axes];
    const int count = axes_of(space, signature, o, axes);
    for (int i = 0; i < count; ++i) {
        const std::int64_t extent = space.shape[axes[i]];
        if (extent > 1 && space.operands[o].strides[axes[i]] != bytes) return false;
        bytes *= extent;
    }
    return true;
}

namespace {

int drop_single(Space &it, int begin, int end) {
    for (int axis = end - 1; axis >= begin; --axis) {
        if (it.shape[axis] != 1) continue;
        it.remove_axis(axis);
        --end;
    }
    return end;
}

int merge_neighbours(Space &it, int begin, int end) {
    for (int axis = begin; axis + 1 < end;) {
        if (!mergeable(it, axis, axis + 1)) {
            ++axis;
            continue;
        }
        it.shape[axis + 1] *= it.shape[axis];
        for (int o = 0; o < it.count; ++o)
            it.operands[o].strides[axis + 1] = it.operands[o].strides[axis];
        it.remove_axis(axis);
        --end;
    }
    return end;
}

} // namespace

namespace {

// Turns an axis around so that the first operand that varies on it steps forward.
void step_forward(Space &it, int axis) {
    std::int64_t lead = 0;
    for (int o = 0; o < it.count && lead == 0; ++o) lead = it.operands[o].strides[axis];
    if (lead >= 0) return;
    for (int o = 0; o < it.count; ++o) {
        std::int64_t &stride = it.operands[o].strides[axis];
        it.operands[o].data += stride * (it.shape[axis] - 1);
        stride = -stride;
    }
}

} // namespace

int coalesce_in_order(Space &it, int begin, int end) {
    return merge_neighbours(it, begin, drop_single(it, begin, end));
}

int coalesce(Space &it, int begin, int end) {
    end = drop_single(it, begin, end);
    // Insertion sort: few axes, nearly always sorted already.
    for (int i = begin + 1; i < end; ++i)
        for (int j = i; j > begin && comes_before(it, j, j - 1); --j) it.swap_axes(j, j - 1);
    for (int axis = begin; axis < end; ++axis) step_forward(it, axis);
    return merge_neighbours(it, begin, end);
}

void merge(Space &space, const sdk::Signature &signature) {
    if (space.rank > space.core)
        signature.loop_ordered ? coalesce_in_order(space, space.core, space.rank)
                               : coalesce(space, space.core, space.rank);
    int end = space.core;
    for (int s = signature.slot_count - 1; s >= 0; --s) {
        const sdk::AxisSlot &slot = signature.slot(s);
        const int begin = end - space.slot_axes[s];
        if (slot.kind == sdk::AxisKind::group && space.slot_axes[s] == 1) {
            if (!slot.ordered && !slot.separate) step_forward(space, begin);
        } else if (slot.kind == sdk::AxisKind::group && !slot.opaque) {
            const int merged = slot.separate  ? end
                               : slot.ordered ? coalesce_in_order(space, begin, end)
                                              : coalesce(space, begin, end);
            space.slot_axes[s] = static_cast<std::uint8_t>(merged - begin);
            space.core -= end - merged;
            if (merged == begin) { // a group keeps one axis
                space.insert_axis(begin, 1);
                space.slot_axes[s] = 1;
                space.core++;
            }
        }
        end = begin;
    }
}

} // namespace Atoll::detail
