#include "piece.h"

#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace Atoll::kernels {

const BlockSizes &block_sizes() {
    static const BlockSizes sizes = [] {
    // On an Emerald Rapids a product of 1,000² float64 takes 26.5 ms by these, one of 2,000²
    // float32 104 and one of 500² complex64 6.6, and 28.8, 113 and 6.7 by the others, which
    // were measured on AMD's Zen 4 and 5.
#if defined(_SC_LEVEL2_CACHE_SIZE)
        if (sysconf(_SC_LEVEL2_CACHE_SIZE) >= 2 << 20)
            return BlockSizes{704, 512, 384, 768 << 10, true};
#endif
        return BlockSizes{384, 384, 384, reused_bytes, false};
    }();
    return sizes;
}

// Fetches what a tile adds, into the L1 cache. Into the L2 cache only, as d streams through it,
// AMD's Zen 5 runs at half the speed whenever the physical pages of this code share sets with d's:
// of 24 copies of one program 5. Inlined always: GCC drops calls of a function that does nothing
// else.
[[gnu::always_inline]] inline void Piece::prefetch(const TilePlace &place) const {
    if (!place.direct) return;
    for (int j = 0; j < code.columns; ++j)
        for (int i = 0; i < code.rows; i += code.span)
            __builtin_prefetch(place.c + place.c_columns[j] + place.c_rows[i], 0, 3);
}

// body(tile) for all tiles. Of short columns a panel of rows stays in the L1 cache while
// columns pass by; of long ones a panel of columns stays. But where d is read and columns are
// short, tiles come in the order of d: those of a run between two steps of the other side, all
// of its steps, and then the next run.
template <class Body> void Piece::each_tile(Body &&body) const {
    const std::int64_t down = m.groups / code.row_groups, across = n.groups / code.column_groups;
    bool rows_pass = depth > short_depth;
    std::int64_t run = rows_pass ? down : across;
    if (!rows_pass && !factors.beta.is_zero && down > 1 && across > 1) {
        const auto distance = [](const Block &block, std::int64_t position) {
            return std::abs(block.d[position] - block.d[0]);
        };
        const std::int64_t row_step = distance(m, code.rows),
                           column_step = distance(n, code.columns);
        rows_pass = row_step < column_step;
        run = 1;
        if (rows_pass)
            while (run < down && distance(m, run * code.rows) < column_step) ++run;
        else
            while (run < across && distance(n, run * code.columns) < row_step) ++run;
    }
    const std::int64_t passing = rows_pass ? down : across, other = rows_pass ? across : down;
    const std::int64_t others = panels_in(reused_bytes, rows_pass ? b_panel : a_panel);
    run = std::min(run, panels_in(block_sizes().passing_bytes, rows_pass ? a_panel : b_panel));
    for (std::int64_t first = 0; first < other; first += others)
        for (std::int64_t begin = 0; begin < passing; begin += run)
            for (std::int64_t stays = first; stays < std::min(first + others, other); ++stays)
                for (std::int64_t p = begin; p < std::min(begin + run, passing); ++p)
                    body(rows_pass ? tile(p, stays) : tile(stays, p));
}

// The tile of a panel of rows and one of columns.
Piece::Tile Piece::tile(std::int64_t i, std::int64_t j) const {
    const PanelRows &rows = m.panels[i];
    const std::int64_t row = i * code.rows, column = j * code.columns;
    Tile t;
    t.a = a + i * a_panel;
    t.b = b + j * b_panel;
    t.place.d = target.d;
    t.place.c = goes_on ? target.d : target.c;
    t.place.d_rows = m.d + row;
    t.place.c_rows = (goes_on ? m.d : m.c) + row;
    t.place.d_columns = n.d + column;
    t.place.c_columns = (goes_on ? n.d : n.c) + column;
    t.place.counts = m.counts + i * code.row_groups;
    t.place.dense = m.dense + i * code.row_groups;
    t.place.added = goes_on ? dense_in_d : dense_in_c;
    t.place.column_counts = n.counts + j * code.column_groups;
    t.place.in = target.in;
    t.place.out = target.out;
    const unsigned wanted =
        dense_in_d | (factors.beta.is_zero ? 0u : static_cast<unsigned>(t.place.added));
    t.groups = rows.groups;
    t.place.direct = (rows.dense & wanted) == wanted && !target.out;
    t.place.run = (rows.run & wanted) == wanted ? rows.count : 0;
    return t;
}

void Piece::run() const {
    std::optional<AmxRegisters> registers;
    if (code.by_amx) registers.emplace();
    if (factors.beta.is_zero || factors.fetches_added)
        return each_tile([&](const Tile &now) { multiply(now); });
    // What is added is fetched some tiles ahead; deep tiles have the time to do so themselves.
    constexpr std::int64_t ahead = 2;
    Tile waiting[ahead];
    std::int64_t count = 0;
    each_tile([&](const Tile &next) {
        prefetch(next.place);
        Tile &oldest = waiting[count++ % ahead];
        if (count > ahead) multiply(oldest);
        oldest = next;
    });
    for (std::int64_t i = std::max<std::int64_t>(0, count - ahead); i < count; ++i)
        multiply(waiting[i % ahead]);
}

} // namespace Atoll::kernels
