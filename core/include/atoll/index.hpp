// The elements of an index expression, and index objects.
#pragma once

#include "atoll/dims.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace Atoll {

class Device;
class Index;
class Tensor;
namespace detail {
struct IndexState;
}

struct All {};
struct Ellipsis {};
struct NewAxis {};
inline constexpr All all_;          // the whole axis
inline constexpr Ellipsis ellipsis; // as many whole axes as are left; at most once
inline constexpr NewAxis newaxis;   // an axis of extent 1

// start, start + step, … up to but excluding stop, clipped as in Python. Missing ends follow the
// sign of step.
struct Range {
    std::optional<std::int64_t> start, stop;
    std::int64_t step = 1;
};
constexpr Range range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop = {},
                      std::int64_t step = 1) {
    return {start, stop, step};
}

// Elements that give views.
template <class T>
concept BasicIndexElement =
    (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Range> ||
    std::same_as<T, All> || std::same_as<T, Ellipsis> || std::same_as<T, NewAxis>;

// One element of an index expression. Tensors and index objects are referred to, not kept.
struct IndexElement {
    enum class Kind : std::uint8_t { integer, range, all, ellipsis, newaxis, tensor, index };
    // An unsigned one past int64 is out of range of every axis, not an index from the end.
    template <std::integral T>
    requires(!std::same_as<T, bool>) IndexElement(T i)
        : kind(Kind::integer),
          integer(std::in_range<std::int64_t>(i) ? static_cast<std::int64_t>(i) : INT64_MAX) {}
    IndexElement(Range r) : kind(Kind::range), range(r) {}
    IndexElement(All) : kind(Kind::all) {}
    IndexElement(Ellipsis) : kind(Kind::ellipsis) {}
    IndexElement(NewAxis) : kind(Kind::newaxis) {}
    // An integer tensor of rank 1 picks positions of one axis. Of shape (k, n) it takes k axes,
    // each column one coordinate tuple. A bool tensor takes as many axes as it has, which must be
    // of exactly its extents. Each of these becomes one axis of the result. An integer tensor of
    // rank 0 is an integer.
    IndexElement(const Tensor &t) : kind(Kind::tensor), tensor(&t) {}
    // The elements of an index object; a bound one takes as many axes as it was bound to, which
    // must have exactly those extents. Alone it must fit the tensor as a whole.
    IndexElement(const Index &i) : kind(Kind::index), index(&i) {}

    Kind kind;
    std::int64_t integer = 0;
    Range range{};
    const Tensor *tensor = nullptr;
    const Index *index = nullptr;
};

// An index expression kept for use on any number of tensors.
//
// Unbound: the elements as they were given. Bound to a shape: negatives resolved, ranges clipped,
// masks turned into positions, everything checked; usable on tensors of exactly that shape. Bound
// to a tensor's layout as well: byte offsets computed, so that using it only moves elements.
//
// Several index tensors combine as an outer product; the coordinate form pairs. Immutable; copies
// share. Thread-safe. Binding index tensors reads them and waits for their device.
class Index {
public:
    Index(); // no elements: everything
    // Keeps the tensors and copies what they hold when it is bound, not before. An index object
    // alone gives that object.
    explicit Index(std::span<const IndexElement> elements);
    explicit Index(std::initializer_list<IndexElement> elements)
        : Index(std::span(elements.begin(), elements.size())) {}

    bool is_bound() const;            // to a shape
    bool is_bound_to_strides() const; // to a layout too
    // True iff the result is a view: no index tensors.
    bool is_view() const;
    // Throw Error (invalid_argument) unless bound.
    const Dims &input_shape() const &;
    Dims input_shape() const && { return static_cast<const Index &>(*this).input_shape(); }
    const Dims &output_shape() const &;
    Dims output_shape() const && { return static_cast<const Index &>(*this).output_shape(); }

    // Throws Error (out_of_range, invalid_argument) where it does not fit. A bound index can be
    // bound again only to what it is bound to.
    Index bind(const Dims &shape) const;
    // To the tensor's shape and strides.
    Index bind(const Tensor &tensor) const;
    // Index tensors on that device.
    Index to(Device device) const;
    // An index into the result of this one: tensor(a.then(b)) is tensor(a)(b). Must be bound.
    Index then(const Index &next) const;
    template <class... Elements> Index operator()(const Elements &...elements) const {
        return then(Index(std::initializer_list<IndexElement>{IndexElement(elements)...}));
    }

    explicit Index(std::shared_ptr<const detail::IndexState> state) : state_(std::move(state)) {}
    const std::shared_ptr<const detail::IndexState> &state() const noexcept { return state_; }

private:
    std::shared_ptr<const detail::IndexState> state_;
};

template <class... Elements> Index make_index(const Elements &...elements) {
    return Index(std::initializer_list<IndexElement>{IndexElement(elements)...});
}

} // namespace Atoll
