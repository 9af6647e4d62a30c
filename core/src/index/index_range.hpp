// Integers and ranges of an index made positions of an axis.
#pragma once

#include "objects/layout.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace Atoll::detail {

inline constexpr std::string_view index_op = "tensor.index";

[[noreturn]] inline void refuse_index(const std::string &why) {
    throw Error(Status::invalid_argument, index_op, why);
}

struct ResolvedRange {
    std::int64_t start, count, step;
};

// As Python's slice.indices: clipped, never an error but for a step of 0. This and
// resolve_integer() are inline always: where many sources are compiled as one, GCC would leave them
// out of line.
[[gnu::always_inline]] inline ResolvedRange resolve_range(const IndexRange &range,
                                                          std::int64_t extent) {
    if (range.step == 0) refuse_index("got a range of step 0");
    const bool forward = range.step > 0;
    const std::int64_t lowest = forward ? 0 : -1, highest = forward ? extent : extent - 1;
    const auto place = [&](std::optional<std::int64_t> value, std::int64_t missing) {
        if (!value) return missing;
        // No overflow: a negative plus a non-negative.
        return std::clamp(*value < 0 ? *value + extent : *value, lowest, highest);
    };
    const std::int64_t start = place(range.start, forward ? lowest : highest);
    const std::int64_t stop = place(range.stop, forward ? highest : lowest);
    const std::int64_t distance = forward ? stop - start : start - stop;
    if (distance <= 0) return {0, 0, 1};
    if (range.step == 1) return {start, distance, 1}; // without the division
    // |INT64_MIN| does not exist, but any step that long selects one element.
    const std::int64_t step = range.step == INT64_MIN ? INT64_MAX : std::abs(range.step);
    const std::int64_t count = (distance - 1) / step + 1;
    return {start, count, count > 1 ? range.step : 1};
}

[[noreturn]] inline void index_out_of_range(const std::string &value, int axis, const Dims &shape) {
    const std::int64_t extent = shape[axis];
    throw Error(Status::out_of_range, index_op,
                extent == 0 ? fmt::format("got index {} for axis {} of shape {}, which is empty",
                                          value, axis, shape_text(shape))
                            : fmt::format("got index {} for axis {} of shape {}, need {} to {}",
                                          value, axis, shape_text(shape), -extent, extent - 1));
}

// The position that an integer index means.
[[gnu::always_inline]] inline std::int64_t resolve_integer(std::int64_t index, int axis,
                                                           const Dims &shape) {
    const std::int64_t extent = shape[axis];
    if (index < -extent || index >= extent) [[unlikely]]
        index_out_of_range(fmt::to_string(index), axis, shape);
    return index < 0 ? index + extent : index;
}

// Takes the axes of `shape` in turn, as the elements of an index say, and tells `made` of each:
//   walk(axis, start, step, count), fix(axis, position), add_axis()
//   axes_of(element), take(element, axis): for tensors and index objects, which take that many axes
// False: there are some of these, which `made` does not know. Throws where an index has more than
// one ellipsis, or names more axes than there are. Inline, for `made` to live in registers: most of
// the time that a view takes is spent here.
template <class Elements, class Made> [[gnu::always_inline]] inline bool
take_axes(const Elements &elements, const Dims &shape, Made &made) {
    using Kind = IndexElement::Kind;
    constexpr bool all_kinds = requires { made.take(*elements.begin(), 0); };
    int ellipses = 0, axis = 0;
    std::int64_t named = 0;
    for (const auto &e : elements) {
        if (e.kind == Kind::ellipsis)
            ++ellipses;
        else if (e.kind < Kind::tensor)
            named += e.kind != Kind::newaxis;
        else if constexpr (all_kinds)
            named += made.axes_of(e);
        else
            return false;
    }
    if (ellipses > 1) refuse_index("got more than one ellipsis");
    if (named > shape.size())
        refuse_index(fmt::format("got {} {} for shape {}, {}", named,
                                 named == 1 ? "index" : "indices", shape_text(shape),
                                 shape.empty() ? "but rank 0 has no axes"
                                               : fmt::format("need at most {}", shape.size())));
    const auto take_whole = [&](std::int64_t count) {
        for (; count > 0; --count, ++axis) made.walk(axis, 0, 1, shape[axis]);
    };
    for (const auto &e : elements) {
        switch (e.kind) {
        case Kind::integer:
            made.fix(axis, resolve_integer(e.integer, axis, shape));
            ++axis;
            break;
        case Kind::range: {
            const ResolvedRange r = resolve_range(e.range, shape[axis]);
            made.walk(axis++, r.start, r.step, r.count);
            break;
        }
        case Kind::all: take_whole(1); break;
        case Kind::ellipsis: take_whole(shape.size() - named); break;
        case Kind::newaxis: made.add_axis(); break;
        case Kind::tensor:
        case Kind::index:
            if constexpr (all_kinds) {
                made.take(e, axis);
                axis += made.axes_of(e);
            }
        }
    }
    take_whole(shape.size() - axis);
    return true;
}

inline void check_result_rank(int rank) {
    if (rank > ATOLL_MAX_RANK)
        refuse_index(
            fmt::format("the result would have rank {}, more than {}", rank, ATOLL_MAX_RANK));
}

} // namespace Atoll::detail
