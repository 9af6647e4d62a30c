// Different elements and how often they occur.
#include "compose/compose.hpp"

#include <cmath>
#include <memory>
#include <new>
#include <vector>

namespace Atoll {

using namespace detail;

namespace {

// Of a sorted vector: whether each element is the first of its value. All NaN are one value.
Tensor starts_of(const Tensor &sorted) {
    const Tensor starts = ones(sorted.shape(), beside(sorted, bool_));
    const std::int64_t count = sorted.size();
    if (count < 2) return starts;
    const Tensor here = sorted(range(1, {})), before = sorted(range(0, -1));
    const Tensor differs = not_equal(here, before);
    starts(range(1, {})) =
        is_floating(sorted.dtype())
            ? logical_and(differs, logical_not(logical_and(isnan(here), isnan(before))))
            : differs;
    return starts;
}

// The differences of positions that ascend to `last`.
Tensor gaps(const Tensor &positions, std::int64_t last) {
    return diff(concatenate({positions, vector({last}, beside(positions, int64))}));
}

// A dtype that has 0 … count - 1, and is sorted fast.
DType dtype_below(std::int64_t count) {
    return count <= 1 << 8 ? uint8 : count <= std::int64_t{1} << 31 ? int32 : int64;
}

// For each of `count` bins the sum of weight(i) over the elements i that are in it, added up by the
// host; those in bins that do not exist are left out.
template <class T, class Weight>
Tensor sums_of_bins(const Tensor &bins, std::int64_t count, std::string_view op, Weight &&weight) {
    const std::unique_ptr<T[]> sums(new (std::nothrow) T[static_cast<std::size_t>(count)]());
    if (!sums) throw_error(Status::out_of_memory, op, "no memory for {} bins", count);
    const HostElements<std::int64_t> bin(bins);
    for (std::int64_t i = 0; i < bin.size(); ++i)
        if (bin[i] >= 0 && bin[i] < count) sums[static_cast<std::size_t>(bin[i])] += weight(i);
    return from_values(sums.get(), dtype_of<T>(), count, beside(bins, dtype_of<T>()));
}

// How often each of 0 … count - 1 occurs among integers that are not outside.
Tensor occurrences(const Tensor &integers, std::int64_t count, std::string_view op) {
    const DType dtype = dtype_below(count);
    if (dtype != uint8 && integers.device().is_host_memory()) // bytes are sorted faster
        return sums_of_bins<std::int64_t>(integers, count, op, [](std::int64_t) { return 1; });
    const Tensor a = integers.ensure(dtype);
    const Tensor sorted = sort(a.flatten());
    const Tensor up_to =
        searchsorted(counting(count, a).ensure(a.dtype()), sorted, {.right = true});
    return diff(concatenate({zeros({1}, beside(a, int64)), up_to}));
}

void require_weights(const Tensor &weights, const Tensor &a, std::string_view op) {
    if (is_complex(weights.dtype()) || weights.shape() != a.shape())
        throw_error(Status::invalid_argument, op,
                    "got weights of dtype {} and shape {}, need real ones of shape {}",
                    name(weights.dtype()), shape_text(weights.shape()), shape_text(a.shape()));
}

void require_bins(std::int64_t count, std::string_view op) {
    if (count >= INT64_MAX / 8)
        throw_error(Status::overflow, op, "got {} bins: more bytes than fit 63 bits", count);
}

Tensor weighted(const Tensor &bins, const Tensor &weights, std::int64_t count,
                std::string_view op) {
    const HostElements<double> weight(weights);
    return sums_of_bins<double>(bins, count, op, [&](std::int64_t i) { return weight[i]; });
}

Tensor bin_edges(const Tensor &a, std::int64_t bins, const HistogramOptions &options) {
    double low = 0, high = 1;
    if (options.range) {
        low = options.range->first;
        high = options.range->second;
    } else if (a.size() > 0) {
        low = min(a).item<double>();
        high = max(a).item<double>();
    }
    if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high))
        throw_error(Status::invalid_argument, "histogram",
                    "got the range {} to {}, need finite ascending ends{}", low, high,
                    options.range ? "" : "; give HistogramOptions::range");
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    return linspace(low, high, bins + 1, beside(a, float64));
}

