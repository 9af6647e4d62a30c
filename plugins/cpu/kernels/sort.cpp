// sort, argsort: along axis 0, row by row.
//
// Note [Radix sort]
// Elements are sorted by their digits of 8 or 11 bits, the lowest first, each pass stable. An
// element's key is an unsigned integer in the order of order.h: the sign bit turned over for signed
// integers, all bits of negative floats, one key for both zeros and the highest one for NaN; for
// complex numbers the real part's key before the imaginary part's. The element itself moves with
// its key, so that -0 stays -0. Digits that are the same everywhere cost no pass.
//
// Rows of integers and floats of four bytes or more go to vqsort, which takes half the time, unless
// they are short, or have a NaN or -0, which share keys with others; with AVX-512 those of two
// bytes and shorter ones of single bytes go there as int32. Longer ones of bytes are counted.
//
// Many rows of a few elements are sorted together: short_rows.h.
#include "convert.h"
#include "kept_scratch.h"
#include "ordered.h"
#include "parallel.h"
#include "short_rows.h"
#include "vqsort.h"

#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <utility>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t short_row = 48; // below, insertion beats counting digits
// Below, it beats vqsort, too; floats have keys, which cost it time.
template <class T> constexpr std::int64_t shortest_vqsort_row = is_float<Part<T>> ? 16 : 28;
// Of 16 bits, unless they go as 32 (sorted_as()): what vqsort sorts by a network. Counting the two
// digits of more is faster, and the eight of complex64 where vectors hold two keys.
template <class T>
constexpr std::int64_t longest_vqsort_row = sizeof(T) == 2 ? 8 * vector_bytes
                                            : is_complex<T> &&vector_bytes == 16
                                                ? 4096
                                                : std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t longest_byte_row =
    std::min<std::int64_t>(256, longest_vqsort_row<std::int16_t>);
// Rows for which digits of 11 bits are faster: their many places fit the caches beside the items.
constexpr std::int64_t long_row = 16'384, long_row_bytes = 4 << 20;
// From here on several threads sort a row, in pieces of about so many elements.
constexpr std::int64_t cut_row = 131'072, cut_piece = cut_row / 2;
template <class Item> constexpr int cut_bits = sizeof(Item) >= 4 ? 11 : 8;

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

// Dense elements of a row, dense results of `result_size` bytes, which may take the elements'
// place, and room for items. The less memory is gone over, the more of it stays in the caches.
struct Memory {
    const char *elements;
    char *result, *room;
    std::int64_t result_size;

    // Of two buffers for items one can be where the results go.
    bool reuses_result(std::int64_t item) const { return item == result_size; }
    std::int64_t items(std::int64_t n, std::int64_t item) const { // bytes of the room for them
        return (n * item * (reuses_result(item) ? 1 : 2) + 7) / 8 * 8;
    }
};

// What a row that several threads sort is cut into.
std::int64_t pieces_of(std::int64_t n) {
    return std::clamp<std::int64_t>(n / cut_piece, 1, most_pieces);
}
// body(begin, end, piece) for each of the pieces of n elements, by several threads.
template <class Body> void each_of(std::int64_t pieces, std::int64_t n, Body &&body) {
    if (pieces == 1) return body(std::int64_t{0}, n, std::int64_t{0});
    parallel(pieces, n / pieces, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece)
            body(n * piece / pieces, n * (piece + 1) / pieces, piece);
    });
}
// body(begin, end) over the elements of a row, or over those of its pieces.
template <class Body> void each_piece(std::int64_t n, bool cut, Body &&body) {
    each_of(cut ? pieces_of(n) : 1, n,
            [&](std::int64_t begin, std::int64_t end, std::int64_t) { body(begin, end); });
}

// The items of a row: load(elements, descending, begin, end, to) makes those from `begin` to `end`.
// A pointer, so that one loop sorts what has the same items.
template <class Item> struct Source {
    using Load = void (*)(const char *elements, bool descending, std::int64_t begin,
                          std::int64_t end, Item *to);
    Load load;
    const char *elements;
    bool descending;

    void fill(std::int64_t begin, std::int64_t end, Item *to) const {
        load(elements, descending, begin, end, to);
    }
    Item first() const {
        Item item;
        fill(0, 1, &item);
        return item;
    }
};

