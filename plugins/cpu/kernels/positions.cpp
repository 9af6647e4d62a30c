// Tables of offsets: see Note [Groups].
#include "positions.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {

Block::Block(char *memory, std::int64_t groups_, int group_) : groups(groups_), group(group_) {
    packed = reinterpret_cast<std::int64_t *>(memory);
    d = packed + groups * group;
    c = d + groups * group;
    counts = reinterpret_cast<std::uint8_t *>(c + groups * group);
    dense = counts + groups;
    panels = reinterpret_cast<PanelRows *>(dense + groups);
}

PanelRows Block::rows_of_panel(std::int64_t first, int panel_groups, int step, std::int64_t d_size,
                               std::int64_t c_size) const {
    int last = panel_groups;
    while (last > 1 && counts[first + last - 1] == 0) --last;
    PanelRows rows{};
    rows.groups = static_cast<std::uint8_t>((last + step - 1) / step * step);
    unsigned all_dense = dense_in_d | dense_in_c, run = all_dense, count = 0;
    for (int g = 0; g < rows.groups; ++g) all_dense &= dense[first + g];
    const std::int64_t *const d_rows = d + first * group, *const c_rows = c + first * group;
    for (int g = 0; g < last; ++g) {
        const int there = counts[first + g];
        if (count != static_cast<unsigned>(g * group)) run = 0; // the group before is not full
        for (int i = g * group; i < g * group + there; ++i) {
            if (d_rows[i] - d_rows[0] != i * d_size) run &= ~unsigned{dense_in_d};
            if (c_rows[i] - c_rows[0] != i * c_size) run &= ~unsigned{dense_in_c};
        }
        count += static_cast<unsigned>(there);
    }
    rows.count = static_cast<std::uint8_t>(count);
    rows.dense = static_cast<std::uint8_t>(all_dense);
    rows.run = static_cast<std::uint8_t>(run);
    return rows;
}

Grouping::Grouping(const AxisList &axes, int operand, int group, std::int64_t packed_size,
                   std::int64_t first_run)
    : group_(group), positions_(axes.size()), extent_(axes.extent(0)) {
    const int streams[] = {operand, product_d, product_c};
    for (int s = 0; s < Levels::streams; ++s) step_[s] = axes.stride(0, streams[s]);
    const auto add = [&](int axis, std::int64_t extent, std::int64_t times) {
        levels_.add(extent, times * axes.stride(axis, streams[0]),
                    times * axes.stride(axis, streams[1]), times * axes.stride(axis, streams[2]));
        groups_ *= extent;
    };
    std::int64_t in_run = (extent_ + group - 1) / group;
    runs_on_ = axes.count > 1 && in_run * group * 4 > extent_ * 5;
    if (runs_on_) {
        for (int i = 0; i < axes.count; ++i) add(i, axes.axis[i].extent, 1);
        groups_ = (positions_ + group - 1) / group;
        return;
    }
    chunk_ = in_run;
    const bool transposes = axes.count > 1 && step_[0] != packed_size &&
                            axes.stride(1, operand) == packed_size && axes.extent(1) >= group;
    if (transposes) {
        const std::int64_t wanted = std::max<std::int64_t>(1, (first_run + group / 2) / group);
        if (in_run > wanted) {
            // Near what is wanted, and of many pieces the fewest empty groups.
            std::int64_t least = in_run * 2;
            for (std::int64_t chunk = (wanted + 1) / 2; chunk <= wanted * 2; ++chunk) {
                const std::int64_t padded = (in_run + chunk - 1) / chunk * chunk;
                if (padded > least ||
                    (padded == least && std::abs(chunk - wanted) > std::abs(chunk_ - wanted)))
                    continue;
                least = padded;
                chunk_ = chunk;
            }
            in_run = least;
        }
        across_ = chunk_;
    }
    add(0, chunk_, group);
    if (axes.count > 1) add(1, axes.axis[1].extent, 1);
    if (chunk_ != in_run) {
        chunk_level_ = levels_.count;
        add(0, in_run / chunk_, group * chunk_);
    }
    for (int i = 2; i < axes.count; ++i) add(i, axes.axis[i].extent, 1);
}

