// Functions that are made of other functions, and work on every device that has those.
//
// Arguments, shapes and dtypes follow NumPy's functions of the same names, with Atoll's order:
// broadcasting aligns the first axes, positions and flattened tensors are column-major, and an axis
// may be left out for vectors only. None of them writes to its operands. All throw Error
// (invalid_argument) for axes and extents that do not fit, besides the errors named and those of
// the functions that they consist of. Thread-safe, as long as no tensor is written while others use
// it.
#pragma once

#include "atoll/operations.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace Atoll {

// --- comparing -----------------------------------------------------------------------------------

struct IsCloseOptions {
    double rtol = 1e-5;     // relative to |b|
    double atol = 1e-8;     // absolute
    bool equal_nan = false; // NaN is close to NaN
};
// Whether |a - b| <= atol + rtol * |b|, for each element; infinities are close to equal ones only.
// Computed in the common floating-point dtype, halves in float32, integers in float64.
Tensor isclose(const Operand &a, const Operand &b, const IsCloseOptions &options = {});
// Whether all elements are close. Blocks.
bool allclose(const Operand &a, const Operand &b, const IsCloseOptions &options = {});

// The element-wise minimum and maximum of two tensors, as minimum() and maximum(). Of one tensor
// and numbers, min(a, 0) and max(a, 0) reduce along axis 0: write maximum(a, 0).
template <detail::Array A, detail::Array B> Tensor min(const A &a, const B &b) {
    return minimum(a, b);
}
template <detail::Array A, detail::Array B> Tensor max(const A &a, const B &b) {
    return maximum(a, b);
}
// Of one type: preferred to std::min and std::max where `using namespace std` brings those in.
template <detail::Array A> Tensor min(const A &a, const A &b) { return minimum(a, b); }
template <detail::Array A> Tensor max(const A &a, const A &b) { return maximum(a, b); }

struct NanToNumOptions {
    double nan = 0;
    std::optional<double> posinf = {}, neginf = {}; // default: the largest finite numbers
};
// A copy with other numbers in the place of NaN and infinities; complex: in each part.
Tensor nan_to_num(const Tensor &a, const NanToNumOptions &options = {});

// --- arithmetic ----------------------------------------------------------------------------------

struct DiffOptions {
    std::int64_t n = 1; // how often the difference is taken
};
// The differences a(i + 1) - a(i) along an axis; of bools: whether the two differ. An axis of n
// elements becomes one of n - 1, but not below 0.
Tensor diff(const Tensor &a, std::optional<int> axis = {}, const DiffOptions &options = {});

// The products a(i) b(j) of all elements, flattened: shape (a.size(), b.size()).
Tensor outer(const Tensor &a, const Tensor &b);

// --- rearranging ---------------------------------------------------------------------------------

// Moves the elements by `shift` places along an axis; those that leave enter at the other end.
Tensor roll(const Tensor &a, std::int64_t shift, std::optional<int> axis = {});

// Repeats the tensor counts[i] times along axis i, a(0), a(1), a(0), a(1), …; more counts than axes
// add axes at the end.
Tensor tile(const Tensor &a, const Dims &counts);

// Repeats each element along an axis, a(0), a(0), a(1), a(1), …
Tensor repeat(const Tensor &a, std::int64_t count, std::optional<int> axis = {});
// Repeats element i along the axis counts(i) times; `counts` is a vector of integers >= 0. Blocks.
Tensor repeat(const Tensor &a, const Tensor &counts, std::optional<int> axis = {});

enum class PadMode : std::uint8_t {
    constant,  // PadOptions::value
    edge,      // the nearest element: a a [a b c] c c
    reflect,   // mirrored at the outer elements: c b [a b c] b a
    symmetric, // mirrored beside them: b a [a b c] c b
    wrap       // from the other end: b c [a b c] a b
};
struct PadOptions {
    PadMode mode = PadMode::constant;
    Scalar value = 0;
};
// Adds elements before and after each axis; one pair of widths serves all axes. Axes without
// elements can only be padded with a constant.
using PadWidths = std::initializer_list<std::pair<std::int64_t, std::int64_t>>;
Tensor pad(const Tensor &a, std::span<const std::pair<std::int64_t, std::int64_t>> widths,
           const PadOptions &options = {});
inline Tensor pad(const Tensor &a, PadWidths widths, const PadOptions &options = {}) {
    return pad(a, std::span(widths.begin(), widths.size()), options);
}