// Sorts the n items of a source by key(item), and puts them to store(place, item).
template <class Item, class Key, class Store> class RadixSort {
public:
    RadixSort(std::int64_t n, const Memory &memory, Source<Item> source, Key key, Store store)
        : n_(n), memory_(memory), own_(reinterpret_cast<Item *>(memory.room)),
          other_(memory.reuses_result(sizeof(Item)) ? reinterpret_cast<Item *>(memory.result)
                                                    : own_ + n),
          source_(source), key_(key), store_(store) {}

    void run(bool cut) {
        if (n_ < short_row) {
            source_.fill(0, n_, own_);
            insertion_sort(n_, own_, key_);
            for (std::int64_t k = 0; k < n_; ++k) store_(k, own_[k]);
        } else if (!cut || !by_threads()) {
            if constexpr (sizeof(K) == 4 || sizeof(K) == 8)
                if (n_ >= long_row && n_ <= long_row_bytes / std::int64_t{sizeof(Item)})
                    return by_one<11, std::uint32_t>();
            by_one<8, std::int64_t>();
        }
    }

private:
    using K = std::remove_cvref_t<std::invoke_result_t<Key, Item>>;

    template <int Bits> static constexpr int digits = (8 * sizeof(K) + Bits - 1) / Bits;
    // The lowest digit has what is left of the bits: few values of the highest one, which floats
    // have, would be counted one after the other.
    template <int Bits> static std::size_t digit_of(K key, int digit) {
        constexpr int lowest = 8 * sizeof(K) - Bits * (digits<Bits> - 1);
        const int shift = digit == 0 ? 0 : lowest + Bits * (digit - 1);
        return static_cast<std::size_t>(key >> shift & ((1 << (digit == 0 ? lowest : Bits)) - 1));
    }

    // body(items, count) for items [begin, end) of `from`, which is null for those of the source.
    template <class Body>
    void each_block(std::int64_t begin, std::int64_t end, const Item *from, Body &&body) const {
        if (from) return body(from + begin, end - begin);
        constexpr std::int64_t most = 2048 / sizeof(Item);
        Item block[most];
        for (; begin < end; begin += most) {
            const std::int64_t last = std::min(begin + most, end);
            source_.fill(begin, last, block);
            body(block, last - begin);
        }
    }
    // Items go to the places of their digits. All that the loops use is their own: what they write
    // could else change it.
    template <int Bits, class Count, class To> static void
    move_items(std::int64_t n, const Item *items, Count *places, int digit, Key key, To to) {
        for (std::int64_t k = 0; k < n; ++k) {
            const Item item = items[k];
            to(static_cast<std::int64_t>(places[digit_of<Bits>(key(item), digit)]++), item);
        }
    }
    template <int Bits, class Count>
    static void count_items(std::int64_t n, const Item *items, Count *counts, int digit, Key key) {
        for (std::int64_t k = 0; k < n; ++k) ++counts[digit_of<Bits>(key(items[k]), digit)];
    }
    template <int Bits, class Count, class To> void move(std::int64_t begin, std::int64_t end,
                                                         Count *places, int digit, const Item *from,
                                                         To to) const {
        each_block(begin, end, from, [&](const Item *items, std::int64_t n) {
            move_items<Bits>(n, items, places, digit, key_, to);
        });
    }
    template <int Bits, class Count> void count_digit(std::int64_t begin, std::int64_t end,
                                                      Count *counts, int digit,
                                                      const Item *from) const {
        each_block(begin, end, from, [&](const Item *items, std::int64_t n) {
            count_items<Bits>(n, items, counts, digit, key_);
        });
    }

    // pass(digit, from, to) for each of some digits: to(place, item) takes the items of `from`. The
    // last one reads from own_, as the others' room may be the result's; an odd number of passes
    // begins there, too.
    template <class Pass> void each_pass(int count, const int *pass_digits, bool cut, Pass &&pass) {
        const auto into = [](Item *items) {
            return [=](std::int64_t place, const Item &item) { items[place] = item; };
        };
        for (int i = 0; i < count - 1; ++i) {
            Item *const to = (count - i) % 2 == 0 ? own_ : other_;
            const Item *const from = to == own_ ? other_ : own_;
            pass(pass_digits[i], i == 0 && to == own_ ? nullptr : from, into(to));
        }
        if (count > 0) return pass(pass_digits[count - 1], static_cast<const Item *>(own_), store_);
        each_piece(n_, cut, [this](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) store_(k, own_[k]);
        });
    }

    // With the counts of all digits at once.
    template <int Bits, class Count> void by_one() {
        Count counts[digits<Bits>][1 << Bits] = {};
        source_.fill(0, n_, own_);
        // Passes write in any order, which is slow where the caches do not have the memory.
        const auto count_digits = [&counts](std::int64_t n, Key key, const Item *own,
                                            const Item *other) {
            for (std::int64_t k = 0; k < n; ++k) {
                if (k % (64 / std::int64_t{sizeof(Item)}) == 0) __builtin_prefetch(other + k, 1);
                const K x = key(own[k]);
                for (int digit = 0; digit < digits<Bits>; ++digit)
                    ++counts[digit][digit_of<Bits>(x, digit)];
            }
        };
        count_digits(n_, key_, own_, other_);
        int count = 0, passes[digits<Bits>];
        const K first = key_(source_.first());
        for (int digit = 0; digit < digits<Bits>; ++digit)
            if (counts[digit][digit_of<Bits>(first, digit)] != static_cast<Count>(n_))
                passes[count++] = digit;
        each_pass(count, passes, false, [&](int digit, const Item *from, auto to) {
            Count *places = counts[digit], before = 0;
            for (int value = 0; value < 1 << Bits; ++value)
                before += std::exchange(places[value], before);
            move<Bits>(0, n_, places, digit, from, to);
        });
    }

    // The bits in which keys of items differ from one.
    K differences(std::int64_t begin, std::int64_t end, K one) const {
        const Item *const items = own_;
        const Key key = key_;
        K differ = 0;
        for (std::int64_t k = begin; k < end; ++k) differ |= static_cast<K>(key(items[k]) ^ one);
        return differ;
    }

    // Each pass counts the digits of every piece, adds up where they go, and moves them. False, and
    // nothing done, if one thread does it all.
    bool by_threads() {
        constexpr int bits = cut_bits<Item>;
        const std::int64_t pieces = pieces_of(n_);
        const K first = key_(source_.first());
        K varying[most_pieces] = {};
        bool alone = false;
        parallel(pieces, n_ / pieces, [&](std::int64_t begin, std::int64_t end) {
            if (end - begin == pieces) {
                alone = true;
                return;
            }
            const std::int64_t piece = n_ * begin / pieces, last = n_ * end / pieces;
            source_.fill(piece, last, own_ + piece);
            varying[begin] = differences(piece, last, first);
        });
        if (alone) return false;
        K differ = 0;
        for (const K x : varying) differ |= x;
        int count = 0, passes[digits<bits>];
        for (int digit = 0; digit < digits<bits>; ++digit)
            if (digit_of<bits>(differ, digit)) passes[count++] = digit;
        using Places = std::int64_t[1 << bits];
        Places *const places =
            reinterpret_cast<Places *>(memory_.room + memory_.items(n_, sizeof(Item)));
        each_pass(count, passes, true, [&](int digit, const Item *from, auto to) {
            std::fill_n(places[0], pieces << bits, 0);
            each_of(pieces, n_, [&](std::int64_t first, std::int64_t last, std::int64_t piece) {
                count_digit<bits>(first, last, places[piece], digit, from);
            });
            std::int64_t before = 0;
            for (int value = 0; value < 1 << bits; ++value)
                for (std::int64_t piece = 0; piece < pieces; ++piece)
                    before += std::exchange(places[piece][value], before);
            each_of(pieces, n_, [&](std::int64_t first, std::int64_t last, std::int64_t piece) {
                move<bits>(first, last, places[piece], digit, from, to);
            });
        });
        return true;
    }

    const std::int64_t n_;
    const Memory memory_;
    Item *const own_, *const other_;
    const Source<Item> source_;
    const Key key_;
    const Store store_;
};
template <class Item, class Key, class Store> void radix_sort(std::int64_t n, const Memory &memory,
                                                              bool cut, Source<Item> source,
                                                              Key key, Store store) {
    RadixSort<Item, Key, Store>(n, memory, source, key, store).run(cut);
}
// The room that this takes.
template <class Item> std::int64_t room_of(std::int64_t n, std::int64_t result_size) {
    const Memory memory{nullptr, nullptr, nullptr, result_size};
    const std::int64_t places = n < cut_row ? 0 : 8 * pieces_of(n) << cut_bits<Item>;
    return memory.items(n, sizeof(Item)) + places;
}

