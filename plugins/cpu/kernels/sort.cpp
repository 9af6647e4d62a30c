// sort, argsort: along axis 0, row by row.
//
// Note [Radix sort]
// Elements are sorted by their digits of 8 or 11 bits, the lowest first, each pass stable. An
// element's key is an unsigned integer in the order of order.h: the sign bit turned over for signed
// integers, all bits of negative floats, one key for both zeros and the highest one for NaN; for
// complex numbers the real part's key before the imaginary part's. The element itself moves with
// its key, so that -0 stays -0. Where there are neither NaN nor -0, which share keys with others,
// the keys are sorted alone and become elements again. Digits that are the same everywhere cost no
// pass.
#include "convert.h"
#include "functors/order.h"
#include "ordered.h"
#include "parallel.h"
#include "scratch.h"

#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t short_row = 48; // below, insertion beats counting digits
// Rows for which digits of 11 bits are faster: their many places fit the caches beside the items.
constexpr std::int64_t long_row = 16'384, long_row_bytes = 4 << 20;

__extension__ using Bits128 = unsigned __int128;
template <std::size_t Size> struct BitsOf;
template <> struct BitsOf<1> { using type = std::uint8_t; };
template <> struct BitsOf<2> { using type = std::uint16_t; };
template <> struct BitsOf<4> { using type = std::uint32_t; };
template <> struct BitsOf<8> { using type = std::uint64_t; };
template <> struct BitsOf<16> { using type = Bits128; };
template <class T> using KeyOf = typename BitsOf<sizeof(T)>::type;

// Ascending; NaN gets the highest key.
template <class T> KeyOf<T> ascending_key(T x) {
    using K = KeyOf<T>;
    constexpr K sign = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
    if constexpr (is_bool<T>) {
        return truth(x);
    } else if constexpr (is_float<T>) {
        const K bits = std::bit_cast<K>(x + T(0)); // +0 for both zeros
        const K turn = static_cast<K>(K{0} - (bits >> (8 * sizeof(K) - 1))) | sign;
        return x != x ? static_cast<K>(~K{0}) : static_cast<K>(bits ^ turn);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<K>(static_cast<K>(x) ^ sign);
    } else {
        return x;
    }
}
// Whether no other element has this one's key, so that the element follows from the key.
template <class T> bool has_own_key(T x) {
    if constexpr (is_float<T>)
        return x == x && std::bit_cast<KeyOf<T>>(x) != std::bit_cast<KeyOf<T>>(T(-0.0));
    else
        return true;
}
// The element with this key, which must have a key of its own.
template <class T> T element_of(KeyOf<T> key) {
    using K = KeyOf<T>;
    constexpr K sign = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
    if constexpr (is_float<T>) {
        const K turn = static_cast<K>((key >> (8 * sizeof(K) - 1)) - 1) | sign;
        return std::bit_cast<T>(static_cast<K>(key ^ turn));
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<T>(key ^ sign);
    } else {
        return key;
    }
}
// The key of an element; smaller keys come first.
template <class T> KeyOf<T> key_of(T x, bool descending) {
    using K = KeyOf<T>;
    K key;
    if constexpr (is_complex<T>)
        key = static_cast<K>(ascending_key(x.re)) << (4 * sizeof(T)) | ascending_key(x.im);
    else
        key = ascending_key(x);
    if (is_unordered(x)) return static_cast<K>(~K{0});
    return descending ? static_cast<K>(~key) : key;
}

// Sorts a few items by key(item).
template <class Item, class Key> void insertion_sort(std::int64_t n, Item *items, Key &&key) {
    for (std::int64_t k = 1; k < n; ++k) {
        const Item item = items[k];
        const auto mine = key(item);
        std::int64_t place = k;
        for (; place > 0 && mine < key(items[place - 1]); --place) items[place] = items[place - 1];
        items[place] = item;
    }
}

