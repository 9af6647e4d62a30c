// Reductions of which a strip of results takes in one row after the other: see Note [Ways to
// reduce].
#include "neighbourhoods.h"
#include "pack_rows.h"
#include "reduction.h"
#include "scratch.h"
#include "segments.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t strip_bytes = 16384; // of results that take in rows together: long runs
constexpr std::int64_t shortest_strip = block_size, longest_strip = 4096; // results
constexpr std::int64_t longest_strip_bytes =
    std::max(shortest_strip * largest_accumulator, std::max(strip_bytes, longest_strip));
constexpr std::int64_t few_results = 16384;      // above, there are results enough for the threads
constexpr std::int64_t few_columns = 4;          // not worth transposing
constexpr std::int64_t longest_transposed = 128; // elements; fewer of 4 bytes or more
constexpr std::int64_t long_row = 16;            // a reduced axis shorter than this is no row
constexpr std::int64_t longest_packed_row = 256; // bytes, of rows with gaps
constexpr std::int64_t rows_at_once = 64;        // rows that a strip takes in without halving
constexpr std::int64_t rows_looked_at_twice = 256; // the same of those, as joining takes long
constexpr std::int64_t folded_rows = 64;           // whose groups are joined soon
constexpr std::int64_t long_row_bytes = 8192;      // from here on rows are taken in together
constexpr std::int64_t cached_bytes = 512 << 10;   // so are those of so much altogether

class Strips {
public:
    explicit Strips(Reduction &all) : all_(all), r_(all.reducer) {}

    bool operator()() {
        if (all_.results() >= long_row) {
            const Neighbourhoods found =
                Neighbourhoods::of(all_.kept, 1, all_.reduced, 1, all_.in.in_size());
            if (suit(found)) {
                if (fold_first(found))
                    run_folded(found);
                else
                    run_transposed(found);
                return true;
            }
        }
        if (!across()) return false;
        spread();
        run_across();
        return true;
    }

private:
    bool across() const {
        const std::int64_t results = all_.kept.shape[0];
        if (results < long_row) {
            const std::int64_t enough = r_.by_members ? 32 * block_size : block_size;
            return spreads() && results * all_.reduced.shape[0] >= enough;
        }
        // Where no further element can change a result it is worth stopping, but not for a few.
        const std::int64_t stops = r_.done ? all_.reduced.outer() : 1;
        if (all_.reduced.shape[0] * stops < long_row) return true;
        return std::abs(all_.kept.strides[1][0]) < std::abs(all_.reduced.strides[1][0]);
    }
    // Whether the rows of results along the first kept axis follow each other along the first
    // reduced one.
    bool follow_each_other() const {
        return all_.reduced.strides[1][0] == all_.kept.shape[0] * all_.kept.strides[1][0];
    }
    // Whether several of these rows can be taken in as one: if there are gaps between them, by way
    // of scratch.
    bool spreads() const {
        return all_.kept.shape[0] > 1 &&
               (follow_each_other() ||
                (all_.kept.strides[1][0] == all_.in.in_size() &&
                 all_.kept.shape[0] * all_.in.in_size() <= longest_packed_row));
    }
    // Whether accumulators of so many results stay in registers.
    bool is_narrow(std::int64_t results) const {
        const std::int64_t bytes = results * r_.size;
        return can_be_narrow() && bytes >= group_bytes && bytes <= narrow_bytes;
    }
    bool can_be_narrow() const {
        return r_.narrow_rows && !packs_ && all_.reduced.shape[0] >= rows_taken &&
               all_.is_read_in_place(all_.kept.strides[1][0]);
    }
    // Gives each result more lanes if that is possible.
    void spread() {
        const std::int64_t results = all_.kept.shape[0], rows = all_.reduced.shape[0],
                           narrow = narrow_bytes / r_.size;
        if (!spreads() || (!follow_each_other() && is_narrow(results))) return;
        packs_ = !follow_each_other();
        lane_step_ = all_.reduced.strides[1][0];
        // Merging accumulators of several members takes long.
        const std::int64_t fewest = r_.by_members ? rows_at_once : rows_taken,
                           most = can_be_narrow() && results <= narrow ? narrow : strip_length();
        while (2 * lanes_ * results <= most && 2 * lanes_ * fewest <= rows) lanes_ *= 2;
        rest_lanes_ = rows % lanes_;
        all_.reduced.shape[0] = rows / lanes_;
        all_.reduced.strides[1][0] = lanes_ * lane_step_;
        packs_ &= lanes_ > 1;
    }

