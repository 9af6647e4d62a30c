// Note [Runs]
// A call becomes rows along the axis on which the output is densest. A row whose operands are
// native, aligned and of the dtypes of the typed loop goes straight to it, whatever its
// strides. Any other operand passes through a block of scratch in the L1 cache: converted on the
// way in, computed, converted on the way out. No temporary is ever larger than a block.
//
// Note [Sparse inputs]
// Loops are vectors only where inputs are dense or one value. Others of long rows are brought
// together in scratch first, which takes less than the loop gains unless vectors are of few
// elements, or while memory waits for the loop.
//
// Note [Tiles]
// Where an input is dense along another axis than the output (a transposed operand), rows would
// touch a new cache line per element. Such a space is cut into tiles, and the input's part of a
// tile is transposed into scratch first, reading whole cache lines.
//
// Note [Short rows]
// A row of few elements takes as long as a call of the loop. So several become one: an operand that
// is not dense across them, such as an input that repeats from row to row, is brought together in
// scratch, or taken apart from there.
#include "elementwise_run.h"

#include "convert.h"
#include "joined_lines.h"
#include "kept_scratch.h"
#include "pack_rows.h"
#include "space_pieces.h"
#include "space_tiles.h"
#include "streaming.h"
#include "transpose.h"
#include "whole_lines.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace Atoll::kernels {
namespace {

bool swapped(const atoll_operand &operand) { return operand.flags & ATOLL_OPERAND_SWAPPED; }

// Elements of a short row; see Note [Short rows]. Inputs that repeat are brought together once, and
// one value for each row or the rows of a transposed input quickly, so that longer rows gain.
constexpr std::int64_t longest_packed_row = 128, longest_short_row = 16, fewest_short_rows = 8;
constexpr std::int64_t longest_copied_row = 2048; // bytes
constexpr std::int64_t longest_joined = 128;      // bytes of a row of the result, if tiles would do

// One call: everything that does not change from row to row.
class Run {
public:
    // A copy.
    Run(Space &space, const atoll_operand *operands) : space_(space) {
        conversions_[1] = {
            {operands[1].dtype, operands[0].dtype}, swapped(operands[1]), swapped(operands[0])};
        convert_constants();
    }
    // A typed loop.
    Run(Space &space, const atoll_operand *operands, const TypedLoop &typed)
        : space_(space), loop_(typed.run), streamed_(typed.streamed),
          every_second_(typed.every_second), is_math_(typed.is_math),
          most_packed_(typed.most_packed) {
        conversions_[0] = {
            {typed.loops[0], typed.narrow[0], operands[0].dtype}, false, swapped(operands[0])};
        direct_[0] = conversions_[0].moves() && aligned(0, conversions_[0].out_alignment());
        for (int k = 1; k < space_.operands; ++k)
            conversions_[k] = {
                {operands[k].dtype, typed.narrow[k], typed.loops[k]}, swapped(operands[k]), false};
        convert_constants();
        for (int k = 1; k < space_.operands; ++k)
            direct_[k] = conversions_[k].moves() && aligned(k, conversions_[k].in_alignment());
        for (int k = 0; k < space_.operands; ++k) all_direct_ &= direct_[k];
    }

