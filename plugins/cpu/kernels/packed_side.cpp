#include "packed_side.h"

#include "interleaved.h"
#include "product_vectors.h"
#include "transpose.h"

#include <algorithm>
#include <utility>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t block_bytes = amx_edge * amx_lanes * 4;
constexpr std::int64_t most_positions = 64; // of a panel

// The distance of positions of which so many bytes lie in scratch: whole lines, and an odd number,
// so that they fall on all sets of the L1 cache.
constexpr std::int64_t line_of_position(std::int64_t bytes) { return cache_lines(bytes) | 64; }

// To what panels hold: sums' elements, or numbers that share a lane. An operand of another dtype
// becomes that of the call first, except where that is wider than the numbers: then the operand
// fits them, with its own sign.
Conversion conversion_of(const ProductCode &code, const Side &side, std::uint32_t dtype) {
    if (!code.is_packed()) return {{side.dtype, dtype, code.dtype}, side.swapped, false};
    const bool fits = sizes[dtype] > code.number();
    if (code.number() == 1 || code.is_float)
        return {{side.dtype, fits ? side.dtype : dtype}, side.swapped, false};
    return {{side.dtype, fits ? std::uint32_t{ATOLL_DTYPE_INT16} : dtype, ATOLL_DTYPE_INT16},
            side.swapped,
            false};
}

} // namespace

PackedSide::PackedSide(const ProductCode &code_, const AxisList &axes, ProductOperand operand_,
                       const Side &side, std::uint32_t call_dtype, const Arrangement &arrangement_,
                       std::int64_t first_run)
    : code(code_), operand(operand_),
      group(operand == product_a ? code.row_group : code.column_group),
      panel_groups(operand == product_a ? code.row_groups : code.column_groups), dtype(side.dtype),
      raw_size(sizes[side.dtype]), arrangement(arrangement_),
      widens(raw_size == 2 && widened(dtype) == ATOLL_DTYPE_FLOAT32 && !side.swapped &&
             (call_dtype == dtype || call_dtype == ATOLL_DTYPE_FLOAT32) &&
             code.dtype == ATOLL_DTYPE_FLOAT32 && !code.is_packed()),
      converts(!widens && (code.is_packed() || !is_native(side, call_dtype, code.size))),
      conversion(conversion_of(code, side, call_dtype)),
      grouping(axes, operand, group, raw_size, first_run) {}

std::int64_t PackedSide::raw_bytes(std::int64_t depth) const {
    if (!converts) return 0;
    const std::int64_t raw = panel_positions() * depth, elements = cache_lines(raw * raw_size);
    if (!code.is_packed()) return elements;
    return std::max(elements + cache_lines(raw * code.number()),
                    panel_positions() * line_of_position(depth * code.number()));
}

Block PackedSide::block(char *memory, const Range &panels, const Local &local, std::int64_t d_size,
                        std::int64_t c_size) const {
    const std::int64_t first = panels.first * panel_groups, all = panels.size() * panel_groups,
                       there = std::min(all, grouping.groups() - first);
    const Block b(memory, all, group);
    grouping.fill(first, b.part(0, there), d_size, c_size, raw_size, local.step,
                  (panels.first - local.first_panel) * panel_positions());
    for (std::int64_t g = there; g < all; ++g) {
        b.counts[g] = b.dense[g] = 0;
        for (int i = 0; i < group; ++i)
            b.packed[g * group + i] = b.d[g * group + i] = b.c[g * group + i] = 0;
    }
    for (std::int64_t p = 0; operand == product_a && p < panels.size(); ++p)
        b.panels[p] =
            b.rows_of_panel(p * panel_groups, panel_groups, code.step_groups, d_size, c_size);
    return b;
}

void PackedSide::pack_panels(char *out, char *raw, const char *data, const Block &block,
                             const Depth &depth) const {
    if (widens) {
        pack_widened(out, data, dtype, block, panel_groups, grouping.across(), depth);
    } else if (!converts) {
        pack(out, data, raw_size, block, panel_groups, grouping.across(), depth);
    } else {
        const bool takes_raw = code.is_packed() && conversion.moves();
        for (std::int64_t g = 0; g < block.groups; g += panel_groups) {
            const std::int64_t count = panel_positions() * depth.size;
            char *const panel = out + g / panel_groups * panel_bytes(depth.size);
            const Block part = block.part(g, panel_groups);
            if (takes_raw && depth.is_dense) {
                copy_dense(panel, raw, data + depth.offsets[0], part, depth.size);
                continue;
            }
            if (takes_raw && is_one_run(panel_groups, group, part.dense, dense_in_packed,
                                        part.packed, raw_size)) {
                const auto line = [&](std::int64_t p) {
                    return data + part.packed[0] + depth.offsets[p];
                };
                // Too far apart for the processor to fetch them ahead by itself: those of this
                // panel, and beside them those of the next one, whose first line is fetched here.
                constexpr std::int64_t ahead = 16;
                const std::int64_t size = panel_positions() * code.number();
                into_lanes(panel, depth.size, [&](std::int64_t p) {
                    if (p + ahead < depth.size) {
                        __builtin_prefetch(line(p + ahead));
                        __builtin_prefetch(line(p + ahead) + size - 1);
                    }
                    __builtin_prefetch(line(p) + size + 63, 0, 2);
                    __builtin_prefetch(line(p) + 2 * size - 1, 0, 2);
                    return line(p);
                });
                continue;
            }
            pack(raw, data, raw_size, part, panel_groups, 0, depth);
            if (!code.is_packed()) {
                conversion.run(count, panel, code.size, raw, raw_size);
                continue;
            }
            char *numbers = raw;
            if (!takes_raw) {
                numbers += cache_lines(count * raw_size);
                conversion.run(count, numbers, code.number(), raw, raw_size);
            }
            const std::int64_t line = panel_positions() * code.number();
            into_lanes(panel, depth.size, [&](std::int64_t p) { return numbers + p * line; });
        }
    }
    if (const auto arrange = operand == product_a ? code.arrange_rows : code.arrange_columns)
        for (std::int64_t g = 0; g < block.groups;
             g += panel_groups, out += panel_bytes(depth.size))
            arrange(out, code.lanes_along_k(depth.size), arrangement);
}

