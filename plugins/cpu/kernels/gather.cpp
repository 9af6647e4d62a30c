// gather: elements at offsets. Only bytes move: in and out have the same dtype and byte order.
#include "offsets.h"
#include "pack_rows.h"
#include "space_pieces.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

template <class Mover>
void gather_row(std::int64_t n, char *const *data, const std::int64_t *strides, std::int64_t unit) {
    char *out = data[0];
    const char *in = data[1];
    const std::int64_t os = strides[0], is = strides[1], fs = strides[2];
    const auto dense = [&](const auto offsets) {
        for (std::int64_t k = 0; k < n; ++k) Mover::move(out + k * Mover::size, in + offsets[k]);
    };
    if (os == Mover::size && is == 0 && with_constant_unit<Mover>(data[2], fs, unit, dense)) return;
    const Offsets<0> offsets{data[2], fs, unit};
    for (std::int64_t k = 0; k < n; ++k) Mover::move(out + k * os, in + k * is + offsets[k]);
}

// Rows along axis 0 that lie together on both sides, one offset for each: such as the elements of
// words, or points. Those of rows to come are fetched ahead, as the processor does not foresee
// where they are.
void gather_rows(const Space &space, std::int64_t row_bytes, std::int64_t unit) {
    const std::int64_t length = space.shape[0],
                       part = std::max<std::int64_t>(1, piece_size / length);
    const auto step = [&](int k) { return space.strides[k][1]; };
    SpacePieces(space, 1, part).visit_all(part * length, [&](char *const *data, std::int64_t n) {
        const auto in_at = [&](std::int64_t row) {
            return data[1] + row * step(1) + load<std::int64_t>(data[2] + row * step(2)) * unit;
        };
        copy_rows_at(
            n, row_bytes, [&](std::int64_t row) { return data[0] + row * step(0); },
            [&](std::int64_t row) {
                __builtin_prefetch(in_at(std::min(row + rows_ahead, n - 1)));
                return in_at(row);
            });
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
    with_mover(dtype, [&](auto mover) {
        SpacePieces(space, 0, part).visit_all(part, [&](char *const *data, std::int64_t n) {
            if (strides[2] == 0) // one offset for all
                mover.move(n, data[0], strides[0], data[1] + load<std::int64_t>(data[2]) * unit,
                           strides[1]);
            else
                gather_row<decltype(mover)>(n, data, strides, unit);
        });
    });
    return ATOLL_STATUS_OK;
}
