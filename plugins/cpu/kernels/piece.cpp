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
    Tile tile;
    tile.place.d = target.d;
    tile.place.c = goes_on ? target.d : target.c;
    tile.place.added = goes_on ? dense_in_d : dense_in_c;
    tile.place.in = target.in;
    tile.place.out = target.out;
    for (std::int64_t first = 0; first < other; first += others)
        for (std::int64_t begin = 0; begin < passing; begin += run)
            for (std::int64_t stays = first; stays < std::min(first + others, other); ++stays) {
                rows_pass ? set_columns(tile, stays) : set_rows(tile, stays);
                for (std::int64_t p = begin; p < std::min(begin + run, passing); ++p) {
                    rows_pass ? set_rows(tile, p) : set_columns(tile, p);
                    body(tile);
                }
            }
}

void Piece::set_rows(Tile &tile, std::int64_t panel) const {
    const PanelRows &rows = m.panels[panel];
    const std::int64_t row = panel * code.rows, group = panel * code.row_groups;
    tile.a = a + panel * a_panel;
    tile.groups = rows.groups;
    TilePlace &place = tile.place;
    place.d_rows = m.d + row;
    place.c_rows = (goes_on ? m.d : m.c) + row;
    place.counts = m.counts + group;
    place.dense = m.dense + group;
    const int wanted = dense_in_d | (factors.beta.is_zero ? 0 : place.added);
    place.direct = (rows.dense & wanted) == wanted && !target.out;
    place.run = (rows.run & wanted) == wanted ? rows.count : 0;
}
void Piece::set_columns(Tile &tile, std::int64_t panel) const {
    const std::int64_t column = panel * code.columns;
    tile.b = b + panel * b_panel;
    TilePlace &place = tile.place;
    place.d_columns = n.d + column;
    place.c_columns = (goes_on ? n.d : n.c) + column;
    place.column_counts = n.counts + panel * code.column_groups;
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
