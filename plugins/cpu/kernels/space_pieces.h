// A space in pieces, which threads share.
#pragma once

#include "parallel.h"
#include "space.h"

#include <algorithm>

namespace Atoll::kernels {

// An axis cut into pieces of at most `part`, at each index of the axes from `behind` on. A piece
// has the other axes whole.
class SpacePieces {
public:
    SpacePieces(const Space &space, int axis, std::int64_t part, int behind)
        : space_(space), axis_(axis), behind_(behind), part_(part),
          cuts_((space.shape[axis] + part - 1) / part) {}
    SpacePieces(const Space &space, int axis, std::int64_t part)
        : SpacePieces(space, axis, part, axis + 1) {}

    std::int64_t count() const {
        std::int64_t all = cuts_;
        for (int axis = behind_; axis < space_.rank; ++axis) all *= space_.shape[axis];
        return all;
    }
    // body(data, n) for each of the pieces [begin, end): addresses of a piece's first element, its
    // extent along the axis.
    template <class Body> void visit(std::int64_t begin, std::int64_t end, const Body &body) const {
        Rows rows(space_, begin / cuts_, behind_);
        std::int64_t cut = begin % cuts_;
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t first = cut * part_;
            char *data[max_operands];
            for (int k = 0; k < space_.operands; ++k)
                data[k] = rows.data[k] + first * space_.strides[k][axis_];
            body(data, std::min(part_, space_.shape[axis_] - first));
            if (++cut == cuts_) {
                cut = 0;
                rows.next();
            }
        }
    }
    // The same for all of them, on several threads; `work` is the elements of one piece.
    template <class Body> void visit_all(std::int64_t work, const Body &body) const {
        parallel(count(), work,
                 [&](std::int64_t begin, std::int64_t end) { visit(begin, end, body); });
    }

private:
    const Space &space_;
    const int axis_, behind_;
    const std::int64_t part_, cuts_;
};

} // namespace Atoll::kernels
