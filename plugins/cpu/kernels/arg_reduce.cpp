// argmin, argmax: positions of smallest and largest elements.
//
// Note [First of equals]
// An element beats another one if it is better, or as good and at a lower position; NaN is better
// than all else and as good as NaN. That is a total order of elements with their positions, so
// memory may be walked in whichever order is fast and on any number of threads.
#include "convert.h"
#include "neighbourhoods.h"
#include "ordered.h"
#include "parallel.h"
#include "product_vectors.h"
#include "reducer_loops.h"
#include "scratch.h"
#include "segments.h"
#include "streaming.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace Atoll::kernels {
namespace {

// In which order rows are read that are too long for registers.
enum class Walk : std::uint8_t {
    by_columns, // a few vectors of all rows at a time: a cache has them
    by_rows,    // several rows at a time
    row_by_row, // the processor fetches short rows ahead only if they are read so
};

// The typed parts for one compute dtype and direction. Elements are dense and aligned.
struct Picker {
    std::uint8_t size = 0;               // bytes of an element
    const ReducerRow *reducer = nullptr; // gives the best element of a block
    bool (*better)(const char *a, const char *b) = nullptr;
    // Index of the first element that is as good as `value`, which is among them.
    std::int64_t (*first)(std::int64_t n, const char *in, const char *value) = nullptr;
    // Where nothing is better than some value: the first element that has it, or else the first of
    // all. Null for other dtypes.
    std::int64_t (*best)(std::int64_t n, const char *in, char *value) = nullptr;
    // Best i becomes the best of elements i of at most `most_rows` rows, the first of which is at
    // `position`, if that is better, or in any case if there is none yet; then `best` may be null.
    void (*take)(std::int64_t n, std::int64_t rows, const char *const *in, Walk walk,
                 std::int64_t position, bool none_yet, char *best,
                 std::int64_t *positions) = nullptr;
    // The same with one row, not the first; faster where there are few, but never used for bytes.
    void (*take_one)(std::int64_t n, const char *in, std::int64_t position, char *best,
                     std::int64_t *positions) = nullptr;
    // The same from other bests, which have higher positions.
    void (*merge)(std::int64_t n, const char *in, const std::int64_t *from, char *best,
                  std::int64_t *positions) = nullptr;
};

template <class T, bool Largest> struct Pick {
    using E = Element<T>;
    static bool is_better(E a, E b) {
        const bool more = Largest ? a > b : a < b;
        if constexpr (is_float<E>)
            return more | ((a != a) & (b == b));
        else
            return more;
    }
    static bool better(const char *a, const char *b) { return is_better(load<E>(a), load<E>(b)); }
    static std::int64_t first(std::int64_t n, const char *in, const char *best) {
        const E *x = reinterpret_cast<const E *>(in), wanted = load<E>(best);
        if constexpr (is_bool<T>) // of bytes
            return wanted ? search(n, x, [](auto e) { return e != 0; })
                          : search(n, x, [](auto e) { return e == 0; });
        else if (wanted == wanted)
            return search(n, x, [wanted](auto e) { return e == wanted; });
        else
            return search(n, x, [](auto e) { return e != e; });
    }
    // Where the first element is that passes a test of elements or of vectors, or the last one.
    template <class Test>
    static std::int64_t search(std::int64_t n, const E *x, const Test &passes) {
        typedef E V __attribute__((vector_size(vector_bytes)));
        constexpr std::int64_t width = vector_bytes / sizeof(E);
        constexpr int together = 4; // vectors
        const auto any_of = [&](std::int64_t at, int vectors) {
            decltype(passes(V{})) masks{};
            for (int v = 0; v < vectors; ++v) masks |= passes(load_vector<V>(x + at + v * width));
            return any_lane(masks);
        };
        std::int64_t k = 0;
        while (k + together * width <= n && !any_of(k, together)) k += together * width;
        while (k + width <= n && !any_of(k, 1)) k += width;
        while (k < n && !passes(x[k])) ++k;
        return std::min(k, n - 1);
    }
    static std::int64_t best(std::int64_t n, const char *in, char *best) {
        const char wanted = Largest;
        const std::int64_t at = first(n, in, &wanted);
        const bool found = (in[at] != 0) == Largest;
        *best = found == Largest;
        return found ? at : 0;
    }
    // Vectors of elements, and of the rows that they come from.
    using V = Vector<E>;
    using At = decltype(V{} < V{});
    using Row = std::remove_cvref_t<decltype(At{}[0])>;
    static constexpr std::int64_t width = lanes<E>;
    struct Found {
        V values;
        At at;
        void take(V v, At row, auto &&wins) {
            const At won = wins(v, values);
            values = won ? v : values;
            at = won ? row : at;
        }
    };
    static V taken(V v) {
        if constexpr (is_bool<T>)
            return (V)(v != 0) & 1;
        else
            return v;
    }
    static V vector_at(const char *in, std::int64_t k) {
        return taken(load_lanes<V>(reinterpret_cast<const E *>(in) + k));
    }
    // run(wins, watch): wins(a, b) says which lanes of a are better; gives back the watch, which
    // takes all vectors, by value, as references would keep it in memory. Once more if they had
    // NaN.
    struct NoWatch {
        void take(V) {}
    };
    template <class Run> static void with_order(const Run &run) {
        const auto more = [](V a, V b) { return Largest ? a > b : a < b; };
        if constexpr (is_float<E>) {
            if (run(more, NanWatch<V>()).any())
                run([&](V a, V b) { return more(a, b) | ((a != a) & (b == b)); }, NoWatch());
        } else {
            run(more, NoWatch());
        }
    }
    // The best elements of some rows, and which these are.
    struct Bests {
        alignas(64) E values[block_size];
        alignas(64) Row at[block_size];
        void put(std::int64_t k, const Found &found) {
            std::memcpy(values + k, &found.values, sizeof(V));
            std::memcpy(at + k, &found.at, sizeof(At));
        }
    };
    static_assert(width <= block_size);
    // Elements from `first` on, of so many vectors, which stay in registers; the last ones begin
    // early enough to end at `end`. load(row, k) gives one.
    template <int vectors, bool fills = false, class Load>
    static void find_in_vectors(std::int64_t first, std::int64_t end, std::int64_t rows,
                                const Load &load, Bests &bests) {
        const auto column = [=](int c) {
            const std::int64_t k = first + c * width;
            return fills ? k : std::min(k, std::max<std::int64_t>(0, end - width));
        };
        Found found[vectors];
        with_order([&](auto wins, auto watch) {
            // Nothing beats NaN that is there first.
            for (int c = 0; c < vectors; ++c) found[c] = {load(0, column(c)), At{}};
            for (std::int64_t row = 1; row < rows; ++row)
                for (int c = 0; c < vectors; ++c) {
                    const V v = load(row, column(c));
                    watch.take(v);
                    found[c].take(v, At{} + static_cast<Row>(row), wins);
                }
            return watch;
        });
        for (int c = 0; c < vectors; ++c) bests.put(column(c), found[c]);
    }
    // Any number of vectors; several rows at a time, or one.
    static void find_in_rows(std::int64_t n, std::int64_t rows, const char *const *in, Walk walk,
                             Bests &bests) {
        Found found[block_size / width];
        const auto column = [=](std::int64_t c) { return std::min(c * width, n - width); };
        const std::int64_t vectors = (n + width - 1) / width;
        with_order([&](auto wins, auto watch) {
            const auto take = [&](std::int64_t row, auto count) {
                auto seen = watch;
                for (std::int64_t c = 0; c < vectors; ++c) {
                    Found own = found[c];
                    for (int i = 0; i < count; ++i) {
                        const V v = vector_at(in[row + i], column(c));
                        seen.take(v);
                        if (row + i == 0)
                            own = {v, At{}};
                        else
                            own.take(v, At{} + static_cast<Row>(row + i), wins);
                    }
                    found[c] = own;
                }
                watch = seen;
            };
            std::int64_t row = 0;
            if (walk == Walk::by_rows)
                for (; row + 4 <= rows; row += 4) take(row, std::integral_constant<int, 4>());
            for (; row < rows; ++row) take(row, std::integral_constant<int, 1>());
            return watch;
        });
        for (std::int64_t c = 0; c < vectors; ++c) bests.put(column(c), found[c]);
    }
    static void take(std::int64_t n, std::int64_t rows, const char *const *in, Walk walk,
                     std::int64_t position, bool none_yet, char *best, std::int64_t *positions) {
        constexpr std::int64_t most = 4 * width; // in registers
        Bests bests;
        const auto load = [in](std::int64_t row, std::int64_t k) { return vector_at(in[row], k); };
        const auto load_short = [in, n](std::int64_t row, std::int64_t) {
            return taken(load_first<V>(n, reinterpret_cast<const E *>(in[row])));
        };
        if (n < width)
            find_in_vectors<1>(0, n, rows, load_short, bests);
        else if (n == width)
            find_in_vectors<1>(0, n, rows, load, bests);
        else if (n <= 2 * width)
            find_in_vectors<2>(0, n, rows, load, bests);
        else if (n <= most)
            find_in_vectors<4>(0, n, rows, load, bests);
        else if (walk == Walk::by_columns) {
            std::int64_t k = 0;
            for (; k + most <= n; k += most)
                find_in_vectors<4, true>(k, k + most, rows, load, bests);
            if (k < n) find_in_vectors<4>(k, n, rows, load, bests);
        } else {
            find_in_rows(n, rows, in, walk, bests);
        }
        const auto &[values, at] = bests;
        E *const b = reinterpret_cast<E *>(best);
        if (none_yet) {
            for (std::int64_t k = 0; k < n; ++k) positions[k] = position + at[k];
            if (best) std::copy_n(values, n, b);
            return;
        }
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            const bool wins = is_better(values[k], b[k]);
            positions[k] = wins ? position + at[k] : positions[k];
            b[k] = wins ? values[k] : b[k];
        }
    }
    static void take_one(std::int64_t n, const char *in, std::int64_t position, char *best,
                         std::int64_t *positions) {
        const E *x = reinterpret_cast<const E *>(in);
        E *b = reinterpret_cast<E *>(best);
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            const E e = x[k];
            const bool wins = is_better(e, b[k]);
            positions[k] = wins ? position : positions[k];
            b[k] = wins ? e : b[k];
        }
    }
    static void merge(std::int64_t n, const char *in, const std::int64_t *from, char *best,
                      std::int64_t *positions) {
        const E *x = reinterpret_cast<const E *>(in);
        E *b = reinterpret_cast<E *>(best);
        for (std::int64_t k = 0; k < n; ++k) {
            if (!is_better(x[k], b[k])) continue;
            positions[k] = from[k];
            b[k] = x[k];
        }
    }
};

