// Tensor: a handle to a view of a storage (offset, dtype, shape, byte strides, flags).
#pragma once

#include "atoll/detail/ref.hpp"
#include "atoll/dims.hpp"
#include "atoll/dtype.hpp"
#include "atoll/error.hpp"
#include "atoll/index.hpp"
#include "atoll/scalar.hpp"
#include "atoll/storage.hpp"

#include <algorithm>
#include <cstring>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace Atoll {

namespace detail {
struct TensorImpl;
}

class Operand;
class PartIterator;
class Selection;
class View;

// The elements of a tensor in host memory: view(i, j) is element (i, j). Indices are not checked.
// Valid as long as the tensor's storage lives.
template <class T, int axes> class HostView {
public:
    HostView(T *data, const Dims &shape, const Dims &strides) : data_(data) {
        std::copy_n(shape.data(), axes, extents_);
        std::copy_n(strides.data(), axes, strides_);
    }
    std::int64_t extent(int axis) const { return extents_[axis]; }
    template <std::integral... Index>
    requires(sizeof...(Index) == axes) T &operator()(Index... index) const {
        using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
        const std::int64_t *stride = strides_;
        std::int64_t offset = 0; // bytes
        ((offset += static_cast<std::int64_t>(index) * *stride++), ...);
        return *reinterpret_cast<T *>(reinterpret_cast<Byte *>(data_) + offset);
    }

private:
    T *data_;
    std::int64_t extents_[axes], strides_[axes];
};

// F: column-major (first axis fastest). C: row-major. R: column-major with the first two axes
// exchanged. K (flatten only): memory order. A (flatten only): C if dense in C order, else F.
enum class Order : char { F = 'F', C = 'C', R = 'R', K = 'K', A = 'A' };

struct BroadcastOptions {
    bool align_left = true; // new axes come last; false: first
};

// A handle; copies share the same tensor object (shape, flags and data), as in Python.
//
// Assignment to a Tensor rebinds the handle, assignment to a View writes the elements: `t = u`
// shares, `t(0, all_) = u` copies into the row. See View.
//
// Axes may be negative (from the end) everywhere. Broadcasting aligns the FIRST axes. `*` is the
// matrix product. Results are on the device of the left operand. Reading shapes and flags is
// thread-safe; concurrent writes to one tensor are a data race. Functions that write are not const;
// an output is taken as `const Tensor &`, because a copy of the handle could be written to anyway.
class Tensor {
public:
    Tensor() noexcept = default; // undefined: every use but assignment throws
    // A view of a storage. Throws Error if the view exceeds the storage.
    Tensor(Storage storage, std::int64_t offset_bytes, Dims shape, Dims strides_bytes, DType dtype);
    Tensor(const Tensor &) noexcept = default;
    Tensor(Tensor &&) noexcept = default;
    Tensor &operator=(const Tensor &other) &noexcept = default;
    Tensor &operator=(Tensor &&other) &noexcept = default;
    Tensor &operator=(const Tensor &other) && = delete; // of a temporary: use assign(), or a View
    template <class Number>
    requires std::constructible_from<Scalar, Number> Tensor &
    operator=(const Number &) = delete; // write t.fill(5), or keep a View: auto row = t(0)

    // --- properties ------------------------------------------------------------------------------
    bool is_defined() const noexcept { return static_cast<bool>(impl_); }
    // The truth value of the only element: `if (all(a == b))`. Throws unless there is exactly one
    // element. Blocks.
    explicit operator bool() const;
    int rank() const;
    // References into the tensor; copies for a temporary handle, which may be the last one.
    const Dims &shape() const &;
    Dims shape() const && { return static_cast<const Tensor &>(*this).shape(); }
    const Dims &strides() const &; // bytes
    Dims strides() const && { return static_cast<const Tensor &>(*this).strides(); }
    std::int64_t extent(int axis) const;
    std::int64_t size() const;   // elements
    std::int64_t bytes() const;  // size() * itemsize
    std::int64_t offset() const; // bytes from the start of the storage
    DType dtype() const;
    Device device() const;
    Storage storage() const;
    Stream stream() const;
    // The address of element (0, …, 0) in the device's memory.
    void *data() const;
    bool is_byteswapped() const;                      // tensor flag XOR storage flag
    bool is_read_only() const;                        // tensor flag or storage flag
    bool is_contiguous(Order order = Order::F) const; // F or C
    // True if two elements share a byte, or if finding out would take more than some ten
    // milliseconds, as it may with many axes whose strides are unrelated.
    bool is_self_overlapping() const;
    void set_read_only(bool read_only = true);
    // Declares whether the data are byte-swapped, without changing the data.
    void set_byteswapped(bool swapped);

