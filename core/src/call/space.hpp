// The space of a call: its axes, each operand laid over them, and the merging of axes.
#pragma once

#include "objects/layout.hpp"

#include <span>

namespace Atoll::detail {

inline constexpr int max_operands = ATOLL_MAX_OPERANDS;

// A product has an inner axis beside those of its result, a reduction over nothing an axis of 1.
// Merging brings them below ATOLL_MAX_RANK, or the call is refused.
inline constexpr int max_axes = ATOLL_MAX_RANK + 1;

// One operand laid over the space. Arrays are filled up to Space::rank only.
struct SpaceOperand {
    char *data;
    const TensorImpl *tensor; // null: a scalar in host memory
    DType dtype;
    bool swapped;
    bool disposable;                // copied for this call
    bool lies;                      // over the axes: a tensor, or a number that becomes one
    std::int64_t strides[max_axes]; // bytes
};

// A shape and operands with one stride per axis; outputs first. See Note [Iteration space] in
// abi/call.h. Left uninitialised on purpose: it is on the stack of every call.
struct Space {
    int rank;
    int count; // operands
    int core;  // axes [0, core) are core axes, slot after slot; the others are loop axes
    std::uint8_t slot_axes[ATOLL_MAX_SLOTS]; // how many each slot has; up to the signature's
    std::int64_t shape[max_axes];
    SpaceOperand operands[max_operands];

    std::int64_t size() const {
        std::int64_t n = 1;
        for (int i = 0; i < rank; ++i) n *= shape[i];
        return n;
    }
    // Appends an operand whose axis i lies on axis i of the space; missing trailing axes and axes
    // of extent 1 get stride 0.
    void add(const TensorImpl &tensor);
    // The same for a dense tensor, in a space of rank 1 or 0.
    void add_dense(const TensorImpl &tensor) {
        add_operand(tensor).strides[0] = size_of(tensor.dtype);
    }
    // Appends a scalar at `value`; null: an operand that is absent.
    void add_scalar(void *value, DType dtype);
    // Appends nothing but the facts of an operand; strides are the caller's to fill in.
    SpaceOperand &add_operand(const TensorImpl &tensor) {
        SpaceOperand &operand = operands[count++];
        operand.data = tensor.data();
        operand.tensor = &tensor;
        operand.dtype = tensor.dtype;
        operand.swapped = tensor.swapped();
        operand.disposable = false;
        operand.lies = tensor.dtype != DType::none;
        return operand;
    }
    void remove_axis(int axis);
    void swap_axes(int a, int b);
    void insert_axis(int axis, std::int64_t extent); // strides 0
};

// The axes over which operand `o` lies, fastest first where it is dense: its core axes in the order
// of the parentheses, then the loop, but for an input with core axes, one of several, that varies
// on no axis of the loop. Returns how many.
int axes_of(const Space &space, const sdk::Signature &signature, int o, int *axes);
// Whether it lies dense over them, with elements of `bytes` each.
bool lies_dense(const Space &space, const sdk::Signature &signature, int o, std::int64_t bytes);

// Merges what the signature allows to be merged: free groups and the loop sorted and turned around,
// ordered ones in order; separate and plain axes stay.
void merge(Space &space, const sdk::Signature &signature);

// Within axes [begin, end): drops those of extent 1, sorts by stride (smallest first, output
// decides), makes the output's strides positive and merges neighbours. Returns the new end.
int coalesce(Space &space, int begin, int end);
// The same without sorting and turning axes around: elements keep their order, first axis fastest.
int coalesce_in_order(Space &space, int begin, int end);

} // namespace Atoll::detail
