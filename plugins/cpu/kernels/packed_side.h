// One operand that a product packs, a with the rows of d or b with its columns.
#pragma once

#include "convert.h"
#include "pack.h"
#include "tile.h"

#include <algorithm>

namespace Atoll::kernels {

struct Range {
    std::int64_t first, last;
    std::int64_t size() const { return last - first; }
};

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t cache_lines(std::int64_t bytes) { return (bytes + 63) & ~std::int64_t{63}; }

// The dtype whose elements are those that T computes in.
template <class T> constexpr std::uint32_t dtype_of() {
    if constexpr (std::is_same_v<T, float>) return ATOLL_DTYPE_FLOAT32;
    if constexpr (std::is_same_v<T, double>) return ATOLL_DTYPE_FLOAT64;
    if constexpr (std::is_same_v<T, Complex<float>>) return ATOLL_DTYPE_COMPLEX64;
    if constexpr (std::is_same_v<T, Complex<double>>) return ATOLL_DTYPE_COMPLEX128;
    return sizeof(T) == 8 ? ATOLL_DTYPE_INT64 : ATOLL_DTYPE_INT32;
}
// Whether elements of an operand are what T computes in for a compute dtype, byte for byte.
template <class T> bool is_native(const Side &side, std::uint32_t dtype) {
    return side.dtype == dtype && !side.swapped && sizes[dtype] == sizeof(T) &&
           widened(dtype) == dtype && !std::is_same_v<T, Truth>;
}

// A scratch matrix in place of d and c: the distance of positions in bytes, and the first panel
// that it has. No step: there is none.
struct Local {
    std::int64_t step = 0, first_panel = 0;
};

template <class T> struct PackedSide {
    PackedSide(const AxisList &axes, int operand_, int group_, int panel_groups_, const Side &side,
               std::uint32_t dtype, bool conj_, std::int64_t first_run)
        : operand(operand_), group(group_), panel_groups(panel_groups_),
          raw_size(sizes[side.dtype]), conj(conj_), converts(!is_native<T>(side, dtype)),
          conversion({side.dtype, dtype, dtype_of<T>()}, side.swapped, false),
          grouping(axes, operand_, group_, raw_size, first_run) {}

    int operand, group, panel_groups;
    std::int64_t raw_size; // of the operand's elements
    bool conj, converts;
    Conversion conversion;
    Grouping grouping;

    std::int64_t panels() const { return divide_up(grouping.groups(), panel_groups); }
    std::int64_t panel_positions() const { return group * panel_groups; }
    // Bytes of one packed panel.
    std::int64_t panel_bytes(std::int64_t depth) const { return panel_positions() * depth * size; }
    // Scratch for the elements of one panel before their conversion.
    std::int64_t raw_bytes(std::int64_t depth) const {
        return converts ? cache_lines(panel_positions() * depth * raw_size) : 0;
    }
    std::int64_t table_bytes(std::int64_t panels) const {
        return cache_lines(Block::bytes(panels * panel_groups, group));
    }

    // The tables of some panels. Groups past the end have no positions.
    Block block(char *memory, const Range &panels, const Local &local) const {
        const std::int64_t first = panels.first * panel_groups, all = panels.size() * panel_groups,
                           there = std::min(all, grouping.groups() - first);
        const Block b(memory, all, group);
        grouping.fill(first, b.part(0, there), size, raw_size, local.step,
                      (panels.first - local.first_panel) * panel_positions());
        for (std::int64_t g = there; g < all; ++g) {
            b.counts[g] = b.dense[g] = 0;
            for (int i = 0; i < group; ++i)
                b.packed[g * group + i] = b.d[g * group + i] = b.c[g * group + i] = 0;
        }
        return b;
    }

    void pack_panels(char *out, char *raw, const char *data, const Block &block,
                     const Depth &depth) const {
        if (!converts) {
            pack(out, data, raw_size, block, panel_groups, grouping.across(), depth);
        } else {
            for (std::int64_t g = 0; g < block.groups; g += panel_groups) {
                pack(raw, data, raw_size, block.part(g, panel_groups), panel_groups, 0, depth);
                conversion.run(panel_positions() * depth.size,
                               out + g / panel_groups * panel_bytes(depth.size), size, raw,
                               raw_size);
            }
        }
        if constexpr (is_complex<T>) {
            const std::int64_t lines = block.groups / panel_groups * depth.size;
            if (operand == product_a)
                split_parts(out, lines);
            else if (conj)
                conjugate(out, lines * panel_positions());
        }
    }

private:
    using R = Lane<T>;
    static constexpr std::int64_t size = sizeof(T);

    // Real parts first, line by line: see Note [Panels].
    void split_parts(char *out, std::int64_t lines) const {
        constexpr int rows = TileShape<T>::rows;
        for (std::int64_t line = 0; line < lines; ++line) {
            R *const at = reinterpret_cast<R *>(out) + line * 2 * rows;
            R parts[2 * rows];
            for (int i = 0; i < rows; ++i) {
                parts[i] = at[2 * i];
                parts[rows + i] = conj ? -at[2 * i + 1] : at[2 * i + 1];
            }
            std::memcpy(at, parts, sizeof parts);
        }
    }
    static void conjugate(char *out, std::int64_t count) {
        R *const at = reinterpret_cast<R *>(out);
        for (std::int64_t i = 0; i < count; ++i) at[2 * i + 1] = -at[2 * i + 1];
    }
};

} // namespace Atoll::kernels
