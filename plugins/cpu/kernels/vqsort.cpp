// vqsort on one thread, and a sample sort around it on several: splitters from a sample cut the
// elements into buckets of about the same size, which are sorted side by side.
#include "vqsort.h"

#if defined(__x86_64__)

#include "parallel.h"
#include "product_vectors.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__AVX512F__)
#include "quicksort.h"
#include "sorting_network.h"

// Highway calls these two intrinsics at this level.
#define _mm512_mask_compressstoreu_epi32 ::Atoll::kernels::compress_store
#define _mm512_mask_compressstoreu_epi64 ::Atoll::kernels::compress_store
#endif

// No processor level has these instructions for certain, and sorting does without.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_COMPILE_ONLY_STATIC
#define VQSORT_ONLY_STATIC 1
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>
#include <hwy/highway.h>

namespace Atoll::kernels {
namespace {

namespace highway = hwy::HWY_NAMESPACE;

template <class K> void highway_sort(std::int64_t n, K *keys) {
    if (n < 2) return;
    const auto count = static_cast<std::size_t>(n);
#if HWY_MAJOR > 1 || HWY_MINOR > 0 || HWY_PATCH >= 7
    highway::VQSortStatic(keys, count, hwy::SortAscending());
#else
    // Before 1.0.7 Sort() takes its random numbers from Highway's library.
    using Order = highway::detail::OrderAscending<K>;
    HWY_ALIGN K buffer[hwy::SortConstants::BufNum<K>(HWY_LANES(K))];
    highway::detail::Generator random(std::uint64_t{1});
    highway::detail::Recurse(
        highway::SortTag<K>(), highway::detail::SharedTraits<highway::detail::TraitsLane<Order>>(),
        keys, keys + count, count, buffer, random, 2 * hwy::CeilLog2(count) + 4);
#endif
}

#if defined(__AVX512F__)
// What quicksort leaves. Measured on Emerald Rapids, where the network here takes half the time of
// Highway's; not on others yet.
void sort_few(std::int64_t n, std::int32_t *keys) {
    if (n <= longest_network && __builtin_cpu_is("intel")) return sort_by_network(n, keys);
    highway_sort(n, keys);
}
#endif

// Ascending; then finish(n, keys) for some keys at a time.
template <class K, class Finish> void sort_keys(std::int64_t n, K *keys, Finish finish) {
#if defined(__AVX512F__)
    if constexpr (sizeof(K) == 4) return Quicksort(&sort_few, finish).run(n, keys);
#endif
    highway_sort(n, keys);
    finish(n, keys);
}

// Signed integers in the order of the elements, or in the opposite one.
template <class T> struct Keys {
    using Key = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                   std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
    Key turned; // all bits, or none

    explicit Keys(bool descending) : turned(descending ? Key{-1} : Key{0}) {}

    // Makes n keys, in the elements' place or another. Whether equal ones of the elements are the
    // same bits, so that nobody sees in which order they come.
    bool from(std::int64_t n, const T *x, Key *keys) const {
        const Key turn = turned;
        Key others = 0; // of the elements' size, so that the loop is vectorised
        ATOLL_INDEPENDENT
        for (std::int64_t k = 0; k < n; ++k) {
            const Key bits = std::bit_cast<Key>(x[k]);
            if constexpr (is_complex<T>)
                others |= is_other<float>(static_cast<std::int32_t>(bits)) |
                          is_other<float>(static_cast<std::int32_t>(bits >> 32));
            else if constexpr (is_float<T>)
                others |= is_other<T>(bits);
            keys[k] = static_cast<Key>(ascending(bits) ^ turn);
        }
        return others == 0;
    }
    // Back, in place.
    void to_elements(std::int64_t n, Key *keys) const {
        if (std::is_integral_v<T> && std::is_signed_v<T> && !turned) return;
        const Key turn = turned;
        for (std::int64_t k = 0; k < n; ++k) keys[k] = element_of(static_cast<Key>(keys[k] ^ turn));
    }

private:
    // NaN, or -0: by its bits, as comparisons of floats would become branches.
    template <class P, class I> static Key is_other(I bits) {
        constexpr I infinity = std::bit_cast<I>(std::numeric_limits<P>::infinity());
        constexpr I size = std::numeric_limits<I>::max(), minus_zero = ~size;
        return (bits & size) > infinity || bits == minus_zero;
    }
    // Its own inverse.
    template <class I> static I of_float(I bits) {
        return bits ^ ((bits >> (8 * sizeof(I) - 1)) & std::numeric_limits<I>::max());
    }
    static Key ascending(Key bits) {
        if constexpr (is_complex<T>) { // the real part comes first
            const std::int32_t re = of_float(static_cast<std::int32_t>(bits)),
                               im = of_float(static_cast<std::int32_t>(bits >> 32));
            return Key{re} << 32 | (static_cast<std::uint32_t>(im) ^ 0x80000000);
        } else if constexpr (is_float<T>) {
            return of_float(bits);
        } else {
            constexpr Key lowest = std::numeric_limits<Key>::min();
            return std::is_signed_v<T> ? bits : static_cast<Key>(bits ^ lowest);
        }
    }
    static Key element_of(Key key) {
        if constexpr (is_complex<T>) {
            const std::int32_t re = of_float(static_cast<std::int32_t>(key >> 32)),
                               im = of_float(static_cast<std::int32_t>(key ^ 0x80000000));
            return Key{im} << 32 | static_cast<std::uint32_t>(re);
        } else {
            return ascending(key);
        }
    }
};

template <class Key> class Buckets {
public:
    Buckets(std::int64_t n, Key *keys, std::int64_t count) : n_(n), keys_(keys), count_(count) {
        constexpr std::int64_t per_bucket = 32;
        Key sample[most_pieces * per_bucket];
        // One at random from each part of the row: it may repeat itself.
        const std::int64_t samples = count * per_bucket, part = n / samples;
        std::uint64_t random = 1;
        for (std::int64_t i = 0; i < samples; ++i) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            sample[i] = keys[i * part + static_cast<std::int64_t>(random >> 33) % part];
        }
        sort_keys(samples, sample, [](std::int64_t, const Key *) {});
        for (std::int64_t b = 1; b < count; ++b) splitters_[b - 1] = sample[b * per_bucket];
    }

