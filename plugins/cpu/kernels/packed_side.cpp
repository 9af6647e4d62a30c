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

#if defined(__AVX512BW__)
// From 16 bytes of each of four lines to 16 lanes with one byte of each.
VectorN<std::uint8_t, 64> lanes_of_lines(VectorN<std::uint8_t, 64> lines) {
    const auto fours = (VectorN<std::uint32_t, 16>)lines;
    const auto beside = (VectorN<std::uint8_t, 64>)__builtin_shufflevector(
        fours, fours, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(beside, beside, (i / 16 * 16 + i % 4 * 4 + i % 16 / 4)...);
    }
    (std::make_integer_sequence<int, 64>());
}
#endif

} // namespace

PackedSide::PackedSide(const ProductCode &code_, const AxisList &axes, ProductOperand operand_,
                       const Side &side, std::uint32_t call_dtype, const Arrangement &arrangement_,
                       std::int64_t first_run)
    : code(code_), operand(operand_),
      group(operand == product_a ? code.row_group : code.column_group),
      panel_groups(operand == product_a ? code.row_groups : code.column_groups), dtype(side.dtype),
      raw_size(sizes[side.dtype]), arrangement(arrangement_),
      flips(operand == product_a && code.flips_rows && have_same_sign(arrangement.numbers)
                ? 0x80808080
                : 0),
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
    if (operand == product_a)
        for (std::int64_t p = 0; p < panels.size(); ++p)
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
            if (const std::int64_t run = takes_raw ? panels_in_run(block, g) : 0; run > 0) {
                lines_into_lanes(panel, run, data + part.packed[0], depth);
                g += (run - 1) * panel_groups;
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
            into_lanes(panel, 1, depth.size, [&](std::int64_t p) { return numbers + p * line; });
        }
    }
    if (const auto arrange = operand == product_a ? code.arrange_rows : code.arrange_columns)
        for (std::int64_t g = 0; g < block.groups;
             g += panel_groups, out += panel_bytes(depth.size))
            arrange(out, code.lanes_along_k(depth.size), arrangement);
}

// How many panels from group g on have numbers that all follow each other.
std::int64_t PackedSide::panels_in_run(const Block &block, std::int64_t g) const {
    std::int64_t at = g;
    const auto follows = [&] {
        return (block.dense[at] & dense_in_packed) != 0 &&
               block.packed[at * group] - block.packed[g * group] == (at - g) * group * raw_size;
    };
    while (at < block.groups && follows()) ++at;
    return (at - g) / panel_groups;
}

// All panels of such a run for one lane before the next: memory is read in long runs.
void PackedSide::lines_into_lanes(char *panel, std::int64_t panels, const char *data,
                                  const Depth &depth) const {
    const auto line = [&](std::int64_t p) { return data + depth.offsets[p]; };
    const std::int64_t bytes = panels * panel_positions() * raw_size;
    // Lines that do not follow each other are too far apart for the processor to fetch them ahead
    // by itself.
    const bool fetches = depth.size > 1 && line(1) - line(0) != bytes;
    constexpr std::int64_t ahead = 16;
    into_lanes(panel, panels, depth.size, [&](std::int64_t p) {
        if (fetches && p + ahead < depth.size) {
            const char *const later = line(p + ahead);
            for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(later + at);
            __builtin_prefetch(later + bytes - 1);
        }
        return line(p);
    });
}

template <class Line> void PackedSide::into_lanes(char *first_panel, std::int64_t panels,
                                                  std::int64_t depth, Line &&line) const {
    const std::int64_t positions = panel_positions(), bytes = panel_bytes(depth);
    alignas(64) char turned[amx_edge * amx_lanes * 4];
    const std::int64_t all = code.lanes_along_k(depth),
                       together = turns() ? std::int64_t{amx_lanes} : std::int64_t{1};
    const char *lines[amx_lanes][4];
    for (std::int64_t begin = 0; begin < all; begin += together) {
        const auto count = [&](std::int64_t lane) {
            return std::clamp<std::int64_t>(depth - (begin + lane) * code.in_lane, 0, code.in_lane);
        };
        for (std::int64_t lane = 0; lane < together; ++lane)
            for (std::int64_t k = 0; k < count(lane); ++k)
                lines[lane][k] = line((begin + lane) * code.in_lane + k);
        for (std::int64_t p = 0; p < panels; ++p) {
            char *const panel = first_panel + p * bytes;
            for (std::int64_t lane = 0; lane < together; ++lane) {
                auto *const out = reinterpret_cast<std::uint32_t *>(
                    turns() ? turned + lane * amx_edge * 4 : panel + begin * positions * 4);
                if (code.number() == 1)
                    join_lines<std::uint8_t>(out, lines[lane], count(lane), p * positions);
                else
                    join_lines<std::uint16_t>(out, lines[lane], count(lane), p * positions);
            }
            if (turns())
                transpose(4, amx_lanes, amx_edge, panel + begin / amx_lanes * block_bytes,
                          amx_lanes * 4, turned, amx_edge * 4);
        }
    }
}

