// Moving, repeating and masking elements.
#include "base/enums.hpp"
#include "compose/compose.hpp"

#include <limits>

namespace Atoll {

using namespace detail;

namespace {

// A row of extents with another one set between: (n0, n1) and (r0, r1) give (n0, r0, n1, r1).
Dims interleaved(const Dims &inner, const Dims &outer) {
    Dims shape;
    for (int i = 0; i < inner.size(); ++i) {
        shape.push_back(inner[i]);
        shape.push_back(outer[i]);
    }
    return shape;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view op) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw Error(Status::overflow, op, "more elements than fit 63 bits");
    return product;
}

// The position in an axis of n elements that place p (below 0: before it) shows.
std::int64_t padded_from(std::int64_t p, std::int64_t n, PadMode mode) {
    const auto modulo = [](std::int64_t x, std::int64_t m) { return (x % m + m) % m; };
    switch (mode) {
    case PadMode::edge: return std::clamp<std::int64_t>(p, 0, n - 1);
    case PadMode::wrap: return modulo(p, n);
    case PadMode::symmetric: return std::min(modulo(p, 2 * n), 2 * n - 1 - modulo(p, 2 * n));
    default: { // reflect
        if (n == 1) return 0;
        const std::int64_t at = modulo(p, 2 * n - 2);
        return std::min(at, 2 * n - 2 - at);
    }
    }
}

// Of the matrices over axes 0 and 1, what `keep(column - row, k)` selects.
template <class Keep>
Tensor triangle(const Tensor &a, std::int64_t k, std::string_view op, Keep keep) {
    if (a.rank() < 2)
        throw_error(Status::invalid_argument, op, "got shape {}, need a matrix",
                    shape_text(a.shape()));
    const OwnCalls scope;
    const std::int64_t rows = a.extent(0), columns = a.extent(1);
    const Tensor diagonal =
        subtract(counting(columns, a).unsqueeze(0), counting(rows, a).unsqueeze(1));
    return where(keep(diagonal, std::clamp(k, -rows - 1, columns + 1)), a,
                 Scalar(Scalar(0), a.dtype()));
}

// Coordinates of positions that lie within the shape.
Tensor coordinates(const Tensor &positions, const Dims &shape) {
    Dims result_shape{shape.size()};
    for (const std::int64_t extent : positions.shape()) result_shape.push_back(extent);
    const Tensor result = empty(result_shape, beside(positions, int64));
    Tensor rest = positions;
    for (int axis = 0; axis < shape.size() && positions.size() > 0; ++axis) {
        Tensor coordinate = result(axis, ellipsis);
        if (axis + 1 == shape.size()) {
            coordinate.assign(rest);
            break;
        }
        const Tensor next = floor_divide(rest, shape[axis]);
        subtract(rest, multiply(next, shape[axis]), coordinate);
        rest = next;
    }
    return result;
}

Error too_many() { return Error(Status::overflow, "repeat", "more elements than fit 63 bits"); }
Error negative() {
    return Error(Status::invalid_argument, "repeat", "got negative counts, need 0 or more");
}

// Each position as often as its element of `counts` says.
Tensor repeated(const Tensor &counts, const Placement &where) {
    if (min(counts).item<std::int64_t>() < 0) throw negative();
    // Where the elements of the result begin that are one position, and where the last ones end.
    const Tensor begins = empty({counts.size() + 1}, where), ends = begins(range(1, {}));
    begins(0) = 0;
    cumsum(counts, {}, ends);
    // A sum of two numbers below 2^63 that does not fit has become negative.
    if (min(ends).item<std::int64_t>() < 0) throw too_many();
    // A step up where those of the next position begin.
    const Tensor steps = zeros({ends(-1).item<std::int64_t>()}, where);
    if (steps.size() > 0) {
        const Tensor used = find(counts);
        steps(0) = used(0);
        steps(begins(used(range(1, {})))) = diff(used);
    }
    return cumsum(steps);
}
// The same by the host: the calls above go over some ten times the memory.
Tensor repeated_by_host(const Tensor &counts, const Placement &where) {
    const HostElements<std::int64_t> elements(counts);
    const std::span<const std::int64_t> all = elements.all();
    std::int64_t bits = 0; // of all counts
    std::uint64_t sum = 0;
    for (const std::int64_t n : all) {
        bits |= n;
        sum += static_cast<std::uint64_t>(n);
    }
    if (bits < 0) throw negative();
    auto total = static_cast<std::int64_t>(sum);
    if (bits > std::numeric_limits<std::int64_t>::max() / std::ssize(all)) { // it may not fit
        total = 0;
        for (const std::int64_t n : all)
            if (__builtin_add_overflow(total, n, &total)) throw too_many();
    }
    const Tensor positions = empty({total}, where);
    std::int64_t *to = positions.host_span<std::int64_t>().data(), *const end = to + total;
    std::int64_t position = 0;
    for (const std::int64_t n : all) {
        // No branch on which small count it is: what is too much is written over.
        constexpr std::int64_t few = 4;
        const std::int64_t left = end - to, some = std::min(n, left); // if others write to counts
        if (some <= few && few <= left)
            std::fill_n(to, few, position);
        else
            std::fill_n(to, some, position);
        to += std::max<std::int64_t>(some, 0);
        ++position;
    }
    return positions;
}

} // namespace

