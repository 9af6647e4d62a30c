// Operands with known bytes: values in any layout, between guard zones.
//
// Values are transferred as raw bytes of whole storages, so that results do not depend on the
// device's copies and casts.
#pragma once

#include "atoll/atoll.hpp"
#include "check.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace Atoll::conformance {

using Shape = std::vector<std::int64_t>;
using Values = std::vector<Scalar>; // in column-major order

enum class Layout {
    dense,
    strided,
    reversed,
    transposed,
    broadcast,       // equal along the last axis
    broadcast_first, // along the first
    scattered,       // any order of axes and any signs, with gaps
    scattered_broadcast,
    unaligned
};
// The axis along which an operand of this layout does not move; -1: none.
int broadcast_axis(Layout layout, std::size_t rank);

std::int64_t count_of(const Shape &shape);
inline Dims dims_of(const Shape &shape) { return {shape.data(), shape.size()}; }

// A tensor with guard zones, and the initial bytes of its storage.
struct Guarded {
    Tensor tensor;
    std::vector<char> image;    // all bytes of the storage
    std::vector<char> elements; // 1 for those that belong to elements
    std::string what;           // "float32 (4:12, 3:52) swapped", for messages

    std::vector<char> read() const; // all bytes, now
};

// Values of `dtype` on a device, and on its default stream unless `where` names one. Broadcast: the
// values must be equal along that axis. No values: an output, filled with NaN or a pattern. `seed`:
// of what is scattered.
Guarded lay_out(const Values &values, const Shape &shape, DType dtype, const Placement &where,
                Layout layout = Layout::dense, bool swapped = false, std::size_t seed = 0);

// The elements in column-major order, from the bytes of the storage. `strict`: throws Failed if a
// bool is neither 0 nor 1.
Values decode(const Tensor &tensor, const std::vector<char> &bytes, bool strict = false);
// The elements of a tensor of any kind.
Values values_of(const Tensor &tensor);
// All bytes of a tensor's storage.
std::vector<char> storage_bytes(const Tensor &tensor);

// Throws Failed if a byte outside the elements (of an input: any byte) has changed.
void require_guards(const Guarded &operand, const std::vector<char> &now, const char *which);
void require_unchanged(const Guarded &operand, const char *which);

// Makes the values along an axis equal to those at its index 0.
Values broadcast_values(Values values, const Shape &shape, int axis);

std::string text(const Scalar &value);

} // namespace Atoll::conformance