// Element (i, j, …) of the k-th result is element i, j, … of the k-th vector (NumPy's
// indexing="ij").
std::vector<Tensor> meshgrid(std::span<const Tensor> vectors);
inline std::vector<Tensor> meshgrid(std::initializer_list<Tensor> vectors) {
    return meshgrid(std::span(vectors.begin(), vectors.size()));
}

// Copies of the matrices over axes 0 and 1 with zeros below (triu) or above (tril) diagonal k.
Tensor triu(const Tensor &a, std::int64_t k = 0);
Tensor tril(const Tensor &a, std::int64_t k = 0);

// The elements at integer positions along an axis, which the axes of `positions` replace. Throws
// Error (out_of_range).
Tensor take(const Tensor &a, const Tensor &positions, std::optional<int> axis = {});

// The coordinates in a tensor of that shape of the elements at column-major positions: int64, a
// first axis of `shape.size()` coordinates before the axes of `positions`. Throws Error
// (out_of_range). Blocks.
Tensor unravel_index(const Tensor &positions, const Dims &shape);

// --- sets and counts -----------------------------------------------------------------------------

// The different elements of the flattened tensor, sorted as by sort(); all NaN count as one.
// Blocks.
Tensor unique(const Tensor &a);
struct Unique {
    Tensor values;  // as unique()
    Tensor index;   // int64: the column-major position at which each of them is first found
    Tensor inverse; // int64, of the tensor's shape: which of them each element is
    Tensor counts;  // int64: how often each of them is found
};
Unique unique_all(const Tensor &a);

struct BincountOptions {
    Tensor weights = {};         // real, of the operand's shape: summed instead of counted
    std::int64_t min_length = 0; // of the result
};
// How often each of 0, 1, …, max(a) is found among the elements of an integer tensor, int64; with
// weights, the sums of the weights of equal elements, float64, added on the host in column-major
// order. Throws Error (out_of_range) for negative elements. Blocks.
Tensor bincount(const Tensor &a, const BincountOptions &options = {});

struct HistogramOptions {
    std::optional<std::pair<double, double>> range = {}; // default: from the least to the largest
    Tensor weights = {};                                 // as BincountOptions::weights
    bool density = false; // divided by the sum and the bins' widths: the integral is 1
};
struct Histogram {
    Tensor counts; // one per bin: int64; float64 with weights or density
    Tensor edges;  // one more than bins, float64
};
// Counts the elements of a real tensor, flattened, in bins [edges(i), edges(i + 1)); the last bin
// includes its end. Elements outside are not counted. NaN is an error unless the range is given.
// Blocks.
Histogram histogram(const Tensor &a, std::int64_t bins = 10, const HistogramOptions &options = {});
// With the given edges, ascending; HistogramOptions::range is not allowed.
Histogram histogram(const Tensor &a, const Tensor &edges, const HistogramOptions &options = {});

// --- order ---------------------------------------------------------------------------------------

struct TopKOptions {
    bool largest = true; // false: the smallest
};
struct TopK {
    Tensor values, indices;
};
// The k largest elements along an axis, the largest first, and their positions (int64); of equal
// elements the first. NaN comes last. Blocks.
TopK topk(const Tensor &a, std::int64_t k, std::optional<int> axis = {},
          const TopKOptions &options = {});

struct QuantileOptions {
    bool keepdims = false;
};
// The value below which the fraction q of the elements lies, over all axes or the given ones;
// between two elements linearly interpolated. Dtype: that of a, for integers float64. NaN among the
// elements gives NaN. Throws Error (invalid_argument) for q outside [0, 1] and for no elements.
Tensor quantile(const Tensor &a, double q, const Axes &axes = {},
                const QuantileOptions &options = {});
// For several q, along a first axis of the result.
Tensor quantile(const Tensor &a, std::span<const double> q, const Axes &axes = {},
                const QuantileOptions &options = {});
inline Tensor quantile(const Tensor &a, std::initializer_list<double> q, const Axes &axes = {},
                       const QuantileOptions &options = {}) {
    return quantile(a, std::span(q.begin(), q.size()), axes, options);
}
// quantile(a, 0.5).
inline Tensor median(const Tensor &a, const Axes &axes = {}, const QuantileOptions &options = {}) {
    return quantile(a, 0.5, axes, options);
}

} // namespace Atoll