Tensor diff(const Tensor &a, std::optional<int> axis_or_none, const DiffOptions &options) {
    const int axis = named_axis(axis_or_none, a, "diff");
    if (options.n < 0)
        throw_error(Status::invalid_argument, "diff", "got n = {}, need 0 or more", options.n);
    const OwnCalls scope;
    Tensor result = options.n == 0 ? a.replicate() : a;
    for (std::int64_t i = 0; i < std::min(options.n, a.extent(axis) + 1); ++i) {
        const std::int64_t extent = result.extent(axis),
                           shorter = std::max<std::int64_t>(extent - 1, 0);
        const Tensor next = result.slice(axis, extent - shorter, extent);
        const Tensor before = result.slice(axis, 0, shorter);
        result = a.dtype() == bool_ ? not_equal(next, before) : subtract(next, before);
    }
    return result;
}

Tensor outer(const Tensor &a, const Tensor &b) {
    const ScopedSettings scope([](Settings &s) { s.auto_broadcast = true; });
    return multiply(a.flatten().unsqueeze(1), b.flatten().unsqueeze(0));
}

Tensor roll(const Tensor &a, std::int64_t shift, std::optional<int> axis_or_none) {
    const int axis = named_axis(axis_or_none, a, "roll");
    const std::int64_t extent = a.extent(axis);
    if (extent == 0) return a.replicate();
    const std::int64_t first =
        ((-(shift % extent)) + extent) % extent; // the element that moves to 0
    return concatenate({a.slice(axis, first, extent), a.slice(axis, 0, first)}, axis);
}

Tensor tile(const Tensor &a, const Dims &counts) {
    const int rank = std::max(a.rank(), counts.size());
    Dims inner = a.shape(), outer = counts, shape;
    while (inner.size() < rank) inner.push_back(1);
    while (outer.size() < rank) outer.push_back(1);
    for (int i = 0; i < rank; ++i) {
        if (outer[i] < 0)
            throw_error(Status::invalid_argument, "tile",
                        "got count {} for axis {}, need 0 or more", outer[i], i);
        shape.push_back(checked_product(inner[i], outer[i], "tile"));
    }
    const OwnCalls scope;
    const Tensor result = empty(shape, beside(a, a.dtype()));
    Dims ones;
    for (int i = 0; i < rank; ++i) ones.push_back(1);
    result.reshape(interleaved(inner, outer)).assign(a.reshape(interleaved(inner, ones)));
    return result;
}

Tensor repeat(const Tensor &a, std::int64_t count, std::optional<int> axis_or_none) {
    const int axis = named_axis(axis_or_none, a, "repeat");
    if (count < 0)
        throw_error(Status::invalid_argument, "repeat", "got count {}, need 0 or more", count);
    const OwnCalls scope;
    const std::int64_t extent = a.extent(axis);
    const Dims shape = replaced(a.shape(), axis, {checked_product(count, extent, "repeat")});
    const Tensor result = empty(shape, beside(a, a.dtype()));
    result.reshape(replaced(a.shape(), axis, {count, extent})).assign(a.unsqueeze(axis));
    return result;
}

Tensor repeat(const Tensor &a, const Tensor &counts, std::optional<int> axis_or_none) {
    const int axis = named_axis(axis_or_none, a, "repeat");
    const std::int64_t extent = a.extent(axis);
    if (!is_integer(counts.dtype()) || counts.shape() != Dims{extent})
        throw_error(
            Status::invalid_argument, "repeat",
            "got counts of dtype {} and shape {}, need integers, one for each of {} elements",
            name(counts.dtype()), shape_text(counts.shape()), extent);
    const OwnCalls scope;
    if (extent == 0) return a.replicate();
    // What int64 has not cannot be negative.
    if (counts.dtype() == uint64 && max(counts).item().overflows(int64)) throw too_many();
    const Tensor numbers = counts.ensure(int64, a.device());
    const auto positions = a.device().is_host_memory() ? &repeated_by_host : &repeated;
    return at_positions(a, axis, positions(numbers, beside(a, int64)));
}

