// scatter: elements to offsets, the last one in the order of the axes stays.
//
// Note [Destinations apart]
// Axes along which the offsets do not vary are free: if no two indices of them can meet in one
// place, each may be written on its own, by any thread and in any loop order, as long as the other
// axes are walked in order. With the destinations of the other axes multiples of g bytes apart and
// within `span` bytes, that is so if the free axes, taken by growing stride, first fill no more
// than g bytes, and the rest of them step over the span of all that came before.
#include "offsets.h"
#include "ordered.h"
#include "parallel.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace Atoll::kernels {
namespace {

template <class Mover> void scatter_row(std::int64_t n, char *const *data,
                                        const std::int64_t *strides, std::int64_t unit,
                                        Apart apart) {
    char *out = data[0];
    const char *in = data[1];
    const std::int64_t os = strides[0], is = strides[1], fs = strides[2];
    const auto dense = [&](const auto offsets) {
        const auto at = [=](std::int64_t k) { return out + offsets[k]; };
        each_fetched(n, apart, at,
                     [=](std::int64_t k) { Mover::move(at(k), in + k * Mover::size); });
    };
    if (os == 0 && is == Mover::size && with_constant_unit<Mover>(data[2], fs, unit, dense)) return;
    const Offsets<0> offsets{data[2], fs, unit};
    const auto at = [=](std::int64_t k) { return out + k * os + offsets[k]; };
    each_fetched(n, apart, at, [=](std::int64_t k) { Mover::move(at(k), in + k * is); });
}

void scatter_run(std::uint32_t dtype, std::int64_t n, char *const *data,
                 const std::int64_t *strides, std::int64_t unit, Apart apart) {
    with_mover(dtype, [&](auto mover) {
        if (strides[2] == 0)
            mover.move(n, data[0] + load<std::int64_t>(data[2]) * unit, strides[0], data[1],
                       strides[1]);
        else
            scatter_row<decltype(mover)>(n, data, strides, unit, apart);
    });
}

// Note [Destinations apart].
bool destinations_apart(const Space &free, const Space &others, std::int64_t size,
                        std::int64_t unit) {
    const std::int64_t count = others.shape[0] * others.outer();
    std::int64_t low = 0, high = 0, gap = 0;
    bool first = true;
    std::int64_t start = 0;
    Rows rows(others, 0, 0);
    for (std::int64_t k = 0; k < count; ++k, rows.next()) {
        const std::int64_t at =
            (rows.data[0] - others.data[0]) + load<std::int64_t>(rows.data[2]) * unit;
        if (first) {
            low = high = start = at;
            first = false;
        }
        low = std::min(low, at);
        high = std::max(high, at);
        const std::int64_t distance = std::abs(at - start);
        if (gap == 0 || distance % gap != 0) gap = std::gcd(gap, distance);
    }
    // The free space is sorted: strides of operand 0 grow.
    std::int64_t span = size;
    bool inside = true; // still below the gap
    for (int axis = 0; axis < free.rank; ++axis) {
        const std::int64_t step = std::abs(free.strides[0][axis]);
        const std::int64_t grown = span + step * (free.shape[axis] - 1);
        if (free.shape[axis] == 1) continue;
        if (inside && gap != 0 && grown > gap) {
            inside = false;
            span += high - low;
        }
        if (step < span) return false;
        span += step * (free.shape[axis] - 1);
    }
    // Even without free axes inside it, the gap has to hold one element.
    return gap == 0 || gap >= size;
}

// Note [Own places]
// Elements that are far apart wait for the memory, and the last one in the order of the axis stays:
// each thread looks at all offsets and writes, in order, what falls into blocks of memory that are
// its own. What two threads write is never the same, as offsets count elements, not bytes; those of
// an index that is bound to a layout count bytes, and are not shared.
constexpr std::int64_t least_shared = 65536; // elements

bool can_be_shared(const Space &space, std::int64_t size, std::int64_t unit, Apart apart) {
    return space.rank == 1 && space.shape[0] >= least_shared && space.strides[0][0] == 0 &&
           space.strides[2][0] == sizeof(std::int64_t) && unit % size == 0 && apart != Apart::near;
}

template <class Mover> void scatter_shared(const Space &space, std::int64_t unit, Apart apart) {
    constexpr std::int64_t block = 2048;
    const std::int64_t n = space.shape[0], is = space.strides[1][0];
    const std::int64_t steps[] = {0, is, sizeof(std::int64_t)};
    const Offsets<0> offsets{space.data[2], sizeof(std::int64_t), unit};
    char *const out = space.data[0];
    // No more parts than threads, as each reads all offsets.
    const auto parts = static_cast<std::uint32_t>(std::min(threads_at_work(), 16));
    parallel(parts, n / parts, [&](std::int64_t begin, std::int64_t end) {
        if (end - begin == parts) return scatter_row<Mover>(n, space.data, steps, unit, apart);
        const auto first = static_cast<std::uint32_t>(begin),
                   count = static_cast<std::uint32_t>(end - begin);
        const auto is_own = [=](std::int64_t place) {
            // Blocks of 64 KiB, in no order: whatever the strides, all threads get of them.
            const std::uint32_t mixed = static_cast<std::uint32_t>(place >> 16) * 0x9e3779b1u;
            return ((mixed >> 16) * parts >> 16) - first < count;
        };
        std::int64_t places[block];
        std::int32_t which[block];
        for (std::int64_t start = 0; start < n; start += block) {
            const char *const in = space.data[1] + start * is;
            const std::int64_t some = std::min(block, n - start);
            std::int64_t own = 0;
            for (std::int64_t k = 0; k < some; ++k) {
                const std::int64_t place = offsets[start + k];
                places[own] = place;
                which[own] = static_cast<std::int32_t>(k);
                own += is_own(place);
            }
            const auto at = [&](std::int64_t k) { return out + places[k]; };
            each_fetched(own, apart, at,
                         [&](std::int64_t k) { Mover::move(at(k), in + which[k] * is); });
        }
    });
}

// Rows along axis 0 that lie together on both sides, one offset for each, in their order.
void scatter_rows(const Space &space, std::int64_t row_bytes, std::int64_t unit) {
    const std::int64_t count = space.shape[1], outer = space.outer() / count;
    const std::int64_t os = space.strides[0][1], is = space.strides[1][1], fs = space.strides[2][1];
    const Apart apart = how_far_apart(count, {space.data[2], fs, unit});
    Rows rows(space, 0, 2);
    for (std::int64_t k = 0; k < outer; ++k, rows.next()) {
        const Offsets<0> offsets{rows.data[2], fs, unit};
        const auto out_at = [=, out = rows.data[0]](std::int64_t row) {
            return out + row * os + offsets[row];
        };
        const auto in_at = [=, in = rows.data[1]](std::int64_t row) { return in + row * is; };
        move_rows(count, row_bytes, apart, out_at, in_at, out_at);
    }
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_scatter(const atoll_call *call) {
    using namespace Atoll::kernels;
    const atoll_operand *operands = call->operands;
    const std::uint32_t dtype = operands[0].dtype;
    if (dtype == ATOLL_DTYPE_NONE || dtype >= ATOLL_DTYPE_COUNT || operands[1].dtype != dtype ||
        operands[2].dtype != ATOLL_DTYPE_INT64)
        return ATOLL_STATUS_NOT_SUPPORTED;
    const std::int64_t size = sizes[dtype], unit = unit_of(*call);

    const Space all = ordered_space(0, call->rank, call->shape, operands, 3);
    if (all.shape[0] * all.outer() == 0) return ATOLL_STATUS_OK;
    if (moves_rows(all, dtype)) {
        scatter_rows(all, all.shape[0] * size, unit);
        return ATOLL_STATUS_OK;
    }
    const SplitAxes axes(*call, 0, 2);
    const Space free(0, axes.rank[0], axes.shape[0], axes.operands[0], 3);
    const Space others = ordered_space(0, axes.rank[1], axes.shape[1], axes.operands[1], 3);
    const std::int64_t free_count = free.shape[0] * free.outer();
    const std::int64_t other_count = others.shape[0] * others.outer();
    if (free_count < 8 || free_count * other_count < 1024 ||
        !destinations_apart(free, others, size, unit)) {
        const std::int64_t steps[] = {all.strides[0][0], all.strides[1][0], all.strides[2][0]};
        const Apart apart = how_far_apart(all.shape[0], {all.data[2], steps[2], unit});
        if (can_be_shared(all, size, unit, apart)) {
            with_mover(dtype,
                       [&](auto mover) { scatter_shared<decltype(mover)>(all, unit, apart); });
            return ATOLL_STATUS_OK;
        }
        const std::int64_t outer = all.outer();
        Rows rows(all, 0, 1);
        for (std::int64_t row = 0; row < outer; ++row, rows.next())
            scatter_run(dtype, all.shape[0], rows.data, steps, unit, apart);
        return ATOLL_STATUS_OK;
    }

    // Runs along the free axis where it is the denser one, along the others otherwise.
    const std::int64_t free_steps[] = {free.strides[0][0], free.strides[1][0], 0};
    const std::int64_t other_steps[] = {others.strides[0][0], others.strides[1][0],
                                        others.strides[2][0]};
    const Apart apart = how_far_apart(others.shape[0], {others.data[2], other_steps[2], unit});
    const bool along_free =
        free.shape[0] >= 8 && (free_steps[0] == size || other_count < free.shape[0]);
    const std::int64_t length = along_free ? free.shape[0] : 1;
    const std::int64_t part = std::min<std::int64_t>(length, 1024);
    const std::int64_t cuts = (length + part - 1) / part;
    const std::int64_t outer = along_free ? free.outer() : free_count;
    parallel(outer * cuts, part * other_count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t row = piece / cuts, start = piece % cuts * part;
            std::ptrdiff_t shift[2]; // bytes from the first element of all
            for (int k = 0; k < 2; ++k)
                shift[k] = (free.data[k] - static_cast<char *>(operands[k].data)) +
                           free.offset(k, row, along_free ? 1 : 0) + start * free_steps[k];
            Rows rows(others, 0, along_free ? 0 : 1);
            const std::int64_t steps = along_free ? other_count : others.outer();
            for (std::int64_t k = 0; k < steps; ++k, rows.next()) {
                char *data[] = {rows.data[0] + shift[0], rows.data[1] + shift[1], rows.data[2]};
                if (along_free)
                    scatter_run(dtype, std::min(part, length - start), data, free_steps, unit,
                                Apart::near);
                else
                    scatter_run(dtype, others.shape[0], data, other_steps, unit, apart);
            }
        }
    });
    return ATOLL_STATUS_OK;
}