using PickerRow = std::array<Picker, ATOLL_DTYPE_COUNT>;

template <bool Largest> constexpr PickerRow picker_row() {
    PickerRow row{};
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    if constexpr (sdk::core_functions[ATOLL_FN_argmin].domain >> id & 1) {                         \
        using P = Pick<wide::identifier, Largest>;                                                 \
        row[id] = {sizeof(wide::identifier),                                                       \
                   Largest ? &reducers::max : &reducers::min,                                      \
                   &P::better,                                                                     \
                   &P::first,                                                                      \
                   is_bool<wide::identifier> ? &P::best : nullptr,                                 \
                   &P::take,                                                                       \
                   &P::take_one,                                                                   \
                   &P::merge};                                                                     \
    }
#include "atoll/lists/dtypes.inc"
    return row;
}
constinit const PickerRow smallest = picker_row<false>(), largest = picker_row<true>();

constexpr std::int64_t strip = block_size;    // results that take in rows together
constexpr std::int64_t few_results = 16384;   // above, there are results enough for the threads
constexpr std::int64_t long_row = 16;         // a reduced axis shorter than this is no row
constexpr std::int64_t long_row_bytes = 4096; // from here on rows need not be read in order
constexpr std::int64_t strip_bytes = 65536;   // of rows that are taken in together
constexpr std::int64_t most_rows = 127;       // of these, as the lane of a byte holds no more
constexpr std::int64_t fewest_rows = 8;       // of these; fewer are taken one by one
constexpr std::int64_t most_together = 64, fewest_together = 8; // rows at a time
// Elements of a row from where on that is faster than to transpose; shuffles of bytes are slow
// where vectors are short.
constexpr std::int64_t long_other_row = 80, long_bytes_row = vector_bytes < 64 ? 128 : 80,
                       long_bools_row = 64;
