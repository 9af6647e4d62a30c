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

enum class Layout { dense, strided, reversed, transposed, broadcast, broadcast_first, unaligned };

std::int64_t count_of(const Shape &shape);
inline Dims dims_of(const Shape &shape) { return {shape.data(), shape.size()}; }

// A tensor with guard zones, and the initial bytes of its storage.
struct Guarded {
    Tensor tensor;
    std::vector<char> image;    // all bytes of the storage
    std::vector<bool> elements; // which of them belong to elements
    std::string what;           // "float32 (4:12, 3:52) swapped", for messages

    std::vector<char> read() const; // all bytes, now
};

// Values of `dtype` on a device, and on its default stream unless `where` names one. Broadcast: the
// values must be equal along that axis. No values: an output, filled with NaN or a pattern.
Guarded lay_out(const Values &values, const Shape &shape, DType dtype, const Placement &where,
                Layout layout = Layout::dense, bool swapped = false);

// The elements in column-major order, from the bytes of the storage.
Values decode(const Tensor &tensor, const std::vector<char> &bytes);
// The elements of a tensor of any kind.
Values values_of(const Tensor &tensor);
// All bytes of a tensor's storage.
std::vector<char> storage_bytes(const Tensor &tensor);

// Throws Failed if a byte outside the elements (of an input: any byte) has changed.
void require_guards(const Guarded &operand, const std::vector<char> &now, const char *which);
void require_unchanged(const Guarded &operand, const char *which);

// Makes the values along the last (first) axis equal to those at its index 0.
Values broadcast_values(const Values &values, const Shape &shape, bool last);

std::string text(const Scalar &value);

} // namespace Atoll::conformance
