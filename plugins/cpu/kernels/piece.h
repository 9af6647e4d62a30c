// The tiles of a packed piece: in which order, and where each goes.
#pragma once

#include "packed_side.h"

#include <algorithm>

namespace Atoll::kernels {

// Up to this depth a panel of rows stays in the L1 cache and columns pass by; above, the reverse.
inline constexpr std::int64_t short_depth = 128;

// The packed panels of a side that a loop comes back to: they stay in the L2 cache, beside those of
// the other side and what passes of d.
inline constexpr std::int64_t reused_bytes = 256 << 10;

// How products are cut for the L2 cache of this processor.
struct BlockSizes {
    std::int64_t depth_of_4, depth_of_8, depth_of_complex; // most lanes along k, by their size
    std::int64_t passing_bytes; // of the side that passes by one panel after the other of what is
                                // reused
    bool tiles_fetch;           // their panels ahead, and if they are deep what they add
};
const BlockSizes &block_sizes();

// At least one. Without any k a panel has no bytes.
inline std::int64_t panels_in(std::int64_t bytes, std::int64_t panel_bytes) {
    return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, panel_bytes));
}

// What a product is added to, and where it goes: tensors or a scratch matrix.
struct ProductTarget {
    char *d;
    const char *c;
    ProductFactor beta;
    Local local[2]; // of rows and columns
    // As in TilePlace.
    const Conversion *in = nullptr, *out = nullptr;
};

struct Piece {
    const ProductCode &code;
    const Block &m, &n;
    const char *a, *b;             // packed panels
    std::int64_t a_panel, b_panel; // bytes of one
    std::int64_t depth;
    const ProductTarget &target;
    bool goes_on; // adds to what an earlier block along k left in d
    const TileFactors &factors;

    void run() const;

private:
    struct Tile {
        const char *a, *b;
        TilePlace place;
        int groups;
    };
    template <class Body> void each_tile(Body &&body) const;
    void set_rows(Tile &tile, std::int64_t panel) const;
    void set_columns(Tile &tile, std::int64_t panel) const;
    void multiply(const Tile &tile) const {
        code.multiply(tile.groups, depth, tile.a, tile.b, factors, tile.place);
    }
    void prefetch(const TilePlace &place) const;
};

} // namespace Atoll::kernels
