// Tensors: facts, views, shape functions.
#include "atoll/tensor.hpp"

#include "atoll/create.hpp"
#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <limits>

namespace Atoll {

using namespace detail;

TensorImpl &Tensor::self() const { return detail::impl(*this); }

Tensor::Tensor(Storage storage, std::int64_t offset_bytes, Dims shape, Dims strides_bytes,
               DType dtype) {
    const std::string_view op = "tensor";
    if (!storage) throw Error(Status::invalid_argument, op, "the storage is undefined");
    if (dtype == DType::none) dtype = storage.dtype();
    require_dtype(dtype, op);
    require_strides(shape, strides_bytes, op);
    const std::int64_t size = checked_bytes(shape, size_of(dtype), op);
    ByteRange range{};
    const bool fits = byte_range(shape, strides_bytes, size_of(dtype), range) &&
                      !__builtin_add_overflow(range.begin, offset_bytes, &range.begin) &&
                      !__builtin_add_overflow(range.end, offset_bytes, &range.end) &&
                      range.begin >= 0 && range.end <= storage.bytes();
    if (!fits || (size == 0 && (offset_bytes < 0 || offset_bytes > storage.bytes())))
        throw_error(Status::out_of_range, op,
                    "shape {} of {} at byte {} reaches outside the storage of {} bytes",
                    shape_text(shape), Atoll::name(dtype), offset_bytes, storage.bytes());
    bound_unused_strides(shape, strides_bytes, size_of(dtype));
    *this = make_view(storage.impl(), offset_bytes, std::move(shape), std::move(strides_bytes),
                      dtype, 0);
}

// --- facts ---------------------------------------------------------------------------------------

int Tensor::rank() const { return self().shape.size(); }
const Dims &Tensor::shape() const & { return self().shape; }
const Dims &Tensor::strides() const & { return self().strides; }
std::int64_t Tensor::extent(int axis) const {
    return self().shape[checked_axis(axis, rank(), "tensor.extent")];
}
std::int64_t Tensor::size() const { return self().size(); }
std::int64_t Tensor::bytes() const { return size() * size_of(dtype()); }
std::int64_t Tensor::offset() const { return self().offset; }
DType Tensor::dtype() const { return self().dtype; }
Device Tensor::device() const { return Device(self().device()); }
Storage Tensor::storage() const { return Storage(self().storage); }
Stream Tensor::stream() const { return storage().stream(); }
void *Tensor::data() const { return self().data(); }
bool Tensor::is_byteswapped() const { return self().swapped(); }
bool Tensor::is_read_only() const { return self().read_only(); }
bool Tensor::is_contiguous(Order order) const {
    require_one_of(order, {Order::F, Order::C}, "order", "F or C", "tensor.is_contiguous");
    return dense(self(), order);
}
bool Tensor::is_self_overlapping() const { return self_overlapping(self()); }

void Tensor::set_read_only(bool read_only) {
    TensorImpl &t = self();
    t.flags = static_cast<std::uint8_t>(read_only ? t.flags | tensor_read_only
                                                  : t.flags & ~tensor_read_only);
}

void Tensor::set_byteswapped(bool swapped) {
    if (swapped != is_byteswapped()) self().flags ^= tensor_swapped;
}

// --- views ---------------------------------------------------------------------------------------

namespace {

// A view with the axes that `edit` makes of the tensor's: of its shape and of its strides.
template <class Edit> Tensor with_axes(const TensorImpl &t, const Edit &edit) {
    Dims shape = t.shape, strides = t.strides;
    edit(shape);
    edit(strides);
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

} // namespace

Tensor Tensor::shallow_copy() const {
    const TensorImpl &t = self();
    return make_view(t, t.offset, t.shape, t.strides);
}

Tensor Tensor::view_as(DType dtype) const {
    const TensorImpl &t = self();
    require_dtype(dtype, "tensor.view_as");
    if (size_of(dtype) != size_of(t.dtype))
        throw_error(Status::invalid_argument, "tensor.view_as",
                    "got {} for {}, need a dtype of the same size", Atoll::name(dtype),
                    Atoll::name(t.dtype));
    return make_view(t.storage, t.offset, t.shape, t.strides, dtype, t.flags);
}

Tensor Tensor::T() const {
    const TensorImpl &t = self();
    if (t.shape.size() == 0) return shallow_copy();
    Dims shape = t.shape, strides = t.strides;
    if (shape.size() == 1) {
        shape.push_back(1);
        strides.push_back(strides[0] * std::max<std::int64_t>(shape[0], 1));
    }
    std::swap(shape[0], shape[1]);
    std::swap(strides[0], strides[1]);
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

namespace {

// Strides of a column-major reshape without a copy, or nothing where the layout does not allow it.
std::optional<Dims> reshaped_strides(const TensorImpl &t, const Dims &shape) {
    Dims strides = Dims::filled(shape.size(), size_of(t.dtype));
    int from = 0, to = 0;
    const auto skip_ones = [&] {
        while (from < t.shape.size() && t.shape[from] == 1) ++from;
    };
    while (to < shape.size() && shape[to] == 1) ++to;
    for (skip_ones(); from < t.shape.size(); skip_ones()) {
        // Old axes that lie in memory like one must be cut into whole new ones.
        const std::int64_t stride = t.strides[from];
        std::int64_t count = t.shape[from];
        for (++from, skip_ones(); from < t.shape.size() && t.strides[from] == stride * count;
             skip_ones())
            count *= t.shape[from++];
        std::int64_t taken = 1;
        for (; to < shape.size() && (taken < count || shape[to] == 1); ++to) {
            strides[to] = stride * taken;
            taken *= shape[to];
        }
        if (taken != count) return std::nullopt;
    }
    return strides;
}

} // namespace

Tensor Tensor::reshape(Dims shape) const {
    const TensorImpl &t = self();
    const std::int64_t count = t.size();
    int open = -1;
    std::int64_t known = 1;
    for (int i = 0; i < shape.size(); ++i) {
        if (shape[i] == -1 && open < 0)
            open = i;
        else if (shape[i] < 0)
            throw_error(Status::invalid_argument, "tensor.reshape",
                        "got shape {}, need extents of 0 or more and at most one -1",
                        shape_text(shape));
        else if (__builtin_mul_overflow(known, shape[i], &known))
            throw_error(Status::overflow, "tensor.reshape",
                        "shape {} has more elements than fit 63 bits", shape_text(shape));
    }
    if (open >= 0 && known > 0 && count % known == 0) {
        shape[open] = count / known;
        known = count;
    } else if (open >= 0) {
        known = -1;
    }
    if (known != count)
        throw_error(Status::invalid_argument, "tensor.reshape",
                    "got shape {} for {} elements (shape {}), need as many", shape_text(shape),
                    count, shape_text(t.shape));
    checked_bytes(shape, size_of(t.dtype), "tensor.reshape"); // the rank, and strides beside a 0
    if (count == 0)
        return make_view(t, t.offset, shape, dense_strides(shape, size_of(t.dtype), Order::F));
    if (std::optional<Dims> strides = reshaped_strides(t, shape))
        return make_view(t, t.offset, std::move(shape), std::move(*strides));
    const Tensor copy = replicate();
    return copy.reshape(std::move(shape));
}

Tensor Tensor::flatten(Order order) const {
    const TensorImpl &t = self();
    require_one_of(order, {Order::F, Order::C, Order::R, Order::K, Order::A}, "order",
                   "F, C, R, K or A", "tensor.flatten");
    if (order == Order::A) order = !dense(t, Order::F) && dense(t, Order::C) ? Order::C : Order::F;
    if (order == Order::K) return permute_axes(axes_by_stride(t)).reshape({-1});
    if (order == Order::R && t.shape.size() >= 2) return swap_axes(0, 1).reshape({t.size()});
    return (order == Order::C ? reverse_axes() : *this).reshape({t.size()});
}

Tensor Tensor::squeeze() const {
    const TensorImpl &t = self();
    Dims shape, strides;
    for (int i = 0; i < t.shape.size(); ++i) {
        if (t.shape[i] == 1) continue;
        shape.push_back(t.shape[i]);
        strides.push_back(t.strides[i]);
    }
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

Tensor Tensor::squeeze(int axis) const {
    const TensorImpl &t = self();
    axis = checked_axis(axis, t.shape.size(), "tensor.squeeze");
    if (t.shape[axis] != 1)
        throw_error(Status::invalid_argument, "tensor.squeeze",
                    "got axis {} of extent {} (shape {}), need 1", axis, t.shape[axis],
                    shape_text(t.shape));
    return with_axes(t, [axis](Dims &dims) { dims.erase(axis); });
}

Tensor Tensor::unsqueeze(int axis) const {
    const TensorImpl &t = self();
    axis = checked_axis(axis, t.shape.size() + 1, "tensor.unsqueeze");
    Dims shape = t.shape, strides = t.strides;
    const std::int64_t stride = axis > 0 ? strides[axis - 1] * shape[axis - 1] : size_of(t.dtype);
    shape.insert(axis, 1);
    strides.insert(axis, stride);
    checked_bytes(shape, 1, "tensor.unsqueeze");
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

Tensor Tensor::swap_axes(int a, int b) const {
    a = checked_axis(a, rank(), "tensor.swap_axes");
    b = checked_axis(b, rank(), "tensor.swap_axes");
    return with_axes(self(), [a, b](Dims &dims) { std::swap(dims[a], dims[b]); });
}

Tensor Tensor::permute_axes(std::span<const int> axes) const {
    const TensorImpl &t = self();
    const int rank = t.shape.size();
    if (static_cast<int>(axes.size()) != rank)
        throw_error(Status::invalid_argument, "tensor.permute_axes",
                    "got {} axes for rank {}, need each once", axes.size(), rank);
    Dims shape = t.shape, strides = t.strides;
    std::vector<bool> seen(axes.size());
    for (int i = 0; i < rank; ++i) {
        const int from =
            checked_axis(axes[static_cast<std::size_t>(i)], rank, "tensor.permute_axes");
        if (seen[static_cast<std::size_t>(from)])
            throw_error(Status::invalid_argument, "tensor.permute_axes", "axis {} is named twice",
                        from);
        seen[static_cast<std::size_t>(from)] = true;
        shape[i] = t.shape[from];
        strides[i] = t.strides[from];
    }
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

Tensor Tensor::reverse_axes() const {
    return with_axes(self(), [](Dims &dims) { std::reverse(dims.begin(), dims.end()); });
}

Tensor Tensor::reverse_axes2() const {
    const Tensor reversed = reverse_axes();
    return reversed.rank() < 2 ? reversed : reversed.swap_axes(0, 1);
}

Tensor Tensor::flip(int axis) const {
    const TensorImpl &t = self();
    axis = checked_axis(axis, t.shape.size(), "tensor.flip");
    Dims strides = t.strides;
    const std::int64_t last = std::max<std::int64_t>(t.shape[axis] - 1, 0) * strides[axis];
    strides[axis] = -strides[axis];
    return make_view(t, t.offset + last, t.shape, std::move(strides));
}

Tensor Tensor::broadcast_to(const Dims &shape, BroadcastOptions options) const {
    const TensorImpl &t = self();
    checked_bytes(shape, size_of(t.dtype), "tensor.broadcast_to");
    const int shift = options.align_left ? 0 : shape.size() - t.shape.size();
    Dims strides = Dims::filled(shape.size(), 0);
    bool fits = t.shape.size() <= shape.size();
    for (int i = 0; fits && i < t.shape.size(); ++i) {
        fits = t.shape[i] == 1 || t.shape[i] == shape[i + shift];
        strides[i + shift] = t.shape[i] == 1 ? 0 : t.strides[i];
    }
    if (!fits)
        throw_error(Status::invalid_argument, "tensor.broadcast_to",
                    "got shape {} for {}, need extents that are equal or 1 ({} axes "
                    "aligned)",
                    shape_text(t.shape), shape_text(shape), options.align_left ? "first" : "last");
    Tensor view = make_view(t, t.offset, shape, std::move(strides));
    if (!(shape == t.shape)) view.set_read_only();
    return view;
}

View Tensor::diag(std::int64_t k) const {
    const TensorImpl &t = self();
    if (t.shape.size() < 2)
        throw_error(Status::invalid_argument, "tensor.diag",
                    "got shape {}, need rank 2 or more (Atoll::diag makes a matrix of "
                    "a vector)",
                    shape_text(t.shape));
    const std::int64_t rows = t.shape[0], cols = t.shape[1];
    if (k < -rows || k > cols)
        throw_error(Status::out_of_range, "tensor.diag",
                    "got diagonal {} of shape {}, need {} to {}", k, shape_text(t.shape), -rows,
                    cols);
    const std::int64_t count =
        std::max<std::int64_t>(0, k >= 0 ? std::min(rows, cols - k) : std::min(rows + k, cols));
    const std::int64_t start = k >= 0 ? k * t.strides[1] : -k * t.strides[0];
    Dims shape{count}, strides{t.strides[0] + t.strides[1]};
    for (int i = 2; i < t.shape.size(); ++i) {
        shape.push_back(t.shape[i]);
        strides.push_back(t.strides[i]);
    }
    return View(make_view(t, t.offset + (count ? start : 0), std::move(shape), std::move(strides)));
}

View Tensor::real() const {
    const TensorImpl &t = self();
    if (!is_complex(t.dtype)) return View(shallow_copy());
    return View(make_view(t.storage, t.offset, t.shape, t.strides, info(t.dtype).part, t.flags));
}

View Tensor::imag() const {
    const TensorImpl &t = self();
    if (is_complex(t.dtype)) {
        // An empty view must not point outside the storage.
        const std::int64_t shift = t.size() > 0 ? info(t.dtype).alignment : 0;
        return View(make_view(t.storage, t.offset + shift, t.shape, t.strides, info(t.dtype).part,
                              t.flags));
    }
    Tensor view = zeros({}, {t.dtype, device()}).broadcast_to(t.shape);
    view.set_read_only();
    return View(view);
}

View Tensor::slice(int axis, std::int64_t begin, std::int64_t end) const {
    const TensorImpl &t = self();
    axis = checked_axis(axis, t.shape.size(), "tensor.slice");
    const std::int64_t extent = t.shape[axis];
    const std::int64_t first = begin < 0 ? begin + extent : begin;
    const std::int64_t last = end < 0 ? end + extent : end;
    if (first < 0 || last > extent || first > last)
        throw_error(Status::out_of_range, "tensor.slice",
                    "got [{}, {}) of axis {} with extent {}, need a part of [0, {})", begin, end,
                    axis, extent, extent);
    Dims shape = t.shape;
    shape[axis] = last - first;
    const std::int64_t shift = shape[axis] ? first * t.strides[axis] : 0;
    return View(make_view(t, t.offset + shift, std::move(shape), t.strides));
}

std::vector<Tensor> Tensor::split(int axis, std::int64_t parts) const {
    axis = checked_axis(axis, rank(), "tensor.split");
    const std::int64_t extent = shape()[axis];
    if (parts <= 0 || extent % parts != 0)
        throw_error(Status::invalid_argument, "tensor.split",
                    "got {} parts of axis {} with extent {}, need a divisor", parts, axis, extent);
    std::vector<Tensor> pieces;
    for (std::int64_t i = 0; i < parts; ++i)
        pieces.push_back(slice(axis, i * (extent / parts), (i + 1) * (extent / parts)));
    return pieces;
}

} // namespace Atoll
