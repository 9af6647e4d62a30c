// Packing: copies along dense rows, transposes in registers along k or along a second axis of the
// rows, and elements one by one elsewhere.
#include "pack.h"

#include "interleaved.h"
#include "vector_halves.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

template <int Size> struct UnitOf;
template <> struct UnitOf<1> { using type = std::uint8_t; };
template <> struct UnitOf<2> { using type = std::uint16_t; };
template <> struct UnitOf<4> { using type = std::uint32_t; };
template <> struct UnitOf<8> { using type = std::uint64_t; };

constexpr int width_of(int group, std::int64_t size) {
    if (size == 2) return group < 4 ? 0 : 8;
    if (size != 4 && size != 8) return 0;
    return std::min(group, vector_bytes / static_cast<int>(size));
}

// Stores a vector of elements, widened if there is a format of halves.
template <class Format, class V> [[gnu::always_inline]] inline void put(char *out, V v) {
    constexpr int n = sizeof(V) / sizeof(v[0]);
    if constexpr (std::is_void_v<Format>) {
        store_vector(out, v);
    } else if constexpr (Format::has_vectors && (n == lanes<float> || n == lanes<double>)) {
        store_vector(out, Format::widened(v));
    } else if constexpr (Format::has_vectors && n > lanes<double>) {
        put<Format>(out, part_of<n / 2>(v, std::integral_constant<int, 0>()));
        put<Format>(out + n / 2 * 4, part_of<n / 2>(v, std::integral_constant<int, n / 2>()));
    } else {
#pragma GCC unroll 16
        for (int i = 0; i < n; ++i) {
            const float wide = Format::widened(v[i]);
            std::memcpy(out + i * 4, &wide, sizeof wide);
        }
    }
}