constexpr std::int64_t cached_bytes = 65536; // of such rows
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// The best element so far. position == none: there is none.
struct Best {
    alignas(8) char value[8];
    std::int64_t position = none;
};

class ArgReduction {
public:
    ArgReduction(const Picker &picker, const atoll_call &call)
        : p_(picker), reducer_((*picker.reducer)[call.dtype]),
          kept_(call.core, call.rank, call.shape, call.operands, 2),
          ordered_(ordered_space(0, call.core, call.shape, call.operands + 1, 1)),
          walked_(ordered_), in_({call.operands[1].dtype, call.dtype, widened(call.dtype)},
                                 call.operands[1].flags & ATOLL_OPERAND_SWAPPED, false),
          out_({ATOLL_DTYPE_INT64, call.operands[0].dtype}, false,
               call.operands[0].flags & ATOLL_OPERAND_SWAPPED) {
        densest_first(kept_, 1);
        direct_ = in_.moves() && is_aligned(kept_, 1, in_.in_alignment()) &&
                  is_aligned(ordered_, 0, in_.in_alignment());
        // Positions count along the ordered axes; memory is walked along the densest one first.
        std::int64_t weight = 1;
        for (int axis = 0; axis < ordered_.rank; ++axis) {
            weights_[axis] = weight;
            weight *= ordered_.shape[axis];
        }
        int best = 0;
        for (int axis = 1; axis < walked_.rank; ++axis)
            if (std::abs(walked_.strides[0][axis]) < std::abs(walked_.strides[0][best]))
                best = axis;
        for (; best > 0; --best) {
            std::swap(walked_.shape[best], walked_.shape[best - 1]);
            std::swap(walked_.strides[0][best], walked_.strides[0][best - 1]);
            std::swap(weights_[best], weights_[best - 1]);
        }
    }

