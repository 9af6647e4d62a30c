// The indices along m, n or k, counted off with every operand's offset.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// Nested loops, the first innermost, that step several offsets (bytes) each.
struct Levels {
    static constexpr int streams = 3;
    int count = 0;
    std::int64_t extent[ATOLL_MAX_RANK + 2];
    std::int64_t step[ATOLL_MAX_RANK + 2][streams];

    void add(std::int64_t size, std::int64_t first, std::int64_t second, std::int64_t third) {
        extent[count] = size;
        step[count][0] = first;
        step[count][1] = second;
        step[count][2] = third;
        ++count;
    }
};

class Odometer {
public:
    Odometer(const Levels &levels, std::int64_t at) : levels_(levels) {
        for (int i = 0; i < levels.count; ++i) {
            index[i] = at % levels.extent[i];
            at /= levels.extent[i];
            for (int s = 0; s < Levels::streams; ++s) offset[s] += index[i] * levels.step[i][s];
        }
    }
    void next() {
        for (int i = 0; i < levels_.count; ++i) {
            for (int s = 0; s < Levels::streams; ++s) offset[s] += levels_.step[i][s];
            if (++index[i] < levels_.extent[i]) return;
            for (int s = 0; s < Levels::streams; ++s)
                offset[s] -= levels_.step[i][s] * levels_.extent[i];
            index[i] = 0;
        }
    }

    std::int64_t offset[Levels::streams] = {};
    std::int64_t index[ATOLL_MAX_RANK + 2];

private:
    const Levels &levels_;
};

// Where all positions of a group are there and side by side.
enum PositionDense : std::uint8_t { dense_in_d = 1, dense_in_c = 2, dense_in_packed = 4 };

// A panel of rows as its tiles see it.
struct PanelRows {
    std::uint8_t groups; // the first so many, in whole vectors; the others have no rows
    std::uint8_t count;  // rows that are there
    std::uint8_t dense;  // PositionDense of all these groups, also of one that fills up a vector
    std::uint8_t run;    // PositionDense: where all rows that are there are side by side
};

// Some groups of rows or columns: tables in memory that the caller provides.
struct Block {
    std::int64_t groups = 0;
    int group = 0;                // positions in a group
    std::int64_t *packed, *d, *c; // offset of each position in the packed operand, d and c
    std::uint8_t *counts, *dense; // of each group: valid positions; PositionDense
    PanelRows *panels;            // of rows, if the block begins with a panel

    static std::int64_t bytes(std::int64_t groups, int group) {
        return groups * (group * 3 * 8 + 2 + std::int64_t{sizeof(PanelRows)}) + 64;
    }
    Block() = default;
    Block(char *memory, std::int64_t groups, int group);
    // Without panels of its own.
    Block part(std::int64_t first, std::int64_t count) const {
        Block b = *this;
        b.groups = count;
        b.packed += first * group;
        b.d += first * group;
        b.c += first * group;
        b.counts += first;
        b.dense += first;
        b.panels = nullptr;
        return b;
    }
    // Of the `panel_groups` groups from `first` on, `step` of which make a vector, or one several.
    PanelRows rows_of_panel(std::int64_t first, int panel_groups, int step, std::int64_t d_size,
                            std::int64_t c_size) const;
};

// Note [Groups]
// The indices along m (or n) are cut into groups, within which as a rule only the first axis
// advances: the last group of a run along it is partly empty. Where that would leave more than a
// fifth of all positions empty, groups go on in the next run (`runs_on_`), and their elements are
// mostly not dense. If the packed operand is dense along the second axis, the first one is cut into
// chunks of a few groups and the second axis comes between: then a block has many neighbours along
// both, and is transposed from one to the other (`across`).
class Grouping {
public:
    // `first_run`: positions in such a chunk.
    Grouping(const AxisList &axes, int operand, int group, std::int64_t packed_size,
             std::int64_t first_run);

    std::int64_t groups() const { return groups_; }
    // Groups from one to its neighbour along the packed operand's dense axis; 0 where there is
    // none.
    std::int64_t across() const { return across_; }
    bool runs_on() const { return runs_on_; }

    // The positions of `block.groups` groups. Sizes are those of elements of d, of c, and of the
    // packed operand. With local_step != 0, d and c are a scratch matrix in which positions are
    // so many bytes apart, and the block's first one is the matrix's `local_first`.
    void fill(std::int64_t first, const Block &block, std::int64_t d_size, std::int64_t c_size,
              std::int64_t packed_size, std::int64_t local_step, std::int64_t local_first) const;

private:
    void fill_runs(std::int64_t first, const Block &block) const;
    void fill_on(std::int64_t first, const Block &block) const;

    Levels levels_; // of groups, or of positions if runs_on_
    int group_;
    bool runs_on_ = false;
    std::int64_t positions_; // if runs_on_
    std::int64_t groups_ = 1, across_ = 0;
    std::int64_t extent_, chunk_;        // first axis; groups of it before the second
    std::int64_t step_[Levels::streams]; // along the first axis
    int chunk_level_ = -1;               // counts the chunks
};

// The indices along k: offsets in a and b.
class DepthOrder {
public:
    DepthOrder(const AxisList &k, std::int64_t size_a, std::int64_t size_b);
    std::int64_t size() const { return size_; }
    // Positions from one to its neighbour along b's dense axis, where that is the second.
    std::int64_t across() const { return across_; }
    void fill(std::int64_t first, std::int64_t count, std::int64_t *a, std::int64_t *b) const;

private:
    Levels levels_;
    std::int64_t size_ = 1, across_ = 0;
};

} // namespace Atoll::kernels
