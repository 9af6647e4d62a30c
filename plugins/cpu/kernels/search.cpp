// searchsorted: where values belong in sorted vectors, by a tree or, for few values, by halves.
#include "convert.h"
#include "functors/order.h"
#include "ordered.h"
#include "parallel.h"
#include "scratch.h"
#include "search_tree.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace Atoll::kernels {
namespace {

// Positions of n dense values in `size` sorted elements that are `stride` bytes apart, aligned.
using Search = void (*)(std::int64_t n, const char *values, std::int64_t size, const char *sorted,
                        std::int64_t stride, bool right, std::int64_t *out);

// Values that are searched for side by side: their loads overlap.
constexpr std::int64_t together = 16;

// Adds to first[0..some) how many elements stand before each value.
template <class T, bool right, class Element>
void search_together(std::int64_t some, const char *values, std::int64_t size,
                     const Element &element, std::int64_t *first) {
    for (std::int64_t count = size; count > 0;) {
        // [first, first + count] holds the answer, of all values after the same number of steps; no
        // branch depends on an element.
        const std::int64_t half = (count + 1) / 2;
        for (std::int64_t w = 0; w < some; ++w) {
            const T value = load<T>(values + w * static_cast<std::int64_t>(sizeof(T)));
            const T last = element(first[w] + half - 1);
            const bool after = right ? !is_before(value, last) : is_before(last, value);
            first[w] += -static_cast<std::int64_t>(after) & half;
        }
        count -= half;
    }
}

template <class T, bool right> void search_side(std::int64_t n, const char *values,
                                                std::int64_t size, const char *sorted,
                                                std::int64_t stride, std::int64_t *out) {
    const auto search_in = [&](const auto &element) {
        for (std::int64_t k = 0; k < n; k += together) {
            const std::int64_t some = std::min(together, n - k);
            std::fill_n(out + k, some, 0);
            const char *const at = values + k * static_cast<std::int64_t>(sizeof(T));
            if (some == together)
                search_together<T, right>(together, at, size, element, out + k);
            else
                search_together<T, right>(some, at, size, element, out + k);
        }
    };
    if (stride == sizeof(T))
        search_in([x = reinterpret_cast<const T *>(sorted)](std::int64_t i) { return x[i]; });
    else
        search_in(
            [&](std::int64_t i) { return *reinterpret_cast<const T *>(sorted + i * stride); });
}

template <class T> void search(std::int64_t n, const char *values, std::int64_t size,
                               const char *sorted, std::int64_t stride, bool right,
                               std::int64_t *out) {
    if (right)
        search_side<T, true>(n, values, size, sorted, stride, out);
    else
        search_side<T, false>(n, values, size, sorted, stride, out);
}

constexpr std::array<Search, ATOLL_DTYPE_COUNT> searches = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) &search<wide::identifier>,
#include "atoll/lists/dtypes.inc"
};

// keys[k] = the SearchKey of element k; elements are dense and aligned.
using MakeKeys = void (*)(std::int64_t n, const char *elements, char *keys);
template <class T> void make_keys(std::int64_t n, const char *elements, char *keys) {
    const T *x = reinterpret_cast<const T *>(elements);
    for (std::int64_t k = 0; k < n; ++k)
        reinterpret_cast<SearchKey<T> *>(keys)[k] = search_key(x[k]);
}
template <class T> constexpr MakeKeys keys_of() {
    if constexpr (is_complex<T>)
        return nullptr;
    else
        return &make_keys<T>;
}
constexpr std::array<MakeKeys, ATOLL_DTYPE_COUNT> key_makers = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    keys_of<wide::identifier>(),
#include "atoll/lists/dtypes.inc"
};

class SearchSorted {
public:
    explicit SearchSorted(const atoll_call &call)
        : call_(call), axes_(call, 1, 2),
          values_(0, axes_.rank[0], axes_.shape[0], axes_.operands[0], 2),
          vectors_(0, axes_.rank[1], axes_.shape[1], axes_.operands[1], 3),
          in_({call.operands[1].dtype, call.dtype, widened(call.dtype)}, swapped(1), false),
          from_({call.operands[2].dtype, call.dtype, widened(call.dtype)}, swapped(2), false),
          to_({ATOLL_DTYPE_INT64, call.operands[0].dtype}, false, swapped(0)), size_(call.shape[0]),
          stride_(call.operands[2].strides[0]), count_(values_.shape[0] * values_.outer()),
          right_(call.attributes[0].value.bytes[0] != 0), halve_(searches[call.dtype]),
          make_keys_(key_makers[call.dtype]),
          direct_(from_.moves() && is_aligned(vectors_, 2, from_.in_alignment()) &&
                  stride_ % from_.in_alignment() == 0),
          // A tree takes memory, and a few steps per element of the vector.
          by_tree_(make_keys_ && count_ >= 32 && size_ <= count_ * 16 && size_ <= 1 << 23) {}