// Elements are read and written as bytes: the same memory holds their keys, too.
template <class T> T read(const char *elements, std::int64_t k) {
    T x;
    std::memcpy(&x, elements + k * std::int64_t{sizeof x}, sizeof x);
    return x;
}
template <class T> void write(char *elements, std::int64_t k, T x) {
    std::memcpy(elements + k * std::int64_t{sizeof x}, &x, sizeof x);
}

template <class K, class Index> struct Indexed {
    K key;
    Index index;
};

// Elements, and their keys with their positions.
template <class T>
void load_elements(const char *x, bool, std::int64_t begin, std::int64_t end, T *to) {
    for (std::int64_t k = begin; k < end; ++k) {
        const T element = read<T>(x, k);
        if constexpr (is_bool<T>)
            to[k - begin] = T(truth(element)); // what is written is 0 or 1
        else
            to[k - begin] = element;
    }
}
template <class T, class Item>
void load_indexed(const char *x, bool descending, std::int64_t begin, std::int64_t end, Item *to) {
    for (std::int64_t k = begin; k < end; ++k)
        to[k - begin] = {static_cast<decltype(Item::key)>(key_of(read<T>(x, k), descending)),
                         static_cast<decltype(Item::index)>(k)};
}

// The positions of a row's elements, in the order of their keys, which may be shorter than those
// of items.
template <class Key, class Item>
void positions(std::int64_t n, const Memory &memory, bool cut, Source<Item> source) {
    radix_sort<Item>(
        n, memory, cut, source, [](const Item &item) { return static_cast<Key>(item.key); },
        [y = memory.result](std::int64_t place, const Item &item) {
            write(y, place, static_cast<std::int64_t>(item.index));
        });
}