Tensor pad(const Tensor &a, std::span<const std::pair<std::int64_t, std::int64_t>> widths,
           const PadOptions &options) {
    const auto rank = static_cast<std::size_t>(a.rank());
    if (widths.size() != rank && widths.size() != 1)
        throw_error(Status::invalid_argument, "pad",
                    "got {} pairs of widths for a tensor of rank {}, need one for each axis, or "
                    "one for all",
                    widths.size(), rank);
    require_one_of(
        options.mode,
        {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::symmetric, PadMode::wrap},
        "mode", "constant, edge, reflect, symmetric or wrap", "pad");
    const OwnCalls scope;
    const auto width = [&](int axis) {
        return widths[widths.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
    };
    Dims shape = a.shape();
    for (int axis = 0; axis < a.rank(); ++axis) {
        const auto [before, after] = width(axis);
        if (before < 0 || after < 0)
            throw_error(Status::invalid_argument, "pad",
                        "got widths {} and {} for axis {}, need 0 or more", before, after, axis);
        if (__builtin_add_overflow(shape[axis], before, &shape[axis]) ||
            __builtin_add_overflow(shape[axis], after, &shape[axis]))
            throw Error(Status::overflow, "pad", "more elements than fit 63 bits");
    }
    if (options.mode == PadMode::constant) {
        const Tensor result = full(shape, options.value, beside(a, a.dtype()));
        Tensor inner = result;
        for (int axis = 0; axis < a.rank(); ++axis)
            inner = inner.slice(axis, width(axis).first, width(axis).first + a.extent(axis));
        inner.assign(a);
        return result;
    }
    Tensor result = a.replicate();
    for (int axis = 0; axis < a.rank(); ++axis) {
        const std::int64_t extent = a.extent(axis), total = shape[axis];
        if (total == extent) continue;
        if (extent == 0)
            throw_error(Status::invalid_argument, "pad",
                        "axis {} has no elements to repeat; pad it with PadMode::constant", axis);
        std::vector<std::int64_t> from(static_cast<std::size_t>(total));
        for (std::int64_t i = 0; i < total; ++i)
            from[static_cast<std::size_t>(i)] =
                padded_from(i - width(axis).first, extent, options.mode);
        result = at_positions(result, axis, vector(from, beside(a, int64)));
    }
    return result;
}

std::vector<Tensor> meshgrid(std::span<const Tensor> vectors) {
    Dims shape;
    for (const Tensor &v : vectors) {
        if (v.rank() > 1)
            throw_error(Status::invalid_argument, "meshgrid", "got shape {}, need vectors",
                        shape_text(v.shape()));
        shape.push_back(v.size());
    }
    std::vector<Tensor> grids;
    for (int i = 0; i < shape.size(); ++i) {
        const Tensor &v = vectors[static_cast<std::size_t>(i)];
        Dims along;
        for (int axis = 0; axis < shape.size(); ++axis) along.push_back(axis == i ? v.size() : 1);
        grids.push_back(v.reshape(along).broadcast_to(shape).replicate());
    }
    return grids;
}

Tensor triu(const Tensor &a, std::int64_t k) {
    return triangle(a, k, "triu",
                    [](const Tensor &d, std::int64_t at) { return greater_equal(d, at); });
}

Tensor tril(const Tensor &a, std::int64_t k) {
    return triangle(a, k, "tril",
                    [](const Tensor &d, std::int64_t at) { return less_equal(d, at); });
}

Tensor take(const Tensor &a, const Tensor &positions, std::optional<int> axis_or_none) {
    const int axis = named_axis(axis_or_none, a, "take");
    if (!is_integer(positions.dtype()))
        throw_error(Status::invalid_argument, "take", "got positions of dtype {}, need integers",
                    name(positions.dtype()));
    const OwnCalls scope;
    return at_positions(a, axis, positions.flatten())
        .reshape(replaced(a.shape(), axis, positions.shape()));
}

Tensor unravel_index(const Tensor &positions, const Dims &shape) {
    if (!is_integer(positions.dtype()))
        throw_error(Status::invalid_argument, "unravel_index",
                    "got positions of dtype {}, need integers", name(positions.dtype()));
    const std::int64_t size = checked_bytes(shape, 1, "unravel_index");
    const OwnCalls scope;
    if (positions.size() > 0 &&
        (bool(less(min(positions), 0)) || bool(greater_equal(max(positions), size))))
        throw_error(Status::out_of_range, "unravel_index", "a position is outside shape {}, {}",
                    shape_text(shape),
                    size > 0 ? fmt::format("need 0 to {}", size - 1) : "which has no elements");
    return coordinates(positions.ensure(int64), shape);
}

Tensor nonzero(const Tensor &a) { return coordinates(find(a), a.shape()); }

} // namespace Atoll
