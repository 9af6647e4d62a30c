// Positions of values in a sorted vector, by the nodes of a tree instead of by halves.
//
// Note [Search trees]
// The vector's keys, a line of memory each node, are the lowest level; a level above has the last
// key of each node below. So the number of keys below a value in one node says which node of the
// level below to look at, and in the end where the value belongs: one comparison of vectors and one
// line of memory per level, where halving takes a step for every bit of the size.
#pragma once

#include "sort_keys.h"

#include <algorithm>
#include <bit>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace Atoll::kernels {

// Signed integers in the order of elements that are no complex numbers.
template <class T> using SearchKey = std::conditional_t<sizeof(T) <= 4, std::int32_t, std::int64_t>;
template <class T> SearchKey<T> search_key(T x) {
    using Key = SearchKey<T>;
    const KeyOf<T> key = ascending_key(x);
    if constexpr (sizeof(T) == sizeof(Key))
        return static_cast<Key>(key ^ static_cast<KeyOf<T>>(std::numeric_limits<Key>::min()));
    else
        return static_cast<Key>(key);
}

template <class Key> class SearchTree {
public:
    // Of memory, which is aligned to a line.
    static std::int64_t bytes(std::int64_t size) {
        std::int64_t nodes = nodes_of(size), all = nodes;
        for (; nodes > 1; all += nodes) nodes = nodes_of(nodes);
        return all * 64;
    }
    // The first `size` keys of the memory are filled in already.
    SearchTree(std::int64_t size, char *memory) : size_(size) {
        Key *keys = reinterpret_cast<Key *>(memory);
        std::int64_t count = size;
        for (;;) {
            const std::int64_t nodes = nodes_of(count);
            std::fill(keys + count, keys + nodes * fan, highest);
            levels_[count_++] = keys;
            if (nodes == 1) return;
            Key *const above = keys + nodes * fan;
            for (std::int64_t k = 0; k < nodes; ++k) above[k] = keys[(k + 1) * fan - 1];
            above[nodes - 1] = highest; // nothing leads beyond the last node
            keys = above;
            count = nodes;
        }
    }

    // How many keys of the vector are below each of n values; `right`: not above it.
    void find(std::int64_t n, const Key *values, bool right, std::int64_t *out) const {
        for (std::int64_t k = 0; k < n; k += together) {
            Key own[together];
            const std::int64_t some = std::min(together, n - k);
            for (std::int64_t w = 0; w < some; ++w)
                own[w] = values[k + w] + Key{right && values[k + w] != highest};
            if (some == together)
                find_together(together, own, out + k);
            else
                find_together(some, own, out + k);
            for (std::int64_t w = 0; w < some && right; ++w)
                if (values[k + w] == highest) out[k + w] = size_;
        }
    }

private:
    static constexpr std::int64_t fan = 64 / sizeof(Key); // keys of a node
    static constexpr Key highest = std::numeric_limits<Key>::max();
    // Values that are searched for side by side: their loads overlap.
    static constexpr std::int64_t together = 16;

    static std::int64_t nodes_of(std::int64_t keys) {
        return std::max<std::int64_t>((keys + fan - 1) / fan, 1);
    }
    [[gnu::always_inline]] void find_together(std::int64_t some, const Key *values,
                                              std::int64_t *out) const {
        std::int64_t at[together] = {};
        for (int level = count_ - 1; level >= 0; --level) {
            const Key *const keys = levels_[level];
#pragma GCC unroll 16
            for (std::int64_t w = 0; w < some; ++w)
                at[w] = at[w] * fan + kept_apart(below(keys + at[w] * fan, values[w]));
        }
        std::copy_n(at, some, out);
    }
    // Else GCC gathers the numbers in vectors, one by one, only to take them out again.
    static std::int64_t kept_apart(std::int64_t number) {
        asm("" : "+r"(number));
        return number;
    }
    // How many keys of a node are below the value.
    static std::int64_t below(const Key *node, Key value) {
#if defined(__AVX512F__)
        const __m512i keys = _mm512_load_si512(node);
        if constexpr (sizeof(Key) == 8)
            return std::popcount(_mm512_cmpgt_epi64_mask(_mm512_set1_epi64(value), keys));
        else
            return std::popcount(_mm512_cmpgt_epi32_mask(_mm512_set1_epi32(value), keys));
#elif defined(__AVX2__)
        const __m256i *const keys = reinterpret_cast<const __m256i *>(node);
        const auto are_below = [value](__m256i some) {
            if constexpr (sizeof(Key) == 8)
                return _mm256_cmpgt_epi64(_mm256_set1_epi64x(value), some);
            else
                return _mm256_cmpgt_epi32(_mm256_set1_epi32(value), some);
        };
        // Half of every key's bytes: those of both vectors fit one, in an order that does not
        // matter.
        const __m256i halves = _mm256_packs_epi32(are_below(_mm256_load_si256(keys)),
                                                  are_below(_mm256_load_si256(keys + 1)));
        const auto bytes = static_cast<unsigned>(_mm256_movemask_epi8(halves));
        return static_cast<unsigned>(std::popcount(bytes)) / (sizeof(Key) / 2);
#else
        std::int64_t count = 0;
        for (std::int64_t k = 0; k < fan; ++k) count += node[k] < value;
        return count;
#endif
    }

    const std::int64_t size_;
    int count_ = 0;
    const Key *levels_[24]; // the lowest first; enough for any size
};

} // namespace Atoll::kernels