// One pass per digit of `Bits` bits.
template <int Bits, class Count, class Item, class Key>
Item *sort_by_digits(std::int64_t n, Item *items, Item *room, Key &&key) {
    using K = decltype(key(*items));
    constexpr int digits = (8 * sizeof(K) + Bits - 1) / Bits, values = 1 << Bits;
    const auto digit_of = [](K x, int digit) {
        return static_cast<std::size_t>(x >> Bits * digit & (values - 1));
    };
    Count counts[digits][values] = {};
    for (std::int64_t k = 0; k < n; ++k) {
        const K x = key(items[k]);
        for (int digit = 0; digit < digits; ++digit) ++counts[digit][digit_of(x, digit)];
    }
    for (int digit = 0; digit < digits; ++digit) {
        Count *places = counts[digit];
        if (places[digit_of(key(items[0]), digit)] == static_cast<Count>(n)) continue;
        Count before = 0;
        for (int value = 0; value < values; ++value) before += std::exchange(places[value], before);
        for (std::int64_t k = 0; k < n; ++k)
            room[places[digit_of(key(items[k]), digit)]++] = items[k];
        std::swap(items, room);
    }
    return items;
}

// Sorts n items by key(item) with as much room again at `room`; returns where the result is.
template <class Item, class Key>
Item *radix_sort(std::int64_t n, Item *items, Item *room, Key &&key) {
    using K = decltype(key(*items));
    if (n < short_row) {
        insertion_sort(n, items, key);
        return items;
    }
    if constexpr (sizeof(K) == 4 || sizeof(K) == 8)
        if (n >= long_row && n <= long_row_bytes / std::int64_t{sizeof(Item)})
            return sort_by_digits<11, std::uint32_t>(n, items, room, key);
    return sort_by_digits<8, std::int64_t>(n, items, room, key);
}

template <class K, class Index> struct Indexed {
    K key;
    Index index;
};

// One row of n dense elements with `room` for what the sorter asks for.
struct Sorter {
    std::uint8_t size; // bytes of an element
    // Bytes of room for a row.
    std::int64_t (*room)(std::int64_t n);
    // Returns the sorted elements, in `elements` or in `room`.
    const char *(*run)(std::int64_t n, char *elements, char *room, bool descending);
};

template <class T> struct Sort {
    static std::int64_t room(std::int64_t n) { return n * static_cast<std::int64_t>(sizeof(T)); }
    static const char *run(std::int64_t n, char *elements, char *room, bool descending) {
        T *x = reinterpret_cast<T *>(elements);
        if constexpr (is_bool<T>) // what is written is 0 or 1
            for (std::int64_t k = 0; k < n; ++k) x[k] = T(truth(x[k]));
        else if constexpr (!is_complex<T>)
            if (n >= short_row && are_keys(n, x, descending)) {
                using K = KeyOf<T>;
                K *const keys = radix_sort(n, reinterpret_cast<K *>(elements),
                                           reinterpret_cast<K *>(room), [](K key) { return key; });
                const K turn = descending ? static_cast<K>(~K{0}) : K{0};
                for (std::int64_t k = 0; k < n; ++k) {
                    const T element = element_of<T>(static_cast<K>(keys[k] ^ turn));
                    std::memcpy(keys + k, &element, sizeof element);
                }
                return reinterpret_cast<const char *>(keys);
            }
        return reinterpret_cast<const char *>(
            radix_sort(n, x, reinterpret_cast<T *>(room),
                       [=](T element) { return key_of(element, descending); }));
    }

private:
    // Makes elements their keys, if all have their own.
    static bool are_keys(std::int64_t n, T *x, bool descending) {
        bool own = true;
        for (std::int64_t k = 0; k < n; ++k) own &= has_own_key(x[k]);
        if (!own) return false;
        for (std::int64_t k = 0; k < n; ++k) {
            const KeyOf<T> key = key_of(x[k], descending);
            std::memcpy(x + k, &key, sizeof key);
        }
        return true;
    }
};

