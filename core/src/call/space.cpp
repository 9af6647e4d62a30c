// Merging of axes.
#include "call/space.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace Atoll::detail {

void Space::add(const TensorImpl &tensor) {
    SpaceOperand &operand = add_operand(tensor);
    const int own = std::min(tensor.shape.size(), rank);
    const std::int64_t *extents = tensor.shape.data(), *strides = tensor.strides.data();
    for (int i = 0; i < own; ++i) operand.strides[i] = extents[i] == 1 ? 0 : strides[i];
    for (int i = own; i < rank; ++i) operand.strides[i] = 0;
}

void Space::add(const TensorImpl &tensor, const std::int8_t *axis) {
    SpaceOperand &operand = add_operand(tensor);
    for (int i = 0; i < rank; ++i)
        operand.strides[i] =
            axis[i] < 0 || tensor.shape[axis[i]] == 1 ? 0 : tensor.strides[axis[i]];
}

void Space::add_scalar(void *value, DType dtype) {
    SpaceOperand &operand = operands[count];
    operand.tensor = nullptr;
    operand.lies = false;
    std::fill_n(operand.strides, rank, 0);
    atoll_operand &to = described[count++];
    to.data = to.base = value;
    to.dtype = static_cast<std::uint16_t>(dtype);
    to.flags = value ? ATOLL_OPERAND_SCALAR : ATOLL_OPERAND_ABSENT;
    to.storage = 0;
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

int core_axes_of(const sdk::OperandSpec &spec, const std::uint8_t *slot_axes, int *axes) {
    int count = 0;
    for (int i = 0; i < spec.axis_count; ++i) {
        const std::uint8_t slot = spec.axes[static_cast<std::size_t>(i)];
        const int begin = std::accumulate(slot_axes, slot_axes + slot, 0);
        for (int k = 0; k < slot_axes[slot]; ++k) axes[count++] = begin + k;
    }
    return count;
}

int axes_of(const Space &space, const sdk::Signature &signature, int o, int *axes) {
    const sdk::OperandSpec &spec = signature.operand(o);
    const std::int64_t *strides = space.operands[o].strides;
    int count = core_axes_of(spec, space.slot_axes, axes);
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

// Whether axis a should come before axis b: the first operand that varies differently on both has
// the smaller stride there.
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

// Flips an axis if the first operand that varies on it steps backward.
void step_forward(Space &it, int axis) {
    std::int64_t lead = 0;
    for (int o = 0; o < it.count && lead == 0; ++o) lead = it.operands[o].strides[axis];
    if (lead >= 0) return;
    for (int o = 0; o < it.count; ++o) {
        std::int64_t &stride = it.operands[o].strides[axis];
        it.advance(o, stride * (it.shape[axis] - 1));
        stride = -stride;
    }
}

// Within axes [begin, end): drops those of extent 1 and merges neighbours. Unless elements must
// keep their order, sorts axes by stride first (smallest first, outputs decide) and makes the
// strides of the output positive. Returns the new end.
int coalesce(Space &it, int begin, int end, bool ordered) {
    for (int axis = end - 1; axis >= begin; --axis) {
        if (it.shape[axis] != 1) continue;
        it.remove_axis(axis);
        --end;
    }
    // Insertion sort: few axes, usually sorted.
    for (int i = begin + 1; i < end && !ordered; ++i)
        for (int j = i; j > begin && comes_before(it, j, j - 1); --j) it.swap_axes(j, j - 1);
    for (int axis = begin; axis < end && !ordered; ++axis) step_forward(it, axis);
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

void merge(Space &space, const sdk::Signature &signature) {
    if (space.rank > space.core) coalesce(space, space.core, space.rank, signature.loop_ordered);
    int end = space.core;
    for (int s = signature.slot_count - 1; s >= 0; --s) {
        const sdk::AxisSlot &slot = signature.slot(s);
        const int begin = end - space.slot_axes[s];
        if (slot.kind == sdk::AxisKind::group && !slot.opaque) {
            const int merged = slot.separate ? end : coalesce(space, begin, end, slot.ordered);
            space.core -= end - merged;
            if (merged == begin) { // a group keeps one axis
                space.insert_axis(begin, 1);
                space.core++;
            }
            space.slot_axes[s] = static_cast<std::uint8_t>(std::max(merged - begin, 1));
        }
        end = begin;
    }
}

} // namespace Atoll::detail