    // --- views -----------------------------------------------------------------------------------
    template <BasicIndexElement... Elements> View operator()(const Elements &...elements) const;
    template <class Index> View operator[](Index) const = delete; // write t(0), t(0, all_)
    // The parts along the first axis, t(0), t(1), …: `for (View row : t) row = 1`. begin() throws
    // Error (invalid_argument) for rank 0.
    PartIterator begin() const;
    PartIterator end() const;
    // For index tensors or index objects, see selection.hpp.
    template <class... Elements>
    requires(!(BasicIndexElement<Elements> && ...)) Selection
    operator()(const Elements &...elements) const;
    // A view, or a copy if there are index tensors. Throws Error (out_of_range, invalid_argument).
    Tensor index(std::span<const IndexElement> elements) const;
    // Exchanges axes 0 and 1; an n-vector becomes 1×n. Nothing else changes the rank: the transpose
    // of a 1×n matrix is n×1.
    Tensor T() const;
    Tensor H() const; // conjugate transpose; a copy for complex dtypes
    // Reshapes in column-major order; one extent may be -1. A view if the strides allow it, else a
    // copy.
    Tensor reshape(Dims shape) const;
    Tensor flatten(Order order = Order::F) const;
    Tensor squeeze() const;           // drops all axes of extent 1
    Tensor squeeze(int axis) const;   // drops one axis; throws unless its extent is 1
    Tensor unsqueeze(int axis) const; // inserts an axis of extent 1 before `axis` (-1: at the end)
    Tensor swap_axes(int a, int b) const;
    Tensor permute_axes(std::span<const int> axes) const; // result axis i is axes[i]
    Tensor permute_axes(std::initializer_list<int> axes) const {
        return permute_axes(std::span(axes.begin(), axes.size()));
    }
    Tensor reverse_axes() const;
    Tensor reverse_axes2() const; // reverse, then exchange the first two
    Tensor flip(int axis) const;
    // A view with zero strides along the stretched axes, read-only unless `shape` is the tensor's
    // own shape.
    Tensor broadcast_to(const Dims &shape, BroadcastOptions options = {}) const;
    Tensor broadcast_like(const Tensor &like, BroadcastOptions options = {}) const {
        return broadcast_to(like.shape(), options);
    }
    // The diagonal of axes 0 and 1 as a view; k > 0 selects a diagonal above the main one. Further
    // axes follow.
    View diag(std::int64_t k = 0) const;
    View real() const; // a view; for a real tensor of all its elements
    View imag() const; // a view; for a real tensor read-only zeros with zero strides
    // The part [begin, end) along an axis.
    View slice(int axis, std::int64_t begin, std::int64_t end) const;
    std::vector<Tensor> split(int axis, std::int64_t parts) const; // parts must divide the extent
    Tensor shallow_copy() const;       // another tensor object on the same data
    Tensor view_as(DType dtype) const; // the same bytes; the element sizes must be equal