    // n elements in rows with gaps between them, as Reduction::elements() gives them.
    const char *packed(std::int64_t n, const char *p, char *scratch) const {
        const std::int64_t size = all_.in.in_size(), row = all_.kept.shape[0] * size;
        if (all_.in.moves()) {
            copy_rows(n / all_.kept.shape[0], row, scratch, row, p, lane_step_);
            return scratch;
        }
        alignas(64) char raw[shortest_strip * 16];
        copy_rows(n / all_.kept.shape[0], row, raw, row, p, lane_step_);
        all_.in.run(n, scratch, all_.in.out_size(), raw, size);
        return scratch;
    }

    void take_strip(const Space &reduced, std::int64_t begin, std::int64_t end, std::int64_t n,
                    const char *p, const TransposedBlock *transposed, const Given &given,
                    char *accumulators) const {
        const std::int64_t most = r_.rows_again ? rows_looked_at_twice : rows_at_once;
        if (r_.pairwise && end - begin > most) {
            alignas(64) char other[longest_strip_bytes];
            r_.identity(n, other);
            const std::int64_t middle = begin + (end - begin) / 2;
            take_strip(reduced, begin, middle, n, p, transposed, given, accumulators);
            take_strip(reduced, middle, end, n, p, transposed, given, other);
            r_.merge(n, other, given, accumulators);
            return;
        }
        if (!transposed && is_narrow(n)) {
            const std::int64_t length = reduced.shape[0];
            for (std::int64_t row = begin, count; row < end; row += count) {
                count = std::min(end - row, length - row % length);
                r_.narrow_rows(n, count, p + reduced.offset(1, row, 0), reduced.strides[1][0],
                               accumulators);
            }
            return;
        }
        const std::int64_t stride = transposed ? all_.in.in_size() : all_.kept.strides[1][0];
        const auto take = [&](auto rows_in, Reducer::ManyRows many_rows_in) {
            // Rows side by side, a cache line apart: at distances that are powers of two they would
            // fall on the same sets of the L1 cache.
            alignas(64) char scratch[rows_taken * (shortest_strip * 16 + 64)];
            const std::int64_t pitch = shortest_strip * all_.in.out_size() + 64;
            Rows rows(reduced, begin, 0);
            for (std::int64_t row = begin; row < end;) {
                const std::int64_t count = many_rows_in && end - row >= rows_taken ? rows_taken : 1;
                const char *in[rows_taken];
                for (std::int64_t i = 0; i < count; ++i, rows.next()) {
                    const char *from = p + (rows.data[1] - reduced.data[1]);
                    if (transposed) from = transposed->column(from);
                    in[i] = packs_ ? packed(n, from, scratch + i * pitch)
                                   : all_.elements(n, from, stride, scratch + i * pitch);
                }
                if (count == rows_taken)
                    many_rows_in(n, in, given, accumulators);
                else
                    rows_in(n, in[0], given, accumulators);
                row += count;
            }
        };
        // The processor fetches short rows ahead only if they are read one after the other. Wider
        // accumulators cost more than that.
        const bool fetched =
            n * all_.in.in_size() < long_row_bytes && !in_caches_ && all_.in.in_size() == r_.size;
        const bool in_place = !transposed && !packs_ && all_.is_read_in_place(stride);
        take(r_.rows, in_place && fetched ? nullptr : r_.many_rows);
        if (!r_.rows_again) return;
        r_.turn(n, end - begin, accumulators);
        for (const bool last : {false, true}) {
            take(r_.rows_again, in_place && fetched ? nullptr : r_.many_rows_again);
            if (r_.settle(n, last, accumulators)) return;
        }
    }

    // Elements that have to be converted or moved first go by way of a block.
    std::int64_t strip_length() const {
        if (packs_ || !all_.is_read_in_place(all_.kept.strides[1][0])) return shortest_strip;
        return std::clamp(strip_bytes / r_.size, shortest_strip, longest_strip);
    }

