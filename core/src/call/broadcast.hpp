// Broadcasting: extents are equal or 1, first axes aligned.
#pragma once

#include "objects/layout.hpp"

namespace Atoll::detail {

// Extends the `rank` extents of `shape` so that `other` broadcasts with it. Returns the axis where
// it does not, or -1.
int broadcast_shapes(std::int64_t *shape, int &rank, const Dims &other);
// True iff a tensor of shape `from` broadcasts to `to`; it may have more axes, of extent 1.
bool broadcasts_to(const Dims &from, const Dims &to);

// An operand in an error.
struct NamedShape {
    std::string_view name;
    const Dims &shape;
};
// Throws Error: axis `i` of a and axis `j` of b do not broadcast.
[[noreturn]] void refuse_broadcast(NamedShape a, int i, NamedShape b, int j, std::string_view op);
// Throws Error: automatic broadcasting is off.
[[noreturn]] void refuse_auto_broadcast(NamedShape a, NamedShape b, std::string_view op);

} // namespace Atoll::detail
