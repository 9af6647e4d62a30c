// Reductions over any axes, with any strides.
//
// Note [Ways to reduce]
// Where the input is densest along a reduced axis, one result at a time takes in whole blocks
// (`Along`). Where it is densest along a kept axis, a strip of results takes in one row after the
// other (`Across`), so that memory is read in order.
//
// Where all elements of a few results are neighbours, such as three colours or the members of short
// rows, neither is fast. If there are many such neighbourhoods, the elements of some are
// transposed, and strips of results take them in (`transposed`). If there are few, whose rows
// follow each other, several rows are taken in as one: each result has so many lanes, which are
// merged at the end.
//
// Note [Order of additions]
// What rounds is added in halves: runs of `leaf` elements, then sums of two runs, and so on. Large
// reductions are cut into segments of fixed size, whose sums are merged in pairs. Both depend on
// shape and strides only, so the result is the same on any number of threads.
#include "convert.h"
#include "neighbourhoods.h"
#include "pack_rows.h"
#include "parallel.h"
#include "reducers.h"
#include "scratch.h"
#include "segments.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t strip_bytes = 16384; // of results that take in rows together: long runs
constexpr std::int64_t shortest_strip = block_size, longest_strip = 4096; // results
constexpr std::int64_t longest_strip_bytes =
    std::max(shortest_strip * largest_accumulator, std::max(strip_bytes, longest_strip));
constexpr std::int64_t most_results = 64;   // that are finished together, one row after the other
constexpr std::int64_t few_results = 16384; // above, there are results enough for the threads
constexpr std::int64_t few_columns = 4;     // not worth transposing
constexpr std::int64_t longest_transposed = 128;   // elements; fewer of 4 bytes or more
constexpr std::int64_t long_row = 16;              // a reduced axis shorter than this is no row
constexpr std::int64_t longest_packed_row = 256;   // bytes, of rows with gaps
constexpr std::int64_t longest_fetched_row = 4096; // bytes
constexpr std::int64_t rows_at_once = 64;          // rows that a strip takes in without halving
constexpr std::int64_t long_row_bytes = 8192;      // from here on rows are taken in together
constexpr std::int64_t cached_bytes = 512 << 10;   // so are those of so much altogether

class Reduction {
public:
    Reduction(const Reducer &reducer, const atoll_call &call, const Given &given)
        : r_(reducer), call_(call), given_(given),
          kept_(call.core, call.rank, call.shape, call.operands, 2),
          reduced_(0, call.core, call.shape, call.operands, 2),
          in_({call.operands[1].dtype, call.dtype, widened(call.dtype)},
              call.operands[1].flags & ATOLL_OPERAND_SWAPPED, false),
          out_({reducer.result ? reducer.result : result_of(call.function, widened(call.dtype)),
                result_of(call.function, call.dtype), call.operands[0].dtype},
               false, call.operands[0].flags & ATOLL_OPERAND_SWAPPED) {
        for (std::uint32_t axis = 0; axis < call.core; ++axis) given_.count *= call.shape[axis];
        // Both spaces start at the same element, each flips its own axes.
        const char *start = static_cast<const char *>(call.operands[1].data);
        reduced_shift_ = reduced_.data[1] - start;
        direct_ = in_.moves() && aligned();
    }

    void operator()() {
        densest_first(kept_);
        densest_first(reduced_);
        if (kept_.shape[0] * kept_.outer() >= long_row) {
            const Neighbourhoods found = Neighbourhoods::of(kept_, 1, reduced_, 1, in_.in_size());
            if (suit(found)) return fold_first(found) ? run_folded(found) : run_transposed(found);
        }
        if (across()) {
            spread();
            run_across();
        } else {
            run_along();
        }
    }

private:
    bool aligned() const {
        std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(kept_.data[1]);
        for (const Space *space : {&kept_, &reduced_})
            for (int axis = 0; axis < space->rank; ++axis)
                bits |= static_cast<std::uintptr_t>(space->strides[1][axis]);
        return (bits & (in_.in_alignment() - 1)) == 0;
    }