    // Copies n accumulators, from the `first` of `some` on, to where there are `room`.
    void copy_accumulators(std::int64_t n, char *out, std::int64_t room, const char *in,
                           std::int64_t some, std::int64_t first) const {
        const std::int64_t size = r_.by_members ? sizeof(double) : r_.size;
        for (std::int64_t member = 0; member < r_.size / size; ++member)
            std::memmove(out + member * room * size, in + (member * some + first) * size,
                         static_cast<std::size_t>(n * size));
    }
    // The rows that do not fill all lanes of a strip of n.
    void take_rest(std::int64_t n, const char *p, const Given &given, char *accumulators) const {
        const std::int64_t some = all_.kept.shape[0] * rest_lanes_;
        Space rest = all_.reduced;
        rest.shape[0] = 1;
        alignas(64) char of_some[longest_strip_bytes], of_all[longest_strip_bytes];
        r_.identity(some, of_some);
        take_strip(rest, 0, rest.outer(), some,
                   p + all_.reduced.shape[0] * all_.reduced.strides[1][0], nullptr, given, of_some);
        r_.identity(n, of_all);
        copy_accumulators(some, of_all, n, of_some, some, 0);
        r_.merge(n, of_all, given, accumulators);
    }
    // Merges the lanes of each of n results.
    void merge_lanes(std::int64_t n, const Given &given, char *accumulators) const {
        alignas(64) char others[longest_strip_bytes];
        for (std::int64_t some = n * lanes_ / 2; some >= n; some /= 2) {
            const char *from = accumulators + some * r_.size;
            if (r_.by_members) {
                copy_accumulators(some, others, some, accumulators, 2 * some, some);
                copy_accumulators(some, accumulators, some, accumulators, 2 * some, 0);
                from = others;
            }
            r_.merge(some, from, given, accumulators);
        }
    }

