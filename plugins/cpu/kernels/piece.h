// The tiles of a packed piece: in which order, and where each goes.
#pragma once

#include "packed_side.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {

// Up to this depth a panel of rows stays in the L1 cache and columns pass by; above, the reverse.
inline constexpr std::int64_t short_depth = 128;

// The packed panels of a side that a loop comes back to: they stay in the L2 cache, beside those of
// the other side and what passes of d.
inline constexpr std::int64_t reused_bytes = 256 << 10;

// At least one. Without any k a panel has no bytes.
inline std::int64_t panels_in(std::int64_t bytes, std::int64_t panel_bytes) {
    return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, panel_bytes));
}

// What a product is added to, and where it goes: tensors or a scratch matrix.
template <class T> struct ProductTarget {
    char *d;
    const char *c;
    T beta;
    Local local[2];                  // of rows and columns
    const Conversion *out = nullptr; // to d's elements, where they are not sums as they are

    std::int64_t d_size() const { return out ? out->out_size() : std::int64_t{sizeof(T)}; }
};

template <class T> struct Piece {
    const Block &m, &n;
    const char *a, *b;             // packed panels
    std::int64_t a_panel, b_panel; // bytes of one
    std::int64_t depth;
    const ProductTarget<T> &target;
    bool goes_on; // adds to what an earlier block along k left in d
    const TileFactors<T> &factors;

    void run() const {
        struct Nothing {};
        [[maybe_unused]] const std::conditional_t<by_amx<T>, AmxRegisters, Nothing> registers{};
        if (!factors.adds) return each_tile([&](const Tile &now) { now.run(depth, factors); });
        // What is added is fetched some tiles ahead.
        constexpr std::int64_t ahead = 2;
        Tile waiting[ahead];
        std::int64_t count = 0;
        each_tile([&](const Tile &next) {
            TileKernel<T>::prefetch(next.place);
            Tile &place = waiting[count++ % ahead];
            if (count > ahead) place.run(depth, factors);
            place = next;
        });
        for (std::int64_t i = std::max<std::int64_t>(0, count - ahead); i < count; ++i)
            waiting[i % ahead].run(depth, factors);
    }

private:
    using Shape = TileShape<T>;
    using R = Lane<T>;

    struct Tile {
        const R *a, *b;
        TilePlace place;
        int groups;
        void run(std::int64_t depth, const TileFactors<T> &factors) const {
            TileKernel<T>::run(groups, depth, a, b, factors, place);
        }
    };

    // body(tile) for all tiles. Of short columns a panel of rows stays in the L1 cache while
    // columns pass by; of long ones a panel of columns stays. But where d is read and columns are
    // short, tiles come in the order of d: those of a run between two steps of the other side, all
    // of its steps, and then the next run.
    template <class Body> void each_tile(Body &&body) const {
        const std::int64_t down = m.groups / Shape::row_groups,
                           across = n.groups / Shape::column_groups;
        bool rows_pass = depth > short_depth;
        std::int64_t run = rows_pass ? down : across;
        if (!rows_pass && factors.adds && down > 1 && across > 1) {
            const auto distance = [](const Block &block, std::int64_t position) {
                return std::abs(block.d[position] - block.d[0]);
            };
            const std::int64_t row_step = distance(m, Shape::rows),
                               column_step = distance(n, Shape::columns);
            rows_pass = row_step < column_step;
            run = 1;
            if (rows_pass)
                while (run < down && distance(m, run * Shape::rows) < column_step) ++run;
            else
                while (run < across && distance(n, run * Shape::columns) < row_step) ++run;
        }
        const std::int64_t passing = rows_pass ? down : across, other = rows_pass ? across : down;
        const std::int64_t others = panels_in(reused_bytes, rows_pass ? b_panel : a_panel);
        run = std::min(run, panels_in(reused_bytes, rows_pass ? a_panel : b_panel));
        for (std::int64_t first = 0; first < other; first += others)
            for (std::int64_t begin = 0; begin < passing; begin += run)
                for (std::int64_t stays = first; stays < std::min(first + others, other); ++stays)
                    for (std::int64_t p = begin; p < std::min(begin + run, passing); ++p)
                        body(rows_pass ? tile(p, stays) : tile(stays, p));
    }

    // The tile of a panel of rows and one of columns.
    Tile tile(std::int64_t i, std::int64_t j) const {
        const Block rows = m.part(i * Shape::row_groups, Shape::row_groups),
                    columns = n.part(j * Shape::column_groups, Shape::column_groups);
        Tile t;
        t.a = reinterpret_cast<const R *>(a + i * a_panel);
        t.b = reinterpret_cast<const R *>(b + j * b_panel);
        t.place.d = target.d;
        t.place.c = goes_on ? target.d : target.c;
        t.place.d_rows = rows.d;
        t.place.c_rows = goes_on ? rows.d : rows.c;
        t.place.d_columns = columns.d;
        t.place.c_columns = goes_on ? columns.d : columns.c;
        t.place.counts = rows.counts;
        t.place.dense = rows.dense;
        t.place.column_counts = columns.counts;
        t.place.out = target.out;
        const unsigned wanted =
            factors.adds && !goes_on ? dense_in_d | dense_in_c : unsigned{dense_in_d};
        // Up to the last one that has rows, in whole vectors; others may be empty, too.
        constexpr int step = TileKernel<T>::step_groups;
        t.groups = Shape::row_groups;
        while (t.groups > 1 && rows.counts[t.groups - 1] == 0) --t.groups;
        t.groups = (t.groups + step - 1) / step * step;
        unsigned dense = wanted;
        for (int g = 0; g < t.groups; ++g) dense &= rows.dense[g];
        t.place.direct = dense == wanted && !target.out;
        return t;
    }
};

} // namespace Atoll::kernels
