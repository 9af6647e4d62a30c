// The order in which several tensors are multiplied.
//
// Note [Order of products]
// The cost of a product of two tensors is the number of points that their labels span, twice that
// if labels are summed (a multiplication and an addition for each). For up to `exact_operands`
// operands the cheapest order is found by dynamic programming over all sets of operands: the best
// way to a set is the best of its divisions into two. For more, the pair is taken next whose
// product is smallest beside its factors, with several weights of the factors; the cheapest of
// those orders wins.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace Atoll::detail {

inline constexpr int max_path_labels = 128;
inline constexpr int exact_operands = 10;
using LabelSet = std::bitset<max_path_labels>;

struct Network {
    std::vector<LabelSet> operands;
    LabelSet result;
    std::vector<double> extents; // of each label
};

struct PathStep {
    int left, right;  // positions; both are removed, the product is appended
    LabelSet product; // its labels
    double operations, elements;
};

// `largest`: the most elements of an intermediate product; the last product is the result, which
// has any size. No value if no order respects it, or every order's cost is infinite.
std::optional<std::vector<PathStep>> find_path(const Network &network,
                                               std::optional<double> largest);

// The points that the labels span.
double span_of(const Network &network, const LabelSet &labels);

} // namespace Atoll::detail
