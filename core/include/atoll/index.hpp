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
inline constexpr Ellipsis ellipsis; // all remaining axes as whole axes; at most once
inline constexpr NewAxis newaxis;   // a new axis of extent 1

// The indices start, start + step, … up to but excluding stop, clipped as in Python. Missing ends
// depend on the sign of step.
struct IndexRange {
    std::optional<std::int64_t> start, stop;
    std::int64_t step = 1;
};
constexpr IndexRange range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop = {},
                           std::int64_t step = 1) {
    return {start, stop, step};
}

// Index elements that produce views.
template <class T>
concept BasicIndexElement =
    (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, IndexRange> ||
    std::same_as<T, All> || std::same_as<T, Ellipsis> || std::same_as<T, NewAxis>;

// One element of an index expression. It refers to tensors and index objects without owning them.
struct IndexElement {
    enum class Kind : std::uint8_t { integer, range, all, ellipsis, newaxis, tensor, index };
    // An unsigned value above the range of int64 is out of range for every axis, not an index from
    // the end.
    template <std::integral T>
    requires(!std::same_as<T, bool>) IndexElement(T i)
        : kind(Kind::integer),
          integer(std::in_range<std::int64_t>(i) ? static_cast<std::int64_t>(i) : INT64_MAX) {}
    IndexElement(IndexRange r) : kind(Kind::range), range(r) {}
    IndexElement(All) : kind(Kind::all) {}
    IndexElement(Ellipsis) : kind(Kind::ellipsis) {}
    IndexElement(NewAxis) : kind(Kind::newaxis) {}
    // An integer tensor of rank 1 selects positions along one axis. One of shape (k, n) indexes k
    // axes; each column is a coordinate tuple. A bool tensor indexes as many axes as it has, which
    // must have exactly its extents. Each of these produces one axis of the result. An integer
    // tensor of rank 0 is an integer.
    IndexElement(const Tensor &t) : kind(Kind::tensor), tensor(&t) {}
    // The elements of an index object. A bound index object covers as many axes as it was bound to,
    // which must have exactly those extents. As the only element it must match the whole tensor.
    IndexElement(const Index &i) : kind(Kind::index), index(&i) {}

    Kind kind;
    std::int64_t integer = 0;
    IndexRange range{};
    const Tensor *tensor = nullptr;
    const Index *index = nullptr;
};

// An index expression that can be applied to any number of tensors.
//
// Unbound: stores the elements as specified. Bound to a shape: negative indices resolved, ranges
// clipped, masks converted to positions, everything checked; applies to tensors of exactly that
// shape. Bound also to a tensor's layout: byte offsets computed, so that applying it only moves
// elements.
//
// Several index tensors combine as an outer product; the coordinate form pairs. Immutable; copies
// share state. Thread-safe. Binding reads index tensors and waits for their device.
class Index {
public:
    Index(); // no elements: selects everything
    // Keeps the tensors; copies their contents only when it is bound. A single index object gives
    // that object.
    explicit Index(std::span<const IndexElement> elements);
    explicit Index(std::initializer_list<IndexElement> elements)
        : Index(std::span(elements.begin(), elements.size())) {}

    bool is_bound() const;            // bound to a shape
    bool is_bound_to_strides() const; // bound to a layout too
    // True iff the result is a view: there are no index tensors.
    bool is_view() const;
    // Throw Error (invalid_argument) if the index is not bound.
    const Dims &input_shape() const &;
    Dims input_shape() const && { return static_cast<const Index &>(*this).input_shape(); }
    const Dims &output_shape() const &;
    Dims output_shape() const && { return static_cast<const Index &>(*this).output_shape(); }

    // Binds to a shape. Throws Error (out_of_range, invalid_argument) if the index does not fit. A
    // bound index can only be bound again to the same shape and layout.
    Index bind(const Dims &shape) const;
    // Binds to the shape and strides of the tensor.
    Index bind(const Tensor &tensor) const;
    // Returns this index with its index tensors on that device.
    Index to(Device device) const;
    // Composes two indices: tensor(a.then(b)) equals Tensor(tensor(a))(b). This index must be
    // bound.
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