void Grouping::fill_runs(std::int64_t first, const Block &block) const {
    Odometer at(levels_, first);
    for (std::int64_t g = 0; g < block.groups; ++g, at.next()) {
        const std::int64_t chunk = chunk_level_ < 0 ? 0 : at.index[chunk_level_];
        const std::int64_t start = (chunk * chunk_ + at.index[0]) * group_;
        const auto count = static_cast<int>(std::clamp<std::int64_t>(extent_ - start, 0, group_));
        block.counts[g] = static_cast<std::uint8_t>(count);
        std::int64_t *const tables[] = {block.packed, block.d, block.c};
        for (int s = 0; s < Levels::streams; ++s) {
            std::int64_t *const at_group = tables[s] + g * group_;
            const std::int64_t offset = at.offset[s], step = step_[s];
            for (int i = 0; i < group_; ++i) at_group[i] = offset + i * step;
            // Those that are not there repeat the last one.
            for (int i = std::max(count, 1); i < group_; ++i) at_group[i] = at_group[i - 1];
        }
    }
}

void Grouping::fill_on(std::int64_t first, const Block &block) const {
    Odometer at(levels_, first * group_);
    std::int64_t rest = positions_ - first * group_;
    for (std::int64_t g = 0; g < block.groups; ++g, rest -= group_) {
        const auto count = static_cast<int>(std::min<std::int64_t>(rest, group_));
        block.counts[g] = static_cast<std::uint8_t>(count);
        for (int i = 0; i < group_; ++i) {
            block.packed[g * group_ + i] = at.offset[0];
            block.d[g * group_ + i] = at.offset[1];
            block.c[g * group_ + i] = at.offset[2];
            if (i < count) at.next();
        }
    }
}

void Grouping::fill(std::int64_t first, const Block &block, std::int64_t d_size,
                    std::int64_t c_size, std::int64_t packed_size, std::int64_t local_step,
                    std::int64_t local_first) const {
    if (runs_on_)
        fill_on(first, block);
    else
        fill_runs(first, block);
    if (local_step)
        for (std::int64_t i = 0; i < block.groups * group_; ++i)
            block.d[i] = block.c[i] = (local_first + i) * local_step;
    const std::int64_t *const tables[] = {block.d, block.c, block.packed};
    const std::int64_t sizes[] = {d_size, c_size, packed_size};
    const auto is_dense = [&](std::int64_t g, int t) {
        // Within a group only the first axis advances, or positions of a scratch matrix.
        if (!runs_on_) return (local_step && t < 2 ? local_step : step_[(t + 1) % 3]) == sizes[t];
        const std::int64_t *at = tables[t] + g * group_;
        bool all = true;
        for (int i = 1; i < group_; ++i) all &= at[i] - at[0] == i * sizes[t];
        return all;
    };
    for (std::int64_t g = 0; g < block.groups; ++g) {
        unsigned dense = 0;
        for (int t = 0; t < 3 && block.counts[g] == group_; ++t)
            dense |= unsigned{is_dense(g, t)} << t;
        block.dense[g] = static_cast<std::uint8_t>(dense);
    }
}

DepthOrder::DepthOrder(const AxisList &k, std::int64_t size_a, std::int64_t size_b) {
    // The largest divisor up to `most`; 1 of zero.
    const auto divisor = [](std::int64_t n, std::int64_t most) {
        std::int64_t d = std::max<std::int64_t>(1, std::min(n, most));
        while (n % d != 0) --d;
        return d;
    };
    const auto add = [&](int axis, std::int64_t extent, std::int64_t times) {
        if (extent > 1)
            levels_.add(extent, times * k.stride(axis, product_a),
                        times * k.stride(axis, product_b), 0);
    };
    size_ = k.size();
    int next = 0;
    if (k.count > 1 && k.stride(0, product_a) == size_a && k.stride(1, product_b) == size_b) {
        const std::int64_t first = divisor(k.extent(0), 48), second = divisor(k.extent(1), 8);
        across_ = first;
        add(0, first, 1);
        add(1, second, 1);
        add(0, k.extent(0) / first, first);
        add(1, k.extent(1) / second, second);
        next = 2;
    }
    for (; next < k.count; ++next) add(next, k.extent(next), 1);
}

void DepthOrder::fill(std::int64_t first, std::int64_t count, std::int64_t *a,
                      std::int64_t *b) const {
    Odometer at(levels_, first);
    for (std::int64_t p = 0; p < count; ++p, at.next()) {
        a[p] = at.offset[0];
        b[p] = at.offset[1];
    }
}

} // namespace Atoll::kernels