    // Returns false where there is no memory.
    bool operator()() const {
        // Short vectors and few values side by side; others one after the other, each on all
        // threads.
        const std::int64_t work = size_ + count_ * 16, many = vectors_.shape[0] * vectors_.outer();
        std::atomic<bool> no_memory{false};
        const auto search = [&](std::int64_t first, std::int64_t end) {
            const Scratch scratch(scratch_size(), std::nothrow);
            if (!scratch.is_there()) {
                no_memory.store(true, std::memory_order_relaxed);
                return;
            }
            for (std::int64_t vector = first; vector < end; ++vector)
                search_vector(vector, scratch.data());
        };
        if (work < parallel_threshold)
            parallel(many, work, search);
        else
            search(0, many);
        return !no_memory.load();
    }

private:
    using Key32 = std::int32_t;
    using Key64 = std::int64_t;

    bool swapped(int k) const { return (call_.operands[k].flags & ATOLL_OPERAND_SWAPPED) != 0; }
    bool narrow() const { return from_.out_size() <= 4; }
    std::int64_t scratch_size() const {
        if (by_tree_)
            return narrow() ? SearchTree<Key32>::bytes(size_) : SearchTree<Key64>::bytes(size_);
        return direct_ ? 0 : size_ * from_.out_size();
    }
    void search_vector(std::int64_t vector, char *scratch) const {
        std::ptrdiff_t shift[2]; // bytes from the first element of all
        for (int k = 0; k < 2; ++k)
            shift[k] = (vectors_.data[k] - static_cast<char *>(call_.operands[k].data)) +
                       vectors_.offset(k, vector, 0);
        const char *sorted = vectors_.data[2] + vectors_.offset(2, vector, 0);
        if (by_tree_ && narrow()) return search_tree<Key32>(sorted, scratch, shift);
        if (by_tree_) return search_tree<Key64>(sorted, scratch, shift);
        std::int64_t step = stride_;
        if (!direct_) { // converted once, as a whole
            step = from_.out_size();
            each_block(size_, block_size, [&](std::int64_t first, std::int64_t n) {
                from_.run(n, scratch + first * step, step, sorted + first * stride_, stride_);
            });
            sorted = scratch;
        }
        search_values(shift, [&](std::int64_t n, const char *values, std::int64_t *positions) {
            halve_(n, values, size_, sorted, step, right_, positions);
        });
    }
    template <class Key>
    void search_tree(const char *sorted, char *scratch, const std::ptrdiff_t *shift) const {
        each_block(size_, block_size, [&](std::int64_t first, std::int64_t n) {
            alignas(64) char elements[block_size * 8];
            from_.run(n, elements, from_.out_size(), sorted + first * stride_, stride_);
            make_keys_(n, elements, scratch + first * static_cast<std::int64_t>(sizeof(Key)));
        });
        const SearchTree<Key> tree(size_, scratch);
        search_values(shift, [&](std::int64_t n, const char *values, std::int64_t *positions) {
            Key keys[block_size];
            make_keys_(n, values, reinterpret_cast<char *>(keys));
            tree.find(n, keys, right_, positions);
        });
    }
    // body(first, n) for the blocks of `size` elements, which cost `work`.
    template <class Body>
    static void each_block(std::int64_t size, std::int64_t work, const Body &body) {
        parallel((size + block_size - 1) / block_size, work,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t block = begin; block < end; ++block)
                         body(block * block_size, std::min(block_size, size - block * block_size));
                 });
    }
    // find(n, values, positions) for dense values, in blocks.
    template <class Find> void search_values(const std::ptrdiff_t *shift, const Find &find) const {
        const std::int64_t os = values_.strides[0][0], is = values_.strides[1][0];
        const auto aligned = [&](int k, std::uint32_t alignment) {
            return is_aligned(values_, k, alignment) && shift[k] % alignment == 0;
        };
        const bool straight = in_.moves() && is == in_.in_size() && aligned(1, in_.in_alignment());
        const bool in_place = to_.moves() && os == 8 && aligned(0, 8);
        // A value costs some 16 steps.
        each_block(count_, block_size * 16, [&](std::int64_t first, std::int64_t size) {
            alignas(64) char block[block_size * 16];
            alignas(64) std::int64_t positions[block_size];
            each_run(values_, first, first + size,
                     [&](char *const *data, std::int64_t n, std::int64_t) {
                         const char *from = data[1] + shift[1];
                         char *const to = data[0] + shift[0];
                         if (!straight) {
                             in_.run(n, block, in_.out_size(), from, is);
                             from = block;
                         }
                         find(n, from, in_place ? reinterpret_cast<std::int64_t *>(to) : positions);
                         if (!in_place)
                             to_.run(n, to, os, reinterpret_cast<const char *>(positions), 8);
                     });
        });
    }

    const atoll_call &call_;
    const SplitAxes axes_;
    const Space values_, vectors_; // the values that one vector is searched for, and the vectors
    const Conversion in_, from_, to_;
    const std::int64_t size_, stride_, count_;
    const bool right_;
    const Search halve_;
    const MakeKeys make_keys_;
    const bool direct_, by_tree_;
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_search(const atoll_call *call) {
    using namespace Atoll::kernels;
    if (call->dtype == ATOLL_DTYPE_NONE || call->dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    return SearchSorted{*call}() ? ATOLL_STATUS_OK : ATOLL_STATUS_OUT_OF_MEMORY;
}
