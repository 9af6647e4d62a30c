// Broadcasting of shapes.
#include "call/broadcast.hpp"

#include "base/throw_error.hpp"

namespace Atoll::detail {

int broadcast_shapes(std::int64_t *shape, int &rank, const Dims &other) {
    for (int i = 0; i < other.size(); ++i) {
        if (i == rank) shape[rank++] = 1;
        if (shape[i] == 1)
            shape[i] = other[i];
        else if (other[i] != 1 && other[i] != shape[i])
            return i;
    }
    return -1;
}

bool broadcasts_to(const Dims &from, const Dims &to) {
    for (int i = 0; i < from.size(); ++i)
        if (from[i] != 1 && (i >= to.size() || from[i] != to[i])) return false;
    return true;
}

void refuse_broadcast(NamedShape a, int i, NamedShape b, int j, std::string_view op) {
    throw_error(Status::invalid_argument, op,
                "{} and {} do not broadcast: axis {} of {} is {}, axis {} of {} is {}; "
                "need extents that are equal or 1, first axes aligned",
                shape_text(a.name, a.shape), shape_text(b.name, b.shape), i, a.name, a.shape[i], j,
                b.name, b.shape[j]);
}

void refuse_auto_broadcast(NamedShape a, NamedShape b, std::string_view op) {
    throw_error(Status::invalid_argument, op,
                "got {} and {} with automatic broadcasting off; use "
                "Tensor::broadcast_to, or set Settings::auto_broadcast",
                shape_text(a.name, a.shape), shape_text(b.name, b.shape));
}

} // namespace Atoll::detail
