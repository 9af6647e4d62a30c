// The iteration space of a call: broadcasting into it, and merging its axes.
#pragma once

#include "objects/layout.hpp"

#include <span>

namespace Atoll::detail {

inline constexpr int max_operands = 4;

// A product has an inner axis beside those of its result, a reduction over nothing an axis of 1.
// Merging brings them below ATOLL_MAX_RANK, or the call is refused.
inline constexpr int max_axes = ATOLL_MAX_RANK + 1;

// One operand laid over the iteration space. Arrays are filled up to Iteration::rank only.
struct IterationOperand {
    char *data;
    const TensorImpl *tensor; // null: a scalar in host memory
    DType dtype;
    bool swapped;
    std::int64_t strides[max_axes]; // bytes
};

// A shape and operands with one stride per axis; outputs first. See Note [Iteration space] in
// abi/call.h. Left uninitialised on purpose: it is on the stack of every call.
struct Iteration {
    int rank;
    int count; // operands
    std::int64_t shape[max_axes];
    IterationOperand operands[max_operands];

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
        IterationOperand &operand = operands[count++];
        operand.data = tensor.data();
        operand.tensor = &tensor;
        operand.dtype = tensor.dtype;
        operand.swapped = tensor.swapped();
        operand.strides[0] = size_of(tensor.dtype);
    }
    // Appends a scalar at `value`.
    void add_scalar(void *value, DType dtype);
    void remove_axis(int axis);
    void insert_axis(int axis, std::int64_t extent); // strides 0
};

// Within axes [begin, end): drops those of extent 1, sorts by stride (smallest first, output
// decides), makes the output's strides positive and merges neighbours. Returns the new end.
int coalesce(Iteration &iteration, int begin, int end);
// The same without sorting and turning axes around: elements keep their order, first axis fastest.
int coalesce_in_order(Iteration &iteration, int begin, int end);

// Extends `shape` so that `other` broadcasts with it (first axes aligned). Throws Error that names
// `op` and both shapes.
void broadcast_shapes(Dims &shape, const Dims &other, std::string_view op);
// True iff a tensor of shape `from` broadcasts to `to`; more axes than `to` are fine if they are 1.
bool broadcasts_to(const Dims &from, const Dims &to);

} // namespace Atoll::detail
