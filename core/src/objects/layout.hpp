// Shapes and strides: sizes, dense layouts, alignment, and which bytes tensors share.
#pragma once

#include "objects/objects.hpp"

namespace Atoll::detail {

// "(5, 3)", "(5,)", "()".
std::string shape_text(const Dims &shape);
// "b (5, 3)".
std::string shape_text(std::string_view name, const Dims &shape);

// Product of the extents times `itemsize`; nothing beyond 63 bits. Extents beside a 0 count, too:
// strides are made of them.
std::optional<std::int64_t> bytes_of(const Dims &shape, std::int64_t itemsize);
// The same; throws Error beyond 63 bits, and for extents below 0 or too many.
std::int64_t checked_bytes(const Dims &shape, std::int64_t itemsize, std::string_view op);
// How many elements there are in so many bytes. By a shift, as sizes are powers of two: a division
// takes as long as ten other instructions.
inline std::int64_t elements_in(std::int64_t bytes, DType dtype) {
    return bytes >> __builtin_ctzll(static_cast<std::uint64_t>(size_of(dtype)));
}
// Finds TensorImpl::dense_size, after any of dtype, storage, offset, shape and strides were set.
// Returns the bytes of all elements.
std::int64_t find_dense_size(TensorImpl &tensor);
// The bytes that the elements touch, relative to element (0, 0, …). False beyond 63 bits.
bool byte_range(const Dims &shape, const Dims &strides, std::int64_t itemsize, ByteRange &range);
// Throws Error unless there are as many strides as extents.
void require_strides(const Dims &shape, const Dims &strides, std::string_view op);
// The same for a shape and strides that a caller gives; throws Error.
ByteRange checked_range(const Dims &shape, const Dims &strides, std::int64_t itemsize,
                        std::string_view op);
// Strides of axes that are never walked (extents of 0 and 1, axes of empty tensors) may be
// anything: those too long for arithmetic become the element's size.
void bound_unused_strides(const Dims &shape, Dims &strides, std::int64_t itemsize);
// Dense strides in bytes; order F, C or R.
Dims dense_strides(const Dims &shape, std::int64_t itemsize, Order order);

// A shape's axis from a possibly negative one; throws out_of_range.
int checked_axis(int axis, int rank, std::string_view op);

// Whether two elements of a view share a byte.
Overlap self_overlap_of(const Dims &shape, const Dims &strides, std::int64_t itemsize);
// What an error says of a view for which the answer is not `no`: "overlaps itself in memory".
std::string_view self_overlap_text(Overlap overlap);
// True iff two elements of the tensor share a byte, or finding out takes too long.
bool self_overlapping(const TensorImpl &tensor);
// True iff writing the destination, element by element, may change elements of the source that are
// yet to be read: they share bytes, other than as the very same elements in the same order.
bool hazardous_overlap(const TensorImpl &destination, const TensorImpl &source);
// True iff they are two allocations of devices, which never share bytes; borrowed memory may be
// part of one.
inline bool separate(const TensorImpl &a, const TensorImpl &b) {
    return a.storage.get() != b.storage.get() && a.storage->owned && b.storage->owned;
}
// True iff the two share a byte at all.
bool overlapping(const TensorImpl &a, const TensorImpl &b);
// From the smallest stride to the largest, whatever its sign.
std::vector<int> axes_by_stride(const TensorImpl &tensor);
bool dense(const TensorImpl &tensor, Order order);
// True iff every element's address is a multiple of the dtype's alignment.
bool aligned(const TensorImpl &tensor);

} // namespace Atoll::detail
