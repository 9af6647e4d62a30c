// Creating tensors.
#pragma once

#include "atoll/tensor.hpp"

#include <functional>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace Atoll {

// The dtype, device and stream of a new tensor. The settings provide the default device. Without a
// dtype, values have that of their C++ type (double: float64, int: int32), several values the one
// that they promote to, where C++ integers and bools adapt to floating-point numbers beside them;
// makers without values use Settings::default_dtype. A value that does not fit the dtype
// (Scalar::overflows) is an Error (out_of_range); vector() and from_values() convert as cast does.
struct Placement {
    Placement() = default;
    Placement(DType d) : dtype(d) {}
    Placement(DType d, Device v) : dtype(d), device(v) {}
    Placement(DType d, Device v, Stream s) : dtype(d), device(v), stream(std::move(s)) {}
    Placement(Device v) : device(v) {}
    DType dtype = DType::none;
    Device device{};
    Stream stream{}; // none: the device's default stream
};

// Uninitialised. Sizes are checked for overflow. Throws Error (overflow, out_of_memory,
// invalid_argument).
Tensor empty(const Dims &shape, const Placement &where = {}, Order order = Order::F);
// Makes `empty({2, 3})` a tensor also where `using namespace std` brings in
// std::empty(initializer_list): overload resolution prefers the constrained template.
template <std::integral Extent> Tensor empty(std::initializer_list<Extent> shape) {
    Dims extents;
    for (const Extent extent : shape) extents.push_back(static_cast<std::int64_t>(extent));
    return empty(extents);
}
// Uninitialised, with any byte strides. Storage size and offset are such that all elements lie
// within the storage.
Tensor empty_strided(const Dims &shape, const Dims &strides_bytes, const Placement &where = {});
Tensor zeros(const Dims &shape, const Placement &where = {});
template <std::integral... Extents> Tensor empty(Extents...) = delete; // write empty({3, 4})
template <std::integral... Extents> Tensor zeros(Extents...) = delete; // write zeros({3, 4})
template <std::integral... Extents> Tensor ones(Extents...) = delete;  // write ones({3, 4})
Tensor ones(const Dims &shape, const Placement &where = {});
Tensor full(const Dims &shape, const Scalar &value, const Placement &where = {});
Tensor empty_like(const Tensor &like);
Tensor zeros_like(const Tensor &like);
Tensor ones_like(const Tensor &like);
Tensor full_like(const Tensor &like, const Scalar &value);
// Creates a matrix with ones on diagonal k; square without `cols`.
Tensor eye(std::int64_t rows, std::optional<std::int64_t> cols = {}, std::int64_t k = 0,
           const Placement &where = {});
// Creates a matrix with `vector` on diagonal k.
Tensor diag(const Tensor &vector, std::int64_t k = 0);
// The values start, start + step, … below stop (above, for a negative step). Integer dtypes hold
// truncated values; values that do not fit are an Error (out_of_range).
Tensor arange(Scalar start, Scalar stop, Scalar step = 1, const Placement &where = {});
Tensor arange(Scalar stop, const Placement &where = {});
struct LinspaceOptions {
    bool endpoint = true; // the last value is exactly stop; false: stop is the value after the last
};
// Creates `count` values from start to stop. Default dtype: float64 for integers.
Tensor linspace(Scalar start, Scalar stop, std::int64_t count, LinspaceOptions options = {},
                const Placement &where = {});
inline Tensor linspace(Scalar start, Scalar stop, std::int64_t count, const Placement &where) {
    return linspace(start, stop, count, {}, where);
}

// Creates a vector of the values.
Tensor from_values(const void *values, DType dtype, std::int64_t count, const Placement &where);
template <class T> Tensor vector(std::initializer_list<T> values, const Placement &where = {}) {
    return from_values(values.begin(), dtype_of<T>(), static_cast<std::int64_t>(values.size()),
                       where);
}
// Accepts any contiguous range: std::vector, std::array, std::span …
template <std::ranges::contiguous_range Values>
Tensor vector(const Values &values, const Placement &where = {}) {
    return from_values(std::ranges::data(values),
                       dtype_of<std::remove_cv_t<std::ranges::range_value_t<const Values>>>(),
                       static_cast<std::int64_t>(std::ranges::size(values)), where);
}
// Nested lists or ranges of numbers of any depth: {{1, 2}, {3, 4}}, a vector of vectors.
class Nested {
public:
    template <class Number>
    requires std::constructible_from<Scalar, Number> Nested(const Number &value) : value_(value) {}
    Nested(std::initializer_list<Nested> items) : items_(items), is_list_(true) {}
    template <std::ranges::input_range Items>
    requires(!std::derived_from<Items, Tensor>) Nested(const Items &items) : is_list_(true) {
        for (const auto &item : items) items_.emplace_back(item);
    }
    bool is_list() const { return is_list_; }
    const Scalar &value() const { return value_; }
    const std::vector<Nested> &items() const { return items_; }

private:
    Scalar value_;
    std::vector<Nested> items_;
    bool is_list_ = false;
};
// Makes a tensor from nested lists that reads as written: tensor({{1, 2}, {3, 4}, {5, 6}}) has the
// shape (3, 2), and lists[i][j][k] is element (i, j, k). Throws Error (invalid_argument) if lists
// at the same depth differ in length.
Tensor tensor(const Nested &lists, const Placement &where = {});
// Borrows host memory with any byte strides; `deleter` runs when the last user is gone. If this
// throws, it does not run, and the memory remains the caller's.
Tensor from_memory(void *data, const Dims &shape, const Dims &strides_bytes, DType dtype,
                   Device host, std::function<void()> deleter = {});

// Join tensors along an existing axis (concatenate; for vectors the axis may be left out) or along
// a new one (stack).
Tensor concatenate(std::span<const Tensor> tensors, std::optional<int> axis = {});
Tensor stack(std::span<const Tensor> tensors, int axis);
inline Tensor concatenate(std::initializer_list<Tensor> tensors, std::optional<int> axis = {}) {
    return concatenate(std::span(tensors.begin(), tensors.size()), axis);
}
inline Tensor stack(std::initializer_list<Tensor> tensors, int axis) {
    return stack(std::span(tensors.begin(), tensors.size()), axis);
}

} // namespace Atoll
