// Index objects as they are kept, bound and used.
//
// Note [Bound indices]
// Bound to a shape, an index is: per axis of the input a base position; per axis of the output
// either a walk along one input axis (step, count), a new axis, or an axis of a pick. A pick takes
// consecutive input axes at once and makes one output axis for each axis of its positions, which
// are int64 and either one tensor per input axis, or one tensor that counts the elements of these
// axes in column-major order. So integers, ranges and masks are checked and resolved once, and what
// is left for a layout is a sum of products of positions and strides.
#pragma once

#include "atoll/tensor.hpp"
#include "call/context.hpp"
#include "call/gather.hpp"

#include <memory>
#include <vector>

namespace Atoll::detail {

struct Axis {
    enum class Kind : std::uint8_t { walk, added, pick } kind;
    int source = -1; // walk: the input's axis; pick: which pick
    std::int64_t step = 0;
};

struct Pick {
    int source, count;             // input axes [source, source + count)
    std::vector<Tensor> positions; // `count` or one, int64, all of one shape
    bool borrowed = false;         // one of them is the caller's own tensor
    int first = 0;                 // output axis of the positions' first axis
    const Dims &shape() const { return positions.front().impl()->shape; }
    Device device() const { return positions.front().device(); }
};

struct Element {
    IndexElement::Kind kind;
    std::int64_t integer = 0;
    IndexRange range{};
    Tensor tensor{};
    std::shared_ptr<const IndexState> bound{};
};

struct IndexState {
    std::vector<Element> elements; // as given; empty once bound

    bool bound = false;
    bool once = false; // made for one call: may borrow positions, and write to those it owns
    Dims input, output;
    Dims base;
    std::vector<Axis> axes;
    std::vector<Pick> picks;

    bool has_offsets = false;
    Dims strides;   // of the tensor that the offsets are for, in bytes
    Tensor offsets; // int64 bytes, broadcasting to `output`; undefined without picks
};

using State = std::shared_ptr<const IndexState>;

// For what is computed for an index: ignores the user's settings, and counts as part of gather.
inline Context for_index() {
    return Context{}.for_parts_of(Registry::get().core_function(ATOLL_FN_gather));
}

// `once`: for this call only. Throws Error where the shape does not fit.
State bound_to(const State &state, const Dims &shape, bool once);
// Throws unless offsets, where there are any, are right for the tensor.
void require_same_layout(const IndexState &state, const TensorImpl &t);

// The sum of all picks' positions times strides, of extent 1 along all other output axes. With a
// single term the positions themselves, which may be the user's.
Offsets make_offsets(const IndexState &state, const Dims &strides, DeviceRecord *device);
// What of the tensor does not come from picks: of extent 1 along the axes of picks.
Tensor base_view(const IndexState &state, const TensorImpl &t);
// The elements: a view where there are no picks.
Tensor read_bound(const IndexState &state, const Tensor &tensor);

} // namespace Atoll::detail