    // Moves the keys to their buckets in y: bucket b begins at first[b] and ends at first[b + 1].
    void fill(Key *y, std::int64_t *first) {
        each_piece([this](std::int64_t piece, std::int64_t n, Key *keys) {
            count(n, keys, places_[piece]);
        });
        std::int64_t before = 0;
        for (std::int64_t b = 0; b < count_; ++b) {
            first[b] = before;
            for (std::int64_t piece = 0; piece < count_; ++piece)
                before += std::exchange(places_[piece][b], before);
        }
        first[count_] = n_;
        each_piece(
            [&](std::int64_t piece, std::int64_t n, Key *keys) { move(n, keys, piece, first, y); });
    }

private:
    // body(piece, n, keys) for the keys of all pieces.
    template <class Body> void each_piece(Body &&body) {
        parallel(count_, n_ / count_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece) {
                const std::int64_t at = n_ * piece / count_;
                body(piece, n_ * (piece + 1) / count_ - at, keys_ + at);
            }
        });
    }
#if defined(__AVX512F__)
    // Counts a piece's keys by their buckets, in whose order it brings them.
    void count(std::int64_t n, Key *keys, std::int64_t *counts) const {
        cut(n, keys, 0, count_, counts);
    }
    // Of buckets [low, high).
    void cut(std::int64_t n, Key *keys, std::int64_t low, std::int64_t high,
             std::int64_t *counts) const {
        if (high - low == 1) {
            counts[low] = n;
            return;
        }
        const std::int64_t middle = (low + high) / 2;
        const std::int64_t less = partition(n, keys, splitters_[middle - 1]);
        cut(less, keys, low, middle, counts);
        cut(n - less, keys + less, middle, high, counts);
    }
    void move(std::int64_t, const Key *keys, std::int64_t piece, const std::int64_t *first,
              Key *y) const {
        for (std::int64_t b = 0; b < count_; ++b) {
            // Up to where the next piece's begin, or the next bucket.
            const std::int64_t place = places_[piece][b],
                               end = piece + 1 < count_ ? places_[piece + 1][b] : first[b + 1];
            std::copy_n(keys, end - place, y + place);
            keys += end - place;
        }
    }