    void operator()() {
        if (space_.shape[0] == 0 || space_.outer() == 0) return;
        // Loops are vectors only where the output is dense as well.
        if (most_packed_ && space_.strides[0][0] == out_size() && sparse_inputs())
            packs_ = bytes_of_operands() <= most_packed_;
        const bool is_short = has_short_rows();
        // Tiles of short rows call the loop for each of them; copies need no loop. Whole lines take
        // longer where a row is none.
        const std::int64_t row_bytes = space_.shape[0] * out_size();
        const bool is_joined =
            is_short && (takes_lines() ? space_.shape[0] <= 32 && row_bytes < cache_line
                                       : loop_ && row_bytes <= longest_joined);
        if (const int axis = is_joined ? 0 : transposed_axis())
            tiles(axis);
        else if (is_short)
            short_rows();
        else
            rows();
    }

private:
    // An input that is one value is converted once, not once per block.
    void convert_constants() {
        for (int k = 1; k < space_.operands; ++k) {
            bool constant = true;
            for (int axis = 0; axis < space_.rank; ++axis) constant &= space_.strides[k][axis] == 0;
            if (!constant) continue;
            conversions_[k].run(1, constants_[k], conversions_[k].out_size(), space_.data[k],
                                conversions_[k].in_size());
            space_.data[k] = constants_[k];
            conversions_[k] = conversions_[k].settled();
        }
    }
    bool aligned(int k, std::uint32_t to, int first_axis = 0) const {
        std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(space_.data[k]);
        for (int axis = first_axis; axis < space_.rank; ++axis)
            bits |= static_cast<std::uintptr_t>(space_.strides[k][axis]);
        return (bits & (to - 1)) == 0;
    }

    // The inputs that are neither dense along axis 0 nor one value there; those that are dense
    // along axis `turned` are transposed first.
    int sparse_inputs(int turned = 0) const {
        int count = 0;
        for (int k = 1; k < space_.operands; ++k) {
            const std::int64_t stride = space_.strides[k][0];
            count += stride != 0 && stride != conversions_[k].in_size() &&
                     !(turned && transposed(k, turned));
        }
        return count;
    }
    // The ends of shorter ones cost more than streaming saves.
    static constexpr std::int64_t shortest_row_of_every_second = 64;
    int inputs_of_every_second() const {
        int count = 0;
        for (int k = 1; k < space_.operands; ++k)
            count += space_.strides[k][0] == 2 * conversions_[k].in_size();
        return count;
    }
    // How the rows of a large result go past the caches.
    enum class Streaming { none, copy, loop, blocks };
    // One thread computes all of it, `alone`, or a part.
    Streaming streaming(bool alone) const {
        const LargeOperands &large = large_operands();
        if (bytes_of_operands() < (alone ? large.alone : large.shared) || !is_streamable())
            return Streaming::none;
        if (!loop_)
            return conversions_[1].moves() && space_.strides[1][0] == out_size() ? Streaming::copy
                                                                                 : Streaming::none;
        if (!all_direct_) return Streaming::none;
        const int sparse = sparse_inputs();
        if (streamed_ && !sparse) return Streaming::loop;
        if (streamed_ && every_second_ && sparse == inputs_of_every_second())
            return space_.shape[0] >= shortest_row_of_every_second ? Streaming::loop
                                                                   : Streaming::none;
        // With fewer streams to read, writing in bursts costs more than it saves.
        const bool many = sparse || space_.operands == 4;
        return many && space_.shape[0] >= block_size ? Streaming::blocks : Streaming::none;
    }

    // `n` elements along axis 0. `gathers`: sparse inputs are brought together.
    void row(std::int64_t n, char *const *data, const std::int64_t *strides,
             bool gathers = true) const {
        if (!loop_) return conversions_[1].run(n, data[0], strides[0], data[1], strides[1]);
        bool direct[max_operands] = {direct_[0]}, all_direct = all_direct_;
        for (int k = 1; k < space_.operands; ++k) {
            direct[k] = direct_[k] &&
                        !(gathers && is_sparse(n, strides[k], conversions_[k].in_size(), packs_));
            all_direct &= direct[k];
        }
        if (all_direct) return loop_(n, data, strides);
        alignas(64) char scratch[max_operands][block_size * 16];
        char *block[max_operands];
        std::int64_t step[max_operands];
        for (std::int64_t begin = 0; begin < n; begin += block_size) {
            const std::int64_t count = std::min(block_size, n - begin);
            for (int k = 0; k < space_.operands; ++k) {
                if (direct[k]) {
                    block[k] = data[k] + begin * strides[k];
                    step[k] = strides[k];
                } else if (k == 0) {
                    block[k] = scratch[k];
                    step[k] = conversions_[0].in_size();
                } else {
                    block[k] = scratch[k];
                    step[k] = strides[k] ? conversions_[k].out_size() : 0;
                    if (strides[k] || begin == 0)
                        conversions_[k].run(strides[k] ? count : 1, block[k],
                                            conversions_[k].out_size(),
                                            data[k] + begin * strides[k], strides[k]);
                }
            }
            loop_(count, block, step);
            if (!direct[0])
                conversions_[0].run(count, data[0] + begin * strides[0], strides[0], block[0],
                                    step[0]);
        }
    }