// One row of n elements.
struct Sorter {
    std::uint8_t size; // bytes of an element
    // Bytes of room for a row.
    std::int64_t (*room)(std::int64_t n);
    void (*run)(std::int64_t n, const Memory &memory, bool descending, bool cut);
    std::int64_t at_once; // many short rows
    void (*together)(const ShortRows &rows);
};

// Adds how many there are of each byte.
void count_each_byte(std::int64_t n, const char *x, std::int64_t (&counts)[256]) {
    // Of neighbours each has its own: to increment one number again and again takes longer.
    std::int64_t own[4][256] = {};
    std::int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        const auto eight = load<std::uint64_t>(x + k);
        for (unsigned i = 0; i < 8; ++i) ++own[i % 4][eight >> 8 * i & 255];
    }
    for (; k < n; ++k) ++own[0][static_cast<std::uint8_t>(x[k])];
    for (int byte = 0; byte < 256; ++byte)
        counts[byte] += own[0][byte] + own[1][byte] + own[2][byte] + own[3][byte];
}

template <class T> struct Sort {
    using Together = ShortSort<T>;
    static std::int64_t room(std::int64_t n) {
        if (vqsort_takes<T> && std::is_integral_v<T> && sizeof(T) > 2)
            return n * std::int64_t{sizeof(T)};
        return room_of<T>(n, sizeof(T));
    }
    static void run(std::int64_t n, const Memory &memory, bool descending, bool cut) {
        const char *const x = memory.elements;
        char *const y = memory.result;
        if constexpr (is_bool<T>) return sort_truths(n, x, y, descending);
        if constexpr (sizeof(T) == 1 && vqsort_takes<std::int16_t>)
            if (n >= shortest_vqsort_row<std::int16_t> && n <= longest_byte_row)
                return sort_bytes(n, x, y, descending);
        if constexpr (sizeof(T) == 1)
            if (n > longest_byte_row) return count_bytes(n, x, y, descending, cut);
        if constexpr (vqsort_takes<T>)
            // It needs keys at multiples of their size, which complex numbers may be without.
            if (n >= shortest_vqsort_row<T> && n <= longest_vqsort_row<T> &&
                reinterpret_cast<std::uintptr_t>(y) % sizeof(T) == 0 &&
                vqsort(n, reinterpret_cast<const T *>(x), reinterpret_cast<T *>(y), memory.room,
                       cut ? pieces_of(n) : 1, descending))
                return;
        const auto key = [=](T element) { return key_of(element, descending); };
        if constexpr (vqsort_takes<T> && std::is_integral_v<T> && sizeof(T) > 2) { // a short row
            std::memmove(y, x, static_cast<std::size_t>(n) * sizeof(T));
            insertion_sort(n, reinterpret_cast<T *>(y), key);
        } else {
            radix_sort<T>(n, memory, cut, {&load_elements<T>, x, descending}, key,
                          [=](std::int64_t place, T element) { write(y, place, element); });
        }
    }

private:
    static void sort_truths(std::int64_t n, const char *x, char *y, bool descending) {
        std::int64_t ones = 0;
        for (std::int64_t k = 0; k < n; ++k) ones += x[k] != 0;
        const std::int64_t first = descending ? ones : n - ones;
        std::memset(y, descending, static_cast<std::size_t>(first));
        std::memset(y + first, !descending, static_cast<std::size_t>(n - first));
    }
    // Equal bytes are all alike: how many there are of each is enough.
    static void count_bytes(std::int64_t n, const char *x, char *y, bool descending, bool cut) {
        std::atomic<std::int64_t> counts[256] = {};
        each_piece(n, cut, [&](std::int64_t begin, std::int64_t end) {
            std::int64_t own[256] = {};
            count_each_byte(end - begin, x + begin, own);
            for (int byte = 0; byte < 256; ++byte)
                counts[byte].fetch_add(own[byte], std::memory_order_relaxed);
        });
        for (int k = 0; k < 256; ++k) {
            const int byte = (descending ? 255 - k : k) ^ (std::is_signed_v<Element<T>> ? 128 : 0);
            const auto count = static_cast<std::size_t>(counts[byte].load());
            std::memset(y, byte, count);
            y += count;
        }
    }
    // By way of wider numbers.
    static void sort_bytes(std::int64_t n, const char *x, char *y, bool descending) {
        using E = Element<T>;
        alignas(64) std::int16_t wide[longest_byte_row] = {};
        for (std::int64_t k = 0; k < n; ++k) wide[k] = reinterpret_cast<const E *>(x)[k];
        vqsort(n, wide, wide, nullptr, 1, descending);
        for (std::int64_t k = 0; k < n; ++k) reinterpret_cast<E *>(y)[k] = static_cast<E>(wide[k]);
    }
};

