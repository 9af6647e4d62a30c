// Memory overlap of strided views as a bounded linear Diophantine problem.
//
// The problem. Element x of a begins at A + Σ s_i x_i, element y of b at B + Σ t_j y_j, with
// 0 <= x_i < shape_i and likewise y. They share a byte iff the distance of the two addresses,
// a's minus b's, is in (-itemsize_a, itemsize_b). Replacing x by (shape - 1 - x) where a stride
// is negative makes every coefficient positive, and doing so for all of b's terms brings them to
// the same side. What is left is one question:
//
//     are there integers 0 <= x_i <= u_i with   lo <= Σ a_i x_i <= hi,   a_i > 0 ?
//
// "Two elements of one view share a byte" is the same question about the difference d of two
// indices, -u_i <= d_i <= u_i, that is not zero throughout. Either d or -d has a positive first
// non-zero component, so there is one question per axis that may be that first one.
//
// Easy cases. [lo, hi] beyond [0, Σ a_i u_i], or without a multiple of the gcd of the a_i: no. One
// or two different coefficients: Euclid's algorithm. Coefficients so dense that every candidate is
// reached (see `covers`): yes, as soon as bounds and gcd allow it. Nested layouts, such as every
// view that slicing a dense tensor makes, are decided here or after few steps, since a larger
// stride leaves hardly a choice for its index.
//
// Search. Depth first, largest coefficient first: the reach of the smaller ones leaves x_i only an
// interval, and their gcd only some residues in it, which are enumerated without trying the others
// (see `next_candidate`).
//
// Worst case. With all u_i = 1 and lo = hi this is subset sum: NP-complete, exponential in the
// rank. Hence the work limit, and the answer `too_hard`, which a caller treats like `yes`.
//
// Overflow. Strides and extents are 64-bit, so a product fits into 126 bits. Everything is computed
// in 128 bits; sums are capped at 2^125, and past that the answer is `too_hard`: no memory is that
// large.
//
// References. P. Ramachandran, "Use of extended Euclidean algorithm in solving a system of linear
// Diophantine equations with bounded variables", ANTS 2006, LNCS 4076, doi:10.1007/11792086_14.
// NumPy's numpy/_core/src/common/mem_overlap.c treats the same problem, with the item size as one
// more variable and another search.
#include "base/overlap.hpp"

#include <algorithm>
#include <array>

