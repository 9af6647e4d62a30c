// Reductions that take in one result at a time: see Note [Ways to reduce].
#include "parallel.h"
#include "reduction.h"
#include "scratch.h"
#include "segments.h"
#include "streaming.h"

#include <algorithm>
#include <atomic>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t most_results = 64; // that are finished together, one row after the other
constexpr std::int64_t longest_fetched_row = 4096; // bytes

class Along {
public:
    explicit Along(const Reduction &all) : all_(all), r_(all.reducer) {}

    void operator()() const {
        const std::int64_t results = all_.results();
        const Segments segments(all_.reduced);
        const std::int64_t work =
            std::min(segment_size, all_.reduced.shape[0] * all_.reduced.outer());
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
                             all_.given, accumulator);
                if (r_.done && r_.done(accumulator)) decided.store(true, std::memory_order_relaxed);
            }
        });
        for (std::int64_t result = 0; result < results; ++result) {
            char *accumulators = partial.data() + result * segments.count * r_.size;
            all_.merge_segments(1, segments.count, r_.size, accumulators);
            finish_along(segments, result, 1, accumulators);
        }
    }

private:
    void take_row(std::int64_t n, const char *p, const Given &given, char *accumulator) const {
        const std::int64_t stride = all_.reduced.strides[1][0];
        const bool dense = all_.is_read_in_place(stride);
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
        const std::int64_t step =
            dense     ? 4 * leaf
            : r_.done ? block_size
                      : static_cast<std::int64_t>(sizeof scratch) / all_.in.out_size();
        for (std::int64_t k = 0; k < n; k += step) {
            const std::int64_t count = std::min(step, n - k);
            r_.block(count, all_.elements(count, p + k * stride, stride, scratch), given,
                     accumulator);
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
            take_row(n, p + all_.reduced.offset(1, row), given, accumulator);
            if (r_.done && r_.done(accumulator)) return;
        }
    }

    void take_segment(const Segments &segments, std::int64_t index, const char *p,
                      const Given &given, char *accumulator) const {
        const std::int64_t n = all_.reduced.shape[0];
        if (segments.per_row > 1) {
            const std::int64_t begin = index % segments.per_row * segments.length;
            take_row(std::min(segments.length, n - begin),
                     p + all_.reduced.offset(1, index / segments.per_row) +
                         begin * all_.reduced.strides[1][0],
                     given, accumulator);
        } else {
            const std::int64_t begin = index * segments.rows;
            take_rows(begin, std::min(begin + segments.rows, all_.reduced.outer()), n, p, given,
                      accumulator);
        }
    }

    // Where operand k has the elements of this result.
    char *place(std::int64_t result, int k) const {
        return all_.kept.data[k] + all_.kept.offset(k, result, 0);
    }

    // Some results from `begin` on, which follow each other along an axis; returns how many.
    std::int64_t reduce_rows(const Segments &segments, std::int64_t begin, std::int64_t end) const {
        const std::int64_t n =
            std::min({most_results, end - begin, all_.kept.shape[0] - begin % all_.kept.shape[0]});
        const std::int64_t step = all_.kept.strides[1][0];
        // The next row: where rows are short, the processor does not fetch it itself. Of what the
        // caches have, Zen 5 reads rows of 4 KiB in 0.8 of the time without that.
        const std::int64_t bytes = all_.reduced.shape[0] * all_.in.in_size();
        const bool fetches = bytes <= longest_fetched_row &&
                             all_.is_read_in_place(all_.reduced.strides[1][0]) &&
                             (all_.given.far || large_operands().fetched_ahead);
        alignas(64) char accumulators[most_results * largest_accumulator];
        const std::int64_t together = r_.by_members ? 1 : n;
        for (std::int64_t k = 0; k < n; k += together)
            r_.identity(together, accumulators + k * r_.size);
        const char *row = place(begin, 1);
        for (std::int64_t k = 0; k < n; ++k, row += step) {
            take_segment(segments, 0, row, all_.given, accumulators + k * r_.size);
            if (fetches && k + 1 < n)
                for (std::int64_t byte = 0; byte < bytes; byte += 64)
                    __builtin_prefetch(row + step + byte);
        }
        finish_along(segments, begin, n, accumulators);
        return n;
    }

    // At most most_results of them, which follow each other along an axis.
    void finish_along(const Segments &segments, std::int64_t first, std::int64_t n,
                      char *accumulators) const {
        alignas(64) char values[most_results * 16];
        const std::int64_t together = r_.by_members ? 1 : n;
        for (std::int64_t k = 0; k < n; k += together)
            r_.finish(together, accumulators + k * r_.size, all_.given, values + k * r_.out_size);
        if (r_.rescale)
            for (std::int64_t k = 0; k < n; ++k)
                repeat_scaled(segments, first + k, accumulators + k * r_.size,
                              values + k * r_.out_size);
        all_.out.run(n, place(first, 0), all_.kept.strides[0][0], values, all_.out.in_size());
    }

    void repeat_scaled(const Segments &segments, std::int64_t result, char *accumulator,
                       char *value) const {
        Given given = all_.given;
        given.scale = r_.rescale(accumulator);
        if (given.scale == 1) return;
        r_.identity(1, accumulator);
        for (std::int64_t k = 0; k < segments.count; ++k)
            take_segment(segments, k, place(result, 1), given, accumulator);
        r_.finish(1, accumulator, given, value);
    }

    const Reduction &all_;
    const Reducer &r_;
};

} // namespace

void reduce_along(const Reduction &all) {
    const Along reduce(all);
    reduce();
}

} // namespace Atoll::kernels