    void operator()() {
        const bool across = kept_.shape[0] >= long_row &&
                            (walked_.shape[0] < long_row ||
                             std::abs(kept_.strides[1][0]) < std::abs(walked_.strides[0][0]));
        if (kept_.shape[0] * kept_.outer() >= 4 * long_row) {
            const Neighbourhoods found = Neighbourhoods::of(kept_, 1, ordered_, 0, in_.in_size());
            if (suit(found)) return run_transposed(found);
        }
        if (across)
            run_across();
        else
            run_along();
    }

private:
    // ---- one result at a time ----

    // Takes in n elements whose positions go up by `weight` from `position`.
    void take_row(std::int64_t n, const char *p, std::int64_t position, Best &best) const {
        const std::int64_t stride = walked_.strides[0][0], weight = weights_[0];
        const bool straight = direct_ && stride == in_.in_size();
        alignas(64) char scratch[block_size * 8];
        const std::int64_t step =
            straight ? 4 * block_size : static_cast<std::int64_t>(sizeof scratch) / in_.out_size();
        for (std::int64_t k = 0; k < n; k += step) {
            const std::int64_t count = std::min(step, n - k), lowest = position + k * weight;
            if (lowest > best.position && reducer_.done && reducer_.done(best.value)) return;
            const char *elements = p + k * stride;
            if (!straight) {
                in_.run(count, scratch, in_.out_size(), elements, stride);
                elements = scratch;
            }
            alignas(8) char value[8];
            std::int64_t first = 0;
            if (p_.best) {
                first = p_.best(count, elements, value);
            } else {
                reducer_.identity(1, value);
                reducer_.block(count, elements, Given{}, value);
            }
            if (best.position != none && p_.better(best.value, value)) continue;
            const bool wins = best.position == none || p_.better(value, best.value);
            if (!wins && lowest >= best.position) continue;
            if (!p_.best) first = p_.first(count, elements, value);
            const std::int64_t at = lowest + first * weight;
            if (!wins && at >= best.position) continue;
            best.position = at;
            std::memcpy(best.value, value, sizeof value);
        }
    }

