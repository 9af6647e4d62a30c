// One operand that a product packs, a with the rows of d or b with its columns.
#pragma once

#include "pack.h"
#include "product_code.h"

namespace Atoll::kernels {

struct Range {
    std::int64_t first, last;
    std::int64_t size() const { return last - first; }
};

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t cache_lines(std::int64_t bytes) { return (bytes + 63) & ~std::int64_t{63}; }

// A scratch matrix in place of d and c: the distance of positions in bytes, and the first panel
// that it has. No step: there is none.
struct Local {
    std::int64_t step = 0, first_panel = 0;
};

struct PackedSide {
    PackedSide(const ProductCode &code, const AxisList &axes, ProductOperand operand,
               const Side &side, std::uint32_t call_dtype, const Arrangement &arrangement,
               std::int64_t first_run);

    const ProductCode &code;
    ProductOperand operand; // a or b
    int group, panel_groups;
    std::uint32_t dtype;   // of the operand's elements
    std::int64_t raw_size; // of these
    Arrangement arrangement;
    std::uint32_t flips; // bits of each lane
    bool widens;         // halves to float32, while they are packed
    bool converts;       // otherwise, before or after
    Conversion conversion;
    Grouping grouping;

    std::int64_t panels() const { return divide_up(grouping.groups(), panel_groups); }
    std::int64_t panel_positions() const { return group * panel_groups; }
    // Bytes of one packed panel.
    std::int64_t panel_bytes(std::int64_t depth) const {
        return panel_positions() * code.lanes_along_k(depth) * code.size +
               (operand == product_b ? code.column_sums_bytes : 0);
    }
    // Scratch for the elements of one panel before their conversion, and after it where they are
    // put into lanes then.
    std::int64_t raw_bytes(std::int64_t depth) const;
    std::int64_t table_bytes(std::int64_t panels) const {
        return cache_lines(Block::bytes(panels * panel_groups, group));
    }
    // The tables of some panels. Groups past the end have no positions.
    Block block(char *memory, const Range &panels, const Local &local, std::int64_t d_size,
                std::int64_t c_size) const;

    void pack_panels(char *out, char *raw, const char *data, const Block &block,
                     const Depth &depth) const;

private:
    std::int64_t panels_in_run(const Block &block, std::int64_t g) const;
    void lines_into_lanes(char *panel, std::int64_t panels, const char *data,
                          const Depth &depth) const;
    // line(p): the numbers of the positions of all these panels, for an index along k.
    template <class Line>
    void into_lanes(char *first_panel, std::int64_t panels, std::int64_t depth, Line &&line) const;
    template <class Number> void join_lines(std::uint32_t *out, const char *const *lines,
                                            std::int64_t count, std::int64_t first) const;
    void transpose_eight(char *panel, const char *data, const Block &block,
                         std::int64_t bytes) const;
    void copy_dense(char *panel, char *raw, const char *data, const Block &block,
                    std::int64_t depth) const;
    // Whether AMX wants the lanes of a position side by side.
    bool turns() const { return code.by_amx && operand == product_b; }
};

} // namespace Atoll::kernels