    // Of a result that is streamed, in lines; these are ended by the caller.
    void streamed_row(Streaming how, std::int64_t n, char *const *data, const std::int64_t *strides,
                      JoinedLines &lines) const {
        if (how == Streaming::none) return row(n, data, strides);
        const auto from = [&](std::int64_t first, char *out, char **moved) {
            moved[0] = out;
            for (int k = 1; k < space_.operands; ++k) moved[k] = data[k] + first * strides[k];
        };
        const std::int64_t size = out_size();
        lines.add(
            data[0], n, size,
            [&](std::int64_t first, std::int64_t count, char *to) {
                char *moved[max_operands];
                from(first, to, moved);
                row(count, moved, strides);
            },
            [&](std::int64_t first, std::int64_t count) {
                char *moved[max_operands];
                from(first, data[0] + first * size, moved);
                if (how == Streaming::loop) return streamed_(count, moved, strides);
                if (how == Streaming::blocks) return streamed_blocks(count, moved, strides);
                stream_lines(count * size, moved[0], moved[1]);
            });
    }
    // By way of blocks in the L1 cache.
    void streamed_blocks(std::int64_t n, char *const *data, const std::int64_t *strides) const {
        const std::int64_t size = out_size();
        alignas(cache_line) char results[block_size * 16];
        for (std::int64_t begin = 0; begin < n; begin += block_size) {
            const std::int64_t count = std::min(block_size, n - begin);
            char *block[max_operands] = {results};
            for (int k = 1; k < space_.operands; ++k) block[k] = data[k] + begin * strides[k];
            // Several inputs come from the memory as fast as a loop over single elements takes
            // them.
            row(count, block, strides, space_.operands == 2);
            stream_lines(count * size, data[0] + begin * size, results);
        }
    }

    void rows() const {
        std::int64_t strides[max_operands];
        for (int k = 0; k < space_.operands; ++k) strides[k] = space_.strides[k][0];
        const std::int64_t length = space_.shape[0];
        if (space_.rank == 1 && length < parallel_threshold) {
            row(length, space_.data, strides);
            return;
        }
        const std::int64_t part = length < 2 * piece_size ? length : piece_size;
        in_pieces(0, part, part,
                  [&](char *const *data, std::int64_t count, Streaming how, JoinedLines &lines) {
                      streamed_row(how, count, data, strides, lines);
                  });
    }

    // body(data, count, how, lines) for pieces of at most `part` along an axis, at all indices of
    // the axes behind it, by all threads: data of a piece's first element.
    template <class Body>
    void in_pieces(int axis, std::int64_t part, std::int64_t work, const Body &body) const {
        const SpacePieces pieces(space_, axis, part);
        const std::int64_t all = pieces.count();
        parallel(all, work, [&](std::int64_t begin, std::int64_t end) {
            const Streaming how = streaming(end - begin == all);
            JoinedLines lines;
            pieces.visit(begin, end, [&](char *const *data, std::int64_t count) {
                body(data, count, how, lines);
            });
            finish(how, lines);
        });
    }

    static void finish(Streaming how, JoinedLines &lines) {
        if (how == Streaming::none) return;
        lines.end();
        finish_streaming();
    }