// Lanes of some lines from a number on, and of zeros where there are too few. The lines are at any
// addresses.
template <class Number> void PackedSide::join_lines(std::uint32_t *out, const char *const *lines,
                                                    std::int64_t count, std::int64_t first) const {
    constexpr int number = sizeof(Number), all = 4 / number;
    const std::int64_t n = panel_positions();
    static constexpr Number zeros[most_positions] = {};
    const char *in[all];
    for (int k = 0; k < all; ++k)
        in[k] = k < count ? lines[k] + first * number : reinterpret_cast<const char *>(zeros);
    std::int64_t i = 0;
#if defined(__AVX512BW__)
    if constexpr (number == 1)
        for (; i + 16 <= n; i += 16) {
            using Bytes = VectorN<std::uint8_t, 16>;
            const auto of = [&](int k) { return load_vector<Bytes>(in[k] + i); };
            const auto lanes = (VectorN<std::uint32_t, 16>)lanes_of_lines(
                joined(joined(of(0), of(1)), joined(of(2), of(3))));
            store_vector(out + i, lanes ^ flips);
        }
#endif
    ATOLL_INDEPENDENT
    for (; i < n; ++i) {
        std::uint32_t lane = load<Number>(in[0] + i * number);
#pragma GCC unroll 4
        for (int k = 1; k < all; ++k)
            lane |= std::uint32_t{load<Number>(in[k] + i * number)} << (8 * number * k);
        out[i] = lane ^ flips;
    }
}

// What is dense along k has lanes nearly as they are. One position after the other is read, often
// along all of memory, and only then do positions stand side by side.
void PackedSide::copy_dense(char *panel, char *raw, const char *data, const Block &block,
                            std::int64_t depth) const {
    constexpr std::int64_t line = amx_lanes * 4;
    const std::int64_t positions = panel_positions(), bytes = depth * code.number(),
                       row = line_of_position(bytes);
    if (positions == 8 && group == 8 && flips == 0 && block.counts[0] > 0)
        return transpose_eight(panel, data, block, bytes);
    for (std::int64_t i = 0; i < positions; ++i) {
        // Positions that a group lacks have another one's numbers, as their sums go nowhere; groups
        // without any may lie outside of the operand.
        const bool none = block.counts[i / group] == 0;
        for (std::int64_t first = 0; first < bytes; first += line) {
            char *const to = turns() ? panel + first * positions + i * line : raw + i * row + first;
            const char *const from = data + block.packed[i] + first;
            VectorN<std::uint32_t, amx_lanes> lanes = {};
            if (!none && bytes - first >= line)
                std::memcpy(&lanes, from, line);
            else if (!none)
                std::memcpy(&lanes, from, static_cast<std::size_t>(bytes - first));
            store_vector(to, lanes ^ flips);
        }
    }
    if (!turns())
        transpose(4, positions, code.lanes_along_k(depth), panel, positions * 4, raw, row);
}

// The same of eight positions, at least one of which is there: in registers.
void PackedSide::transpose_eight(char *panel, const char *data, const Block &block,
                                 std::int64_t bytes) const {
    using V = VectorN<std::uint32_t, 8>;
    constexpr std::int64_t run = sizeof(V);
    std::int64_t at = 0;
    for (; at + run <= bytes; at += run, panel += run * 8)
        load_transposed<V>([&](int i) { return data + block.packed[i] + at; },
                           [&](int i, V v) { store_vector(panel + i * run, v); });
    if (at == bytes) return;
    char last[8][run] = {};
    for (int i = 0; i < 8; ++i)
        std::memcpy(last[i], data + block.packed[i] + at, static_cast<std::size_t>(bytes - at));
    load_transposed<V>([&](int i) { return last[i]; },
                       [&](int i, V v) {
                           if (i * 4 < bytes - at) store_vector(panel + i * run, v);
                       });
}

} // namespace Atoll::kernels
