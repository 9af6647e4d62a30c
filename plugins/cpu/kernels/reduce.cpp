// Reductions over any axes, with any strides.
//
// Note [Ways to reduce]
// Where the input is densest along a reduced axis, one result at a time takes in whole blocks
// (reduce_along.cpp). Where it is densest along a kept axis, a strip of results takes in one row
// after the other (reduce_strips.cpp), so that memory is read in order; a narrow strip stays in
// registers.
//
// Where all elements of a few results are neighbours, such as three colours or the members of short
// rows, neither is fast. If there are many such neighbourhoods, rows that fill some vectors are
// folded to one group each, and those of several rows are joined in registers (joined_groups.h);
// the elements of shorter ones are transposed, and strips of results take them in. If there are
// few, whose rows follow each other, several rows are taken in as one: each result has so many
// lanes, which are merged at the end.
//
// Note [Order of additions]
// What rounds is added in halves: runs of `leaf` elements, then sums of two runs, and so on. Large
// reductions are cut into segments of fixed size, whose sums are merged in pairs. Both depend on
// shape and strides only, so the result is the same on any number of threads.
#include "ordered.h"
#include "reduction.h"
#include "streaming.h"

#include <algorithm>
#include <cmath>

namespace Atoll::kernels {
namespace {

using RowTable = std::array<const ReducerRow *, ATOLL_FN_COUNT>;

// One input, all of whose core axes are a group and go.
constexpr bool reduces(std::uint16_t function) {
    const sdk::Signature &s = sdk::core_functions[function].signature;
    return s.input_count() == 1 && s.slot_count == 1 && s.operands[0].axis_count == 0 &&
           s.slots[0].kind == sdk::AxisKind::group && !s.slots[0].ordered;
}
constexpr RowTable make_table() {
    RowTable table{};
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    if constexpr (reduces(id)) table[id] = &reducers::name;
#include "atoll/lists/functions.inc"
    return table;
}
constexpr RowTable reducer_rows = make_table();

constexpr bool skips_nan(std::uint16_t function) {
    for (const sdk::AttributeSpec &spec : sdk::core_functions[function].signature.attributes)
        if (spec.name == "skip_nan") return true;
    return false;
}
constexpr RowTable make_skipping_table() {
    RowTable table{};
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    if constexpr (skips_nan(id)) table[id] = &reducers::nan_##name;
#include "atoll/lists/functions.inc"
    return table;
}
constexpr RowTable skipping_rows = make_skipping_table();

// Some norms are reductions of their own.
const ReducerRow *row_of(std::uint32_t function, double x, bool skip_nan) {
    if (function == ATOLL_FN_norm) {
        if (x == 0) return skip_nan ? &reducers::nan_count_nonzero : &reducers::count_nonzero;
        if (x == 1) return skip_nan ? &reducers::nan_norm_one : &reducers::norm_one;
        if (x == 2) return skip_nan ? &reducers::nan_norm_two : &reducers::norm_two;
        if (x > 0 && std::isinf(x))
            return skip_nan ? &reducers::nan_norm_infinity : &reducers::norm_infinity;
    }
    return (skip_nan ? skipping_rows : reducer_rows)[function];
}

// That of the elements as they are stored, if there is one.
const Reducer &reducer_of(const atoll_call &call, const Reducer &of_widened) {
    const Reducer *const as_stored =
        of_widened.of_stored ? (*of_widened.of_stored)[call.operands[1].dtype] : nullptr;
    return as_stored ? *as_stored : of_widened;
}
Conversion input(const atoll_call &call, bool as_stored) {
    const atoll_operand &in = call.operands[1];
    const bool swapped = in.flags & ATOLL_OPERAND_SWAPPED;
    if (as_stored) return {{in.dtype}, swapped, false};
    return {{in.dtype, call.dtype, widened(call.dtype)}, swapped, false};
}

} // namespace

Reduction::Reduction(const Reducer &of_widened, const atoll_call &call, const Given &given)
    : reducer(reducer_of(call, of_widened)), call(call), given(given),
      kept(call.core, call.rank, call.shape, call.operands, 2),
      reduced(0, call.core, call.shape, call.operands, 2), in(input(call, &reducer != &of_widened)),
      out({reducer.result ? reducer.result : result_of(call.function, widened(call.dtype)),
           result_of(call.function, call.dtype), call.operands[0].dtype},
          false, call.operands[0].flags & ATOLL_OPERAND_SWAPPED) {
    for (std::uint32_t axis = 0; axis < call.core; ++axis) this->given.count *= call.shape[axis];
    std::int64_t elements = this->given.count;
    for (std::uint32_t axis = call.core; axis < call.rank; ++axis) elements *= call.shape[axis];
    constexpr std::int64_t cached = 1 << 20; // of any size
    const LargeOperands &large = large_operands();
    this->given.far = elements > cached && elements * in.in_size() >= large.far;
    this->given.fetches = this->given.far && large.fetched_ahead;
    this->given.two_streams = this->given.far && large.two_streams;
    // Both spaces start at the same element, each flips its own axes.
    kept.data[1] += reduced.data[1] - static_cast<const char *>(call.operands[1].data);
    densest_first(kept, 1);
    densest_first(reduced, 1);
    direct = in.moves() && is_aligned(kept, 1, in.in_alignment()) &&
             is_aligned(reduced, 1, in.in_alignment());
}

} // namespace Atoll::kernels

std::int32_t atoll_kernels_reduce(const atoll_call *call) {
    using namespace Atoll::kernels;
    const std::uint32_t function = call->function, dtype = call->dtype;
    if (function >= ATOLL_FN_COUNT || dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const ReducerRow *row = reducer_rows[function];
    if (!row || !(*row)[dtype].size) return ATOLL_STATUS_NOT_SUPPORTED;
    Given given;
    given.count = 1;
    bool skip_nan = false; // the only flag that a reduction has
    for (std::uint32_t i = 0; i < call->attribute_count; ++i) {
        const atoll_scalar &attribute = call->attributes[i];
        if (attribute.dtype == ATOLL_DTYPE_BOOL)
            skip_nan = attribute.value.bytes[0] != 0;
        else
            given.x = attribute.value.f64[0];
    }
    try {
        Reduction all((*row_of(function, given.x, skip_nan))[dtype], *call, given);
        if (!reduce_strips(all)) reduce_along(all);
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