    // Whether operand k steps from row to row as within rows.
    bool is_dense_across(int k) const {
        return space_.strides[k][1] == space_.strides[k][0] * space_.shape[0];
    }
    bool has_short_rows() const {
        if (space_.rank == 1 || space_.shape[1] < fewest_short_rows ||
            space_.strides[0][0] != out_size())
            return false;
        if (copies_rows()) return space_.shape[0] * out_size() <= longest_copied_row;
        bool quickly = true;
        for (int k = 1; k < space_.operands; ++k) {
            const std::int64_t *strides = space_.strides[k];
            quickly &= is_dense_across(k) || strides[1] == 0 || strides[0] == 0 ||
                       strides[0] == conversions_[k].in_size() ||
                       strides[1] == conversions_[k].in_size();
        }
        return space_.shape[0] <= (quickly ? longest_packed_row : longest_short_row);
    }
    bool copies_rows() const {
        return !loop_ && conversions_[1].moves() && space_.strides[1][0] == out_size();
    }

    void short_rows() const {
        const std::int64_t length = space_.shape[0], row_bytes = length * out_size();
        const std::int64_t at_once = std::max<std::int64_t>(1, block_size / length),
                           part = piece_size / length;
        const bool has_gaps = !is_dense_across(0); // the output
        std::int64_t strides[max_operands], steps[max_operands];
        for (int k = 0; k < space_.operands; ++k) {
            steps[k] = space_.strides[k][1];
            strides[k] = k == 0               ? out_size()
                         : is_dense_across(k) ? space_.strides[k][0]
                                              : conversions_[k].in_size();
        }
        in_pieces(1, part, part * length,
                  [&](char *const *first, std::int64_t rows, Streaming how, JoinedLines &lines) {
                      if (has_gaps) how = Streaming::none;
                      if (how == Streaming::none && copies_rows())
                          return copy_rows(rows, row_bytes, first[0], steps[0], first[1], steps[1]);
                      alignas(64) char together[max_operands][block_size * 16 + behind_packed_rows];
                      for (std::int64_t row = 0, count; row < rows; row += count) {
                          count = std::min(at_once, rows - row);
                          char *data[max_operands], *const out = first[0] + row * steps[0];
                          data[0] = has_gaps ? together[0] : out;
                          for (int k = 1; k < space_.operands; ++k) {
                              data[k] = first[k] + row * steps[k];
                              if (is_dense_across(k)) continue;
                              // What repeats is there from the first rows on, which are no fewer.
                              if (row == 0 || steps[k] != 0)
                                  pack_rows(count, length, conversions_[k].in_size(), together[k],
                                            data[k], space_.strides[k][0], steps[k]);
                              data[k] = together[k];
                          }
                          streamed_row(how, count * length, data, strides, lines);
                          if (has_gaps)
                              copy_rows(count, row_bytes, out, steps[0], together[0], row_bytes);
                      }
                  });
    }

    bool transposed(int k, int axis) const {
        return space_.strides[k][axis] == conversions_[k].in_size() &&
               std::abs(space_.strides[k][0]) >= 64;
    }

    // The axis along which some input is dense where the output is not; 0 if there is none.
    int transposed_axis() const {
        if (space_.shape[0] < 8) return 0;
        for (int axis = 1; axis < space_.rank; ++axis)
            for (int k = 1; k < space_.operands; ++k)
                if (space_.shape[axis] >= 8 && transposed(k, axis)) return axis;
        return 0;
    }

