// Basic indexing: views by integers, ranges, all, ellipsis and newaxis.
#include "atoll/selection.hpp"
#include "index/index_range.hpp"

namespace Atoll {

using namespace detail;

Tensor Tensor::index(std::span<const IndexElement> elements) const {
    const TensorImpl &t = self();
    const int rank = t.shape.size();
    int named = 0, ellipses = 0;
    bool basic = true;
    for (const IndexElement &e : elements) {
        ellipses += e.kind == IndexElement::Kind::ellipsis;
        named += e.kind != IndexElement::Kind::ellipsis && e.kind != IndexElement::Kind::newaxis;
        basic &= e.kind < IndexElement::Kind::tensor;
    }
    if (!basic) return Selection(*this, Index(elements)).get();
    check_counts(ellipses, named, t.shape);
    // Strides of a tensor without elements are no numbers to calculate with.
    const bool none = t.size() == 0;
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
        case IndexElement::Kind::integer: {
            const std::int64_t index = resolve_integer(e.integer, axis, t.shape);
            if (!none) offset += index * t.strides[axis];
            ++axis;
            break;
        }
        case IndexElement::Kind::range: {
            const ResolvedRange r = resolve_range(e.range, t.shape[axis]);
            if (r.count > 0 && !none) offset += r.start * t.strides[axis];
            keep(r.count, none ? t.strides[axis] : t.strides[axis] * r.step);
            ++axis;
            break;
        }
        default: keep(t.shape[axis], t.strides[axis]); ++axis;
        }
    }
    for (; axis < rank; ++axis) keep(t.shape[axis], t.strides[axis]);
    check_result_rank(shape.size());
    return make_view(t, offset, std::move(shape), std::move(strides));
}

} // namespace Atoll
