// The oracle for views: a tensor as a shape and, per element, the number that stands there. A view
// is right iff the numbers are; every storage holds 0, 1, 2, … as int64.
#pragma once

#include "support.hpp"

#include <functional>
#include <numeric>

namespace support {

struct Model {
    Shape shape;
    std::vector<std::int64_t> numbers; // column-major

    std::int64_t at(const Shape &index) const {
        std::int64_t position = 0, stride = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            position += index[axis] * stride;
            stride *= shape[axis];
        }
        return numbers[static_cast<std::size_t>(position)];
    }
    // The model of `shape` whose element `index` is this one's element source(index).
    Model map(const Shape &other, const std::function<Shape(const Shape &)> &source) const {
        Model result{other, {}};
        oracle::each(other,
                     [&](const Shape &index) { result.numbers.push_back(at(source(index))); });
        return result;
    }
    friend bool operator==(const Model &, const Model &) = default;
};

inline Model model_of(const Atoll::Tensor &tensor) {
    Model model{shape_of(tensor.shape()), {}};
    for (const Value &value : values_of(tensor))
        model.numbers.push_back(static_cast<std::int64_t>(value.i));
    return model;
}
inline std::ostream &operator<<(std::ostream &stream, const Model &model) {
    for (std::int64_t extent : model.shape) stream << extent << ' ';
    stream << ':';
    for (std::int64_t number : model.numbers) stream << ' ' << number;
    return stream;
}

// A tensor over counting int64 with random extents (some 0 or 1) and random strides: permuted,
// negative, with gaps, zero, overlapping.
inline Atoll::Tensor random_view(Random &random, int rank, Atoll::Device device) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    Shape shape, axes, strides(static_cast<std::size_t>(rank));
    for (int i = 0; i < rank; ++i) {
        shape.push_back(below(12) == 0 ? 0 : 1 + below(4));
        axes.push_back(i);
    }
    if (below(2)) std::shuffle(axes.begin(), axes.end(), random);
    const bool gaps = below(2), wild = below(6) == 0;
    std::int64_t next = 8, low = 0, high = 8;
    for (std::int64_t a : axes) {
        const auto axis = static_cast<std::size_t>(a);
        std::int64_t &stride = strides[axis];
        stride = wild ? 8 * (below(9) - 4) : next;
        if (gaps && below(4) == 0) stride = below(2) ? -next : 0;
        if (shape[axis] > 0) {
            next *= shape[axis] + (gaps ? below(2) : 0);
            (stride < 0 ? low : high) += stride * (shape[axis] - 1);
        }
    }
    const std::int64_t lead = 8 * below(3);
    const Atoll::Tensor counting =
        Atoll::arange((high - low + lead) / 8 + 1, {Atoll::int64, device});
    return {counting.storage(), lead - low, dims(shape), dims(strides), Atoll::int64};
}

} // namespace support
