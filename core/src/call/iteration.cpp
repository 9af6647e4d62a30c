// Broadcasting, merging of axes, and overlap of tensors.
#include "call/iteration.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// Whether axis a should come before axis b: the smaller stride of the first operand that cares.
bool comes_before(const Iteration &it, int a, int b) {
    for (int o = 0; o < it.count; ++o) {
        const std::int64_t sa = std::abs(it.operands[o].strides[a]);
        const std::int64_t sb = std::abs(it.operands[o].strides[b]);
        if (sa == sb || sa == 0 || sb == 0) continue;
        return sa < sb;
    }
    return false;
}

void swap_axes(Iteration &it, int a, int b) {
    std::swap(it.shape[a], it.shape[b]);
    for (int o = 0; o < it.count; ++o)
        std::swap(it.operands[o].strides[a], it.operands[o].strides[b]);
}

bool mergeable(const Iteration &it, int inner, int outer) {
    for (int o = 0; o < it.count; ++o)
        if (it.operands[o].strides[outer] != it.operands[o].strides[inner] * it.shape[inner])
            return false;
    return true;
}

} // namespace

void Iteration::add(const TensorImpl &tensor) {
    IterationOperand &operand = operands[count++];
    operand.data = tensor.data();
    operand.tensor = &tensor;
    operand.dtype = tensor.dtype;
    operand.swapped = tensor.swapped();
    const int own = std::min(tensor.shape.size(), rank);
    const std::int64_t *extents = tensor.shape.data(), *strides = tensor.strides.data();
    for (int i = 0; i < own; ++i) operand.strides[i] = extents[i] == 1 ? 0 : strides[i];
    for (int i = own; i < rank; ++i) operand.strides[i] = 0;
}

void Iteration::add_scalar(void *value, DType dtype) {
    IterationOperand &operand = operands[count++];
    operand.data = static_cast<char *>(value);
    operand.tensor = nullptr;
    operand.dtype = dtype;
    operand.swapped = false;
    std::fill_n(operand.strides, rank, 0);
}

void Iteration::remove_axis(int axis) {
    std::copy(shape + axis + 1, shape + rank, shape + axis);
    for (int o = 0; o < count; ++o)
        std::copy(operands[o].strides + axis + 1, operands[o].strides + rank,
                  operands[o].strides + axis);
    --rank;
}

void Iteration::insert_axis(int axis, std::int64_t extent) {
    std::copy_backward(shape + axis, shape + rank, shape + rank + 1);
    shape[axis] = extent;
    for (int o = 0; o < count; ++o) {
        std::int64_t *strides = operands[o].strides;
        std::copy_backward(strides + axis, strides + rank, strides + rank + 1);
        strides[axis] = 0;
    }
    ++rank;
}

namespace {

int drop_single(Iteration &it, int begin, int end) {
    for (int axis = end - 1; axis >= begin; --axis) {
        if (it.shape[axis] != 1) continue;
        it.remove_axis(axis);
        --end;
    }
    return end;
}

int merge_neighbours(Iteration &it, int begin, int end) {
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

int coalesce_in_order(Iteration &it, int begin, int end) {
    return merge_neighbours(it, begin, drop_single(it, begin, end));
}

int coalesce(Iteration &it, int begin, int end) {
    end = drop_single(it, begin, end);
    // Insertion sort: few axes, nearly always sorted already.
    for (int i = begin + 1; i < end; ++i)
        for (int j = i; j > begin && comes_before(it, j, j - 1); --j) swap_axes(it, j, j - 1);
    for (int axis = begin; axis < end; ++axis) {
        std::int64_t lead = 0;
        for (int o = 0; o < it.count && lead == 0; ++o) lead = it.operands[o].strides[axis];
        if (lead >= 0) continue;
        for (int o = 0; o < it.count; ++o) {
            std::int64_t &stride = it.operands[o].strides[axis];
            it.operands[o].data += stride * (it.shape[axis] - 1);
            stride = -stride;
        }
    }
    return merge_neighbours(it, begin, end);
}

void broadcast_shapes(Dims &shape, const Dims &other, std::string_view op) {
    const int common = std::min(shape.size(), other.size());
    for (int i = 0; i < common; ++i) {
        if (shape[i] == other[i] || other[i] == 1) continue;
        if (shape[i] != 1)
            throw Error(Status::invalid_argument, op,
                        fmt::format("got shapes {} and {}, need extents that are equal or 1 on "
                                    "every axis (first axes aligned; axis {} differs)",
                                    shape_text(shape), shape_text(other), i));
        shape[i] = other[i];
    }
    for (int i = common; i < other.size(); ++i) shape.push_back(other[i]);
}

bool broadcasts_to(const Dims &from, const Dims &to) {
    for (int i = 0; i < from.size(); ++i)
        if (from[i] != 1 && (i >= to.size() || from[i] != to[i])) return false;
    return true;
}

} // namespace Atoll::detail
