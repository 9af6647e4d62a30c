// Orders of products; see Note [Order of products].
#include "contract/path.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace Atoll::detail {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Multiplications and additions of one product.
double operations_of(const Network &network, const LabelSet &left, const LabelSet &right,
                     const LabelSet &product) {
    const LabelSet all = left | right;
    return span_of(network, all) * (product == all ? 1 : 2);
}

struct Step {
    int left, right; // operands, then products in order
};

// The same steps with positions in the list that shrinks and grows.
std::vector<PathStep> positioned(const Network &network, const std::vector<Step> &steps) {
    std::vector<int> list; // the operands and products that are left
    std::vector<LabelSet> labels = network.operands;
    for (std::size_t i = 0; i < labels.size(); ++i) list.push_back(static_cast<int>(i));
    std::vector<PathStep> result;
    for (const Step &step : steps) {
        const auto at = [&](int of) {
            return static_cast<int>(std::find(list.begin(), list.end(), of) - list.begin());
        };
        auto [left, right] = std::minmax({at(step.left), at(step.right)});
        const LabelSet &a = labels[static_cast<std::size_t>(step.left)],
                       &b = labels[static_cast<std::size_t>(step.right)];
        list.erase(list.begin() + right);
        list.erase(list.begin() + left);
        LabelSet needed = network.result;
        for (const int of : list) needed |= labels[static_cast<std::size_t>(of)];
        const LabelSet product = (a | b) & needed;
        result.push_back({left, right, product, operations_of(network, a, b, product),
                          span_of(network, product)});
        list.push_back(static_cast<int>(labels.size()));
        labels.push_back(product);
    }
    return result;
}

// The cheapest order, over all subsets.
std::optional<std::vector<Step>> exact(const Network &network, double largest) {
    const int n = static_cast<int>(network.operands.size());
    const unsigned all = (1u << n) - 1;
    struct Best {
        LabelSet labels;
        double operations = never;
        unsigned left = 0;
    };
    std::vector<Best> best(all + 1);
    std::vector<LabelSet> within(all + 1);
    for (unsigned set = 1; set <= all; ++set)
        within[set] = within[set & (set - 1)] |
                      network.operands[static_cast<std::size_t>(std::countr_zero(set))];
    for (unsigned set = 1; set <= all; ++set) {
        Best &here = best[set];
        here.labels = within[set] & (network.result | within[all & ~set]);
        if (std::has_single_bit(set)) {
            here.labels = within[set]; // not summed yet
            here.operations = 0;
            continue;
        }
        if (set != all && span_of(network, here.labels) > largest) continue;
        const unsigned first = set & -set;
        for (unsigned left = (set - 1) & set; left != 0; left = (left - 1) & set) {
            if (!(left & first)) continue; // each division once
            const Best &a = best[left], &b = best[set & ~left];
            const double operations = a.operations + b.operations +
                                      operations_of(network, a.labels, b.labels, here.labels);
            if (operations >= here.operations) continue;
            here.operations = operations;
            here.left = left;
        }
    }
    if (best[all].operations == never) return {};
    std::vector<Step> steps;
    const auto walk = [&](const auto &self, unsigned set) -> int {
        if (std::has_single_bit(set)) return std::countr_zero(set);
        const int left = self(self, best[set].left), right = self(self, set & ~best[set].left);
        steps.push_back({left, right});
        return n + static_cast<int>(steps.size()) - 1;
    };
    walk(walk, all);
    return steps;
}

// Takes the pair next whose product's size, less `weight` times that of its factors, is smallest;
// pairs without a common label last.
std::optional<std::vector<Step>> greedy(const Network &network, double largest, double weight,
                                        double &operations) {
    struct Part {
        int id;
        LabelSet labels;
    };
    std::vector<Part> parts;
    std::array<int, max_path_labels> owners{}; // how many parts have a label
    const auto count = [&](const LabelSet &labels, int change) {
        for (std::size_t i = 0; i < network.extents.size(); ++i)
            if (labels[i]) owners[i] += change;
    };
    for (const LabelSet &labels : network.operands) {
        parts.push_back({static_cast<int>(parts.size()), labels});
        count(labels, 1);
    }
    count(network.result, 1);
    operations = 0;
    std::vector<Step> steps;
    int next = static_cast<int>(parts.size());
    while (parts.size() > 1) {
        struct {
            double cost = never;
            bool apart = true;
            std::size_t left = 0, right = 0;
            LabelSet product;
        } best;
        bool found = false;
        for (std::size_t i = 0; i < parts.size(); ++i)
            for (std::size_t j = i + 1; j < parts.size(); ++j) {
                const LabelSet both = parts[i].labels & parts[j].labels;
                const bool apart = both.none();
                if (found && apart && !best.apart) continue;
                LabelSet product = parts[i].labels | parts[j].labels;
                for (std::size_t l = 0; l < network.extents.size(); ++l)
                    if (product[l] && owners[l] == (both[l] ? 2 : 1)) product.reset(l);
                const double elements = span_of(network, product);
                if (elements == never || (parts.size() > 2 && elements > largest)) continue;
                const double cost = elements - weight * (span_of(network, parts[i].labels) +
                                                         span_of(network, parts[j].labels));
                if (found && apart == best.apart && cost >= best.cost) continue;
                found = true;
                best = {cost, apart, i, j, product};
            }
        if (!found) return {};
        const Part left = parts[best.left], right = parts[best.right];
        operations += operations_of(network, left.labels, right.labels, best.product);
        steps.push_back({left.id, right.id});
        count(left.labels, -1);
        count(right.labels, -1);
        count(best.product, 1);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best.right));
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best.left));
        parts.push_back({next++, best.product});
    }
    return steps;
}

} // namespace

double span_of(const Network &network, const LabelSet &labels) {
    double points = 1;
    for (std::size_t i = 0; i < network.extents.size(); ++i)
        if (labels[i]) points *= network.extents[i];
    return std::isnan(points) ? 0 : points; // infinity times an extent of 0
}

std::optional<std::vector<PathStep>> find_path(const Network &network,
                                               std::optional<double> largest) {
    const double limit = largest.value_or(never);
    std::optional<std::vector<Step>> best;
    if (network.operands.size() <= exact_operands) {
        best = exact(network, limit);
    } else {
        double least = never;
        for (const double weight : {1.0, 0.5, 0.0, 2.0, 0.1, 5.0}) {
            double operations = 0;
            auto steps = greedy(network, limit, weight, operations);
            if (!steps || operations >= least) continue;
            least = operations;
            best = std::move(steps);
        }
    }
    if (!best) return {};
    return positioned(network, *best);
}

} // namespace Atoll::detail
