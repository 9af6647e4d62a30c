// Shapes that meet: extents are equal or 1, first axes aligned.
#pragma once

#include "objects/layout.hpp"

namespace Atoll::detail {

// Extends `shape` so that `other` broadcasts with it (first axes aligned). Throws Error that names
// `op` and both shapes.
void broadcast_shapes(Dims &shape, const Dims &other, std::string_view op);
// True iff a tensor of shape `from` broadcasts to `to`; more axes than `to` are fine if they are 1.
bool broadcasts_to(const Dims &from, const Dims &to);

} // namespace Atoll::detail
