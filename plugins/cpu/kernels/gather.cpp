// gather: elements at offsets. Only bytes move: in and out have the same dtype and byte order.
#include "offsets.h"
#include "space_pieces.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

template <class Mover> void gather_row(std::int64_t n, char *const *data,
                                       const std::int64_t *strides, std::int64_t unit,
                                       Apart apart) {
    char *out = data[0];
    const char *in = data[1];
    const std::int64_t os = strides[0], is = strides[1], fs = strides[2];
    const auto dense = [&](const auto offsets) {
        const auto at = [=](std::int64_t k) { return in + offsets[k]; };
        each_fetched(n, apart, at,
                     [=](std::int64_t k) { Mover::move(out + k * Mover::size, at(k)); });
    };
    if (os == Mover::size && is == 0 && with_constant_unit<Mover>(data[2], fs, unit, dense)) return;
    const Offsets<0> offsets{data[2], fs, unit};
    const auto at = [=](std::int64_t k) { return in + k * is + offsets[k]; };
    each_fetched(n, apart, at, [=](std::int64_t k) { Mover::move(out + k * os, at(k)); });
}

// Rows along axis 0 that lie together on both sides, one offset for each: such as the elements of
// words, or points.
void gather_rows(const Space &space, std::int64_t row_bytes, std::int64_t unit) {
    const std::int64_t length = space.shape[0],
                       part = std::max<std::int64_t>(1, piece_size / length);
    const std::int64_t os = space.strides[0][1], is = space.strides[1][1], fs = space.strides[2][1];
    const Apart apart = how_far_apart(space.shape[1], {space.data[2], fs, unit});
    SpacePieces(space, 1, part).visit_all(part * length, [&](char *const *data, std::int64_t n) {
        const Offsets<0> offsets{data[2], fs, unit};
        const auto out_at = [=, out = data[0]](std::int64_t row) { return out + row * os; };
        const auto in_at = [=, in = data[1]](std::int64_t row) {
            return in + row * is + offsets[row];
        };
        move_rows(n, row_bytes, apart, out_at, in_at, in_at);
    });
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_gather(const atoll_call *call) {
    using namespace Atoll::kernels;
    const atoll_operand *operands = call->operands;
    const std::uint32_t dtype = operands[0].dtype;
    if (dtype == ATOLL_DTYPE_NONE || dtype >= ATOLL_DTYPE_COUNT || operands[1].dtype != dtype ||
        operands[2].dtype != ATOLL_DTYPE_INT64)
        return ATOLL_STATUS_NOT_SUPPORTED;
    const Space space(0, call->rank, call->shape, operands, 3);
    const std::int64_t length = space.shape[0], unit = unit_of(*call), size = sizes[dtype];
    const std::int64_t strides[] = {space.strides[0][0], space.strides[1][0], space.strides[2][0]};
    if (length * space.outer() == 0) return ATOLL_STATUS_OK;
    if (moves_rows(space, dtype)) {
        gather_rows(space, length * size, unit);
        return ATOLL_STATUS_OK;
    }
    const std::int64_t part = length >= 2 * piece_size ? piece_size : length;
    const Apart apart = how_far_apart(length, {space.data[2], strides[2], unit});
    with_mover(dtype, [&](auto mover) {
        SpacePieces(space, 0, part).visit_all(part, [&](char *const *data, std::int64_t n) {
            if (strides[2] == 0) // one offset for all
                mover.move(n, data[0], strides[0], data[1] + load<std::int64_t>(data[2]) * unit,
                           strides[1]);
            else
                gather_row<decltype(mover)>(n, data, strides, unit, apart);
        });
    });
    return ATOLL_STATUS_OK;
}
