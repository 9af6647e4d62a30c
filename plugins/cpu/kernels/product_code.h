// The code for the tiles of one type that products are computed in, as the driver sees it: there is
// one driver for all types.
#pragma once

#include "amx.h"
#include "convert.h"
#include "positions.h"

namespace Atoll::kernels {

// alpha or beta, in the type that is computed in.
struct ProductFactor {
    alignas(16) char bytes[16] = {};
    bool is_zero = true, is_one = false;

    template <class T> T as() const { return load<T>(bytes); }
};

struct TileFactors {
    ProductFactor alpha, beta;
    PackedNumbers numbers; // where lanes hold bytes or bfloat16
    bool streams;          // d is aligned for it, and too large for the caches
    bool fetches_added;    // tiles fetch what they add, else it has been fetched before
    bool fetches_panels;   // whole tiles fetch their panels ahead
    // ATOLL_DTYPE_FLOAT16 or _BFLOAT16 where TilePlace::out does no more than to round sums of
    // float32 to it, and nothing is added; else ATOLL_DTYPE_FLOAT32.
    std::uint32_t rounded_to;
};

// How one tile goes to d. Offsets in bytes.
struct TilePlace {
    char *d;
    const char *c;
    const std::int64_t *d_rows, *c_rows; // per row, from d and c
    const std::int64_t *d_columns, *c_columns;
    const std::uint8_t *counts, *column_counts; // valid rows and columns in each group
    const std::uint8_t *dense;                  // what each group of rows is: PositionDense
    PositionDense added;                        // the bit of these that is about c_rows
    bool direct;                                // whole groups, dense in d and c, not converted
    int run; // rows that are there, if they are side by side in d and c, else 0
    // From c's elements to sums, and from sums to d's elements; null where they are the same.
    const Conversion *in, *out;
};

// What is done to the packed numbers of a side.
struct Arrangement {
    bool conj;             // of complex numbers
    PackedNumbers numbers; // as in TileFactors
};

// See tile.h.
struct ProductCode {
    std::uint32_t dtype;            // of the elements that sums are
    std::int64_t size;              // bytes of a sum, and of a panel for each position and lane
    int rows, columns;              // of a tile
    int row_group, column_group;    // see TileShape
    int row_groups, column_groups;  // in a panel
    int step_groups;                // groups of rows in a vector, at least one
    int span;                       // rows that go to d as one vector
    int in_lane;                    // indices along k that share a lane
    std::int64_t column_sums_bytes; // behind a panel of columns
    bool by_amx, is_float, is_complex;
    bool flips_rows; // bytes of rows change their sign where those of columns have the same
    ProductFactor one;

    // One tile: the sums of a panel of rows and a panel of columns, `depth` lanes of each, times
    // alpha, plus beta c. `groups`: the first so many of the panel of rows, a multiple of
    // step_groups; the others have no rows.
    void (*multiply)(int groups, std::int64_t depth, const char *a, const char *b,
                     const TileFactors &factors, const TilePlace &place);
    // sums[i] += beta values[i], for dense sums and values.
    void (*add_scaled)(std::int64_t n, char *sums, const ProductFactor &beta, const char *values);
    // Elements become what a panel holds, `lines` along k; null where they are that already.
    void (*arrange_rows)(char *panel, std::int64_t lines, const Arrangement &how);
    void (*arrange_columns)(char *panel, std::int64_t lines, const Arrangement &how);

    bool is_packed() const { return in_lane > 1; }         // lanes hold several numbers
    std::int64_t number() const { return size / in_lane; } // bytes of one of these
    // Lanes of a panel for so many indices along k.
    std::int64_t lanes_along_k(std::int64_t depth) const {
        const std::int64_t together = std::int64_t{in_lane} * (by_amx ? amx_lanes : 1);
        return (depth + together - 1) / together * (by_amx ? amx_lanes : 1);
    }
};

} // namespace Atoll::kernels