    // The densest axis first, as the input sees them.
    static void densest_first(Space &space) {
        int best = 0;
        for (int axis = 1; axis < space.rank; ++axis)
            if (std::abs(space.strides[1][axis]) < std::abs(space.strides[1][best])) best = axis;
        move_to_front(space, best);
    }
    bool across() const {
        const std::int64_t results = kept_.shape[0];
        if (results < long_row) {
            const std::int64_t enough = r_.by_members ? 32 * block_size : block_size;
            return spreads() && results * reduced_.shape[0] >= enough;
        }
        // Where no further element can change a result it is worth stopping, but not for a few.
        const std::int64_t stops = r_.done ? reduced_.outer() : 1;
        if (reduced_.shape[0] * stops < long_row) return true;
        return std::abs(kept_.strides[1][0]) < std::abs(reduced_.strides[1][0]);
    }
    // Whether the rows of results along the first kept axis follow each other along the first
    // reduced one.
    bool follow_each_other() const {
        return reduced_.strides[1][0] == kept_.shape[0] * kept_.strides[1][0];
    }
    // Whether several of these rows can be taken in as one: if there are gaps between them, by way
    // of scratch.
    bool spreads() const {
        return kept_.shape[0] > 1 &&
               (follow_each_other() || (kept_.strides[1][0] == in_.in_size() &&
                                        kept_.shape[0] * in_.in_size() <= longest_packed_row));
    }
    // Gives each result more lanes if that is possible.
    void spread() {
        if (!spreads()) return;
        packs_ = !follow_each_other();
        lane_step_ = reduced_.strides[1][0];
        const std::int64_t rows = reduced_.shape[0];
        // Merging accumulators of several members takes long.
        const std::int64_t fewest = r_.by_members ? rows_at_once : rows_taken;
        while (2 * lanes_ * kept_.shape[0] <= strip_length() && 2 * lanes_ * fewest <= rows)
            lanes_ *= 2;
        rest_lanes_ = rows % lanes_;
        reduced_.shape[0] = rows / lanes_;
        reduced_.strides[1][0] = lanes_ * lane_step_;
        packs_ &= lanes_ > 1;
    }

    // Whether elements that are so far apart need neither a conversion nor a copy.
    bool is_read_in_place(std::int64_t stride) const { return direct_ && stride == in_.in_size(); }

    // n elements from `p` on, dense, aligned, in the compute type.
    const char *elements(std::int64_t n, const char *p, std::int64_t stride, char *scratch) const {
        if (packs_) return packed(n, p, scratch);
        if (is_read_in_place(stride)) return p;
        in_.run(n, scratch, in_.out_size(), p, stride);
        return scratch;
    }

    // The same of rows with gaps between them.
    const char *packed(std::int64_t n, const char *p, char *scratch) const {
        const std::int64_t size = in_.in_size(), row = kept_.shape[0] * size;
        if (in_.moves()) {
            copy_rows(n / kept_.shape[0], row, scratch, row, p, lane_step_);
            return scratch;
        }
        alignas(64) char raw[shortest_strip * 16];
        copy_rows(n / kept_.shape[0], row, raw, row, p, lane_step_);
        in_.run(n, scratch, in_.out_size(), raw, size);
        return scratch;
    }

    // ---- one result at a time ----

    void take_row(std::int64_t n, const char *p, const Given &given, char *accumulator) const {
        const std::int64_t stride = reduced_.strides[1][0];
        const bool dense = is_read_in_place(stride);
        if (n > leaf && r_.pairwise && !(dense && r_.halves)) {
            const std::int64_t half = (n / 2 + leaf - 1) / leaf * leaf;
            alignas(16) char other[largest_accumulator];
            r_.identity(1, other);
            take_row(half, p, given, accumulator);
            take_row(n - half, p + half * stride, given, other);
            r_.merge(1, other, given, accumulator);
            return;
        }
        if (dense && !r_.done) return r_.block(n, p, given, accumulator);
        alignas(64) char scratch[block_size * 16];
        const std::int64_t step = dense ? 4 * leaf
                                  : r_.done
                                      ? block_size
                                      : static_cast<std::int64_t>(sizeof scratch) / in_.out_size();
        for (std::int64_t k = 0; k < n; k += step) {
            const std::int64_t count = std::min(step, n - k);
            r_.block(count, elements(count, p + k * stride, stride, scratch), given, accumulator);
            if (r_.done && r_.done(accumulator)) return;
        }
    }

    void take_rows(std::int64_t begin, std::int64_t end, std::int64_t n, const char *p,
                   const Given &given, char *accumulator) const {
        if (end - begin > 1 && r_.pairwise && (end - begin) * n > leaf / 8) {
            alignas(16) char other[largest_accumulator];
            r_.identity(1, other);
            const std::int64_t middle = begin + (end - begin) / 2;
            take_rows(begin, middle, n, p, given, accumulator);
            take_rows(middle, end, n, p, given, other);
            r_.merge(1, other, given, accumulator);
            return;
        }
        for (std::int64_t row = begin; row < end; ++row) {
            take_row(n, p + reduced_.offset(1, row), given, accumulator);
            if (r_.done && r_.done(accumulator)) return;
        }
    }