    void take_segment(const Segments &segments, std::int64_t index, const char *p,
                      Best &best) const {
        const std::int64_t begin = index % segments.per_row * segments.length;
        const std::int64_t first = index / segments.per_row * segments.rows;
        const std::int64_t last = std::min(first + segments.rows, walked_.outer());
        const std::int64_t n = std::min(segments.length, walked_.shape[0] - begin);
        for (std::int64_t row = first; row < last; ++row) {
            std::int64_t position = begin * weights_[0], rest = row;
            for (int axis = 1; axis < walked_.rank && rest; ++axis) {
                position += rest % walked_.shape[axis] * weights_[axis];
                rest /= walked_.shape[axis];
            }
            take_row(n, p + walked_.offset(0, row) + begin * walked_.strides[0][0], position, best);
        }
    }

    // Whether x beats y: Note [First of equals].
    bool beats(const Best &x, const Best &y) const {
        if (x.position == none || y.position == none) return y.position == none;
        if (p_.better(x.value, y.value)) return true;
        return !p_.better(y.value, x.value) && x.position < y.position;
    }

    void write(std::int64_t n, const std::int64_t *positions, char *out, std::int64_t step) const {
        out_.run(n, out, step, reinterpret_cast<const char *>(positions), 8);
    }

    char *place(std::int64_t result, int k) const { // Both start at the same elements.
        return kept_.data[k] + kept_.offset(k, result, 0);
    }

    // So many rows, whose elements a cache then still has.
    std::int64_t rows_in_cache() const {
        return std::min(most_together, cached_bytes / (walked_.shape[0] * in_.in_size()));
    }
    // Whether the best elements of several rows are found together, and then where they are.
    bool takes_together(std::int64_t rows) const {
        return walked_.outer() == 1 && reducer_.groups && direct_ &&
               walked_.strides[0][0] == in_.in_size() &&
               walked_.shape[0] * in_.in_size() >= group_bytes &&
               std::min(rows, rows_in_cache()) >= fewest_together;
    }
    void take_together(std::int64_t rows, const char *from, std::int64_t *positions) const {
        const std::int64_t n = walked_.shape[0], step = kept_.strides[1][0];
        alignas(64) char groups[most_together * group_bytes], values[most_together * 8];
        if (p_.best) {
            for (std::int64_t k = 0; k < rows; ++k)
                positions[k] = p_.best(n, from + k * step, values);
            return;
        }
        reducer_.groups(n, rows, from, step, Given{}, groups);
        reducer_.fold_groups(rows, groups, values);
        for (std::int64_t k = 0; k < rows; ++k)
            positions[k] = p_.first(n, from + k * step, values + k * p_.size);
    }