Histogram with_edges(const Tensor &a, const Tensor &edges, const HistogramOptions &options) {
    const std::int64_t bins = edges.size() - 1;
    Histogram result{{}, edges};
    if (options.weights.is_defined()) {
        require_weights(options.weights, a, "histogram");
        const Tensor bin = subtract(searchsorted(a, edges, {.right = true}), 1);
        // The end of the last bin belongs to it.
        result.counts =
            weighted(where(equal(a, edges(-1)), bins - 1, bin), options.weights, bins, "histogram");
    } else {
        // How many edges are not above each element: its bin, counted from 1.
        const Tensor bin = empty(a.shape(), beside(a, dtype_below(bins + 1)));
        searchsorted(a, edges, {.right = true}, bin);
        result.counts = occurrences(bin, bins + 1, "histogram")(range(1, {}));
        // The end of the last bin belongs to it.
        result.counts(-1) += count_nonzero(equal(a, edges(-1)));
    }
    if (options.density)
        result.counts = divide(divide(result.counts, sum(result.counts)), diff(edges));
    return result;
}

// As float64, in which edges are.
Tensor measured(const Tensor &a) {
    if (is_complex(a.dtype()))
        throw_error(Status::invalid_argument, "histogram", "got dtype {}, need real numbers",
                    name(a.dtype()));
    return a.ensure(float64);
}

} // namespace

Tensor unique(const Tensor &a) {
    const OwnCalls scope;
    const Tensor sorted = sort(a.flatten());
    return sorted(starts_of(sorted));
}

Unique unique_all(const Tensor &a) {
    const OwnCalls scope;
    const Tensor flat = a.flatten();
    const Tensor order = argsort(flat), sorted = flat(order), starts = starts_of(sorted);
    const Tensor first = find(starts);
    Unique result{sorted(starts), order(first), empty(flat.shape(), beside(a, int64)),
                  gaps(first, a.size())};
    result.inverse(order) = subtract(cumsum(starts), 1);
    result.inverse = result.inverse.reshape(a.shape());
    return result;
}

Tensor bincount(const Tensor &a, const BincountOptions &options) {
    if (!is_integer(a.dtype()) && a.dtype() != bool_)
        throw_error(Status::invalid_argument, "bincount", "got dtype {}, need integers",
                    name(a.dtype()));
    if (options.min_length < 0)
        throw_error(Status::invalid_argument, "bincount", "got min_length {}, need 0 or more",
                    options.min_length);
    const OwnCalls scope;
    std::int64_t length = 0;
    if (a.size() > 0) {
        const Scalar smallest = min(a).item();
        if (smallest.overflows(uint64))
            throw_error(Status::out_of_range, "bincount", "got the element {}, need 0 or more",
                        to_string(smallest));
        const Scalar largest = max(a).item();
        if (largest.overflows(int64) || largest.to_int() == INT64_MAX)
            throw_error(Status::overflow, "bincount",
                        "got the element {}: more bins than fit 63 bits", to_string(largest));
        length = largest.to_int() + 1;
    }
    length = std::max(length, options.min_length);
    require_bins(length, "bincount");
    if (options.weights.is_defined()) {
        require_weights(options.weights, a, "bincount");
        return weighted(a, options.weights, length, "bincount");
    }
    return occurrences(a, length, "bincount");
}

Histogram histogram(const Tensor &a, std::int64_t bins, const HistogramOptions &options) {
    if (bins < 1)
        throw_error(Status::invalid_argument, "histogram", "got {} bins, need 1 or more", bins);
    require_bins(bins, "histogram");
    const OwnCalls scope;
    const Tensor values = measured(a);
    return with_edges(values, bin_edges(values, bins, options), options);
}

Histogram histogram(const Tensor &a, const Tensor &edges, const HistogramOptions &options) {
    if (options.range)
        throw Error(Status::invalid_argument, "histogram",
                    "got a range beside edges, need one of them");
    if (edges.rank() != 1 || edges.size() < 2 || is_complex(edges.dtype()))
        throw_error(Status::invalid_argument, "histogram",
                    "got edges of dtype {} and shape {}, need a real vector of 2 or more",
                    name(edges.dtype()), shape_text(edges.shape()));
    const OwnCalls scope;
    const Tensor ends = edges.ensure(float64, a.device());
    if (!all(greater_equal(diff(ends), 0)))
        throw Error(Status::invalid_argument, "histogram", "the edges do not ascend");
    return with_edges(measured(a), ends, options);
}

} // namespace Atoll
