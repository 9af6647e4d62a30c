// Products that have names of their own.
#include "atoll/contraction.hpp"
#include "base/throw_error.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <numeric>

namespace Atoll {

using namespace detail;

namespace {

std::vector<std::int64_t> counted(int from, int count) {
    std::vector<std::int64_t> labels(static_cast<std::size_t>(count));
    std::iota(labels.begin(), labels.end(), from);
    return labels;
}

// Sums over pairs of axes that exist.
Tensor product(const Tensor &a, const Tensor &b, const std::vector<int> &axes_a,
               const std::vector<int> &axes_b, Out out) {
    std::vector<std::int64_t> labels_a = counted(0, a.rank()),
                              labels_b = counted(a.rank(), b.rank());
    for (std::size_t i = 0; i < axes_a.size(); ++i)
        labels_b[static_cast<std::size_t>(axes_b[i])] = axes_a[i];
    std::vector<std::int64_t> labels;
    for (int axis = 0; axis < a.rank(); ++axis)
        if (!std::ranges::count(axes_a, axis)) labels.push_back(axis);
    for (const std::int64_t label : labels_b)
        if (label >= a.rank()) labels.push_back(label);
    return contract(a, labels_a, b, labels_b, labels, out);
}

std::vector<int> checked_axes(const Axes &axes, const Tensor &a, std::string_view op) {
    std::vector<int> checked;
    for (const int axis : axes.list) {
        checked.push_back(checked_axis(axis, a.rank(), op));
        if (std::ranges::count(checked, checked.back()) > 1)
            throw_error(Status::invalid_argument, op, "got axis {} twice", axis);
    }
    return checked;
}

} // namespace

Tensor tensordot(const Tensor &a, const Tensor &b, const Axes &axes_a, const Axes &axes_b,
                 Out out) {
    const std::vector<int> left = checked_axes(axes_a, a, "tensordot"),
                           right = checked_axes(axes_b, b, "tensordot");
    if (left.size() != right.size())
        throw_error(Status::invalid_argument, "tensordot",
                    "got {} axes of a and {} of b, need as many", left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
        if (a.extent(left[i]) != b.extent(right[i]))
            throw_error(Status::invalid_argument, "tensordot",
                        "axis {} of {} and axis {} of {} differ", left[i],
                        shape_text("a", a.shape()), right[i], shape_text("b", b.shape()));
    return product(a, b, left, right, out);
}

Tensor tensordot(const Tensor &a, const Tensor &b, int count, Out out) {
    if (count < 0 || count > std::min(a.rank(), b.rank()))
        throw_error(Status::invalid_argument, "tensordot",
                    "got {} axes for {} and {}, need 0 to {}", count, shape_text("a", a.shape()),
                    shape_text("b", b.shape()), std::min(a.rank(), b.rank()));
    std::vector<int> left(static_cast<std::size_t>(count)), right = left;
    std::iota(left.begin(), left.end(), a.rank() - count);
    std::iota(right.begin(), right.end(), 0);
    return tensordot(a, b, Axes(left), Axes(right), out);
}

Tensor inner(const Tensor &a, const Tensor &b, Out out) {
    if (a.rank() == 0 || b.rank() == 0) return multiply(a, b, out);
    if (a.extent(-1) != b.extent(-1))
        throw_error(Status::invalid_argument, "inner", "the last axes of {} and {} differ",
                    shape_text("a", a.shape()), shape_text("b", b.shape()));
    return product(a, b, {a.rank() - 1}, {b.rank() - 1}, out);
}

Tensor vdot(const Tensor &a, const Tensor &b, Out out) {
    if (a.size() != b.size())
        throw_error(Status::invalid_argument, "vdot", "{} and {} differ in size",
                    shape_text("a", a.shape()), shape_text("b", b.shape()));
    const bool alike = a.shape() == b.shape();
    const Tensor x = alike ? a : a.flatten(), y = alike ? b : b.flatten();
    const std::vector<std::int64_t> labels = counted(0, x.rank());
    return contract(x, labels, y, labels, Labels(std::initializer_list<std::int64_t>{}), out,
                    {.conj_a = true});
}

Tensor kron(const Tensor &a, const Tensor &b) {
    const ScopedSettings scope([](Settings &s) { s.auto_broadcast = true; });
    const int rank = std::max(a.rank(), b.rank());
    // Axis i of the result is axis i of b within axis i of a.
    Dims inner_shape, outer_shape, shape;
    for (int i = 0; i < rank; ++i) {
        const std::int64_t n = i < a.rank() ? a.extent(i) : 1, m = i < b.rank() ? b.extent(i) : 1;
        outer_shape.push_back(1);
        outer_shape.push_back(n);
        inner_shape.push_back(m);
        inner_shape.push_back(1);
        std::int64_t extent = 0;
        if (__builtin_mul_overflow(n, m, &extent))
            throw Error(Status::overflow, "kron", "more elements than fit 63 bits");
        shape.push_back(extent);
    }
    return multiply(a.reshape(outer_shape), b.reshape(inner_shape)).reshape(shape);
}

Tensor trace(const Tensor &a, std::int64_t k, Out out) {
    if (a.rank() < 2)
        throw_error(Status::invalid_argument, "trace", "got shape {}, need a matrix",
                    shape_text(a.shape()));
    return sum(a.diag(k), 0, {}, out);
}

} // namespace Atoll
