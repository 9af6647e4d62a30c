// The driver of the contraction engine: blocks, packing, tiles, threads.
//
// Note [Blocking]
// k is cut into blocks. Of each, one operand is packed as a whole (or a part of some megabytes) by
// all threads together, the `shared` side; then pieces of the other side are packed and multiplied,
// each by one thread: pieces of rows that fit the L2 cache, or pieces of columns where there are
// more columns than rows, or as many, and all rows fit the L2 cache or, for several threads, take
// some megabytes at most: panels of columns are narrow, so that pieces are more alike. The order in
// which a sum is added up depends on the extents, the dtypes and the processor alone, so results do
// not depend on the number of threads.
//
// Where d or c is not of the type that is computed in, each tile is converted when its sums are
// complete. Where they take several blocks along k, boxes of d are computed one by one into a
// scratch matrix that stays in the cache, and are added to and converted from there.
#include "engine.h"

#include "kept_scratch.h"
#include "parallel.h"
#include "piece.h"
#include "streaming.h"

#include <atomic>
#include <cmath>
#include <numeric>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t rows_bytes = 768 << 10;    // packed rows of one piece: in a 2 MiB L2 cache
constexpr std::int64_t columns_bytes = 512 << 10; // packed columns of one piece
constexpr std::int64_t shared_bytes = 8 << 20;
constexpr std::int64_t shared_rows_bytes = 3 << 20; // of all rows, where threads share them
constexpr std::int64_t most_positions = 8192;       // of one block: keeps the tables small
constexpr std::int64_t short_shared_bytes = 1 << 20;
// Pieces that a product has where it is large enough: balances some threads.
constexpr std::int64_t many_pieces = 16;

class Engine {
public:
    Engine(const ProductCode &code, const Contraction &p, std::uint32_t dtype,
           const ProductFactor &alpha, const ProductFactor &beta)
        : code_(code), p_(p), alpha_(alpha), beta_(beta), adds_(!beta.is_zero),
          depth_(p.k, sizes[p.side[product_a].dtype], sizes[p.side[product_b].dtype]),
          k_(alpha.is_zero ? 0 : depth_.size()),
          direct_(is_native(p.side[product_d], dtype, code.size) &&
                  (!adds_ || is_native(p.side[product_c], dtype, code.size))),
          block_depth_(depth_of_blocks()), numbers_(numbers_of(p)),
          rounded_to_(rounded_to(code, p.side[product_d], dtype)),
          sides_{
              {code, p.m, product_a, p.side[product_a], dtype, {p.conj_a, numbers_}, first_run()},
              {code,
               p.n,
               product_b,
               p.side[product_b],
               dtype,
               {p.conj_b, numbers_},
               code.columns * (adds_ ? 4 : 1)}},
          c_in_({p.side[product_c].dtype, dtype, code.dtype}, p.side[product_c].swapped, false),
          d_out_({code.dtype, dtype, p.side[product_d].dtype}, false, p.side[product_d].swapped) {}

    std::int32_t run() {
        const std::int64_t count = p_.batch.size();
        const std::int64_t work = p_.m.size() * p_.n.size() * k_ / 8 + 1;
        const bool serial = count > 1 && (p_.work() <= 64 * 64 * 64 || p_.suits_side_by_side());
        const auto products = [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                char *data[product_operands];
                for (int o = 0; o < product_operands; ++o)
                    data[o] = p_.data[o] + p_.batch_offset(o, i);
                product(data, serial);
            }
        };
        split(!serial, count, work, products);
        return failed_ ? ATOLL_STATUS_OUT_OF_MEMORY : ATOLL_STATUS_OK;
    }

