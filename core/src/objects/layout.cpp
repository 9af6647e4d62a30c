// Sizes, dense layouts, alignment and overlap of tensors.
#include "objects/layout.hpp"

#include "base/overlap.hpp"
#include "base/throw_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/ranges.h>

namespace Atoll::detail {

namespace {

// Steps of the overlap search before the safe answer "yes" is taken: about ten milliseconds. It
// takes many axes with unrelated strides to reach it.
constexpr std::int64_t max_overlap_work = 100'000;

StridedExtent extent_of(const TensorImpl &t) {
    return {t.data(), t.shape.size(), t.shape.data(), t.strides.data(), size_of(t.dtype)};
}

} // namespace

std::string shape_text(const Dims &shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}
std::string shape_text(std::string_view name, const Dims &shape) {
    return fmt::format("{} {}", name, shape_text(shape));
}

std::optional<std::int64_t> bytes_of(const Dims &shape, std::int64_t itemsize) {
    std::int64_t bytes = itemsize;
    bool empty = false;
    for (std::int64_t extent : shape)
        if (extent == 0)
            empty = true;
        else if (__builtin_mul_overflow(bytes, extent, &bytes))
            return std::nullopt;
    return empty ? 0 : bytes;
}

std::int64_t checked_bytes(const Dims &shape, std::int64_t itemsize, std::string_view op) {
    if (shape.size() > ATOLL_MAX_RANK)
        throw_error(Status::invalid_argument, op, "got rank {}, need at most {}", shape.size(),
                    ATOLL_MAX_RANK);
    for (std::int64_t extent : shape)
        if (extent < 0)
            throw_error(Status::invalid_argument, op, "got shape {}, need extents of 0 or more",
                        shape_text(shape));
    if (const std::optional<std::int64_t> bytes = bytes_of(shape, itemsize)) return *bytes;
    throw_error(Status::overflow, op,
                "shape {} of {}-byte elements has more bytes than fit 63 bits", shape_text(shape),
                itemsize);
}

void bound_unused_strides(const Dims &shape, Dims &strides, std::int64_t itemsize) {
    constexpr std::int64_t longest = std::int64_t{1} << 48; // more than any address space
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    for (int i = 0; i < shape.size(); ++i)
        if ((empty || shape[i] == 1) && (strides[i] > longest || strides[i] < -longest))
            strides[i] = itemsize;
}

Dims dense_strides(const Dims &shape, std::int64_t itemsize, Order order) {
    const int rank = shape.size();
    Dims strides;
    strides.resize(rank);
    std::int64_t stride = itemsize;
    for (int i = 0; i < rank; ++i) {
        int axis = order == Order::C ? rank - 1 - i : i;
        if (order == Order::R && rank >= 2 && i < 2) axis = 1 - i;
        strides[axis] = stride;
        stride *= std::max<std::int64_t>(shape[axis], 1);
    }
    return strides;
}

Ref<TensorImpl> new_view(Ref<StorageImpl> storage, DType dtype, std::uint8_t flags) {
    auto *tensor = new TensorImpl;
    tensor->dtype = dtype;
    tensor->flags = flags;
    tensor->storage = std::move(storage);
    return Ref<TensorImpl>::adopt(tensor);
}
std::int64_t find_dense_size(TensorImpl &t) {
    const DTypeInfo &element = info(t.dtype);
    const std::int64_t *const extents = t.shape.data(), *const strides = t.strides.data();
    std::int64_t bytes = element.size; // and the stride that comes next if elements are dense
    bool in_order = true;
    for (int i = 0, rank = t.shape.size(); i < rank; ++i) {
        in_order &= extents[i] == 1 || strides[i] == bytes;
        bytes *= extents[i];
    }
    const auto address = reinterpret_cast<std::uintptr_t>(t.data());
    const bool dense = in_order && bytes != 0 && (address & (element.alignment - 1u)) == 0;
    t.dense_size = dense ? elements_in(bytes, t.dtype) : -1;
    return bytes;
}
Tensor finish_view(Ref<TensorImpl> view, std::int64_t offset, std::int64_t offset_if_empty) {
    view->offset = offset;
    if (find_dense_size(*view) == 0) view->offset = offset_if_empty;
    return Tensor(std::move(view));
}
// Takes over what shape and strides have.
static Tensor view_of(Ref<StorageImpl> storage, std::int64_t offset, std::int64_t offset_if_empty,
                      Dims &shape, Dims &strides, DType dtype, std::uint8_t flags) {
    Ref<TensorImpl> view = new_view(std::move(storage), dtype, flags);
    view->shape = std::move(shape);
    view->strides = std::move(strides);
    return finish_view(std::move(view), offset, offset_if_empty);
}
Tensor make_view(Ref<StorageImpl> storage, std::int64_t offset, Dims shape, Dims strides,
                 DType dtype, std::uint8_t flags) {
    return view_of(std::move(storage), offset, offset, shape, strides, dtype, flags);
}
Tensor make_view(const TensorImpl &tensor, std::int64_t offset, Dims shape, Dims strides) {
    return view_of(tensor.storage, offset, tensor.offset, shape, strides, tensor.dtype,
                   tensor.flags);
}

bool byte_range(const Dims &shape, const Dims &strides, std::int64_t itemsize, ByteRange &range) {
    std::int64_t length;
    return byte_range({nullptr, shape.size(), shape.data(), strides.data(), itemsize}, range) &&
           !__builtin_sub_overflow(range.end, range.begin, &length);
}

void require_strides(const Dims &shape, const Dims &strides, std::string_view op) {
    if (shape.size() != strides.size())
        throw_error(Status::invalid_argument, op,
                    "got {} extents and {} strides, need as many of both", shape.size(),
                    strides.size());
}

ByteRange checked_range(const Dims &shape, const Dims &strides, std::int64_t itemsize,
                        std::string_view op) {
    checked_bytes(shape, itemsize, op);
    require_strides(shape, strides, op);
    ByteRange range;
    if (!byte_range(shape, strides, itemsize, range))
        throw Error(Status::overflow, op, "the strides reach beyond 63 bits");
    return range;
}

int checked_axis(int axis, int rank, std::string_view op) {
    if (axis < -rank || axis >= rank)
        throw Error(Status::out_of_range, op,
                    rank == 0 ? fmt::format("got axis {}, but rank 0 has no axes", axis)
                              : fmt::format("got axis {} of a tensor of rank {}, need {} to {}",
                                            axis, rank, -rank, rank - 1));
    return axis < 0 ? axis + rank : axis;
}

std::vector<int> axes_by_stride(const TensorImpl &t) {
    std::vector<int> axes(static_cast<std::size_t>(t.shape.size()));
    std::iota(axes.begin(), axes.end(), 0);
    std::stable_sort(axes.begin(), axes.end(),
                     [&](int a, int b) { return std::abs(t.strides[a]) < std::abs(t.strides[b]); });
    return axes;
}

bool dense(const TensorImpl &t, Order order) {
    std::int64_t expected = size_of(t.dtype);
    const int rank = t.shape.size();
    for (int i = 0; i < rank; ++i) {
        const int axis = order == Order::C ? rank - 1 - i : i;
        if (t.shape[axis] == 0) return true;
        if (t.shape[axis] != 1 && t.strides[axis] != expected) return false;
        expected *= t.shape[axis];
    }
    return true;
}

bool aligned(const TensorImpl &tensor) {
    auto bits = reinterpret_cast<std::uintptr_t>(tensor.data());
    for (int i = 0; i < tensor.shape.size(); ++i)
        if (tensor.shape[i] != 1) bits |= static_cast<std::uintptr_t>(tensor.strides[i]);
    return (bits & (info(tensor.dtype).alignment - 1u)) == 0;
}

Overlap self_overlap_of(const Dims &shape, const Dims &strides, std::int64_t itemsize) {
    return self_overlap({nullptr, shape.size(), shape.data(), strides.data(), itemsize},
                        max_overlap_work);
}

std::string_view self_overlap_text(Overlap overlap) {
    return overlap == Overlap::yes
               ? "overlaps itself in memory"
               : "may overlap itself in memory, which takes too long to find out";
}

bool self_overlapping(const TensorImpl &t) {
    if (t.dense_size >= 0 || dense(t, Order::F)) return false;
    return self_overlap_of(t.shape, t.strides, size_of(t.dtype)) != Overlap::no;
}

bool overlapping(const TensorImpl &a, const TensorImpl &b) {
    if (separate(a, b)) return false;
    return memory_overlap(extent_of(a), extent_of(b), max_overlap_work) != Overlap::no;
}

bool hazardous_overlap(const TensorImpl &destination, const TensorImpl &source) {
    if (separate(destination, source)) return false;
    bool same =
        destination.data() == source.data() && size_of(destination.dtype) == size_of(source.dtype);
    const int rank = std::max(destination.shape.size(), source.shape.size());
    for (int i = 0; i < rank && same; ++i) {
        const std::int64_t n = i < destination.shape.size() ? destination.shape[i] : 1;
        const std::int64_t m = i < source.shape.size() ? source.shape[i] : 1;
        same = n == m && (n == 1 || destination.strides[i] == source.strides[i]);
    }
    return !same && overlapping(destination, source);
}

} // namespace Atoll::detail
