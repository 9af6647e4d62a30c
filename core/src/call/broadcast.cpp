// Broadcasting of shapes.
#include "call/broadcast.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace Atoll::detail {

int broadcast_shapes(Dims &shape, const Dims &other) {
    const int common = std::min(shape.size(), other.size());
    for (int i = 0; i < common; ++i) {
        if (shape[i] == other[i] || other[i] == 1) continue;
        if (shape[i] != 1) return i;
        shape[i] = other[i];
    }
    for (int i = common; i < other.size(); ++i) shape.push_back(other[i]);
    return -1;
}

bool broadcasts_to(const Dims &from, const Dims &to) {
    for (int i = 0; i < from.size(); ++i)
        if (from[i] != 1 && (i >= to.size() || from[i] != to[i])) return false;
    return true;
}

void refuse_broadcast(NamedShape a, int i, NamedShape b, int j, std::string_view op) {
    throw Error(Status::invalid_argument, op,
                fmt::format("{} and {} do not broadcast: axis {} of {} is {}, axis {} of {} is {}; "
                            "need extents that are equal or 1, first axes aligned",
                            shape_text(a.name, a.shape), shape_text(b.name, b.shape), i, a.name,
                            a.shape[i], j, b.name, b.shape[j]));
}

void refuse_auto_broadcast(NamedShape a, NamedShape b, std::string_view op) {
    throw Error(Status::invalid_argument, op,
                fmt::format("got {} and {} with automatic broadcasting off; use "
                            "Tensor::broadcast_to, or set Settings::auto_broadcast",
                            shape_text(a.name, a.shape), shape_text(b.name, b.shape)));
}

} // namespace Atoll::detail