// Format: of halves that become float32, or void.
template <int Size, int Group, class Format = void> class Packer {
public:
    Packer(char *out, const char *data, const Block &block, int panel_groups, const Depth &depth)
        : out_(out), data_(data), block_(block), panel_groups_(panel_groups), depth_(depth),
          step_(panel_groups * made_bytes) {}

    void run(std::int64_t across) {
        const std::int64_t groups = block_.groups;
        for (std::int64_t g = 0; g < groups;) {
            if (is_dense(g)) {
                const std::int64_t first = g;
                while (g < groups && is_dense(g) && g - first < longest_run &&
                       (g == first || at(g)[0] - at(g - 1)[0] == bytes))
                    ++g;
                copy_runs(first, g);
                continue;
            }
            if (const std::int64_t squares = crosses && across > 0 ? squares_at(g, across) : 0) {
                const std::int64_t end = g + across * Group * squares;
                for (std::int64_t first = g; first < g + across; ++first)
                    if (!are_squares(first, across, squares)) {
                        for (std::int64_t other = first; other < end; other += across) group(other);
                    } else if (first + 1 < g + across && are_pairs(first, across, squares)) {
                        transpose_across<pairs ? 2 : 1>(first, across, squares);
                        ++first;
                    } else {
                        transpose_across<1>(first, across, squares);
                    }
                g = end;
                continue;
            }
            group(g++);
        }
        const std::int64_t whole = (groups + panel_groups_ - 1) / panel_groups_ * panel_groups_;
        for (std::int64_t g = groups; g < whole; ++g) clear(g);
    }

private:
    using Unit = typename UnitOf<Size == 16 ? 8 : Size>::type;
    static constexpr int W = width_of(Group, Size);
    // Whether it transposes across groups: in registers, or elements of their size one by one.
    static constexpr bool crosses = W == Group || Size == 16;
    static constexpr int bytes = Size * Group;
    static constexpr int made = std::is_void_v<Format> ? Size : 4, made_bytes = made * Group;
    // Whether a vector holds the positions of two groups.
    static constexpr bool pairs = W == Group && vector_bytes == 2 * bytes;
    static constexpr std::int64_t longest_run = 64, most_squares = 12;
    static constexpr std::int64_t ahead = 4; // indices along k that are fetched into the L2 cache

    const std::int64_t *at(std::int64_t g) const { return block_.packed + g * Group; }
    bool is_dense(std::int64_t g) const { return block_.dense[g] & dense_in_packed; }
    char *to(std::int64_t g) const {
        return out_ + (g / panel_groups_) * depth_.size * step_ + g % panel_groups_ * made_bytes;
    }
    template <int n> static void copy(char *out, const char *in) {
        if constexpr (std::is_void_v<Format>)
            std::memcpy(out, in, n * Size);
        else
            put<Format>(out, load_vector<VectorN<Unit, n>>(in));
    }

    void copy_runs(std::int64_t first, std::int64_t last) const {
        char *begin[longest_run];
        const char *from = data_ + at(first)[0];
        const std::int64_t count = last - first;
        for (std::int64_t g = 0; g < count; ++g) begin[g] = to(first + g);
        for (std::int64_t p = 0; p < depth_.size; ++p) {
            const char *in = from + depth_.offsets[p];
            for (std::int64_t g = 0; g < count; ++g)
                copy<Group>(begin[g] + p * step_, in + g * bytes);
        }
    }

    void clear(std::int64_t g) const {
        char *out = to(g);
        for (std::int64_t p = 0; p < depth_.size; ++p) std::memset(out + p * step_, 0, made_bytes);
    }

    void group(std::int64_t g) const {
        const int count = block_.counts[g];
        if (count == 0) return clear(g);
        const std::int64_t *rows = at(g);
        char *out = to(g);
        if constexpr (W > 0) {
            if (count == Group && depth_.runs) {
                const std::int64_t *const next = at(g + 1 < block_.groups ? g + 1 : g);
                for (std::int64_t r = 0; r < depth_.runs; ++r) {
                    const std::int32_t p = depth_.starts[r];
                    for (int i = 0; i < Group; ++i)
                        __builtin_prefetch(data_ + next[i] + depth_.offsets[p]);
                    transpose_run(out + p * step_, depth_.stride * step_, rows, depth_.offsets[p]);
                }
                for (std::int64_t s = 0; s < depth_.single_count; ++s)
                    gather(out, rows, depth_.singles[s]);
                return;
            }
        }
        if (count == Group) {
            for (std::int64_t p = 0; p < depth_.size; ++p) gather(out, rows, p);
            return;
        }
        for (std::int64_t p = 0; p < depth_.size; ++p) {
            char *row = out + p * step_;
            for (int i = 0; i < count; ++i)
                copy<1>(row + i * made, data_ + rows[i] + depth_.offsets[p]);
            std::memset(row + count * made, 0, static_cast<std::size_t>((Group - count) * made));
        }
    }
    void gather(char *out, const std::int64_t *rows, std::int64_t p) const {
        char *row = out + p * step_;
        const char *in = data_ + depth_.offsets[p];
        for (int i = 0; i < Group; ++i) copy<1>(row + i * made, in + rows[i]);
    }
    // W indices along k of W rows at a time: the rows are dense along k there.
    void transpose_run(char *out, std::int64_t out_step, const std::int64_t *rows,
                       std::int64_t offset) const {
        if constexpr (W > 0) {
            using V = VectorN<Unit, W>;
            if constexpr (W > Group) {
                // Two rounds of what transposes four rows of four: a vector has two columns.
                V v[4];
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i) v[i] = load_vector<V>(data_ + rows[i] + offset);
                interleave_rows(v);
                interleave_rows(v);
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i) {
                    char *const column = out + 2 * i * out_step;
                    put<Format>(column, part_of<4>(v[i], std::integral_constant<int, 0>()));
                    put<Format>(column + out_step,
                                part_of<4>(v[i], std::integral_constant<int, 4>()));
                }
            } else {
                for (int first = 0; first < Group; first += W)
                    load_transposed<V>(
                        [&](int i) { return data_ + rows[first + i] + offset; },
                        [&](int i, V v) { put<Format>(out + i * out_step + first * made, v); });
            }
        }
    }
    // How many squares begin at group g: groups `across` apart, as many as a group has positions,
    // that are neighbours along a dense axis; one square after the other on that axis.
    std::int64_t squares_at(std::int64_t g, std::int64_t across) const {
        const std::int64_t most = std::min(most_squares, (block_.groups - g) / (Group * across));
        std::int64_t squares = 0;
        while (squares < most && is_square(g, squares * Group, across)) ++squares;
        return squares;
    }
    bool are_squares(std::int64_t g, std::int64_t across, std::int64_t squares) const {
        for (std::int64_t s = 0; s < squares; ++s)
            if (!is_square(g, s * Group, across)) return false;
        return true;
    }
    bool is_square(std::int64_t g, std::int64_t first, std::int64_t across) const {
        const std::int64_t *rows = at(g);
        for (std::int64_t j = first; j < first + Group; ++j) {
            if (block_.counts[g + j * across] != Group) return false;
            const std::int64_t *other = at(g + j * across);
            for (int i = 0; i < Group; ++i)
                if (other[i] - rows[i] != j * Size) return false;
        }
        return true;
    }
    // Whether squares of twice the size begin at groups g and g + 1, which stand side by side in
    // their panels.
    bool are_pairs(std::int64_t g, std::int64_t across, std::int64_t squares) const {
        if (!pairs || squares % 2 != 0 || !are_squares(g + 1, across, squares)) return false;
        for (std::int64_t j = 0; j < squares * Group; ++j)
            if ((g + j * across) % panel_groups_ == panel_groups_ - 1) return false;
        return true;
    }
    // All squares of `Groups` groups for one index along k before the next: memory is read in long
    // runs.
    template <int Groups>
    void transpose_across(std::int64_t g, std::int64_t across, std::int64_t squares) const {
        constexpr int rows = Groups * Group;
        const char *in[rows];
        char *out[most_squares * Group];
        for (int i = 0; i < rows; ++i) in[i] = data_ + at(g)[i];
        for (std::int64_t j = 0; j < squares * Group; ++j) out[j] = to(g + j * across);
        for (std::int64_t p = 0; p < depth_.size; ++p) {
            // What is read next lies in other pages, where the processor does not fetch ahead.
            const std::int64_t now = depth_.offsets[p],
                               next = depth_.offsets[std::min(p + ahead, depth_.size - 1)];
            for (std::int64_t s = 0; s < squares; s += Groups) {
                for (int i = 0; i < rows; ++i) __builtin_prefetch(in[i] + next + s * bytes, 0, 2);
                transpose_square<rows>(out + s * Group, p * step_, in, now + s * bytes);
            }
        }
    }
    template <int N> static void transpose_square(char *const *out, std::int64_t out_offset,
                                                  const char *const *in, std::int64_t in_offset) {
        if constexpr (W == Group) {
            using V = VectorN<Unit, N>;
            load_transposed<V>([&](int i) { return in[i] + in_offset; },
                               [&](int i, V v) { put<Format>(out[i] + out_offset, v); });
        } else {
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j)
                    copy<1>(out[j] + out_offset + i * made, in[i] + in_offset + j * Size);
        }
    }

    char *const out_;
    const char *const data_;
    const Block &block_;
    const int panel_groups_;
    const Depth &depth_;
    const std::int64_t step_; // bytes of a panel for one index along k
};