private:
    // Rows along d's dense axis in a block in which a is dense along another one. Such a block of
    // s x t rows reads runs of t elements at s x depth places, and writes runs of s at t x columns
    // places, where it reads first if it adds: the fewest with s / t = columns / depth.
    std::int64_t first_run() const {
        const auto depth = static_cast<double>(
                       std::max<std::int64_t>(8, code_.lanes_along_k(block_depth_))),
                   columns = static_cast<double>(p_.n.size() * (adds_ ? 2 : 1));
        return static_cast<std::int64_t>(
            std::sqrt(rows_bytes / (static_cast<double>(code_.size) * depth) *
                      std::min(columns, 2048.0) / depth) +
            0.5);
    }
    // Blocks of about the same depth; whole runs of 8. Longer ones, up to 8 KiB of a position
    // before and after its conversion, where sums are converted or AMX adds to them through memory:
    // adding to a scratch matrix costs more than packed rows that leave less of the L2 cache to
    // others.
    std::int64_t depth_of_blocks() const {
        const std::int64_t widest = std::max<std::int64_t>(sizes[p_.side[product_a].dtype],
                                                           sizes[p_.side[product_b].dtype]);
        const BlockSizes &most = block_sizes();
        const std::int64_t longest = // lanes
            !direct_ || code_.by_amx ? 8192 / std::max(code_.size, widest * code_.in_lane)
            : code_.is_complex       ? most.depth_of_complex
            : code_.size == 4        ? most.depth_of_4
                                     : most.depth_of_8;
        const std::int64_t blocks =
            std::max<std::int64_t>(1, divide_up(code_.lanes_along_k(k_), longest));
        return divide_up(divide_up(k_, blocks), 8) * 8;
    }
    // body(begin, end) over the pieces, by all threads if the work is large enough.
    template <class Body>
    static void split(bool serial, std::int64_t pieces, std::int64_t work, Body &&body) {
        if (serial)
            body(std::int64_t{0}, pieces);
        else
            parallel(pieces, work, body);
    }

    // One product of the batch.
    void product(char *const *data, bool serial) {
        const Range panels[2] = {{0, sides_[0].panels()}, {0, sides_[1].panels()}};
        if (direct_ || block_depth_ >= k_) // of one block: converted tile by tile
            multiply(data, panels,
                     {data[product_d],
                      data[product_c],
                      beta_,
                      {},
                      direct_ ? nullptr : &c_in_,
                      direct_ ? nullptr : &d_out_},
                     serial);
        else
            boxes(data, panels, serial);
    }

    // Bytes of the elements that tiles write and read.
    std::int64_t d_size(const ProductTarget &target) const {
        return target.out ? target.out->out_size() : code_.size;
    }
    std::int64_t c_size(const ProductTarget &target) const {
        return target.in ? target.in->in_size() : code_.size;
    }

    // ---- by way of a scratch matrix ----

    void boxes(char *const *data, const Range *panels, bool serial) {
        // Each packs its factors, so large ones, but some for every thread.
        constexpr std::int64_t most_rows = 480;
        const std::int64_t most_columns = 2048 / code_.size;
        const std::int64_t m = panels[0].size() * code_.rows, n = panels[1].size() * code_.columns;
        const bool few = !serial && m * n < many_pieces * most_rows * most_columns;
        const std::int64_t rows = most_rows / (few ? 2 : 1), columns = most_columns / (few ? 2 : 1);
        const std::int64_t extent[2] = {divide_up(rows, code_.rows), columns / code_.columns};
        const std::int64_t down = divide_up(panels[0].size(), extent[0]),
                           across = divide_up(panels[1].size(), extent[1]);
        const std::int64_t work = std::min(rows, m) * std::min(columns, n) * k_ / 8 + 1;
        split(serial, down * across, work, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t at[2] = {i % down * extent[0], i / down * extent[1]};
                Range box[2];
                for (int s = 0; s < 2; ++s)
                    box[s] = {at[s], std::min(at[s] + extent[s], panels[s].last)};
                compute_box(data, box);
            }
        });
    }

    void compute_box(char *const *data, const Range *box) {
        const std::int64_t rows = box[0].size() * code_.rows;
        const std::int64_t matrix = cache_lines(rows * box[1].size() * code_.columns * code_.size),
                           tables[2] = {sides_[0].table_bytes(box[0].size()),
                                        sides_[1].table_bytes(box[1].size())};
        const KeptScratch scratch(matrix + tables[0] + tables[1] + rows * code_.size);
        if (!scratch.is_there()) {
            failed_ = true;
            return;
        }
        const Local local[2] = {{code_.size, box[0].first}, {rows * code_.size, box[1].first}};
        multiply(data, box, {scratch.data(), scratch.data(), {}, {local[0], local[1]}}, true);
        char *const memory = scratch.data() + matrix;
        const Block m = sides_[0].block(memory, box[0], {}, code_.size, code_.size),
                    n = sides_[1].block(memory + tables[0], box[1], {}, code_.size, code_.size);
        char *const third = memory + tables[0] + tables[1];
        for (std::int64_t j = 0; j < n.groups * n.group; ++j)
            if (j % n.group < n.counts[j / n.group])
                store_column(scratch.data() + j * rows * code_.size, third, m,
                             data[product_d] + n.d[j], data[product_c] + n.c[j]);
    }

    // Converts a column of a scratch matrix, run by run of rows that are equally far apart.
    void store_column(char *sums, char *third, const Block &m, char *d, const char *c) const {
        const std::int64_t all = m.groups * m.group;
        const auto valid = [&](std::int64_t i) {
            return i < all && i % m.group < m.counts[i / m.group];
        };
        for (std::int64_t i = 0; i < all;) {
            if (!valid(i)) {
                ++i;
                continue;
            }
            std::int64_t end = i + 1, d_step = code_.size, c_step = code_.size;
            if (valid(end)) {
                d_step = m.d[end] - m.d[i];
                c_step = m.c[end] - m.c[i];
            }
            while (valid(end) && m.d[end] - m.d[end - 1] == d_step &&
                   m.c[end] - m.c[end - 1] == c_step)
                ++end;
            if (adds_) {
                c_in_.run(end - i, third, code_.size, c + m.c[i], c_step);
                code_.add_scaled(end - i, sums + i * code_.size, beta_, third);
            }
            d_out_.run(end - i, d + m.d[i], d_step, sums + i * code_.size, code_.size);
            i = end;
        }
    }

    // ---- blocks ----

    void multiply(char *const *data, const Range *panels, const ProductTarget &target,
                  bool serial) {
        const std::int64_t rows = panels[0].size() * code_.rows,
                           columns = panels[1].size() * code_.columns;
        const std::int64_t depth = code_.lanes_along_k(block_depth_);
        const std::int64_t most_bytes = serial ? rows_bytes : shared_rows_bytes;
        const bool rows_fit = rows * depth * code_.size <= most_bytes && rows <= most_positions;
        const int shared = rows_fit && columns > rows - code_.rows ? 0 : 1;
        const PackedSide &side = sides_[shared];
        const std::int64_t bytes = depth <= short_depth ? short_shared_bytes : shared_bytes;
        const std::int64_t most = shared == 0 ? panels[0].size() : most_panels(side, bytes);
        for (std::int64_t first = panels[shared].first; first < panels[shared].last; first += most)
            multiply_shared(data, shared, {first, std::min(first + most, panels[shared].last)},
                            panels[1 - shared], target, serial);
    }
    std::int64_t most_panels(const PackedSide &side, std::int64_t bytes) const {
        return std::min(panels_in(bytes, side.panel_bytes(block_depth_)),
                        std::max<std::int64_t>(1, most_positions / side.panel_positions()));
    }
    // Panels of one piece of the side that is not shared: of about equal size, and whole chunks
    // where they are transposed across groups.
    std::int64_t piece_panels(int s, std::int64_t panels, bool serial) const {
        const PackedSide &side = sides_[s];
        const std::int64_t most = most_panels(side, s == 0 ? rows_bytes : columns_bytes);
        std::int64_t pieces = divide_up(panels, most);
        if (!serial) pieces = std::max(pieces, std::min(many_pieces, panels));
        std::int64_t piece = divide_up(panels, std::max<std::int64_t>(1, pieces));
        if (const std::int64_t across = side.grouping.across(); across && piece < panels) {
            const std::int64_t chunks =
                std::lcm(across * side.group, side.panel_groups) / side.panel_groups;
            piece = divide_up(piece, chunks) * chunks;
        }
        return piece;
    }

    struct Shared {
        int side;
        const Block &block;
        const char *packed;
    };

    void multiply_shared(char *const *data, int s, const Range &part, const Range &others,
                         const ProductTarget &target, bool serial) {
        const PackedSide &side = sides_[s], &other = sides_[1 - s];
        const std::int64_t packed = cache_lines(part.size() * side.panel_bytes(block_depth_)),
                           tables = side.table_bytes(part.size()),
                           offsets = cache_lines(block_depth_ * 8),
                           runs = cache_lines(Depth::bytes(block_depth_));
        const KeptScratch scratch(packed + tables + 2 * (offsets + runs));
        if (!scratch.is_there()) {
            failed_ = true;
            return;
        }
        const Block block = side.block(scratch.data() + packed, part, target.local[s],
                                       d_size(target), c_size(target));
        char *const depth_memory = scratch.data() + packed + tables;
        const std::int64_t piece = piece_panels(1 - s, others.size(), serial);
        const std::int64_t pieces = divide_up(others.size(), piece);
        std::int64_t first = 0;
        do { // also without any k: d = beta c
            Depth depths[2];
            fill_depths(depths, first, depth_memory, offsets, runs);
            const std::int64_t depth = depths[0].size;
            split(serial, part.size(), side.panel_positions() * depth,
                  [&](std::int64_t begin, std::int64_t end) {
                      pack_part(side, block, {begin, end}, scratch.data(), data, depths[s]);
                  });
            const TileFactors factors = factors_of(target, first, depth);
            const std::int64_t work = part.size() * side.panel_positions() *
                                          (piece * other.panel_positions()) * depth / 8 +
                                      1;
            split(serial, pieces, work, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t at = others.first + i * piece;
                    multiply_piece(data, {s, block, scratch.data()},
                                   {at, std::min(at + piece, others.last)}, depths[1 - s], target,
                                   first > 0, factors);
                }
                if (factors.streams) finish_streaming();
            });
            first += depth;
        } while (first < k_ && !failed_);
    }

    void fill_depths(Depth *depths, std::int64_t first, char *memory, std::int64_t offsets,
                     std::int64_t runs) const {
        const std::int64_t depth = std::min(block_depth_, k_ - first);
        std::int64_t *tables[2];
        for (int s = 0; s < 2; ++s)
            tables[s] = reinterpret_cast<std::int64_t *>(memory + s * (offsets + runs));
        depth_.fill(first, depth, tables[0], tables[1]);
        for (int s = 0; s < 2; ++s) {
            const PackedSide &side = sides_[s];
            depths[s].size = depth;
            depths[s].offsets = tables[s];
            depths[s].find_runs(memory + s * (offsets + runs) + offsets,
                                transposed_width(side.group, side.raw_size),
                                s == 1 ? depth_.across() : 0, side.raw_size);
        }
    }

    // The first block along k adds c, the others what is there.
    TileFactors factors_of(const ProductTarget &target, std::int64_t first,
                           std::int64_t depth) const {
        TileFactors f;
        f.alpha = alpha_;
        f.numbers = numbers_;
        f.beta = first > 0 ? code_.one : target.beta;
        f.fetches_panels = block_sizes().tiles_fetch;
        f.fetches_added = f.fetches_panels && !code_.by_amx && !f.beta.is_zero &&
                          code_.lanes_along_k(depth) > short_depth;
        f.rounded_to =
            target.out && f.beta.is_zero ? rounded_to_ : std::uint32_t{ATOLL_DTYPE_FLOAT32};
        f.streams = false;
        if (!code_.by_amx && depth == k_ && f.beta.is_zero && !target.local[0].step && !target.out)
            f.streams = p_.m.size() * p_.n.size() * code_.size >= large_operands().products &&
                        is_aligned(target.d);
        return f;
    }
    static std::uint32_t rounded_to(const ProductCode &code, const Side &d, std::uint32_t dtype) {
        const bool rounds = code.dtype == ATOLL_DTYPE_FLOAT32 && d.dtype == dtype && !d.swapped &&
                            sizes[dtype] == 2;
        return rounds ? dtype : std::uint32_t{ATOLL_DTYPE_FLOAT32};
    }
    PackedNumbers numbers_of(const Contraction &p) const {
        if (code_.is_float) return PackedNumbers::bfloat16;
        const auto is_unsigned = [&](ProductOperand o) {
            return p.side[o].dtype == ATOLL_DTYPE_UINT8;
        };
        if (is_unsigned(product_a))
            return is_unsigned(product_b) ? PackedNumbers::unsigned_unsigned
                                          : PackedNumbers::unsigned_signed;
        return is_unsigned(product_b) ? PackedNumbers::signed_unsigned
                                      : PackedNumbers::signed_signed;
    }
    // Whether every group of rows starts at a multiple of what is stored at once.
    bool is_aligned(const char *d) const {
        if (sides_[0].grouping.runs_on()) return false;
        auto bits = reinterpret_cast<std::uint64_t>(d);
        for (int i = 0; i < p_.m.count; ++i)
            if (i > 0 || p_.m.axis[i].stride[product_d] != code_.size)
                bits |= static_cast<std::uint64_t>(p_.m.axis[i].stride[product_d]);
        for (int i = 0; i < p_.n.count; ++i)
            bits |= static_cast<std::uint64_t>(p_.n.axis[i].stride[product_d]);
        return bits % static_cast<std::uint64_t>(code_.span * code_.size) == 0;
    }

    void pack_part(const PackedSide &side, const Block &block, const Range &panels, char *packed,
                   char *const *data, const Depth &depth) {
        const KeptScratch raw(side.raw_bytes(depth.size) + 64);
        if (!raw.is_there()) {
            failed_ = true;
            return;
        }
        side.pack_panels(
            packed + panels.first * side.panel_bytes(depth.size), raw.data(), data[side.operand],
            block.part(panels.first * side.panel_groups, panels.size() * side.panel_groups), depth);
    }

    void multiply_piece(char *const *data, const Shared &shared, const Range &own,
                        const Depth &depth, const ProductTarget &target, bool goes_on,
                        const TileFactors &factors) {
        const int s = 1 - shared.side;
        const PackedSide &side = sides_[s];
        const std::int64_t packed = cache_lines(own.size() * side.panel_bytes(depth.size)),
                           tables = side.table_bytes(own.size());
        const KeptScratch scratch(packed + tables + side.raw_bytes(depth.size));
        if (!scratch.is_there()) {
            failed_ = true;
            return;
        }
        const Block block = side.block(scratch.data() + packed, own, target.local[s],
                                       d_size(target), c_size(target));
        side.pack_panels(scratch.data(), scratch.data() + packed + tables, data[side.operand],
                         block, depth);
        const Block &m = s == 0 ? block : shared.block, &n = s == 0 ? shared.block : block;
        const char *a = s == 0 ? scratch.data() : shared.packed,
                   *b = s == 0 ? shared.packed : scratch.data();
        Piece{code_,
              m,
              n,
              a,
              b,
              sides_[0].panel_bytes(depth.size),
              sides_[1].panel_bytes(depth.size),
              code_.lanes_along_k(depth.size),
              target,
              goes_on,
              factors}
            .run();
    }

    const ProductCode &code_;
    const Contraction &p_;
    const ProductFactor &alpha_, &beta_;
    const bool adds_;
    const DepthOrder depth_;
    const std::int64_t k_;
    const bool direct_;
    const std::int64_t block_depth_;
    const PackedNumbers numbers_;
    const std::uint32_t rounded_to_; // see TileFactors
    const PackedSide sides_[2];
    const Conversion c_in_, d_out_;
    std::atomic<bool> failed_ = false;
};

} // namespace

std::int32_t contract(const ProductCode &code, const Contraction &contraction, std::uint32_t dtype,
                      const ProductFactor &alpha, const ProductFactor &beta) {
    return Engine(code, contraction, dtype, alpha, beta).run();
}

} // namespace Atoll::kernels
