// Broadcasting of shapes.
#include "call/broadcast.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::detail {

void broadcast_shapes(Dims &shape, const Dims &other, std::string_view op) {
    const int common = std::min(shape.size(), other.size());
    for (int i = 0; i < common; ++i) {
        if (shape[i] == other[i] || other[i] == 1) continue;
        if (shape[i] != 1)
            throw Error(Status::invalid_argument, op,
                        fmt::format("got shapes {} and {}, need extents that are equal or 1 on "
                                    "every axis (first axes aligned; axis {} differs)",
                                    shape_text(shape), shape_text(other), i));
        shape[i] = other[i];
    }
    for (int i = common; i < other.size(); ++i) shape.push_back(other[i]);
}

bool broadcasts_to(const Dims &from, const Dims &to) {
    for (int i = 0; i < from.size(); ++i)
        if (from[i] != 1 && (i >= to.size() || from[i] != to[i])) return false;
    return true;
}

} // namespace Atoll::detail