// Gives the positions as int64.
template <class T> struct Argsort {
    using Together = ShortArgsort<T>;
    // Short keys go with short indices where these suffice.
    using Small = Indexed<std::uint32_t, std::uint32_t>;
    using Large =
        Indexed<std::conditional_t<sizeof(T) == 16, Bits128, std::uint64_t>, std::int64_t>;
    // Those of one byte, and of two, have fewer digits than an item's.
    template <class Item> using Key =
        std::conditional_t<sizeof(T) == 1, std::uint8_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t, decltype(Item::key)>>;
    static bool small(std::int64_t n) {
        return sizeof(T) <= 4 && n <= std::int64_t{std::numeric_limits<std::uint32_t>::max()};
    }
    static std::int64_t room(std::int64_t n) {
        return small(n) ? room_of<Small>(n, 8) : room_of<Large>(n, 8);
    }
    static void run(std::int64_t n, const Memory &memory, bool descending, bool cut) {
        const char *const x = memory.elements;
        if constexpr (sizeof(T) == 1)
            if (n >= short_row) {
                if (!cut) return order_bytes<1>(n, memory, descending, 1);
                return order_bytes<most_pieces>(n, memory, descending, pieces_of(n));
            }
        if (small(n))
            positions<Key<Small>, Small>(n, memory, cut, {&load_indexed<T, Small>, x, descending});
        else
            positions<Key<Large>, Large>(n, memory, cut, {&load_indexed<T, Large>, x, descending});
    }

private:
    template <std::int64_t most> static void order_bytes(std::int64_t n, const Memory &memory,
                                                         bool descending, std::int64_t pieces) {
        const char *x = memory.elements;
        char *const y = memory.result;
        if (x == y)
            x = static_cast<char *>(std::memcpy(memory.room, x, static_cast<std::size_t>(n)));
        std::uint8_t keys[256];
        for (int byte = 0; byte < 256; ++byte) {
            const auto element = static_cast<char>(byte);
            keys[byte] = static_cast<std::uint8_t>(key_of(read<T>(&element, 0), descending));
        }
        std::int64_t places[most][256];
        each_of(pieces, n, [&](std::int64_t first, std::int64_t last, std::int64_t piece) {
            std::int64_t *const own = places[piece];
            std::fill_n(own, 256, 0);
            if (last - first < 2048) {
                for (std::int64_t k = first; k < last; ++k)
                    ++own[keys[static_cast<std::uint8_t>(x[k])]];
                return;
            }
            std::int64_t counts[256] = {};
            count_each_byte(last - first, x + first, counts);
            for (int byte = 0; byte < 256; ++byte) own[keys[byte]] += counts[byte];
        });
        std::int64_t before = 0;
        for (int key = 0; key < 256; ++key)
            for (std::int64_t piece = 0; piece < pieces; ++piece)
                before += std::exchange(places[piece][key], before);
        each_of(pieces, n, [&](std::int64_t first, std::int64_t last, std::int64_t piece) {
            std::int64_t *const own = places[piece];
            for (std::int64_t k = first; k < last; ++k)
                write(y, own[keys[static_cast<std::uint8_t>(x[k])]]++, k);
        });
    }
};

