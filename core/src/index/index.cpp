// Basic indexing: views by integers, ranges, all, ellipsis and newaxis.
#include "atoll/selection.hpp"
#include "index/index_range.hpp"

namespace Atoll {

using namespace detail;

namespace {

// The view of a tensor that take_axes() tells of.
struct ViewMaker {
    const TensorImpl &t;
    const bool none; // no elements: strides are then no numbers to calculate with
    std::int64_t &offset;
    Dims &shape, &strides;

    void walk(int axis, std::int64_t start, std::int64_t step, std::int64_t count) {
        if (count > 0) fix(axis, start);
        shape.push_back(count);
        strides.push_back(none ? t.strides[axis] : t.strides[axis] * step);
    }
    void fix(int axis, std::int64_t position) {
        if (!none) offset += position * t.strides[axis];
    }
    void add_axis() {
        shape.push_back(1);
        strides.push_back(size_of(t.dtype));
    }
};

} // namespace

Tensor Tensor::index(std::span<const IndexElement> elements) const {
    const TensorImpl &t = self();
    // Extents are written where they stay: who reads two of them at once, to move them, waits until
    // both are in the cache.
    Ref<TensorImpl> view = new_view(t.storage, t.dtype, t.flags);
    std::int64_t offset = t.offset;
    ViewMaker maker{t, t.size() == 0, offset, view->shape, view->strides};
    if (!take_axes(elements, t.shape, maker)) return Selection(*this, Index(elements)).get();
    check_result_rank(view->shape.size());
    return finish_view(std::move(view), offset, t.offset);
}

} // namespace Atoll