#else
    void count(std::int64_t n, const Key *keys, std::int64_t *counts) const {
        each(n, keys, [counts](Key bucket, Key) { ++counts[bucket]; });
    }
    void move(std::int64_t n, const Key *keys, std::int64_t piece, const std::int64_t *, Key *y) {
        each(n, keys,
             [y, places = places_[piece]](Key bucket, Key key) { y[places[bucket]++] = key; });
    }
    // take(bucket, key) for some keys.
    template <class Take> void each(std::int64_t n, const Key *keys, Take &&take) const {
        constexpr std::int64_t most = 512;
        Key buckets[most];
        for (std::int64_t k = 0; k < n; k += most) {
            const std::int64_t some = std::min(most, n - k);
            find(some, keys + k, buckets);
            for (std::int64_t i = 0; i < some; ++i) take(buckets[i], keys[k + i]);
        }
    }

    // How many splitters are not above a key.
    void find(std::int64_t n, const Key *keys, Key *buckets) const {
        const auto find_those = [&](const Vector<Key> &those) {
            Vector<Key> number = Vector<Key>{} + static_cast<Key>(count_ - 1);
            for (std::int64_t s = 0; s < count_ - 1; ++s) number += those < splitters_[s]; // or -1
            return number;
        };
        std::int64_t k = 0;
        for (; k + lanes<Key> <= n; k += lanes<Key>)
            store_vector(buckets + k, find_those(load_vector<Vector<Key>>(keys + k)));
        const std::size_t rest = static_cast<std::size_t>(n - k) * sizeof(Key);
        Vector<Key> last{};
        std::memcpy(&last, keys + k, rest);
        last = find_those(last);
        std::memcpy(buckets + k, &last, rest);
    }
#endif

    const std::int64_t n_;
    Key *const keys_;
    const std::int64_t count_; // of buckets, and of pieces of the row
    Key splitters_[most_pieces];
    // How many keys of a piece each bucket gets, and then where these go.
    std::int64_t places_[most_pieces][most_pieces] = {};
};

} // namespace

template <class T>
bool vqsort(std::int64_t n, const T *x, T *y, void *room, std::int64_t pieces, bool descending) {
    using Key = typename Keys<T>::Key;
    const Keys<T> as(descending);
    Key *const result = reinterpret_cast<Key *>(y), *const other = static_cast<Key *>(room);
    std::atomic<bool> own = true;
    bool alone = false; // whether one call has all pieces
    parallel(pieces, n / pieces, [&](std::int64_t begin, std::int64_t end) {
        if (end - begin == pieces) alone = true;
        const std::int64_t first = n * begin / pieces, last = n * end / pieces;
        if (!as.from(last - first, x + first, (alone ? result : other) + first)) own = false;
    });
    if (!own) {
        if (alone && x == y) as.to_elements(n, result);
        return false;
    }
    const auto sort = [&](std::int64_t begin, std::int64_t end) {
        sort_keys(end - begin, result + begin,
                  [&](std::int64_t some, Key *keys) { as.to_elements(some, keys); });
    };
    if (alone) {
        sort(0, n);
    } else {
        std::int64_t first[most_pieces + 1];
        Buckets<Key>(n, other, pieces).fill(result, first);
        parallel(pieces, n / pieces, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t b = begin; b < end; ++b) sort(first[b], first[b + 1]);
        });
    }
    return true;
}
#define ATOLL_SORTED(T)                                                                            \
    template bool vqsort(std::int64_t, const T *, T *, void *, std::int64_t, bool);
ATOLL_SORTED(std::int16_t)
ATOLL_SORTED(std::uint16_t)
ATOLL_SORTED(std::int32_t)
ATOLL_SORTED(std::uint32_t)
ATOLL_SORTED(std::int64_t)
ATOLL_SORTED(std::uint64_t)
ATOLL_SORTED(float)
ATOLL_SORTED(double)
ATOLL_SORTED(Complex<float>)
#undef ATOLL_SORTED

} // namespace Atoll::kernels

#endif