    void run_across() {
        const std::int64_t length = all_.kept.shape[0] * lanes_, outer = all_.kept.outer(),
                           strip = strip_length();
        const std::int64_t rows = all_.reduced.shape[0] * all_.reduced.outer();
        in_caches_ = length * outer * rows * all_.in.in_size() <= cached_bytes;
        const std::int64_t strips = (length + strip - 1) / strip;
        const std::int64_t width = std::min(length, strip);
        std::int64_t segment_rows = rows;
        if (length * outer <= few_results)
            segment_rows = std::min(rows, std::max(rows_at_once, segment_size / width));
        const std::int64_t count = (rows + segment_rows - 1) / segment_rows;
        const auto body = [&](std::int64_t s, std::int64_t segment, const Given &given,
                              char *accumulators) {
            const std::int64_t begin = s % strips * strip;
            const std::int64_t n = std::min(strip, length - begin);
            const char *p = all_.kept.data[1] + all_.kept.offset(1, s / strips) +
                            begin * all_.kept.strides[1][0];
            r_.identity(n, accumulators);
            take_strip(all_.reduced, segment * segment_rows,
                       std::min(rows, (segment + 1) * segment_rows), n, p, nullptr, given,
                       accumulators);
            if (rest_lanes_ && segment + 1 == count) take_rest(n, p, given, accumulators);
        };
        const auto finish = [&](std::int64_t s, char *accumulators) {
            const std::int64_t begin = s % strips * strip;
            finish_strip(
                std::min(strip, length - begin) / lanes_,
                all_.kept.data[0] + all_.kept.offset(0, s / strips) +
                    begin * all_.kept.strides[0][0],
                count,
                [&](std::int64_t segment, const Given &given, char *repeated) {
                    body(s, segment, given, repeated);
                },
                accumulators);
        };
        if (count == 1) {
            parallel(strips * outer, width * rows, [&](std::int64_t begin, std::int64_t end) {
                alignas(64) char accumulators[longest_strip_bytes];
                for (std::int64_t s = begin; s < end; ++s) {
                    body(s, 0, all_.given, accumulators);
                    finish(s, accumulators);
                }
            });
            return;
        }
        const std::int64_t distance = width * r_.size;
        const Scratch partial(strips * outer * count * distance);
        parallel(strips * outer * count, width * segment_rows,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t piece = begin; piece < end; ++piece)
                         body(piece / count, piece % count, all_.given,
                              partial.data() + piece * distance);
                 });
        for (std::int64_t s = 0; s < strips * outer; ++s) {
            char *accumulators = partial.data() + s * count * distance;
            all_.merge_segments(std::min(strip, length - s % strips * strip), count, distance,
                                accumulators);
            finish(s, accumulators);
        }
    }

    // body(segment, given, accumulators): takes in the elements of a segment once more.
    template <class Body> void finish_strip(std::int64_t n, char *out, std::int64_t segments,
                                            const Body &body, char *accumulators) const {
        alignas(64) char values[longest_strip * 16];
        merge_lanes(n, all_.given, accumulators);
        r_.finish(n, accumulators, all_.given, values);
        if (r_.rescale) repeat_scaled(n, segments, body, accumulators, values);
        all_.out.run(n, out, all_.kept.strides[0][0], values, all_.out.in_size());
    }

    template <class Body> void repeat_scaled(std::int64_t n, std::int64_t segments,
                                             const Body &body, const char *accumulators,
                                             char *values) const {
        for (const double scale : {0x1p-600, 0x1p600}) {
            bool wanted = false;
            for (std::int64_t k = 0; k < n; ++k)
                wanted |= r_.rescale(accumulators + k * r_.size) == scale;
            if (!wanted) continue;
            Given given = all_.given;
            given.scale = scale;
            alignas(64) char total[longest_strip * sizeof(double)],
                part[longest_strip * sizeof(double)];
            body(0, given, total);
            for (std::int64_t segment = 1; segment < segments; ++segment) {
                body(segment, given, part);
                r_.merge(n * lanes_, part, given, total);
            }
            merge_lanes(n, given, total);
            for (std::int64_t k = 0; k < n; ++k)
                if (r_.rescale(accumulators + k * r_.size) == scale)
                    r_.finish(1, total + k * r_.size, given, values + k * r_.out_size);
        }
    }

    // ---- a strip of results at a time, from a block that is transposed ----

    // Whether transposing is faster than the other ways.
    bool suit(const Neighbourhoods &found) const {
        const std::int64_t size = all_.in.in_size();
        if (found.results > 1) return found.count >= long_row && found.results * size < 128;
        if (found.count >= 4 * long_row && fold_first(found)) return true;
        const std::int64_t most = size == 16 ? long_row - 1
                                  : size < 4 ? longest_transposed
                                  : r_.done  ? longest_transposed / 4
                                             : longest_transposed / 2;
        return found.count >= 4 * long_row && found.columns >= few_columns && found.columns <= most;
    }
    // Whether rows are folded to a group each, which are joined in registers.
    bool fold_first(const Neighbourhoods &found) const {
        // Where vectors are short, shuffles of bytes are slow, and so is widening.
        const bool slow = vector_bytes < 64 && (r_.size < 4 || r_.size > all_.in.in_size());
        const std::int64_t fewest = slow ? 3 * group_bytes : group_bytes * 3 / 2;
        return r_.groups && found.results == 1 &&
               all_.is_read_in_place(all_.reduced.strides[1][0]) &&
               found.columns == all_.reduced.shape[0] && found.columns * r_.size >= fewest;
    }
    void run_folded(const Neighbourhoods &found) {
        found.arrange(all_.kept, 1);
        const std::int64_t work = block_size * found.columns;
        SpacePieces(all_.kept, 0, block_size)
            .visit_all(work, [&](char *const *data, std::int64_t n) {
                alignas(64) char groups[folded_rows * group_bytes],
                    accumulators[longest_strip_bytes];
                const auto body = [&](std::int64_t, const Given &given, char *taken) {
                    for (std::int64_t row = 0; row < n; row += folded_rows) {
                        const std::int64_t rows = std::min(folded_rows, n - row);
                        r_.groups(found.columns, rows, data[1] + row * found.stride, found.stride,
                                  given, groups);
                        r_.fold_groups(rows, groups, taken + row * r_.size);
                    }
                };
                body(0, all_.given, accumulators);
                finish_strip(n, data[0], 1, body, accumulators);
            });
    }

    void run_transposed(const Neighbourhoods &found) {
        found.arrange(all_.kept, 1);
        const std::int64_t rows = all_.reduced.shape[0] * all_.reduced.outer();
        found.each_block(all_.kept, 1, all_.in.in_size(),
                         [&](std::int64_t n, const TransposedBlock &block, const auto &place) {
                             alignas(64) char accumulators[longest_strip_bytes];
                             for (std::int64_t result = 0; result < found.results; ++result) {
                                 const auto body = [&](std::int64_t, const Given &given,
                                                       char *taken) {
                                     r_.identity(n, taken);
                                     take_strip(all_.reduced, 0, rows, n, place(1, result), &block,
                                                given, taken);
                                 };
                                 body(0, all_.given, accumulators);
                                 finish_strip(n, place(0, result), 1, body, accumulators);
                             }
                         });
    }

    Reduction &all_;
    const Reducer &r_;
    // Of each result, and those that the last rows fill; see Note [Ways to reduce].
    std::int64_t lanes_ = 1, rest_lanes_ = 0;
    std::int64_t lane_step_ = 0; // bytes from lane to lane
    bool packs_ = false;         // there are gaps between them
    bool in_caches_ = false;
};

} // namespace

bool reduce_strips(Reduction &all) { return Strips(all)(); }

} // namespace Atoll::kernels