    // Copies the tensor: keeps the memory order of the axes, stride signs and zero strides, but not
    // gaps; keeps the byte order if the device type stays the same.
    Tensor clone() const;
    Tensor clone(Device device) const;
    Tensor replicate() const;                           // dense column-major, native byte order
    Tensor as_contiguous(Order order = Order::F) const; // a view if already contiguous
    Tensor cast(DType dtype) const;                     // always a copy
    Tensor cast(DType dtype, Device device) const;
    Tensor ensure(DType dtype) const; // a copy if something differs, else a view
    Tensor to(Device device) const;   // a copy if something differs, else a view
    Tensor ensure(DType dtype, Device device) const;
    // Reverses the bytes of every element and flips the flag, in place, so that the values do not
    // change.
    Tensor &byteswap();
    // Writes all elements; broadcasts `source`, converts dtype, device and byte order.
    Tensor &assign(const Operand &source);
    // Throws Error (out_of_range) if the value does not fit, see Scalar::overflows.
    Tensor &fill(const Scalar &value);
    // Gives this tensor (all its handles) its own copy of the data, laid out like clone(), so that
    // writes to it are not visible in other views, and vice versa.
    void detach();
    // Releases the data: this tensor (all its handles) becomes empty. The bytes are freed unless
    // other tensors use the storage.
    void dealloc();
    // The value of a tensor with one element. Blocks.
    Scalar item() const;
    // The same as a T: converted as cast does. Throws Error (out_of_range) where Scalar::overflows
    // says so: for an integer beyond an integer T, and a finite number that becomes infinite, but a
    // floating-point number beyond an integer T gives its nearest value. (invalid_argument) if T is
    // real and the dtype complex. Blocks.
    template <class T> T item() const;
    // All elements in column-major order, native, converted to T like cast. Blocks.
    template <class T> std::vector<T> to_vector() const {
        if constexpr (std::same_as<T, bool>) { // std::vector<bool> has no data()
            const auto bytes = cast(DType::bool_).view_as(DType::uint8).to_vector<std::uint8_t>();
            return {bytes.begin(), bytes.end()};
        } else {
            std::vector<T> values(static_cast<std::size_t>(size()));
            read(values.data(), dtype_of<T>());
            return values;
        }
    }
    // Copies all elements to host memory, converted to `dtype`, native, column-major. Blocks.
    void read(void *host, DType dtype) const;
    // Like to_vector<double>, from any real dtype (or the real parts).
    std::vector<double> to_doubles() const;

    // Direct access to the elements in host memory, without a copy. Waits until the work enqueued
    // on the tensor is done; later work is not waited for. T is the C++ type of the dtype, const T
    // for reading only. The tensor must lie in host memory, in native byte order and aligned; for
    // host_span it must also be contiguous (Order::F) and for host_view have the rank. Throws Error
    // (invalid_argument; read_only) that names what does not hold.
    template <class T> std::span<T> host_span() const;
    template <class T, int rank> HostView<T, rank> host_view() const;

    // --- arithmetic in place: shape, dtype and device do not change -----------------------------
    Tensor &operator+=(const Operand &b);
    Tensor &operator-=(const Operand &b);
    Tensor &operator*=(const Scalar &b);
    Tensor &operator*=(const Tensor &) = delete; // `*` is the matrix product: multiply(a, b, a)
    Tensor &operator/=(const Operand &b);
    Tensor &operator%=(const Operand &b); // remainder
    Tensor &operator&=(const Operand &b);
    Tensor &operator|=(const Operand &b);
    Tensor &operator^=(const Operand &b);
    Tensor &operator<<=(const Operand &b);
    Tensor &operator>>=(const Operand &b);

