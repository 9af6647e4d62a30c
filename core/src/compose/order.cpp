// The largest elements and quantiles.
#include "compose/compose.hpp"

#include <cmath>

namespace Atoll {

using namespace detail;

namespace {

// Dense, the axes joined as axis 0; the other axes follow.
Tensor joined_first(const Tensor &a, const std::vector<bool> &joined) {
    std::vector<int> order;
    Dims shape{1};
    for (const bool first : {true, false})
        for (int axis = 0; axis < a.rank(); ++axis) {
            if (joined[static_cast<std::size_t>(axis)] != first) continue;
            order.push_back(axis);
            if (first)
                shape[0] *= a.extent(axis);
            else
                shape.push_back(a.extent(axis));
        }
    return a.permute_axes(order).reshape(shape);
}

std::vector<bool> chosen(const Tensor &a, const Axes &axes) {
    std::vector<bool> joined(static_cast<std::size_t>(a.rank()), !axes.given);
    for (const int named : axes.list) {
        const int axis = checked_axis(named, a.rank(), "quantile");
        if (joined[static_cast<std::size_t>(axis)])
            throw_error(Status::invalid_argument, "quantile", "axis {} stands twice", axis);
        joined[static_cast<std::size_t>(axis)] = true;
    }
    return joined;
}

// Of elements sorted along axis 0.
Tensor quantile_of(const Tensor &sorted, double q) {
    const std::int64_t last = sorted.extent(0) - 1;
    const double position = q * static_cast<double>(last);
    const std::int64_t at = std::min(static_cast<std::int64_t>(position), last);
    const double part = position - static_cast<double>(at);
    const Tensor low = sorted(at, ellipsis), high = sorted(std::min(at + 1, last), ellipsis);
    const Tensor largest = sorted(last, ellipsis); // NaN, if there is one
    // From the nearer end, so that neither is missed. Equal ends may be infinite.
    const Tensor way = subtract(high, low);
    const Tensor between =
        part < 0.5 ? add(low, multiply(way, part)) : subtract(high, multiply(way, 1 - part));
    const Tensor value = part == 0 ? low.replicate() : where(equal(low, high), low, between);
    return where(isnan(largest), largest, value);
}

// Positions, ascending, of some elements of a vector among which are its k largest or smallest:
// those that are not below the kth largest of a sample. Undefined if they are not few.
Tensor candidates(const Tensor &a, std::int64_t k, bool largest) {
    const std::int64_t n = a.size();
    if (k == 0 || n < 4096 || k > n / 64 || is_complex(a.dtype())) return {};
    // Of a sample of m elements, n k / m candidates are to be expected.
    const auto m =
        static_cast<std::int64_t>(std::sqrt(static_cast<double>(n) * static_cast<double>(k)));
    const Tensor sample = sort(a(range({}, {}, n / m)), 0, {.descending = largest});
    const Tensor bound = sample(k - 1); // NaN if other elements are too few
    const Tensor found = find(largest ? greater_equal(a, bound) : less_equal(a, bound));
    return found.size() < k ? Tensor() : found;
}

} // namespace

TopK topk(const Tensor &a, std::int64_t k, std::optional<int> axis_or_none,
          const TopKOptions &options) {
    const int axis = named_axis(axis_or_none, a, "topk");
    if (k < 0 || k > a.extent(axis))
        throw_error(Status::invalid_argument, "topk",
                    "got k = {}, need 0 to {}, the extent of axis {}", k, a.extent(axis), axis);
    const OwnCalls scope;
    if (a.rank() == 1)
        if (const Tensor among = candidates(a, k, options.largest); among.is_defined()) {
            const Tensor order = argsort(a(among), 0, {.descending = options.largest});
            const Tensor at = among(order(range(0, k)));
            return {a(at), at};
        }
    return {sort(a, axis, {.descending = options.largest}).slice(axis, 0, k).replicate(),
            argsort(a, axis, {.descending = options.largest}).slice(axis, 0, k).replicate()};
}

Tensor quantile(const Tensor &a, std::span<const double> q, const Axes &axes,
                const QuantileOptions &options) {
    for (const double fraction : q)
        if (!(fraction >= 0 && fraction <= 1))
            throw_error(Status::invalid_argument, "quantile", "got q = {}, need 0 to 1", fraction);
    if (is_complex(a.dtype()))
        throw_error(Status::invalid_argument, "quantile", "got dtype {}, need real numbers",
                    name(a.dtype()));
    const std::vector<bool> joined = chosen(a, axes);
    const OwnCalls scope;
    const Tensor columns = joined_first(is_floating(a.dtype()) ? a : a.cast(float64), joined);
    if (columns.extent(0) == 0)
        throw_error(Status::invalid_argument, "quantile", "shape {} has no elements to order",
                    shape_text(a.shape()));
    const Tensor sorted = sort(columns, 0);
    Dims shape{static_cast<std::int64_t>(q.size())}, kept = shape;
    for (int axis = 0; axis < a.rank(); ++axis) {
        const bool gone = joined[static_cast<std::size_t>(axis)];
        if (!gone) shape.push_back(a.extent(axis));
        kept.push_back(gone ? 1 : a.extent(axis));
    }
    const Tensor result = empty(shape, beside(a, sorted.dtype()));
    for (std::size_t i = 0; i < q.size(); ++i)
        result(static_cast<std::int64_t>(i), ellipsis) = quantile_of(sorted, q[i]);
    return options.keepdims ? result.reshape(kept) : result;
}

Tensor quantile(const Tensor &a, double q, const Axes &axes, const QuantileOptions &options) {
    return quantile(a, std::span(&q, 1), axes, options).squeeze(0);
}

} // namespace Atoll