using SorterRow = std::array<Sorter, ATOLL_DTYPE_COUNT>;
template <template <class> class Make> constexpr SorterRow sorter_row() {
    return {
        Sorter{},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    Sorter{sizeof(wide::identifier), &Make<wide::identifier>::room, &Make<wide::identifier>::run,  \
           Make<wide::identifier>::Together::at_once, &Make<wide::identifier>::Together::run},
#include "atoll/lists/dtypes.inc"
    };
}
constexpr SorterRow sorters = sorter_row<Sort>();
constexpr SorterRow argsorters = sorter_row<Argsort>();

// What elements become before they are sorted. Vectors of AVX-512 sort numbers of 32 bits, which
// they compress, in half the time of those of 16 (on an Emerald Rapids; 300 to 1 M elements).
std::uint32_t sorted_as(std::uint32_t dtype, std::int64_t n) {
    constexpr std::int64_t longest_row_of_bytes = 1536; // longer ones are counted in less time
    const bool are_bytes = dtype == ATOLL_DTYPE_INT8 || dtype == ATOLL_DTYPE_UINT8,
               are_two = dtype == ATOLL_DTYPE_INT16 || dtype == ATOLL_DTYPE_UINT16;
    if (vector_bytes == 64 && n > longest_short_row &&
        (are_two || (are_bytes && n <= longest_row_of_bytes)))
        return ATOLL_DTYPE_INT32;
    return widened(dtype);
}

