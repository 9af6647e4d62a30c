// Whether two strided views share a byte, or one overlaps itself. Exact, with a work limit.
#pragma once

#include <cstdint>

namespace Atoll::detail {

// The bytes of a strided view: element (i0, i1, …) occupies `itemsize` bytes from
// data + i0 * strides[0] + i1 * strides[1] + …. Memory is never read, so any device's addresses
// work.
struct StridedExtent {
    const void *data; // address of element (0, 0, …)
    int rank;         // 0 to 64
    const std::int64_t *shape;
    const std::int64_t *strides; // bytes; any sign, zero allowed
    std::int64_t itemsize;       // bytes
};

// `too_hard`: the work limit was reached, or the numbers exceed any real memory. Callers treat it
// as `yes`, which is always safe: at worst an unnecessary temporary.
enum class Overlap { no, yes, too_hard };

// All bytes of a view lie in [begin, end).
struct ByteRange {
    std::int64_t begin, end;
    bool empty() const { return begin == end; }
};

// False if the range is beyond 63 bits, which only the exact test below can handle. An empty view
// has an empty range.
inline bool byte_range(const StridedExtent &extent, ByteRange &range) {
    std::int64_t low = 0, high = extent.itemsize;
    bool overflow = false;
    for (int axis = 0; axis < extent.rank; ++axis) {
        if (extent.shape[axis] <= 0) {
            range = {0, 0};
            return true;
        }
        std::int64_t reach;
        overflow |= __builtin_mul_overflow(extent.strides[axis], extent.shape[axis] - 1, &reach);
        std::int64_t &side = reach < 0 ? low : high;
        overflow |= __builtin_add_overflow(side, reach, &side);
    }
    const std::int64_t origin =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(extent.data));
    overflow |= origin < 0;
    overflow |= __builtin_add_overflow(origin, low, &range.begin);
    overflow |= __builtin_add_overflow(origin, high, &range.end);
    return !overflow;
}

// The exact test without the range test.
Overlap solve_memory_overlap(const StridedExtent &a, const StridedExtent &b, std::int64_t max_work);

// Whether a and b share a byte. `max_work` bounds the steps of the search (each about 100 ns); with
// 0 bounds and divisibility alone decide. Never allocates.
inline Overlap memory_overlap(const StridedExtent &a, const StridedExtent &b,
                              std::int64_t max_work) {
    // The usual case, different storages or far parts of one, is settled inline.
    ByteRange x, y;
    if (byte_range(a, x) && byte_range(b, y) &&
        (x.empty() || y.empty() || x.end <= y.begin || y.end <= x.begin))
        return Overlap::no;
    return solve_memory_overlap(a, b, max_work);
}

// True if, in the axis order first, first + step, …, every stride reaches beyond all elements of
// the axes before it: then no two elements overlap. False if not sure.
inline bool nested(const StridedExtent &extent, int first, int step) {
    std::int64_t span = extent.itemsize;
    for (int axis = first; axis >= 0 && axis < extent.rank; axis += step) {
        const std::int64_t last = extent.shape[axis] - 1, stride = extent.strides[axis];
        if (last == 0) continue;
        std::int64_t reach;
        if (__builtin_mul_overflow(stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : stride,
                                   last, &reach) ||
            (stride < 0 ? stride > -span : stride < span) ||
            __builtin_add_overflow(span, reach, &span))
            return false;
    }
    return true;
}

// The exact test without the test for nested axes.
Overlap solve_self_overlap(const StridedExtent &a, std::int64_t max_work);

// Whether two different elements of a share a byte. `max_work` as above.
inline Overlap self_overlap(const StridedExtent &a, std::int64_t max_work) {
    // The usual case, column-major or row-major axes with or without gaps, is settled inline.
    if (nested(a, 0, 1) || nested(a, a.rank - 1, -1)) return Overlap::no;
    return solve_self_overlap(a, max_work);
}

} // namespace Atoll::detail
