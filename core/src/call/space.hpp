// The space of a call: its axes, the operands over them, and the merging of axes.
#pragma once

#include "objects/layout.hpp"

#include <span>

namespace Atoll::detail {

inline constexpr int max_operands = ATOLL_MAX_OPERANDS;

// A product has an inner axis besides those of its result, a reduction over nothing an axis of 1.
// The call is refused unless merging leaves at most ATOLL_MAX_RANK axes.
inline constexpr int max_axes = ATOLL_MAX_RANK + 1;

// One operand laid over the space. Strides are filled up to Space::rank only.
struct SpaceOperand {
    const TensorImpl *tensor;       // null: a scalar in host memory
    bool lies;                      // over the axes: a tensor, or a number that becomes one
    std::int64_t strides[max_axes]; // bytes
};

// Describes a tensor to plugins, except strides and device. Member by member, so that reserved
// members cost nothing.
inline void describe(const TensorImpl &tensor, std::uint16_t flags, atoll_operand &to) {
    to.data = tensor.data();
    to.dtype = static_cast<std::uint16_t>(tensor.dtype);
    to.flags = flags;
    to.storage = tensor.storage->id;
    to.base = tensor.storage->data;
}

// A shape and operands with one stride per axis; outputs first. See Note [Iteration space] in
// abi/call.h. Left uninitialised on purpose: it is on the stack of every call.
struct Space {
    int rank;
    int count; // operands
    int core;  // axes [0, core) are core axes, slot after slot; the others are loop axes
    std::uint8_t slot_axes[ATOLL_MAX_SLOTS]; // how many each slot has; up to the signature's
    std::int64_t shape[max_axes];
    SpaceOperand operands[max_operands];
    alignas(64) atoll_operand described[max_operands]; // the same; strides and device as sent

    // Empties it, with a loop over `shape`.
    void begin(const Dims &shape) {
        rank = shape.size();
        count = core = 0;
        std::copy(shape.begin(), shape.end(), this->shape);
    }
    // Appends an operand whose axis i lies on axis i of the space; missing trailing axes and axes
    // of extent 1 get stride 0.
    void add(const TensorImpl &tensor);
    // The same where axis[i] is the operand's own axis on axis i of the space; -1: none.
    void add(const TensorImpl &tensor, const std::int8_t *axis);
    // Appends a scalar at `value`; null: an operand that is absent.
    void add_scalar(void *value, DType dtype);
    // Appends an operand whose strides the caller fills in.
    SpaceOperand &add_operand(const TensorImpl &tensor) {
        refer_to(tensor, count);
        return operands[count++];
    }
    void refer_to(const TensorImpl &tensor, int operand) {
        const bool object = tensor.dtype == DType::none;
        operands[operand].tensor = &tensor;
        operands[operand].lies = !object;
        describe(tensor,
                 static_cast<std::uint16_t>((tensor.swapped() ? ATOLL_OPERAND_SWAPPED : 0) |
                                            (object ? ATOLL_OPERAND_OBJECT : 0)),
                 described[operand]);
    }
    // Bytes of one element.
    std::int64_t item_size(int operand) const { return sdk::dtype_size(described[operand].dtype); }
    // Moves the start of the operand.
    void advance(int operand, std::int64_t bytes) {
        described[operand].data = static_cast<char *>(described[operand].data) + bytes;
    }
    void remove_axis(int axis);
    void swap_axes(int a, int b);
    void insert_axis(int axis, std::int64_t extent); // strides 0
};

// The core axes of an operand in the order of its parentheses, where slot s has slot_axes[s] axes.
// Returns their number.
int core_axes_of(const sdk::OperandSpec &spec, const std::uint8_t *slot_axes, int *axes);
// The axes of operand `o`, fastest first if it is dense: its core axes in the order of its
// parentheses, then the loop, unless it is one of several inputs, has core axes and does not vary
// over the loop. Returns their number.
int axes_of(const Space &space, const sdk::Signature &signature, int o, int *axes);
// Whether it is dense over them, with elements of `bytes` each.
bool lies_dense(const Space &space, const sdk::Signature &signature, int o, std::int64_t bytes);

// Merges axes as the signature allows: sorts and flips free groups and the loop, keeps the order of
// ordered ones; leaves separate and plain axes.
void merge(Space &space, const sdk::Signature &signature);

} // namespace Atoll::detail
