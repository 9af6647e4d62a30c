// Memory overlap of strided views as a bounded linear Diophantine problem.
//
// The problem. Element x of a begins at A + Σ s_i x_i, element y of b at B + Σ t_j y_j, with
// 0 <= x_i < shape_i and likewise y. They share a byte iff the distance of the two addresses,
// a's minus b's, is in (-itemsize_a, itemsize_b). Counting each index from the end at which its
// term is smallest makes every coefficient and index positive. What is left is one question:
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
    // Solving takes its steps off `work`.
    explicit Problem(std::int64_t &work) : work_(work) {}

    // Adds a term stride * x, low <= x <= high, to the sum.
    void add(Wide stride, Wide low, Wide high) {
        const Term term{stride < 0 ? -stride : stride, high - low};
        // stride <= 2^63 and high - low < 2^64, so only the sum can overflow.
        beyond_ |= __builtin_add_overflow(total_, term.coefficient * term.bound, &total_) ||
                   total_ > max_sum;
        if (beyond_) return;
        least_ += stride * (stride < 0 ? high : low);
        if (term.coefficient != 0 && term.bound != 0) terms_[count_++] = term;
    }

    // Is there a solution of lo <= Σ <= hi?
    Overlap solve(Wide lo, Wide hi) {
        if (beyond_) return Overlap::too_hard;
        lo -= least_;
        hi -= least_;
        prepare(hi - lo + 1);
        if (hi < 0 || lo > reach_[0]) return Overlap::no;
        if (count_ == 0) return Overlap::yes; // lo <= 0 <= hi
        if (!has_multiple(lo, hi, gcd_[0])) return Overlap::no;
        return covers_[0] ? Overlap::yes : search(0, lo, hi);
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
    Wide total_ = 0, least_ = 0; // the sum's range and its smallest value
    bool beyond_ = false;        // the range is past max_sum
    // Of the terms from i on: the largest sum, the gcd, and whether every window that meets
    // [0, reach] and contains a multiple of the gcd also contains a sum.
    std::array<Wide, max_terms + 1> reach_, gcd_;
    std::array<bool, max_terms + 1> covers_;
    std::int64_t &work_;
};

bool empty(const StridedExtent &extent) {
    return extent.itemsize <= 0 || std::any_of(extent.shape, extent.shape + extent.rank,
                                               [](std::int64_t n) { return n <= 0; });
}
Wide address(const StridedExtent &extent) {
    return static_cast<Wide>(reinterpret_cast<std::uintptr_t>(extent.data));
}

} // namespace

Overlap solve_memory_overlap(const StridedExtent &a, const StridedExtent &b,
                             std::int64_t max_work) {
    if (empty(a) || empty(b)) return Overlap::no;
    Problem problem(max_work);
    for (int i = 0; i < a.rank; ++i) problem.add(a.strides[i], 0, Wide(a.shape[i]) - 1);
    for (int i = 0; i < b.rank; ++i) problem.add(b.strides[i], 1 - Wide(b.shape[i]), 0); // -y
    const Wide distance = address(b) - address(a);
    return problem.solve(distance - a.itemsize + 1, distance + b.itemsize - 1);
}

Overlap solve_self_overlap(const StridedExtent &a, std::int64_t max_work) {
    if (empty(a)) return Overlap::no;
    struct Axis {
        Wide stride, last; // |stride| in bytes, extent - 1
    };
    std::array<Axis, max_rank> axes;
    int count = 0;
    for (int i = 0; i < a.rank; ++i) {
        if (a.shape[i] == 1) continue;
        if (a.strides[i] == 0) return Overlap::yes;
        const Wide stride = a.strides[i];
        axes[count++] = {stride < 0 ? -stride : stride, Wide(a.shape[i]) - 1};
    }
    std::sort(axes.begin(), axes.begin() + count,
              [](const Axis &p, const Axis &q) { return p.stride > q.stride; });
    Overlap answer = Overlap::no;
    for (int first = 0; first < count; ++first) {
        Problem problem(max_work); // d_first > 0, and any d_i behind it
        problem.add(axes[first].stride, 1, axes[first].last);
        for (int i = first + 1; i < count; ++i)
            problem.add(axes[i].stride, -axes[i].last, axes[i].last);
        const Overlap result = problem.solve(1 - a.itemsize, a.itemsize - 1);
        if (result == Overlap::yes) return result;
        if (result == Overlap::too_hard) answer = result;
    }
    return answer;
}

} // namespace Atoll::detail
