// One operand that a product packs, a with the rows of d or b with its columns.
#pragma once

#include "convert.h"
#include "pack.h"
#include "tile.h"
#include "transpose.h"

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
    if constexpr (std::is_same_v<Lane<T>, float> && !is_complex<T>) return ATOLL_DTYPE_FLOAT32;
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
          raw_size(sizes[side.dtype]), conj(conj_),
          converts(is_packed<T> || !is_native<T>(side, dtype)),
          conversion(conversion_of(side, dtype)),
          grouping(axes, operand_, group_, raw_size, first_run) {}

    int operand, group, panel_groups;
    std::int64_t raw_size; // of the operand's elements
    bool conj, converts;
    Conversion conversion;
    Grouping grouping;

    std::int64_t panels() const { return divide_up(grouping.groups(), panel_groups); }
    std::int64_t panel_positions() const { return group * panel_groups; }
    // Bytes of one packed panel.
    std::int64_t panel_bytes(std::int64_t depth) const {
        return panel_positions() * lanes_along_k<T>(depth) * size;
    }
    // Scratch for the elements of one panel before their conversion, and after it where they are
    // put into lanes then.
    std::int64_t raw_bytes(std::int64_t depth) const {
        if (!converts) return 0;
        const std::int64_t raw = panel_positions() * depth;
        return cache_lines(raw * raw_size) + (is_packed<T> ? cache_lines(raw * packed_size<T>) : 0);
    }
    std::int64_t table_bytes(std::int64_t panels) const {
        return cache_lines(Block::bytes(panels * panel_groups, group));
    }

    // The tables of some panels. Groups past the end have no positions.
    Block block(char *memory, const Range &panels, const Local &local, std::int64_t d_size) const {
        const std::int64_t first = panels.first * panel_groups, all = panels.size() * panel_groups,
                           there = std::min(all, grouping.groups() - first);
        const Block b(memory, all, group);
        grouping.fill(first, b.part(0, there), d_size, raw_size, local.step,
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
                const std::int64_t count = panel_positions() * depth.size;
                char *const panel = out + g / panel_groups * panel_bytes(depth.size);
                const Block part = block.part(g, panel_groups);
                if (by_amx<T> && conversion.moves() && depth.is_dense) {
                    copy_dense(panel, data + depth.offsets[0], part, depth.size);
                    continue;
                }
                pack(raw, data, raw_size, part, panel_groups, 0, depth);
                if constexpr (is_packed<T>) {
                    char *const numbers = raw + cache_lines(count * raw_size);
                    if (!conversion.moves()) conversion.run(count, numbers, number, raw, raw_size);
                    into_lanes(panel, conversion.moves() ? raw : numbers, depth.size);
                } else {
                    conversion.run(count, panel, size, raw, raw_size);
                }
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
    static constexpr int number = packed_size<T>;

    // To what panels hold: T, or numbers that share a lane. An operand of another dtype becomes
    // that of the call first, except where that is wider than the numbers: then the operand fits
    // them, with its own sign.
    static Conversion conversion_of(const Side &side, std::uint32_t dtype) {
        if (!is_packed<T>) return {{side.dtype, dtype, dtype_of<T>()}, side.swapped, false};
        const bool fits = sizes[dtype] > number;
        if (number == 1 || is_float<R>)
            return {{side.dtype, fits ? side.dtype : dtype}, side.swapped, false};
        return {{side.dtype, fits ? std::uint32_t{ATOLL_DTYPE_INT16} : dtype, ATOLL_DTYPE_INT16},
                side.swapped,
                false};
    }

    // From lines of numbers along the positions, one for each index along k.
    void into_lanes(char *panel, const char *numbers, std::int64_t depth) const {
        const std::int64_t positions = panel_positions();
        alignas(64) char turned[by_amx<T> ? amx_edge * amx_lanes * 4 : 1];
        const std::int64_t all = lanes_along_k<T>(depth);
        for (std::int64_t lane = 0; lane < all; ++lane) {
            auto *const out = reinterpret_cast<std::uint32_t *>(
                turns() ? turned + lane % amx_lanes * amx_edge * 4 : panel + lane * positions * 4);
            join_lines(out, numbers + lane * in_lane<T> * positions * number,
                       std::clamp<std::int64_t>(depth - lane * in_lane<T>, 0, in_lane<T>));
            if (turns() && lane % amx_lanes == amx_lanes - 1)
                transpose(4, amx_lanes, amx_edge, panel + lane / amx_lanes * block_bytes,
                          amx_lanes * 4, turned, amx_edge * 4);
        }
    }
    // Lanes of the first `count` of some lines, and of zeros.
    void join_lines(std::uint32_t *out, const char *lines, std::int64_t count) const {
        using Number = std::conditional_t<number == 1, std::uint8_t, std::uint16_t>;
        const auto *const in = reinterpret_cast<const Number *>(lines);
        const std::int64_t n = panel_positions();
        if (count == in_lane<T> && number == 2) {
            for (std::int64_t i = 0; i < n; ++i)
                out[i] = in[i] | static_cast<std::uint32_t>(in[n + i]) << 16;
        } else if (count == in_lane<T>) {
            for (std::int64_t i = 0; i < n; ++i)
                out[i] = in[i] | static_cast<std::uint32_t>(in[n + i]) << 8 |
                         static_cast<std::uint32_t>(in[2 * n + i]) << 16 |
                         static_cast<std::uint32_t>(in[3 * n + i]) << 24;
        } else {
            for (std::int64_t i = 0; i < n; ++i) {
                out[i] = 0;
                for (std::int64_t k = 0; k < count; ++k)
                    out[i] |= static_cast<std::uint32_t>(in[k * n + i]) << (8 * number * k);
            }
        }
    }
    // What is dense along k has lanes as they are.
    void copy_dense(char *panel, const char *data, const Block &block, std::int64_t depth) const {
        constexpr std::size_t line = amx_lanes * 4;
        const auto bytes = static_cast<std::size_t>(depth * number);
        for (std::size_t first = 0; first < bytes; first += line) {
            alignas(64) char lines[amx_edge * line];
            char *const out = panel + first / line * block_bytes, *const to = turns() ? out : lines;
            const std::size_t there = std::min(line, bytes - first);
            for (int i = 0; i < amx_edge; ++i) {
                // Positions that a group lacks have another one's numbers, as their sums go
                // nowhere; groups without any may lie outside of the operand.
                const bool none = block.counts[i / group] == 0;
                if (none || there < line) std::memset(to + i * line, 0, line);
                if (!none) std::memcpy(to + i * line, data + block.packed[i] + first, there);
            }
            if (!turns()) transpose(4, amx_edge, amx_lanes, out, amx_edge * 4, lines, line);
        }
    }
    // Whether AMX wants the lanes of a position side by side.
    bool turns() const { return by_amx<T> && operand == product_b; }
    static constexpr std::int64_t block_bytes = amx_edge * amx_lanes * 4;

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