    void run_along() const {
        const std::int64_t results = kept_.shape[0] * kept_.outer();
        const Segments parts(walked_);
        const std::int64_t work = std::min(segment_size, walked_.shape[0] * walked_.outer());
        if (parts.count == 1) {
            const bool one_row = walked_.outer() == 1;
            parallel(results, work, [&](std::int64_t begin, std::int64_t end) {
                // Runs of results that are neighbours.
                for (std::int64_t result = begin; result < end;) {
                    std::int64_t positions[most_together];
                    const std::int64_t neighbours = kept_.shape[0] - result % kept_.shape[0];
                    std::int64_t some = std::min(neighbours, end - result);
                    const char *from = place(result, 1);
                    if (takes_together(some)) {
                        some = std::min(some, rows_in_cache());
                        take_together(some, from, positions);
                    } else {
                        some = std::min(some, most_together);
                        for (std::int64_t k = 0; k < some; ++k, from += kept_.strides[1][0]) {
                            Best best;
                            if (one_row)
                                take_row(walked_.shape[0], from, 0, best);
                            else
                                take_segment(parts, 0, from, best);
                            positions[k] = best.position;
                        }
                    }
                    write(some, positions, place(result, 0), kept_.strides[0][0]);
                    result += some;
                }
            });
            return;
        }
        const Scratch scratch(results * parts.count * static_cast<std::int64_t>(sizeof(Best)));
        Best *bests = reinterpret_cast<Best *>(scratch.data());
        parallel(results * parts.count, work, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece) {
                Best best;
                take_segment(parts, piece % parts.count, place(piece / parts.count, 1), best);
                bests[piece] = best;
            }
        });
        for (std::int64_t result = 0; result < results; ++result) {
            Best best = bests[result * parts.count];
            for (std::int64_t k = 1; k < parts.count; ++k)
                if (beats(bests[result * parts.count + k], best))
                    best = bests[result * parts.count + k];
            write(1, &best.position, place(result, 0), out_.out_size());
        }
    }

    // ---- a strip of results at a time, rows in the order of positions ----

    void take_strip(std::int64_t begin, std::int64_t end, std::int64_t n, const char *p,
                    char *values, std::int64_t *positions) const {
        alignas(64) char scratch[strip_bytes];
        const std::int64_t stride = kept_.strides[1][0], pitch = n * in_.out_size(),
                           most = std::clamp(strip_bytes / pitch, std::int64_t{1}, most_rows);
        const bool straight = direct_ && stride == in_.in_size();
        const bool few = end - begin < fewest_rows && one_by_one_;
        Rows rows(ordered_, begin, 0);
        for (std::int64_t row = begin, count; row < end; row += count) {
            count = few ? 1 : std::min(most, end - row);
            const char *in[most_rows];
            for (std::int64_t i = 0; i < count; ++i, rows.next()) {
                in[i] = p + (rows.data[0] - ordered_.data[0]);
                if (straight) continue;
                in_.run(n, scratch + i * pitch, in_.out_size(), in[i], stride);
                in[i] = scratch + i * pitch;
            }
            if (few && row == begin) {
                std::fill_n(positions, n, row);
                reducer_.identity(n, values);
                reducer_.rows(n, in[0], Given{}, values);
            } else if (few) {
                p_.take_one(n, in[0], row, values, positions);
            } else {
                p_.take(n, count, in, walk_, row, row == begin, values, positions);
            }
        }
    }

    void run_across() {
        const std::int64_t length = kept_.shape[0], outer = kept_.outer();
        const std::int64_t rows = ordered_.shape[0] * ordered_.outer();
        const std::int64_t strips = (length + strip - 1) / strip;
        const std::int64_t width = std::min(length, strip);
        std::int64_t segment_rows = rows;
        if (length * outer <= few_results)
            segment_rows = std::min(rows, std::max<std::int64_t>(64, segment_size / width));
        const std::int64_t count = (rows + segment_rows - 1) / segment_rows;
        const std::int64_t bytes = length * outer * rows * in_.in_size();
        if (std::abs(ordered_.strides[0][0]) < long_row_bytes && bytes >= large_operands().far)
            walk_ = Walk::row_by_row;
        constexpr std::int64_t cached = 4 << 20;
        one_by_one_ = p_.size == 8 || (p_.size > 1 && bytes > cached);
        const auto body = [&](std::int64_t s, std::int64_t segment, char *values,
                              std::int64_t *positions) {
            const std::int64_t begin = s % strips * strip;
            const char *p =
                kept_.data[1] + kept_.offset(1, s / strips) + begin * kept_.strides[1][0];
            take_strip(segment * segment_rows, std::min(rows, (segment + 1) * segment_rows),
                       std::min(strip, length - begin), p, values, positions);
        };
        const auto finish = [&](std::int64_t s, const std::int64_t *positions) {
            const std::int64_t begin = s % strips * strip, step = kept_.strides[0][0];
            write(std::min(strip, length - begin), positions,
                  kept_.data[0] + kept_.offset(0, s / strips) + begin * step, step);
        };
        if (count == 1) {
            parallel(strips * outer, width * rows, [&](std::int64_t begin, std::int64_t end) {
                alignas(64) char values[strip * 8];
                alignas(64) std::int64_t positions[strip];
                for (std::int64_t s = begin; s < end; ++s) {
                    body(s, 0, values, positions);
                    finish(s, positions);
                }
            });
            return;
        }
        const std::int64_t distance = width * 16; // values, then positions
        const Scratch scratch(strips * outer * count * distance);
        const auto positions_at = [&](char *values) {
            return reinterpret_cast<std::int64_t *>(values + width * 8);
        };
        parallel(strips * outer * count, width * segment_rows,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t piece = begin; piece < end; ++piece) {
                         char *values = scratch.data() + piece * distance;
                         body(piece / count, piece % count, values, positions_at(values));
                     }
                 });
        for (std::int64_t s = 0; s < strips * outer; ++s) {
            char *values = scratch.data() + s * count * distance;
            const std::int64_t n = std::min(strip, length - s % strips * strip);
            for (std::int64_t k = 1; k < count; ++k) {
                char *others = values + k * distance;
                p_.merge(n, others, positions_at(others), values, positions_at(values));
            }
            finish(s, positions_at(values));
        }
    }

    // ---- a block of neighbourhoods at a time: Note [Ways to reduce] ----

    // Whether transposing is faster than the other ways.
    bool suit(const Neighbourhoods &found) const {
        const std::int64_t rows = ordered_.shape[0] * ordered_.outer(), size = in_.in_size();
        if (found.count < 4 * long_row || rows < 2) return false;
        // The lane of a byte holds no higher position, and there is room to convert so many.
        if (rows > most_rows) return false;
        const std::int64_t long_enough = p_.best     ? long_bools_row
                                         : size == 1 ? long_bytes_row
                                                     : long_other_row;
        if (rows >= long_enough && takes_together(kept_.shape[0])) return false;
        // There must be room for what is converted; elements that repeat are converted each time.
        if (in_.out_size() > 2 * size || rows > found.columns) return false;
        if (found.results > 1) return found.results * size < 64;
        return found.columns >= 8 || found.columns * size >= 16;
    }

    void run_transposed(const Neighbourhoods &found) {
        found.arrange(kept_, 1);
        const std::int64_t rows = ordered_.shape[0] * ordered_.outer();
        found.each_block(
            kept_, 1, in_.in_size(),
            [&](std::int64_t n, const TransposedBlock &block, const auto &place) {
                std::int64_t positions[block_size];
                // At most 49,152 bytes of elements, and the ends of 127 rows.
                alignas(64) char converted[65536 + TransposedBlock::behind];
                const std::int64_t pitch = TransposedBlock::pitch(n, in_.out_size());
                for (std::int64_t result = 0; result < found.results; ++result) {
                    const char *in[most_rows];
                    Rows row(ordered_, 0, 0);
                    for (std::int64_t k = 0; k < rows; ++k, row.next()) {
                        in[k] = block.column(place(1, result) + (row.data[0] - ordered_.data[0]));
                        if (in_.moves()) continue;
                        in_.run(n, converted + k * pitch, in_.out_size(), in[k], in_.in_size());
                        in[k] = converted + k * pitch;
                    }
                    p_.take(n, rows, in, Walk::by_columns, 0, true, nullptr, positions);
                    write(n, positions, place(0, result), kept_.strides[0][0]);
                }
            });
    }

    const Picker &p_;
    const Reducer &reducer_;
    Space kept_;
    Space ordered_; // the reduced axes as positions count them
    Space walked_;  // the same, densest first
    std::int64_t weights_[ATOLL_MAX_RANK] =
        {}; // what a step along a walked axis adds to a position
    Conversion in_, out_;
    bool direct_;
    Walk walk_ = Walk::by_rows;
    bool one_by_one_ = false; // few rows
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_arg_reduce(const atoll_call *call) {
    using namespace Atoll::kernels;
    const bool known = call->function == ATOLL_FN_argmin || call->function == ATOLL_FN_argmax;
    if (!known || call->dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const Picker &picker = (call->function == ATOLL_FN_argmax ? largest : smallest)[call->dtype];
    if (!picker.size) return ATOLL_STATUS_NOT_SUPPORTED;
    try {
        ArgReduction(picker, *call)();
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
