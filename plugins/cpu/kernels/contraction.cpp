// Sorting the axes of a product: see Note [Contractions].
#include "contraction.h"

#include <limits>
#include <utility>

namespace Atoll::kernels {
namespace {

using Axis = AxisList::Axis;

// Zero strides come last: an operand that repeats is read from the cache whatever the order.
std::int64_t distance(std::int64_t stride) {
    if (stride == 0) return std::numeric_limits<std::int64_t>::max();
    return stride < 0 ? -stride : stride;
}

// By the stride of `first`, then of `second`; insertion sort, since calls come nearly sorted.
void sort(AxisList &axes, int first, int second) {
    for (int i = 1; i < axes.count; ++i) {
        const Axis axis = axes.axis[i];
        const std::int64_t near = distance(axis.stride[first]),
                           next = distance(axis.stride[second]);
        int place = i;
        for (; place > 0; --place) {
            const Axis &before = axes.axis[place - 1];
            const std::int64_t theirs = distance(before.stride[first]);
            if (theirs < near || (theirs == near && distance(before.stride[second]) <= next)) break;
            axes.axis[place] = before;
        }
        axes.axis[place] = axis;
    }
}

void fuse(AxisList &axes) {
    int kept = 0;
    for (int i = 1; i < axes.count; ++i) {
        Axis &last = axes.axis[kept];
        const Axis &axis = axes.axis[i];
        bool fuses = true;
        for (int o = 0; o < product_operands; ++o)
            fuses &= axis.stride[o] == last.stride[o] * last.extent;
        if (fuses)
            last.extent *= axis.extent;
        else
            axes.axis[++kept] = axis;
    }
    if (axes.count) axes.count = kept + 1;
}

// Moves the axis along which an operand is dense to `place`, unless it comes earlier.
void bring_forward(AxisList &axes, int operand, std::int64_t size, int place) {
    for (int i = place + 1; i < axes.count; ++i) {
        if (axes.axis[i].stride[operand] != size) continue;
        const Axis axis = axes.axis[i];
        for (int j = i; j > place; --j) axes.axis[j] = axes.axis[j - 1];
        axes.axis[place] = axis;
        return;
    }
}

bool is_dense(const AxisList &axes, int operand, std::int64_t size) {
    for (int i = 0; i < axes.count; ++i)
        if (axes.axis[i].stride[operand] == size) return true;
    return false;
}

std::int64_t nearest(const AxisList &axes) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < axes.count; ++i)
        least = std::min(least, distance(axes.axis[i].stride[product_d]));
    return least;
}

} // namespace

Contraction::Contraction(const atoll_call &call, bool adds, bool conj_a_, bool conj_b_)
    : conj_a(conj_a_), conj_b(conj_b_) {
    const atoll_operand *operands = call.operands;
    for (int o = 0; o < product_operands; ++o) {
        const atoll_operand &operand = operands[o == product_c && !adds ? product_d : o];
        data[o] = static_cast<char *>(operand.data);
        side[o] = {operand.dtype, (operand.flags & ATOLL_OPERAND_SWAPPED) != 0};
    }
    const int ends[] = {call.axes[0], call.axes[0] + call.axes[1], call.core};
    for (int i = 0; i < call.rank; ++i) {
        const std::int64_t extent = call.shape[i];
        if (extent == 1) continue;
        Axis axis = {extent, {}};
        for (int o = 0; o < product_operands; ++o)
            axis.stride[o] = operands[o == product_c && !adds ? product_d : o].strides[i];
        AxisList *list = i < ends[0] ? &m : i < ends[1] ? &k : i < ends[2] ? &n : &batch;
        if (list == &batch && axis.stride[product_b] == 0)
            list = &m;
        else if (list == &batch && axis.stride[product_a] == 0)
            list = &n;
        // k steps forward in a, or in b where a does not vary; the others in d.
        const std::int64_t leader = list != &k                    ? axis.stride[product_d]
                                    : axis.stride[product_a] != 0 ? axis.stride[product_a]
                                                                  : axis.stride[product_b];
        if (leader < 0)
            for (int o = 0; o < product_operands; ++o) {
                data[o] += axis.stride[o] * (extent - 1);
                axis.stride[o] = -axis.stride[o];
            }
        list->axis[list->count++] = axis;
    }
    if (nearest(n) < nearest(m)) {
        std::swap(m, n);
        std::swap(data[product_a], data[product_b]);
        std::swap(side[product_a], side[product_b]);
        std::swap(conj_a, conj_b);
        for (AxisList *list : {&m, &n, &k, &batch})
            for (int i = 0; i < list->count; ++i)
                std::swap(list->axis[i].stride[product_a], list->axis[i].stride[product_b]);
    }
    sort(m, product_d, product_a);
    sort(n, product_d, product_b);
    const std::int64_t size_a = sizes[side[product_a].dtype], size_b = sizes[side[product_b].dtype];
    if (is_dense(k, product_b, size_b) && !is_dense(k, product_a, size_a))
        sort(k, product_b, product_a);
    else
        sort(k, product_a, product_b);
    for (AxisList *list : {&m, &n, &k, &batch}) fuse(*list);
    bring_forward(m, product_a, size_a, 1);
    bring_forward(n, product_b, size_b, 1);
    bring_forward(k, product_b, size_b, 1);
}

std::int64_t Contraction::batch_offset(int operand, std::int64_t index) const {
    std::int64_t bytes = 0;
    for (int i = 0; i < batch.count && index; ++i) {
        bytes += index % batch.axis[i].extent * batch.axis[i].stride[operand];
        index /= batch.axis[i].extent;
    }
    return bytes;
}

Matrix Contraction::matrix(ProductOperand operand) const {
    switch (operand) {
    case product_a:
        return {data[1], m.extent(0), k.extent(0), m.stride(0, 1), k.stride(0, 1), conj_a};
    case product_b:
        return {data[2], k.extent(0), n.extent(0), k.stride(0, 2), n.stride(0, 2), conj_b};
    default:
        return {data[operand],        m.extent(0),          n.extent(0),
                m.stride(0, operand), n.stride(0, operand), false};
    }
}

} // namespace Atoll::kernels