    explicit Tensor(detail::Ref<detail::TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
    detail::TensorImpl *impl() const noexcept { return impl_.get(); }

private:
    detail::TensorImpl &self() const;
    Scalar item_as(DType dtype) const;
    void *host_address(DType dtype, bool writes, int wanted_rank, std::string_view op) const;
    detail::Ref<detail::TensorImpl> impl_;
};

template <class T> T Tensor::item() const {
    const Scalar own = item_as(dtype_of<T>());
    T result;
    std::memcpy(&result, own.raw().value.bytes, sizeof result);
    return result;
}
template <class T> std::span<T> Tensor::host_span() const {
    constexpr int any_rank = -1;
    void *data = host_address(dtype_of<std::remove_const_t<T>>(), !std::is_const_v<T>, any_rank,
                              "tensor.host_span");
    return {static_cast<T *>(data), static_cast<std::size_t>(size())};
}
template <class T, int rank> HostView<T, rank> Tensor::host_view() const {
    void *data = host_address(dtype_of<std::remove_const_t<T>>(), !std::is_const_v<T>, rank,
                              "tensor.host_view");
    return {static_cast<T *>(data), shape(), strides()};
}

// What indexing, slice, diag, real and imag return: a tensor whose assignment writes the elements,
// also where the view has a name. Copy it to a Tensor for a handle that assignment rebinds:
//
//   auto row = t(0, all_);    row = 1;         // writes to t
//   Tensor first = t(0, all_); first = other;  // `first` now is `other`; t is unchanged
//
// Containers and std::swap move their elements by assignment: keep Tensors in them, not Views.
class View : public Tensor {
public:
    explicit View(Tensor tensor) noexcept : Tensor(std::move(tensor)) {}
    View(const View &) noexcept = default;
    // As assign(): broadcasts, converts dtype, device and byte order.
    View &operator=(const Operand &source);
    View &operator=(const View &source);
};

template <BasicIndexElement... Elements>
View Tensor::operator()(const Elements &...elements) const {
    const IndexElement list[] = {IndexElement(elements)..., IndexElement(ellipsis)};
    return View(index(std::span(list, sizeof...(Elements))));
}

// Where a loop over the parts of a tensor is. Keeps the tensor.
class PartIterator {
public:
    using value_type = View;
    using difference_type = std::ptrdiff_t;
    PartIterator() = default;
    PartIterator(Tensor tensor, std::int64_t at) : tensor_(std::move(tensor)), at_(at) {}
    View operator*() const { return tensor_(at_); }
    PartIterator &operator++() {
        ++at_;
        return *this;
    }
    PartIterator operator++(int) { return {tensor_, at_++}; }
    bool operator==(const PartIterator &other) const { return at_ == other.at_; }

private:
    Tensor tensor_;
    std::int64_t at_ = 0;
};

inline PartIterator Tensor::begin() const {
    if (rank() == 0)
        throw Error(Status::invalid_argument, "tensor.begin",
                    "got rank 0, need an axis to iterate over; read the element with item()");
    return {*this, 0};
}
inline PartIterator Tensor::end() const { return {*this, extent(0)}; }

// An input of a function: a tensor or a scalar. Lives only during the call.
class Operand {
public:
    Operand(const Tensor &tensor) : tensor_(&tensor) {}
    Operand(const Selection &selection);
    // An operand owns the elements of a selection.
    Operand(const Operand &other)
        : owned_(other.owned_), tensor_(other.tensor_ == &other.owned_ ? &owned_ : other.tensor_),
          scalar_(other.scalar_) {}
    Operand &operator=(const Operand &) = delete;
    Operand(const Scalar &scalar) : scalar_(scalar) {}
    template <class Number>
    requires std::constructible_from<Scalar, Number> &&
        (!std::same_as<Number, Scalar>)Operand(Number number)
        : scalar_(number) {}
    const Tensor *tensor() const noexcept { return tensor_; }
    const Scalar &scalar() const noexcept { return scalar_; }

private:
    Tensor owned_;
    const Tensor *tensor_ = nullptr;
    Scalar scalar_;
};

inline View &View::operator=(const Operand &source) {
    assign(source);
    return *this;
}
inline View &View::operator=(const View &source) {
    assign(source);
    return *this;
}

// Text: the elements of a tensor (blocks until they are available; see format.hpp), "(2, 3)",
// "float64", "dummy:0", "out of memory". format.hpp has the same for fmt.
std::string to_string(const Tensor &tensor);
std::string to_string(const Scalar &scalar);
std::string to_string(const Dims &dims);
std::string to_string(DType dtype);
std::string to_string(const Device &device);
std::string to_string(Status status);
std::ostream &operator<<(std::ostream &stream, const Tensor &tensor);
std::ostream &operator<<(std::ostream &stream, const Scalar &scalar);
std::ostream &operator<<(std::ostream &stream, const Dims &dims);
std::ostream &operator<<(std::ostream &stream, DType dtype);
std::ostream &operator<<(std::ostream &stream, const Device &device);
std::ostream &operator<<(std::ostream &stream, Status status);

} // namespace Atoll
