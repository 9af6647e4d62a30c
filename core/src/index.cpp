// Basic indexing: views by integers, ranges, all, ellipsis and newaxis.
#include "objects.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

struct Resolved {
    std::int64_t start, count;
};

// As Python's slice.indices: clipped, never an error but for a step of 0.
Resolved resolve(const Range &range, std::int64_t extent) {
    if (range.step == 0)
        throw Error(Status::invalid_argument, "tensor.index", "got a range of step 0");
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
    if (distance <= 0) return {0, 0};
    // |INT64_MIN| does not exist, but any step that long selects one element.
    const std::int64_t step = range.step == INT64_MIN ? INT64_MAX : std::abs(range.step);
    return {start, (distance - 1) / step + 1};
}

} // namespace

Tensor Tensor::index(std::span<const IndexElement> elements) const {
    const TensorImpl &t = self();
    const int rank = t.shape.size();
    int named = 0, ellipses = 0;
    for (const IndexElement &e : elements) {
        ellipses += e.kind == IndexElement::Kind::ellipsis;
        named += e.kind != IndexElement::Kind::ellipsis && e.kind != IndexElement::Kind::newaxis;
    }
    if (ellipses > 1)
        throw Error(Status::invalid_argument, "tensor.index", "got more than one ellipsis");
    if (named > rank)
        throw Error(
            Status::invalid_argument, "tensor.index",
            fmt::format("got {} indices for shape {} (rank {})", named, shape_text(t.shape), rank));
    Dims shape, strides;
    std::int64_t offset = t.offset;
    int axis = 0;
    const auto keep = [&](std::int64_t extent, std::int64_t stride) {
        shape.push_back(extent);
        strides.push_back(stride);
    };
    for (const IndexElement &e : elements) {
        switch (e.kind) {
        case IndexElement::Kind::newaxis: keep(1, size_of(t.dtype)); break;
        case IndexElement::Kind::ellipsis:
            for (int skip = rank - named; skip > 0; --skip, ++axis)
                keep(t.shape[axis], t.strides[axis]);
            break;
        case IndexElement::Kind::all:
            keep(t.shape[axis], t.strides[axis]);
            ++axis;
            break;
        case IndexElement::Kind::integer: {
            const std::int64_t extent = t.shape[axis];
            if (e.integer < -extent || e.integer >= extent)
                throw Error(Status::out_of_range, "tensor.index",
                            fmt::format("got index {} for axis {} of shape {}, need {} to {}",
                                        e.integer, axis, shape_text(t.shape), -extent, extent - 1));
            offset += (e.integer < 0 ? e.integer + extent : e.integer) * t.strides[axis];
            ++axis;
            break;
        }
        case IndexElement::Kind::range: {
            const Resolved r = resolve(e.range, t.shape[axis]);
            if (r.count > 0) offset += r.start * t.strides[axis];
            keep(r.count, r.count > 1 ? t.strides[axis] * e.range.step : t.strides[axis]);
            ++axis;
            break;
        }
        }
    }
    for (; axis < rank; ++axis) keep(t.shape[axis], t.strides[axis]);
    if (shape.size() > ATOLL_MAX_RANK)
        throw Error(Status::invalid_argument, "tensor.index",
                    fmt::format("the result would have rank {}, more than {}", shape.size(),
                                ATOLL_MAX_RANK));
    return make_view(t, offset, std::move(shape), std::move(strides));
}

} // namespace Atoll