namespace Atoll::detail {
namespace {

using Wide = __int128;

constexpr int max_rank = 64;
constexpr int max_terms = 2 * max_rank;
constexpr Wide max_sum = Wide(1) << 125;

// Quotients rounded down and up, for a positive divisor and a dividend of any sign.
Wide floor_div(Wide a, Wide b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
Wide ceil_div(Wide a, Wide b) { return -floor_div(-a, b); }

Wide gcd(Wide a, Wide b) {
    while (b != 0) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool has_multiple(Wide lo, Wide hi, Wide of) { return floor_div(hi, of) * of >= lo; }

// The smallest x >= 0 with low <= a * x mod m <= high, or -1; 0 <= a < m, 0 <= low <= high < m.
// Either the first turn around the circle of length m hits, or the number of turns solves a
// smaller problem of the same kind: Euclid's descent, so O(log m).
Wide first_in_range(Wide a, Wide m, Wide low, Wide high) {
    if (low == 0) return 0;
    if (a == 0) return -1;
    const Wide steps = ceil_div(low, a);
    if (steps * a <= high) return steps;
    // No multiple of a is in [low, high], so both ends are in the same gap between multiples.
    const Wide turns = first_in_range(m % a, a, a - high % a, a - low % a);
    return turns < 0 ? -1 : ceil_div(low + m * turns, a);
}

// The smallest x >= first such that lo - a * x <= k * m <= hi - a * x for some integer k, or -1.
Wide next_candidate(Wide a, Wide m, Wide lo, Wide hi, Wide first) {
    lo -= a * first;
    hi -= a * first;
    if (has_multiple(lo, hi, m)) return first;
    // No multiple of m in [lo, hi]: both ends have the same quotient, so low <= high.
    const Wide quotient = floor_div(lo, m);
    const Wide steps = first_in_range(a % m, m, lo - quotient * m, hi - quotient * m);
    return steps < 0 ? -1 : first + steps;
}

class Problem {
public:
    // Adds a term coefficient * x, 0 <= x <= bound. False past the supported size.
    bool add(Wide coefficient, Wide bound) {
        if (coefficient == 0 || bound == 0) return true;
        terms_[count_++] = {coefficient, bound};
        // coefficient <= 2^63 and bound < 2^64, so only the sum can overflow.
        return !__builtin_add_overflow(total_, coefficient * bound, &total_) && total_ <= max_sum;
    }

    // Is there a solution of lo <= Σ <= hi? Takes its steps off `work`.
    Overlap solve(Wide lo, Wide hi, std::int64_t &work) {
        prepare(hi - lo + 1);
        if (hi < 0 || lo > reach_[0]) return Overlap::no;
        if (count_ == 0) return Overlap::yes; // lo <= 0 <= hi
        if (!has_multiple(lo, hi, gcd_[0])) return Overlap::no;
        if (covers_[0]) return Overlap::yes;
        work_ = work;
        const Overlap result = search(0, lo, hi);
        work = work_;
        return result;
    }

private:
    struct Term {
        Wide coefficient, bound;
    };

    void prepare(Wide window) {
        std::sort(terms_.begin(), terms_.begin() + count_,
                  [](const Term &a, const Term &b) { return a.coefficient > b.coefficient; });
        int merged = 0;
        for (int i = 0; i < count_; ++i) {
            if (merged > 0 && terms_[merged - 1].coefficient == terms_[i].coefficient)
                terms_[merged - 1].bound += terms_[i].bound;
            else
                terms_[merged++] = terms_[i];
        }
        count_ = merged;
        reach_[count_] = 0;
        gcd_[count_] = 0;
        covers_[count_] = true;
        for (int i = count_ - 1; i >= 0; --i) {
            const auto [coefficient, bound] = terms_[i];
            reach_[i] = reach_[i + 1] + coefficient * bound;
            gcd_[i] = gcd(coefficient, gcd_[i + 1]);
            // The sums of the terms from i on come in runs, one per value of x_i. No gap between
            // two runs can hide the window: either because the window is wider than the gap, or
            // because the gap has no multiple of the gcd inside.
            const bool last = i == count_ - 1;
            const bool by_width = gcd_[i + 1] <= window && coefficient <= reach_[i + 1] + window;
            const bool by_gcd = gcd_[i] == gcd_[i + 1] && coefficient <= reach_[i + 1] + gcd_[i];
            covers_[i] = last || (covers_[i + 1] && (by_width || by_gcd));
        }
    }

    // Terms from i on; [lo, hi] is what is left for them, meets [0, reach_[i]] and contains a
    // multiple of gcd_[i]. Where covers_[i] holds, those two conditions are sufficient.
    Overlap search(int i, Wide lo, Wide hi) {
        const auto [coefficient, bound] = terms_[i];
        const Wide last = std::min(bound, floor_div(hi, coefficient));
        Wide x = std::max(Wide(0), ceil_div(lo - reach_[i + 1], coefficient));
        for (; x <= last; ++x) {
            if (work_ <= 0) return Overlap::too_hard;
            --work_;
            x = next_candidate(coefficient, gcd_[i + 1], lo, hi, x);
            if (x < 0 || x > last) return Overlap::no;
            if (covers_[i + 1]) return Overlap::yes;
            const Overlap result = search(i + 1, lo - coefficient * x, hi - coefficient * x);
            if (result != Overlap::no) return result;
        }
        return Overlap::no;
    }

    std::array<Term, max_terms> terms_; // from largest to smallest coefficient
    int count_ = 0;
    Wide total_ = 0;
    // Of the terms from i on: the largest sum, the gcd, and whether every window that meets
    // [0, reach] and contains a multiple of the gcd also contains a sum.
    std::array<Wide, max_terms + 1> reach_, gcd_;
    std::array<bool, max_terms + 1> covers_;
    std::int64_t work_ = 0;
};

struct Axis {
    Wide stride, last; // |stride| in bytes, extent - 1
};

// The axes along which the view moves, all strides made positive: `origin` is then the address of
// the lowest element. False for an empty view.
struct Layout {
    std::array<Axis, max_rank> axes;
    int count = 0;
    bool repeats = false; // has an axis of stride 0 and extent > 1
    Wide origin;

    bool read(const StridedExtent &extent) {
        origin = static_cast<Wide>(reinterpret_cast<std::uintptr_t>(extent.data));
        if (extent.itemsize <= 0) return false;
        for (int axis = 0; axis < extent.rank; ++axis) {
            const Wide last = Wide(extent.shape[axis]) - 1;
            const Wide stride = extent.strides[axis];
            if (last < 0) return false;
            if (last == 0) continue;
            if (stride == 0) {
                repeats = true;
                continue;
            }
            // At most 64 products below 2^126 each could pass 2^127, so the sum is kept above
            // -2^126; what is cut off here is past max_sum and refused by Problem::add.
            if (stride < 0) origin = std::max(origin + stride * last, -(Wide(1) << 126));
            axes[count++] = {stride < 0 ? -stride : stride, last};
        }
        return true;
    }
};

} // namespace

Overlap solve_memory_overlap(const StridedExtent &a, const StridedExtent &b,
                             std::int64_t max_work) {
    Layout x, y;
    if (!x.read(a) || !y.read(b)) return Overlap::no;
    Problem problem;
    Wide b_reach = 0;
    for (int i = 0; i < x.count; ++i)
        if (!problem.add(x.axes[i].stride, x.axes[i].last)) return Overlap::too_hard;
    for (int i = 0; i < y.count; ++i) {
        if (!problem.add(y.axes[i].stride, y.axes[i].last)) return Overlap::too_hard;
        b_reach += y.axes[i].stride * y.axes[i].last;
    }
    // x.origin + Σ s x - (y.origin + b_reach - Σ t y') is in (-itemsize_a, itemsize_b).
    const Wide distance = y.origin + b_reach - x.origin;
    return problem.solve(distance - a.itemsize + 1, distance + b.itemsize - 1, max_work);
}

Overlap solve_self_overlap(const StridedExtent &a, std::int64_t max_work) {
    Layout layout;
    if (!layout.read(a)) return Overlap::no;
    if (layout.repeats) return Overlap::yes;
    const auto begin = layout.axes.begin();
    std::sort(begin, begin + layout.count,
              [](const Axis &p, const Axis &q) { return p.stride > q.stride; });
    bool hard = false;
    for (int first = 0; first < layout.count; ++first) {
        // d_first = 1 + x, x in [0, last - 1]; d_i = x_i - last_i, x_i in [0, 2 last_i].
        Problem problem;
        const Axis &leading = layout.axes[first];
        Wide shift = -leading.stride;
        if (!problem.add(leading.stride, leading.last - 1)) return Overlap::too_hard;
        for (int i = first + 1; i < layout.count; ++i) {
            const Axis &axis = layout.axes[i];
            if (!problem.add(axis.stride, 2 * axis.last)) return Overlap::too_hard;
            shift += axis.stride * axis.last;
        }
        const Overlap result =
            problem.solve(shift - a.itemsize + 1, shift + a.itemsize - 1, max_work);
        if (result == Overlap::yes) return result;
        hard |= result == Overlap::too_hard;
    }
    return hard ? Overlap::too_hard : Overlap::no;
}

} // namespace Atoll::detail