    std::int64_t out_size() const { return conversions_[loop_ ? 0 : 1].out_size(); }
    std::int64_t bytes_of_operands() const {
        std::int64_t bytes = space_.shape[0] * space_.outer() * out_size();
        for (int k = 1; k < space_.operands; ++k) {
            std::int64_t own = conversions_[k].in_size();
            for (int axis = 0; axis < space_.rank; ++axis)
                if (space_.strides[k][axis]) own *= space_.shape[axis];
            bytes += own;
        }
        return bytes;
    }
    // Whether the output is dense along axis 0, has whole elements in a cache line and begins where
    // no input does.
    bool is_streamable() const {
        for (int k = 1; k < space_.operands; ++k)
            if (space_.data[k] == space_.data[0]) return false;
        return space_.strides[0][0] == out_size() &&
               aligned(0, static_cast<std::uint32_t>(out_size()));
    }

    bool is_straight() const {
        return !loop_ && conversions_[1].moves() && space_.strides[0][0] == out_size();
    }
    // Whether the result of one transposed input is made by WholeLines.
    bool takes_lines() const {
        const LargeOperands &large = large_operands();
        return large.by_lines && space_.operands == 2 && is_streamable() &&
               bytes_of_operands() >= (is_straight() ? large.copied : large.computed).streamed;
    }

    // How a space is cut along axes 0 and 1. A tile reads whole cache lines along the widest
    // input's dense axis and writes runs of several along the output's, longer ones of narrow
    // elements.
    struct Tiling {
        std::int64_t rows = 128, columns = 16; // of a tile
        // For each input that is transposed: bytes, and elements from one column to the next.
        std::int64_t scratch = 0, pitch = 0;
        bool in_strips = false;       // see LargeTiles::scratch
        std::int64_t all_scratch = 0; // bytes then
        bool straight = false;        // a copy that only moves elements
        bool is_long = false;         // operands are large
        int ahead = 0;                // tiles from where inputs are fetched to where they
        bool fetches_all = false;     // are read; also those that are not transposed
        // How the result goes past the caches.
        Streaming streams = Streaming::none;
    };

    Tiling tiling() const {
        Tiling own;
        own.straight = is_straight();
        const LargeTiles &large =
            own.straight ? large_operands().copied : large_operands().computed;
        const std::int64_t bytes = bytes_of_operands();
        const std::int64_t least = out_size() < 4 ? large_operands().narrow : 0;
        own.is_long = bytes >= std::max(large.long_runs, least);
        own.in_strips = own.is_long && large.scratch > tile_scratch;
        if (is_streamable() && bytes >= std::max(large.streamed, least) &&
            (!is_math_ || large_operands().streams_math))
            // Whole columns share the lines where they meet.
            own.streams = own.straight ? Streaming::copy
                          : streamed_ && all_direct_ && !sparse_inputs(1) &&
                                  (own.in_strips || aligned(0, cache_line, 1))
                              ? Streaming::loop
                              : Streaming::blocks;
        std::int64_t widest = 1, turned = 0;
        for (int k = 1; k < space_.operands; ++k) {
            if (!transposed(k, 1)) continue;
            widest = std::max(widest, conversions_[k].in_size());
            ++turned;
        }
        own.columns = std::max(own.columns, cache_line / widest);
        if (widest <= 2) own.rows *= 2;
        const std::int64_t most_scratch = own.in_strips ? large.scratch : tile_scratch;
        own.scratch = most_scratch / turned / cache_line * cache_line;
        // Elements of 16 bytes have the largest tiles.
        static_assert(tile_scratch >= (max_operands - 1) * 128 * 16 * 16);
        if (!own.is_long) {
            // All rows, so that the loop is called once for a tile, where these are few, and
            // columns in scratch do not share the sets of L1.
            const std::int64_t all = space_.shape[0], apart = all * widest;
            if (!own.straight && all > own.rows && all <= 512 && apart <= 2560 &&
                apart % few_sets_apart != 0) {
                own.rows = all;
                own.columns = cache_line / widest;
            }
            own.pitch = own.rows;
            return own;
        }
        own.columns = large.in * cache_line / widest;
        // What begins within a line has parts of two more. All tiles are about as long.
        const int longer = aligned(0, cache_line, 1) ? 1 : 2;
        const std::int64_t line = std::max<std::int64_t>(1, cache_line / out_size()),
                           lines = (space_.shape[0] + line - 1) / line,
                           fit = own.scratch / (large.in * cache_line * line) - own.in_strips,
                           most = std::max<std::int64_t>(1, std::min(longer * large.out, fit)),
                           count = (lines + most - 1) / most, of_tile = (lines + count - 1) / count;
        own.rows = own.pitch = of_tile * line;
        if (own.in_strips) {
            // Odd, for which there is a line more, so that columns do not share the sets of the
            // caches.
            own.pitch = (of_tile | 1) * line;
            own.scratch = own.columns * own.pitch * widest;
            own.all_scratch = own.scratch * turned;
        }
        own.ahead = large.ahead;
        own.fetches_all = large.fetches_all;
        return own;
    }