// Many rows of a few elements, at the places of `others`.
void sort_together(const Sorter &sorter, std::int64_t n, const Space &others, std::int64_t out_step,
                   const Conversion &out, std::int64_t in_step, const Conversion &in,
                   bool descending) {
    constexpr std::int64_t room = column_bytes * longest_short_row;
    const std::int64_t size = sorter.size, result = out.in_size();
    const std::int64_t to_next = others.strides[0][0], from_next = others.strides[1][0];
    const bool in_place = in.moves() && in_step == size;
    // Results must not overwrite their elements.
    const bool out_place = out.moves() && out_step == result && others.data[0] != others.data[1];
    const Network network(n);
    parallel(others.shape[0] * others.outer(), n * 8, [&](std::int64_t begin, std::int64_t end) {
        // Elements of 16 bytes, and the positions of those of one.
        alignas(64) char scratch[2 * room], results[4 * room];
        each_run(others, begin, end, [&](char *const *data, std::int64_t rows, std::int64_t) {
            for (std::int64_t row = 0; row < rows; row += sorter.at_once) {
                const std::int64_t some = std::min(sorter.at_once, rows - row);
                const char *const from = data[1] + row * from_next;
                char *const to = data[0] + row * to_next;
                if (!in_place)
                    convert_rows(in, n, some, scratch, size, n * size, from, in_step, from_next);
                sorter.together({network, n, some, in_place ? from : scratch,
                                 in_place ? from_next : n * size, out_place ? to : results,
                                 out_place ? to_next : n * result, descending});
                if (!out_place)
                    convert_rows(out, n, some, to, out_step, to_next, results, result, n * result);
            }
        });
    });
}

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
    const Space others(1, call->rank, call->shape, operands, 2);
    const std::int64_t n = call->shape[0], count = others.shape[0] * others.outer();
    const std::uint32_t sorted = positions ? widened(dtype) : sorted_as(dtype, n);
    const Sorter &sorter = positions ? argsorters[dtype] : sorters[sorted];
    const std::int64_t out_step = operands[0].strides[0], in_step = operands[1].strides[0];
    const Conversion in({operands[1].dtype, dtype, sorted},
                        operands[1].flags & ATOLL_OPERAND_SWAPPED, false);
    const std::uint32_t result = positions ? std::uint32_t{ATOLL_DTYPE_INT64} : sorted;
    const Conversion out({result, positions ? result : dtype, operands[0].dtype}, false,
                         operands[0].flags & ATOLL_OPERAND_SWAPPED);
    const bool descending = call->attributes[0].value.bytes[0] != 0;
    // Dense elements are read where they are, and dense results are written to where they go.
    const auto is_dense = [&](int k, const Conversion &conversion, std::int64_t size) {
        return conversion.moves() && (n == 1 || operands[k].strides[0] == size) &&
               is_aligned(others, k, alignment_of(operands[k].dtype));
    };
    const bool in_place = is_dense(1, in, sorter.size), out_place = is_dense(0, out, out.in_size());
    const std::int64_t row_bytes =
        (in_place && out_place) ? 0 : n * std::max<std::int64_t>(sorter.size, out.in_size());
    const std::int64_t room_at = (row_bytes + 63) / 64 * 64;
    if (n >= 2 && n <= longest_short_row && count >= fewest_short_rows) {
        sort_together(sorter, n, others, out_step, out, in_step, in, descending);
        return ATOLL_STATUS_OK;
    }
    std::atomic<bool> no_memory{false};
    const auto sort_rows = [&](std::int64_t begin, std::int64_t end, bool cut) {
        const std::int64_t bytes = room_at + sorter.room(n);
        alignas(64) char few[2048]; // for which allocating would take longer than sorting
        const bool fits = bytes <= static_cast<std::int64_t>(sizeof few);
        std::optional<KeptScratch> many;
        if (!fits) many.emplace(bytes);
        char *const scratch = fits ? few : many->data();
        if (!scratch) {
            no_memory.store(true, std::memory_order_relaxed);
            return;
        }
        const auto convert = [&](const Conversion &with, char *to, std::int64_t to_step,
                                 const char *from, std::int64_t from_step) {
            each_piece(n, cut, [&](std::int64_t first, std::int64_t last) {
                with.run(last - first, to + first * to_step, to_step, from + first * from_step,
                         from_step);
            });
        };
        each_run(others, begin, end, [&](char *const *data, std::int64_t rows, std::int64_t) {
            for (std::int64_t row = 0; row < rows; ++row) {
                char *to = data[0] + row * others.strides[0][0];
                const char *from = data[1] + row * others.strides[1][0];
                if (!in_place) convert(in, scratch, sorter.size, from, in_step);
                const Memory memory{in_place ? from : scratch, out_place ? to : scratch,
                                    scratch + room_at, out.in_size()};
                sorter.run(n, memory, descending, cut);
                if (!out_place) convert(out, to, out_step, scratch, out.in_size());
            }
        });
    };
    // A few long rows are cut up themselves.
    if (n >= cut_row && count < most_pieces)
        sort_rows(0, count, true);
    else // sorting takes some ten looks at an element
        parallel(count, n * 8,
                 [&](std::int64_t begin, std::int64_t end) { sort_rows(begin, end, false); });
    return no_memory.load() ? ATOLL_STATUS_OUT_OF_MEMORY : ATOLL_STATUS_OK;
}