template <int Size> void pack_size(char *out, const char *data, const Block &block,
                                   int panel_groups, std::int64_t across, const Depth &depth) {
    switch (block.group) {
    case 2: return Packer<Size, 2>(out, data, block, panel_groups, depth).run(across);
    case 4: return Packer<Size, 4>(out, data, block, panel_groups, depth).run(across);
    default: return Packer<Size, 8>(out, data, block, panel_groups, depth).run(across);
    }
}
template <class Format> void pack_halves(char *out, const char *data, const Block &block,
                                         int panel_groups, std::int64_t across,
                                         const Depth &depth) {
    if (block.group == 4)
        Packer<2, 4, Format>(out, data, block, panel_groups, depth).run(across);
    else
        Packer<2, 8, Format>(out, data, block, panel_groups, depth).run(across);
}

} // namespace

int transposed_width(int group, std::int64_t size) { return width_of(group, size); }

void Depth::find_runs(char *memory, std::int64_t width_, std::int64_t across,
                      std::int64_t element) {
    starts = reinterpret_cast<std::int32_t *>(memory);
    singles = starts + size;
    auto *const done = reinterpret_cast<std::uint8_t *>(singles + size);
    width = width_;
    runs = single_count = 0;
    is_dense = size > 0;
    for (std::int64_t p = 1; p < size; ++p) is_dense &= offsets[p] - offsets[p - 1] == element;
    const auto all_runs = [&](std::int64_t step) {
        std::memset(done, 0, static_cast<std::size_t>(size));
        runs = 0;
        for (std::int64_t p = 0; p + (width - 1) * step < size; ++p) {
            bool run = true;
            for (std::int64_t i = 0; i < width && run; ++i)
                run = !done[p + i * step] && offsets[p + i * step] - offsets[p] == i * element;
            if (!run) continue;
            for (std::int64_t i = 0; i < width; ++i) done[p + i * step] = 1;
            starts[runs++] = static_cast<std::int32_t>(p);
        }
        stride = step;
    };
    if (width > 1) {
        all_runs(1);
        if (runs == 0 && across > 1) all_runs(across);
    } else {
        std::memset(done, 0, static_cast<std::size_t>(size));
    }
    for (std::int64_t p = 0; p < size; ++p)
        if (!done[p]) singles[single_count++] = static_cast<std::int32_t>(p);
}

void pack(char *out, const char *data, std::int64_t size, const Block &block, int panel_groups,
          std::int64_t across, const Depth &depth) {
    switch (size) {
    case 1: return pack_size<1>(out, data, block, panel_groups, across, depth);
    case 2: return pack_size<2>(out, data, block, panel_groups, across, depth);
    case 4: return pack_size<4>(out, data, block, panel_groups, across, depth);
    case 8: return pack_size<8>(out, data, block, panel_groups, across, depth);
    default: return pack_size<16>(out, data, block, panel_groups, across, depth);
    }
}
void pack_widened(char *out, const char *data, std::uint32_t dtype, const Block &block,
                  int panel_groups, std::int64_t across, const Depth &depth) {
    if (dtype == ATOLL_DTYPE_FLOAT16)
        pack_halves<vector_halves::Float16>(out, data, block, panel_groups, across, depth);
    else
        pack_halves<vector_halves::Bfloat16>(out, data, block, panel_groups, across, depth);
}

} // namespace Atoll::kernels