    FetchedInputs inputs_of(const Tiling &tiling, const SpaceTiles::Tile &tile) const {
        FetchedInputs inputs;
        for (int k = 1; k < space_.operands; ++k) {
            const std::int64_t size = conversions_[k].in_size();
            if (transposed(k, 1))
                inputs.add(tile.data[k], space_.strides[k][0], tile.height, tile.width * size,
                           tiling.columns);
            else if (tiling.fetches_all && space_.strides[k][0] == size && space_.strides[k][1])
                inputs.add(tile.data[k], space_.strides[k][1], tile.width, tile.height * size,
                           tiling.columns);
        }
        return inputs;
    }

    // `later`: what a later tile reads. Where there was no memory for scratch, nothing is
    // transposed.
    void compute(const Tiling &tiling, SpaceTiles::Tile &tile, FetchedInputs &later, char *scratch,
                 JoinedLines &lines) const {
        std::int64_t down[max_operands], across[max_operands];
        for (int k = 0; k < space_.operands; ++k) {
            down[k] = space_.strides[k][0];
            across[k] = space_.strides[k][1];
        }
        char **const data = tile.data;
        if (tiling.straight && !tiling.is_long &&
            (out_size() > 2 || across[0] % few_sets_apart != 0))
            return transpose(out_size(), tile.height, tile.width, data[0], across[0], data[1],
                             down[1]);
        // Where the output's columns follow each other, and those of all inputs, they are one row.
        bool is_one_row = !tiling.is_long;
        for (int k = 0; k < space_.operands; ++k)
            is_one_row &= across[k] == tile.height * down[k] || (k && transposed(k, 1));
        const std::int64_t step = is_one_row ? tile.height : tiling.pitch;
        for (int k = 1; k < space_.operands; ++k) {
            if (!scratch || !transposed(k, 1)) continue;
            const std::int64_t size = conversions_[k].in_size();
            const std::int64_t strip = tiling.in_strips ? cache_line / size : tile.height;
            for (std::int64_t row = 0; row < tile.height; row += strip)
                transpose(size, std::min(strip, tile.height - row), tile.width,
                          scratch + row * size, step * size, data[k] + row * down[k], down[k]);
            data[k] = scratch;
            down[k] = size;
            across[k] = step * size;
            scratch += tiling.scratch;
        }
        if (is_one_row)
            return streamed_row(tiling.streams, tile.height * tile.width, data, down, lines);
        const Streaming how = scratch ? tiling.streams : Streaming::none;
        for (std::int64_t column = 0; column < tile.width; ++column) {
            later.fetch();
            streamed_row(how, tile.height, data, down, lines);
            for (int k = 0; k < space_.operands; ++k) data[k] += across[k];
        }
    }

