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

template <class K> auto are_less(Vector<K> v, Vector<K> than) {
    if constexpr (sizeof(K) == 4)
        return _mm512_cmplt_epi32_mask((__m512i)v, (__m512i)than);
    else
        return _mm512_cmplt_epi64_mask((__m512i)v, (__m512i)than);
}
template <class Mask, class K> Vector<K> load_some(Mask mask, const K *from) {
    if constexpr (sizeof(K) == 4)
        return (Vector<K>)_mm512_maskz_loadu_epi32(mask, from);
    else
        return (Vector<K>)_mm512_maskz_loadu_epi64(mask, from);
}
template <class K> Vector<K> compressed(__mmask16 mask, Vector<K> v) {
    if constexpr (sizeof(K) == 4)
        return (Vector<K>)_mm512_maskz_compress_epi32(mask, (__m512i)v);
    else
        return (Vector<K>)_mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), (__m512i)v);
}

// Stores the lanes of a mask, of which there are `count`. Zen 4 compresses to memory by microcode:
// a sort takes nine times as long as by way of a register.
template <bool to_memory>
void store_compressed(void *to, __mmask16 mask, std::int64_t count, __m512i v) {
    if constexpr (to_memory) return _mm512_mask_compressstoreu_epi32(to, mask, v);
    const auto kept = static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(count)));
    _mm512_mask_storeu_epi32(to, kept, _mm512_maskz_compress_epi32(mask, v));
}
template <bool to_memory>
void store_compressed(void *to, __mmask8 mask, std::int64_t count, __m512i v) {
    if constexpr (to_memory) return _mm512_mask_compressstoreu_epi64(to, mask, v);
    const auto kept = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<unsigned>(count)));
    _mm512_mask_storeu_epi64(to, kept, _mm512_maskz_compress_epi64(mask, v));
}

// For Highway.
inline void compress_store(void *to, __mmask16 mask, __m512i v) {
    store_compressed<false>(to, mask, _mm_popcnt_u32(mask), v);
}
inline void compress_store(void *to, __mmask8 mask, __m512i v) {
    store_compressed<false>(to, mask, _mm_popcnt_u32(mask), v);
}

inline __mmask16 inverted(__mmask16 mask) { return _knot_mask16(mask); }
inline __mmask8 inverted(__mmask8 mask) { return _knot_mask8(mask); }

template <bool to_memory, class K>
[[gnu::noinline]] std::int64_t partition_by(std::int64_t n, K *keys, K pivot) {
    using V = Vector<K>;
    using Mask = decltype(are_less<K>(V{}, V{}));
    // Where the next block is from is hard to foresee: larger blocks ask less often. Four vectors
    // were measured on Zen 4 and 5, six on Emerald Rapids, where they save a twentieth of the time.
    constexpr std::int64_t count = lanes<K>, vectors = to_memory ? 6 : 4, block = vectors * count;
    const V pivots = V{} + pivot;
    K *low = keys, *high = keys + n; // where there is room
    const auto put = [&](V v) {
        const Mask mask = are_less<K>(v, pivots);
        const std::int64_t less = _mm_popcnt_u32(mask);
        store_vector(low, compressed<K>(mask, v)); // what follows them is overwritten
        low += less;
        high -= count - less;
        // By an instruction for masks: Intel's have one port for masks from other registers and
        // for compressing.
        store_compressed<to_memory>(high, inverted(mask), count - less, (__m512i)v);
    };
    const auto put_some = [&](std::int64_t some, const K *from) {
        const auto all = static_cast<Mask>((1 << some) - 1);
        const V v = load_some(all, from);
        const Mask mask = are_less<K>(v, pivots) & all;
        const std::int64_t less = _mm_popcnt_u32(mask), others = some - less;
        store_compressed<to_memory>(low, mask, less, (__m512i)v);
        low += less;
        high -= others;
        store_compressed<to_memory>(high, static_cast<Mask>(all & ~mask), others, (__m512i)v);
    };
    if (n < 2 * block) {
        alignas(64) K kept[2 * block];
        std::copy_n(keys, n, kept);
        for (std::int64_t k = 0; k < n; k += count) put_some(std::min(count, n - k), kept + k);
        return low - keys;
    }
    // The first and the last block make room for whole vectors: first for what is no whole block.
    V first[vectors], last[vectors];
    K *from = keys + block, *end = keys + n - block; // not looked at yet
    for (int i = 0; i < vectors; ++i) first[i] = load_vector<V>(keys + i * count);
    for (int i = 0; i < vectors; ++i) last[i] = load_vector<V>(end + i * count);
    const std::int64_t rest = (end - from) % block, some = rest % count;
    put_some(some, end - some);
    end -= some;
    for (const K *const begin = from + (end - from) / block * block; end != begin;) {
        end -= count;
        put(load_vector<V>(end));
    }
    while (from != end) {
        // From the side with less room, so that both have room for a block.
        const bool is_low = from - low <= high - end;
        const K *const next = is_low ? from : end - block;
        from += is_low ? block : 0;
        end -= is_low ? 0 : block;
        V v[vectors];
        for (int i = 0; i < vectors; ++i) v[i] = load_vector<V>(next + i * count);
        for (int i = 0; i < vectors; ++i) put(v[i]);
    }
    for (int i = 0; i < vectors; ++i) put(first[i]);
    for (int i = 0; i < vectors; ++i) put(last[i]);
    return low - keys;
}

// Not on Zen 4, see above; of Intel's processors Emerald Rapids was measured.
inline bool compresses_to_memory() { return __builtin_cpu_is("intel"); }

// Those less than the pivot come first; how many there are.
template <class K> std::int64_t partition(std::int64_t n, K *keys, K pivot) {
    return compresses_to_memory() ? partition_by<true>(n, keys, pivot)
                                  : partition_by<false>(n, keys, pivot);
}

// finish(n, keys) is called for keys in their places, while the caches have them.
template <class Finish> class Quicksort {
public:
    using K = std::int32_t;
    // `sort_few` sorts few keys, and those that partitions do not get much shorter.
    using SortFew = void (*)(std::int64_t n, K *keys);
    Quicksort(SortFew sort_few, Finish finish) : sort_few_(sort_few), finish_(finish) {}

    // Ascending.
    void run(std::int64_t n, K *keys) const {
        recurse(n, keys, 2 * std::bit_width(static_cast<std::uint64_t>(n)));
    }

private:
    using V = Vector<K>;
    static constexpr std::int64_t count = lanes<K>;
    static constexpr std::int64_t few = 16 * count; // what a network sorts

    void recurse(std::int64_t n, K *keys, int partitions) const {
        while (n > few && partitions-- > 0) {
            const K pivot = pivot_of(n, keys);
            const std::int64_t less = partition(n, keys, pivot);
            if (less == 0) { // it is the least one: all that equal it come first
                const std::int64_t equal =
                    pivot == std::numeric_limits<K>::max() ? n : partition(n, keys, pivot + 1);
                finish_(equal, keys);
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
        finish_(n, keys);
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
    const Finish finish_;
};

} // namespace Atoll::kernels