// Gives the positions as int64, in `room`.
template <class T> struct Argsort {
    // Short keys go with short indices where these suffice.
    using Small = Indexed<std::uint32_t, std::uint32_t>;
    using Large =
        Indexed<std::conditional_t<sizeof(T) == 16, Bits128, std::uint64_t>, std::int64_t>;
    static bool small(std::int64_t n) {
        return sizeof(T) <= 4 && n <= std::int64_t{std::numeric_limits<std::uint32_t>::max()};
    }
    // Items twice; of large ones the positions take over a part.
    static std::int64_t room(std::int64_t n) {
        return small(n) ? 2 * n * std::int64_t{sizeof(Small)} + n * 8
                        : 2 * n * std::int64_t{sizeof(Large)};
    }
    static const char *run(std::int64_t n, char *elements, char *room, bool descending) {
        const T *x = reinterpret_cast<const T *>(elements);
        if constexpr (sizeof(T) <= 4)
            if (small(n)) return sorted<Small>(n, x, room, descending);
        return sorted<Large>(n, x, room, descending);
    }

private:
    template <class Item>
    static const char *sorted(std::int64_t n, const T *x, char *room, bool descending) {
        Item *items = reinterpret_cast<Item *>(room);
        for (std::int64_t k = 0; k < n; ++k)
            items[k] = {static_cast<decltype(Item::key)>(key_of(x[k], descending)),
                        static_cast<decltype(Item::index)>(k)};
        Item *other = items + n;
        items = radix_sort(n, items, other, [](const Item &item) { return item.key; });
        // The positions stand at the end of the room: from the last one on, none is written over
        // an item that is still to be read.
        std::int64_t *index = reinterpret_cast<std::int64_t *>(room + Argsort::room(n)) - n;
        for (std::int64_t k = n - 1; k >= 0; --k)
            index[k] = static_cast<std::int64_t>(items[k].index);
        return reinterpret_cast<const char *>(index);
    }
};

using SorterRow = std::array<Sorter, ATOLL_DTYPE_COUNT>;
template <template <class> class Make> constexpr SorterRow sorter_row() {
    return {
        Sorter{},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    Sorter{sizeof(wide::identifier), &Make<wide::identifier>::room, &Make<wide::identifier>::run},
#include "atoll/lists/dtypes.inc"
    };
}
constexpr SorterRow sorters = sorter_row<Sort>();
constexpr SorterRow argsorters = sorter_row<Argsort>();

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_sort(const atoll_call *call) {
    using namespace Atoll::kernels;
    const std::uint32_t dtype = call->dtype;
    const atoll_operand *operands = call->operands;
    const bool positions = call->function == ATOLL_FN_argsort;
    if ((call->function != ATOLL_FN_sort && !positions) || dtype == ATOLL_DTYPE_NONE ||
        dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    const Sorter &sorter = positions ? argsorters[dtype] : sorters[dtype];
    const Space others(1, call->rank, call->shape, operands, 2);
    const std::int64_t n = call->shape[0], count = others.shape[0] * others.outer();
    const std::int64_t out_step = operands[0].strides[0], in_step = operands[1].strides[0];
    const Conversion in({operands[1].dtype, dtype, widened(dtype)},
                        operands[1].flags & ATOLL_OPERAND_SWAPPED, false);
    const std::uint32_t result = positions ? std::uint32_t{ATOLL_DTYPE_INT64} : widened(dtype);
    const Conversion out({result, positions ? result : dtype, operands[0].dtype}, false,
                         operands[0].flags & ATOLL_OPERAND_SWAPPED);
    const bool descending = call->attributes[0].value.bytes[0] != 0;
    const std::int64_t room_at = (n * sorter.size + 63) / 64 * 64;
    std::atomic<bool> no_memory{false};
    // Sorting takes some ten looks at an element.
    parallel(count, n * 8, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t bytes = room_at + sorter.room(n);
        alignas(64) char few[2048]; // for which allocating would take longer than sorting
        const bool fits = bytes <= static_cast<std::int64_t>(sizeof few);
        const Scratch many(fits ? 0 : bytes, std::nothrow);
        char *const scratch = fits ? few : many.data();
        if (!many.is_there()) {
            no_memory.store(true, std::memory_order_relaxed);
            return;
        }
        each_run(others, begin, end, [&](char *const *data, std::int64_t rows, std::int64_t) {
            for (std::int64_t row = 0; row < rows; ++row) {
                in.run(n, scratch, sorter.size, data[1] + row * others.strides[1][0], in_step);
                const char *sorted = sorter.run(n, scratch, scratch + room_at, descending);
                out.run(n, data[0] + row * others.strides[0][0], out_step, sorted, out.in_size());
            }
        });
    });
    return no_memory.load() ? ATOLL_STATUS_OUT_OF_MEMORY : ATOLL_STATUS_OK;
}
