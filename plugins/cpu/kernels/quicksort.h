// Partitions that compress vectors of AVX-512, and a quicksort of 32-bit keys by these. To
// partition n keys takes some n / 3 cycles, half of what it takes Highway, one vector at a time. Of
// 64-bit keys both take as long.
#pragma once

#include "product_vectors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <immintrin.h>
#include <limits>

namespace Atoll::kernels {

// Zen 4 compresses to memory by microcode: a sort takes nine times as long as by way of a register.
inline void compress_store(void *to, __mmask16 mask, __m512i v) {
    const auto kept = static_cast<__mmask16>(_bzhi_u32(0xffff, _mm_popcnt_u32(mask)));
    _mm512_mask_storeu_epi32(to, kept, _mm512_maskz_compress_epi32(mask, v));
}
inline void compress_store(void *to, __mmask8 mask, __m512i v) {
    const auto kept = static_cast<__mmask8>(_bzhi_u32(0xff, _mm_popcnt_u32(mask)));
    _mm512_mask_storeu_epi64(to, kept, _mm512_maskz_compress_epi64(mask, v));
}

template <class K> auto are_less(Vector<K> v, Vector<K> than) {
    if constexpr (sizeof(K) == 4)
        return _mm512_cmplt_epi32_mask((__m512i)v, (__m512i)than);
    else
        return _mm512_cmplt_epi64_mask((__m512i)v, (__m512i)than);
}
template <class K> Vector<K> compressed(__mmask16 mask, Vector<K> v) {
    if constexpr (sizeof(K) == 4)
        return (Vector<K>)_mm512_maskz_compress_epi32(mask, (__m512i)v);
    else
        return (Vector<K>)_mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)v);
}

// Those less than the pivot come first; how many there are.
template <class K> std::int64_t partition(std::int64_t n, K *keys, K pivot) {
    using V = Vector<K>;
    using Mask = decltype(are_less<K>(V{}, V{}));
    constexpr std::int64_t count = lanes<K>, block = 4 * count;
    const V pivots = V{} + pivot;
    // The first and the last block and what is no whole block make room for whole vectors.
    alignas(64) K kept[3 * block];
    const bool is_short = n < 2 * block;
    const std::int64_t kept_first = is_short ? 0 : block,
                       kept_last = is_short ? n : block + n % block;
    std::copy_n(keys, kept_first, kept);
    std::copy_n(keys + n - kept_last, kept_last, kept + kept_first);
    K *from = keys + kept_first, *end = keys + n - kept_last; // not looked at yet
    K *low = keys, *high = keys + n; // where there is room: up to `from`, and from `end` on
    while (from != end) {
        // From the side with less room, so that both have room for a block.
        const bool is_low = from - low <= high - end;
        const K *const next = is_low ? from : end - block;
        from += is_low ? block : 0;
        end -= is_low ? 0 : block;
        V v[4];
        for (int i = 0; i < 4; ++i) v[i] = load_vector<V>(next + i * count);
        for (int i = 0; i < 4; ++i) {
            const Mask mask = are_less<K>(v[i], pivots);
            const int less = _mm_popcnt_u32(mask);
            store_vector(low, compressed<K>(mask, v[i])); // what follows them is overwritten
            low += less;
            high -= count - less;
            compress_store(high, static_cast<Mask>(~mask), (__m512i)v[i]);
        }
    }
    const std::int64_t kept_count = kept_first + kept_last;
    for (std::int64_t k = 0; k < kept_count; k += count) {
        const std::int64_t some = std::min(count, kept_count - k);
        const auto all = static_cast<Mask>((1 << some) - 1);
        const V v = load_vector<V>(kept + k);
        const Mask mask = are_less<K>(v, pivots) & all;
        compress_store(low, mask, (__m512i)v);
        const int less = _mm_popcnt_u32(mask);
        low += less;
        high -= some - less;
        compress_store(high, static_cast<Mask>(all & ~mask), (__m512i)v);
    }
    return low - keys;
}

class Quicksort {
public:
    using K = std::int32_t;
    // `sort_few` sorts few keys, and those that partitions do not get much shorter.
    using SortFew = void (*)(std::int64_t n, K *keys);
    explicit Quicksort(SortFew sort_few) : sort_few_(sort_few) {}

    // Ascending.
    void run(std::int64_t n, K *keys) const {
        recurse(n, keys, 2 * std::bit_width(static_cast<std::uint64_t>(n)));
    }

private:
    using V = Vector<K>;
    static constexpr std::int64_t count = lanes<K>;
    static constexpr std::int64_t few = 16 * count; // what Highway sorts by a network

    void recurse(std::int64_t n, K *keys, int partitions) const {
        while (n > few && partitions-- > 0) {
            const K pivot = pivot_of(n, keys);
            const std::int64_t less = partition(n, keys, pivot);
            if (less == 0) { // it is the least one: all that equal it come first
                if (pivot == std::numeric_limits<K>::max()) return;
                const std::int64_t equal = partition(n, keys, pivot + 1);
                keys += equal;
                n -= equal;
            } else if (less < n - less) {
                recurse(less, keys, partitions);
                keys += less;
                n -= less;
            } else {
                recurse(n - less, keys + less, partitions);
                n = less;
            }
        }
        sort_few_(n, keys);
    }

    template <class X> static X median(X a, X b, X c) {
        const X low = a < b ? a : b, high = a < b ? b : a, rest = high < c ? high : c;
        return low < rest ? rest : low;
    }
    // One of the keys, a median of medians: of nine vectors from all over, and of their lanes.
    static K pivot_of(std::int64_t n, const K *keys) {
        const std::int64_t part = n / 9;
        std::uint64_t random = static_cast<std::uint64_t>(n);
        V v[9];
        for (std::int64_t i = 0; i < 9; ++i) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            const auto start = static_cast<std::int64_t>(random >> 33) % (part - count + 1);
            v[i] = load_vector<V>(keys + i * part + start);
        }
        const V m =
            median(median(v[0], v[1], v[2]), median(v[3], v[4], v[5]), median(v[6], v[7], v[8]));
        return median<K>(median<K>(m[0], m[1], m[2]), median<K>(m[3], m[4], m[5]), m[6]);
    }

    const SortFew sort_few_;
};

} // namespace Atoll::kernels