    // One input that is transposed, by tiles of as many rows as a cache line of the result has and
    // long runs of the input, from the top down: each is read while the next one is fetched.
    void lines() const {
        const bool straight = is_straight();
        const std::int64_t size = conversions_[1].in_size(), rows = cache_line / out_size(),
                           at_once = cache_line / size, down = space_.strides[1][0],
                           across = space_.strides[0][1];
        const auto tiles_from = [&](std::int64_t first) {
            return SpaceTiles(space_, rows, WholeLines::most_columns, false, first);
        };
        const auto body = [&](std::int64_t begin, std::int64_t end) {
            WholeLines lines;
            alignas(cache_line) char turned[cache_line * cache_line],
                results[cache_line * cache_line];
            SpaceTiles tiles = tiles_from(begin);
            SpaceTiles::Tile next = tiles.next();
            for (std::int64_t piece = begin; piece < end; ++piece) {
                const SpaceTiles::Tile tile = next;
                if (piece + 1 < end) next = tiles.next();
                if (piece == begin || tile.is_first) lines.begin(tile.data[0], across, tile.width);
                for (std::int64_t column = 0; column < tile.width; column += at_once) {
                    const std::int64_t count = std::min(at_once, tile.width - column);
                    for (std::int64_t row = 0; row < tile.height; ++row)
                        __builtin_prefetch(next.data[1] + row * down + column * size);
                    transpose(size, tile.height, count, turned, tile.height * size,
                              tile.data[1] + column * size, down);
                    if (!straight) {
                        char *const data[] = {results, turned};
                        const std::int64_t strides[] = {out_size(), size};
                        row(tile.height * count, data, strides);
                    }
                    lines.add(column, count, straight ? turned : results, tile.height * out_size());
                }
                lines.advance(tile.height * out_size());
            }
            lines.end();
            finish_streaming();
        };
        parallel(tiles_from(0).count(), rows * WholeLines::most_columns, body);
    }

    void tiles(int axis) {
        std::swap(space_.shape[1], space_.shape[axis]);
        for (int k = 0; k < space_.operands; ++k)
            std::swap(space_.strides[k][1], space_.strides[k][axis]);
        if (takes_lines()) return lines();
        const Tiling tiling = this->tiling();
        const auto tiles_from = [&](std::int64_t first) {
            return SpaceTiles(space_, tiling.rows, tiling.columns, tiling.is_long, first);
        };
        const auto body = [&](std::int64_t begin, std::int64_t end) {
            alignas(cache_line) char own_scratch[tile_scratch];
            std::optional<KeptScratch> kept;
            if (tiling.in_strips) kept.emplace(tiling.all_scratch);
            char *const scratch = kept ? kept->data() : own_scratch;
            JoinedLines lines;
            SpaceTiles tiles = tiles_from(begin);
            std::optional<SpaceTiles> ahead;
            if (tiling.ahead && begin + tiling.ahead < end)
                ahead.emplace(tiles_from(begin + tiling.ahead));
            for (std::int64_t piece = begin; piece < end; ++piece) {
                FetchedInputs later;
                if (ahead && piece + tiling.ahead < end) later = inputs_of(tiling, ahead->next());
                SpaceTiles::Tile tile = tiles.next();
                compute(tiling, tile, later, scratch, lines);
            }
            finish(tiling.streams, lines);
        };
        parallel(tiles_from(0).count(), tiling.rows * tiling.columns, body);
    }

    Space &space_; // not copied: it is large
    Loop loop_ = nullptr, streamed_ = nullptr;
    bool every_second_ = false, is_math_ = false;
    std::int64_t most_packed_ = 0;
    bool packs_ = false;                   // inputs of 8 bytes; see Note [Sparse inputs]
    Conversion conversions_[max_operands]; // [0]: result to output; [k]: input to what is computed
    bool direct_[max_operands];            // needs no conversion
    bool all_direct_ = true;
    alignas(16) char constants_[max_operands][16];
};

} // namespace

void run_loop(Space &space, const atoll_operand *operands, const TypedLoop &typed) {
    Run(space, operands, typed)();
}
void run_copy(Space &space, const atoll_operand *operands) { Run(space, operands)(); }

} // namespace Atoll::kernels