template <class Line>
void PackedSide::into_lanes(char *panel, std::int64_t depth, Line &&line) const {
    const std::int64_t positions = panel_positions();
    alignas(64) char turned[amx_edge * amx_lanes * 4];
    const std::int64_t all = code.lanes_along_k(depth);
    for (std::int64_t lane = 0; lane < all; ++lane) {
        auto *const out = reinterpret_cast<std::uint32_t *>(
            turns() ? turned + lane % amx_lanes * amx_edge * 4 : panel + lane * positions * 4);
        const std::int64_t first = lane * code.in_lane,
                           count = std::clamp<std::int64_t>(depth - first, 0, code.in_lane);
        const char *lines[4];
        for (std::int64_t k = 0; k < count; ++k) lines[k] = line(first + k);
        if (code.number() == 1)
            join_lines<std::uint8_t>(out, lines, count);
        else
            join_lines<std::uint16_t>(out, lines, count);
        if (turns() && lane % amx_lanes == amx_lanes - 1)
            transpose(4, amx_lanes, amx_edge, panel + lane / amx_lanes * block_bytes, amx_lanes * 4,
                      turned, amx_edge * 4);
    }
}

// Lanes of some lines, and of zeros where there are too few. The lines are at any addresses.
template <class Number> void PackedSide::join_lines(std::uint32_t *out, const char *const *lines,
                                                    std::int64_t count) const {
    constexpr int number = sizeof(Number), all = 4 / number;
    const std::int64_t n = panel_positions();
    static constexpr Number zeros[most_positions] = {};
    const char *in[all];
    for (int k = 0; k < all; ++k)
        in[k] = k < count ? lines[k] : reinterpret_cast<const char *>(zeros);
    std::int64_t i = 0;
    if constexpr (number == 1) // half the steps of widening each
        for (; i + 16 <= n; i += 16) {
            using Bytes = VectorN<std::uint8_t, 16>;
            const Bytes a = load_vector<Bytes>(in[0] + i), b = load_vector<Bytes>(in[1] + i),
                        c = load_vector<Bytes>(in[2] + i), d = load_vector<Bytes>(in[3] + i);
            const auto store = [&](std::int64_t first, auto ab, auto cd) {
                using Shorts = VectorN<std::uint16_t, 8>;
                store_vector(out + i + first, interleaved<0>((Shorts)ab, (Shorts)cd));
                store_vector(out + i + first + 4, interleaved<1>((Shorts)ab, (Shorts)cd));
            };
            store(0, interleaved<0>(a, b), interleaved<0>(c, d));
            store(8, interleaved<1>(a, b), interleaved<1>(c, d));
        }
    ATOLL_INDEPENDENT
    for (; i < n; ++i) {
        std::uint32_t lane = load<Number>(in[0] + i * number);
#pragma GCC unroll 4
        for (int k = 1; k < all; ++k)
            lane |= std::uint32_t{load<Number>(in[k] + i * number)} << (8 * number * k);
        out[i] = lane;
    }
}

// What is dense along k has lanes as they are. One position after the other is read, often along
// all of memory, and only then do positions stand side by side.
void PackedSide::copy_dense(char *panel, char *raw, const char *data, const Block &block,
                            std::int64_t depth) const {
    constexpr std::int64_t line = amx_lanes * 4;
    const std::int64_t positions = panel_positions(), bytes = depth * code.number(),
                       row = line_of_position(bytes);
    for (std::int64_t i = 0; i < positions; ++i) {
        // Positions that a group lacks have another one's numbers, as their sums go nowhere; groups
        // without any may lie outside of the operand.
        const bool none = block.counts[i / group] == 0;
        for (std::int64_t first = 0; first < bytes; first += line) {
            char *const to = turns() ? panel + first * positions + i * line : raw + i * row + first;
            const char *const from = data + block.packed[i] + first;
            if (!none && bytes - first >= line) {
                std::memcpy(to, from, line);
                continue;
            }
            std::memset(to, 0, line);
            if (!none) std::memcpy(to, from, static_cast<std::size_t>(bytes - first));
        }
    }
    if (!turns())
        transpose(4, positions, code.lanes_along_k(depth), panel, positions * 4, raw, row);
}

} // namespace Atoll::kernels