    void take_segment(const Segments &segments, std::int64_t index, const char *p,
                      const Given &given, char *accumulator) const {
        const std::int64_t n = reduced_.shape[0];
        if (segments.per_row > 1) {
            const std::int64_t begin = index % segments.per_row * segments.length;
            take_row(std::min(segments.length, n - begin),
                     p + reduced_.offset(1, index / segments.per_row) +
                         begin * reduced_.strides[1][0],
                     given, accumulator);
        } else {
            const std::int64_t begin = index * segments.rows;
            take_rows(begin, std::min(begin + segments.rows, reduced_.outer()), n, p, given,
                      accumulator);
        }
    }

    void run_along() const {
        const std::int64_t results = kept_.shape[0] * kept_.outer();
        const Segments segments(reduced_);
        const std::int64_t work = std::min(segment_size, reduced_.shape[0] * reduced_.outer());
        if (segments.count == 1) {
            parallel(results, work, [&](std::int64_t begin, std::int64_t end) {
                while (begin < end) begin += reduce_rows(segments, begin, end);
            });
            return;
        }
        const Scratch partial(results * segments.count * r_.size);
        std::atomic<bool> decided{false}; // any, all of one result: the other segments may stop
        parallel(results * segments.count, work, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece) {
                char *accumulator = partial.data() + piece * r_.size;
                r_.identity(1, accumulator);
                if (r_.done && results == 1 && decided.load(std::memory_order_relaxed)) continue;
                take_segment(segments, piece % segments.count, place(piece / segments.count, 1),
                             given_, accumulator);
                if (r_.done && r_.done(accumulator)) decided.store(true, std::memory_order_relaxed);
            }
        });
        for (std::int64_t result = 0; result < results; ++result) {
            char *accumulators = partial.data() + result * segments.count * r_.size;
            merge_segments(1, segments.count, r_.size, accumulators);
            finish_along(segments, result, 1, accumulators);
        }
    }

    // Where operand k has the elements of this result.
    char *place(std::int64_t result, int k) const {
        return kept_.data[k] + kept_.offset(k, result, 0) + (k == 1 ? reduced_shift_ : 0);
    }

    // Some results from `begin` on, which follow each other along an axis; returns how many.
    std::int64_t reduce_rows(const Segments &segments, std::int64_t begin, std::int64_t end) const {
        const std::int64_t n =
            std::min({most_results, end - begin, kept_.shape[0] - begin % kept_.shape[0]});
        const std::int64_t step = kept_.strides[1][0];
        // Of the next row: where rows are short, the processor does not fetch it itself.
        const std::int64_t bytes = reduced_.shape[0] * in_.in_size();
        const bool short_rows =
            is_read_in_place(reduced_.strides[1][0]) && bytes <= longest_fetched_row;
        alignas(64) char accumulators[most_results * largest_accumulator];
        const std::int64_t together = r_.by_members ? 1 : n;
        for (std::int64_t k = 0; k < n; k += together)
            r_.identity(together, accumulators + k * r_.size);
        const char *row = place(begin, 1);
        for (std::int64_t k = 0; k < n; ++k, row += step) {
            take_segment(segments, 0, row, given_, accumulators + k * r_.size);
            if (short_rows && k + 1 < n)
                for (std::int64_t byte = 0; byte < bytes; byte += 64)
                    __builtin_prefetch(row + step + byte);
        }
        finish_along(segments, begin, n, accumulators);
        return n;
    }

    // In pairs, then pairs of pairs; the result is in the first.
    void merge_segments(std::int64_t n, std::int64_t count, std::int64_t distance,
                        char *accumulators) const {
        for (std::int64_t step = 1; step < count; step *= 2)
            for (std::int64_t k = 0; k + step < count; k += 2 * step)
                r_.merge(n, accumulators + (k + step) * distance, given_,
                         accumulators + k * distance);
    }

    // At most most_results of them, which follow each other along an axis.
    void finish_along(const Segments &segments, std::int64_t first, std::int64_t n,
                      char *accumulators) const {
        alignas(64) char values[most_results * 16];
        const std::int64_t together = r_.by_members ? 1 : n;
        for (std::int64_t k = 0; k < n; k += together)
            r_.finish(together, accumulators + k * r_.size, given_, values + k * r_.out_size);
        if (r_.rescale)
            for (std::int64_t k = 0; k < n; ++k)
                repeat_scaled(segments, first + k, accumulators + k * r_.size,
                              values + k * r_.out_size);
        out_.run(n, place(first, 0), kept_.strides[0][0], values, out_.in_size());
    }

    void repeat_scaled(const Segments &segments, std::int64_t result, char *accumulator,
                       char *value) const {
        Given given = given_;
        given.scale = r_.rescale(accumulator);
        if (given.scale == 1) return;
        r_.identity(1, accumulator);
        for (std::int64_t k = 0; k < segments.count; ++k)
            take_segment(segments, k, place(result, 1), given, accumulator);
        r_.finish(1, accumulator, given, value);
    }

    // ---- a strip of results at a time ----

    // Null where rows are not dense halves, or the reducer does not take them.
    Reducer::ManyRows many_rows_of_halves(std::int64_t stride) const {
        const atoll_operand &in = call_.operands[1];
        if (packs_ || stride != in_.in_size() || in.dtype != call_.dtype ||
            (in.flags & ATOLL_OPERAND_SWAPPED))
            return nullptr;
        return in.dtype == ATOLL_DTYPE_FLOAT16    ? r_.rows_of_float16
               : in.dtype == ATOLL_DTYPE_BFLOAT16 ? r_.rows_of_bfloat16
                                                  : nullptr;
    }

    void take_strip(const Space &reduced, std::int64_t begin, std::int64_t end, std::int64_t n,
                    const char *p, const TransposedBlock *transposed, const Given &given,
                    char *accumulators) const {
        if (r_.pairwise && end - begin > rows_at_once) {
            alignas(64) char other[longest_strip_bytes];
            r_.identity(n, other);
            const std::int64_t middle = begin + (end - begin) / 2;
            take_strip(reduced, begin, middle, n, p, transposed, given, accumulators);
            take_strip(reduced, middle, end, n, p, transposed, given, other);
            r_.merge(n, other, given, accumulators);
            return;
        }
        const std::int64_t stride = transposed ? in_.in_size() : kept_.strides[1][0];
        const Reducer::ManyRows of_halves = many_rows_of_halves(stride),
                                many_rows = of_halves ? of_halves : r_.many_rows;
        const auto take = [&](auto rows_in, bool many) {
            // Rows side by side, a cache line apart: at distances that are powers of two they would
            // fall on the same sets of the L1 cache.
            alignas(64) char scratch[rows_taken * (shortest_strip * 16 + 64)];
            const std::int64_t pitch = shortest_strip * in_.out_size() + 64;
            Rows rows(reduced, begin, 0);
            for (std::int64_t row = begin; row < end;) {
                const std::int64_t count = many && end - row >= rows_taken ? rows_taken : 1;
                const char *in[rows_taken];
                for (std::int64_t i = 0; i < count; ++i, rows.next()) {
                    const char *from = p + (rows.data[1] - reduced.data[1]);
                    if (transposed) from = transposed->column(from);
                    in[i] = of_halves && count == rows_taken
                                ? from
                                : elements(n, from, stride, scratch + i * pitch);
                }
                if (count == rows_taken)
                    many_rows(n, in, given, accumulators);
                else
                    rows_in(n, in[0], given, accumulators);
                row += count;
            }
        };
        // The processor fetches short rows ahead only if they are read one after the other.
        const bool fetched = n * in_.in_size() < long_row_bytes && !in_caches_;
        const bool in_place = !transposed && !packs_ && is_read_in_place(stride);
        take(r_.rows, many_rows && !(in_place && fetched));
        if (!r_.rows_again) return;
        r_.turn(n, end - begin, accumulators);
        for (const bool last : {false, true}) {
            take(r_.rows_again, false);
            if (r_.settle(n, last, accumulators)) return;
        }
    }

    // Elements that have to be converted or moved first go by way of a block.
    std::int64_t strip_length() const {
        if (packs_ || !is_read_in_place(kept_.strides[1][0])) return shortest_strip;
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
        const std::int64_t some = kept_.shape[0] * rest_lanes_;
        Space rest = reduced_;
        rest.shape[0] = 1;
        alignas(64) char of_some[longest_strip_bytes], of_all[longest_strip_bytes];
        r_.identity(some, of_some);
        take_strip(rest, 0, rest.outer(), some, p + reduced_.shape[0] * reduced_.strides[1][0],
                   nullptr, given, of_some);
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
        const std::int64_t length = kept_.shape[0] * lanes_, outer = kept_.outer(),
                           strip = strip_length();
        const std::int64_t rows = reduced_.shape[0] * reduced_.outer();
        in_caches_ = length * outer * rows * in_.in_size() <= cached_bytes;
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
            const char *p = kept_.data[1] + kept_.offset(1, s / strips) +
                            begin * kept_.strides[1][0] + reduced_shift_;
            r_.identity(n, accumulators);
            take_strip(reduced_, segment * segment_rows,
                       std::min(rows, (segment + 1) * segment_rows), n, p, nullptr, given,
                       accumulators);
            if (rest_lanes_ && segment + 1 == count) take_rest(n, p, given, accumulators);
        };
        const auto finish = [&](std::int64_t s, char *accumulators) {
            const std::int64_t begin = s % strips * strip;
            finish_strip(
                std::min(strip, length - begin) / lanes_,
                kept_.data[0] + kept_.offset(0, s / strips) + begin * kept_.strides[0][0], count,
                [&](std::int64_t segment, const Given &given, char *repeated) {
                    body(s, segment, given, repeated);
                },
                accumulators);
        };
        if (count == 1) {
            parallel(strips * outer, width * rows, [&](std::int64_t begin, std::int64_t end) {
                alignas(64) char accumulators[longest_strip_bytes];
                for (std::int64_t s = begin; s < end; ++s) {
                    body(s, 0, given_, accumulators);
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
                         body(piece / count, piece % count, given_,
                              partial.data() + piece * distance);
                 });
        for (std::int64_t s = 0; s < strips * outer; ++s) {
            char *accumulators = partial.data() + s * count * distance;
            merge_segments(std::min(strip, length - s % strips * strip), count, distance,
                           accumulators);
            finish(s, accumulators);
        }
    }

    // body(segment, given, accumulators): takes in the elements of a segment once more.
    template <class Body> void finish_strip(std::int64_t n, char *out, std::int64_t segments,
                                            const Body &body, char *accumulators) const {
        alignas(64) char values[longest_strip * 16];
        merge_lanes(n, given_, accumulators);
        r_.finish(n, accumulators, given_, values);
        if (r_.rescale) repeat_scaled(n, segments, body, accumulators, values);
        out_.run(n, out, kept_.strides[0][0], values, out_.in_size());
    }

    template <class Body> void repeat_scaled(std::int64_t n, std::int64_t segments,
                                             const Body &body, const char *accumulators,
                                             char *values) const {
        for (const double scale : {0x1p-600, 0x1p600}) {
            bool wanted = false;
            for (std::int64_t k = 0; k < n; ++k)
                wanted |= r_.rescale(accumulators + k * r_.size) == scale;
            if (!wanted) continue;
            Given given = given_;
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
        const std::int64_t size = in_.in_size();
        if (found.results > 1) return found.count >= long_row && found.results * size < 128;
        if (found.count >= 4 * long_row && fold_first(found)) return true;
        const std::int64_t most = size == 16 ? long_row - 1
                                  : size < 4 ? longest_transposed
                                  : r_.done  ? longest_transposed / 4
                                             : longest_transposed / 2;
        return found.count >= 4 * long_row && found.columns >= few_columns && found.columns <= most;
    }
    // Whether rows are so long that folding each of them to a group leaves much less to transpose.
    bool fold_first(const Neighbourhoods &found) const {
        return r_.groups && found.results == 1 && is_read_in_place(reduced_.strides[1][0]) &&
               found.columns == reduced_.shape[0] &&
               found.columns * in_.in_size() >= (r_.many_rows ? 4 : 2) * group_bytes;
    }
    void run_folded(const Neighbourhoods &found) {
        found.arrange(kept_, 1);
        const std::int64_t size = r_.size, count = group_bytes / size,
                           longest = TransposedBlock::length(count, size),
                           work = std::min(found.count, longest) * found.columns;
        SpacePieces(kept_, 0, longest).visit_all(work, [&](char *const *data, std::int64_t n) {
            alignas(64) char groups[block_size * group_bytes], accumulators[longest_strip_bytes];
            const auto body = [&](std::int64_t, const Given &given, char *taken) {
                r_.groups(found.columns, n, data[1] + reduced_shift_, found.stride, given, groups);
                const TransposedBlock block(n, count, size, groups, group_bytes);
                r_.identity(n, taken);
                for (std::int64_t k = 0; k < count; ++k)
                    r_.merge(n, block.column(groups + k * size), given, taken);
            };
            body(0, given_, accumulators);
            finish_strip(n, data[0], 1, body, accumulators);
        });
    }

    void run_transposed(const Neighbourhoods &found) {
        found.arrange(kept_, 1);
        kept_.data[1] += reduced_shift_;
        const std::int64_t rows = reduced_.shape[0] * reduced_.outer();
        found.each_block(
            kept_, 1, in_.in_size(),
            [&](std::int64_t n, const TransposedBlock &block, const auto &place) {
                alignas(64) char accumulators[longest_strip_bytes];
                for (std::int64_t result = 0; result < found.results; ++result) {
                    const auto body = [&](std::int64_t, const Given &given, char *taken) {
                        r_.identity(n, taken);
                        take_strip(reduced_, 0, rows, n, place(1, result), &block, given, taken);
                    };
                    body(0, given_, accumulators);
                    finish_strip(n, place(0, result), 1, body, accumulators);
                }
            });
    }

    const Reducer &r_;
    const atoll_call &call_;
    Given given_;
    Space kept_, reduced_;
    // Of each result, and those that the last rows fill; see Note [Ways to reduce].
    std::int64_t lanes_ = 1, rest_lanes_ = 0;
    std::int64_t lane_step_ = 0; // bytes from lane to lane
    bool packs_ = false;         // there are gaps between them
    Conversion in_, out_;
    std::ptrdiff_t reduced_shift_ = 0; // bytes from flipped reduced axes
    bool direct_ = false;
    bool in_caches_ = false;
};

using RowTable = std::array<const ReducerRow *, ATOLL_FN_COUNT>;

// One input, all of whose core axes are a group and go.
constexpr bool reduces(std::uint16_t function) {
    const sdk::Signature &s = sdk::core_functions[function].signature;
    return s.input_count() == 1 && s.slot_count == 1 && s.operands[0].axis_count == 0 &&
           s.slots[0].kind == sdk::AxisKind::group && !s.slots[0].ordered;
}
constexpr RowTable make_table() {
    RowTable table{};
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    if constexpr (reduces(id)) table[id] = &reducers::name;
#include "atoll/lists/functions.inc"
    return table;
}
constexpr RowTable reducer_rows = make_table();

constexpr bool skips_nan(std::uint16_t function) {
    for (const sdk::AttributeSpec &spec : sdk::core_functions[function].signature.attributes)
        if (spec.name == "skip_nan") return true;
    return false;
}
constexpr RowTable make_skipping_table() {
    RowTable table{};
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    if constexpr (skips_nan(id)) table[id] = &reducers::nan_##name;
#include "atoll/lists/functions.inc"
    return table;
}
constexpr RowTable skipping_rows = make_skipping_table();

// Some norms are reductions of their own.
const ReducerRow *row_of(std::uint32_t function, double x, bool skip_nan) {
    if (function == ATOLL_FN_norm) {
        if (x == 0) return skip_nan ? &reducers::nan_count_nonzero : &reducers::count_nonzero;
        if (x == 1) return skip_nan ? &reducers::nan_norm_one : &reducers::norm_one;
        if (x == 2) return skip_nan ? &reducers::nan_norm_two : &reducers::norm_two;
        if (x > 0 && std::isinf(x))
            return skip_nan ? &reducers::nan_norm_infinity : &reducers::norm_infinity;
    }
    return (skip_nan ? skipping_rows : reducer_rows)[function];
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_reduce(const atoll_call *call) {
    using namespace Atoll::kernels;
    const std::uint32_t function = call->function, dtype = call->dtype;
    if (function >= ATOLL_FN_COUNT || dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const ReducerRow *row = reducer_rows[function];
    if (!row || !(*row)[dtype].size) return ATOLL_STATUS_NOT_SUPPORTED;
    Given given;
    given.count = 1;
    bool skip_nan = false; // the only flag that a reduction has
    for (std::uint32_t i = 0; i < call->attribute_count; ++i) {
        const atoll_scalar &attribute = call->attributes[i];
        if (attribute.dtype == ATOLL_DTYPE_BOOL)
            skip_nan = attribute.value.bytes[0] != 0;
        else
            given.x = attribute.value.f64[0];
    }
    try {
        Reduction((*row_of(function, given.x, skip_nan))[dtype], *call, given)();
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
