// sort and argsort: a stable merge sort of all rows, or a radix sort of each where they are long.
//
// Note [Merges]
// Blocks sort tiles in shared memory; then runs are merged two by two, until a row is one. In a
// merge every element finds its own place: its position in its run, and how many elements of the
// other run stand before it, by bisection.
#include "functors/order.h"
#include "kernels.hpp"
#include "radix_rows.cuh"
#include "rows.cuh"

namespace Atoll::cuda {
namespace {

constexpr std::uint32_t tile = 4 * block_threads;
// A row costs the radix sort a dozen launches, some 30 µs. The merge sort, which takes all rows at
// once, sorts about so many elements in that time.
constexpr std::uint32_t long_row = 1 << 18;

template <class S, bool with_places> struct Item {
    S key;
    std::uint32_t place;
};
template <class S> struct Item<S, false> { S key; };

template <class S, bool with_places> struct SortWork {
    using Element = Item<S, with_places>;
    Space<2> rows; // out, in
    Row<S> out, in;
    Row<std::int64_t> places; // out, for positions
    std::uint32_t length, tiles;
    Divisor by_tiles, by_length;
    std::uint32_t run; // elements of a sorted run
    bool descending;
    const Element *from;
    Element *to;

    // NaN is last either way.
    __device__ bool before(const Element &a, const Element &b) const {
        const auto x = value_of(a.key), y = value_of(b.key);
        if (!descending) return kernels::is_before(x, y);
        return !kernels::is_unordered(x) && (kernels::is_unordered(y) || kernels::is_before(y, x));
    }
    // Where element i goes, of runs of `run` elements that are merged in pairs; `count` in all.
    __device__ std::uint32_t place(const Element *all, std::uint32_t i, std::uint32_t run,
                                   std::uint32_t count) const {
        const std::uint32_t pair = i / (2 * run) * (2 * run);
        const bool is_first = i - pair < run;
        const std::uint32_t begin = is_first ? pair + run : pair;
        const std::uint32_t end = begin + run < count ? begin + run : count;
        if (begin >= end) return i;
        std::uint32_t low = begin, high = end;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            // Of equals those of the first run come first.
            const bool stands_before =
                is_first ? before(all[middle], all[i]) : !before(all[i], all[middle]);
            if (stands_before)
                low = middle + 1;
            else
                high = middle;
        }
        return is_first ? i + (low - begin) : i - run + (low - begin);
    }
};

template <class S, bool with_places> __global__ void __launch_bounds__(block_threads)
    sort_tiles(const __grid_constant__ SortWork<S, with_places> work) {
    using Element = Item<S, with_places>;
    alignas(16) __shared__ unsigned char memory[2][tile * sizeof(Element)];
    Element *from = reinterpret_cast<Element *>(memory[0]);
    Element *to = reinterpret_cast<Element *>(memory[1]);
    const std::uint32_t row = work.by_tiles.quotient(blockIdx.x);
    const std::uint32_t begin = (blockIdx.x - row * work.tiles) * tile;
    const std::uint32_t count = work.length - begin < tile ? work.length - begin : tile;
    char *at[2];
    work.rows.locate(row, at);
    for (std::uint32_t i = threadIdx.x; i < count; i += block_threads) {
        from[i].key = work.in.read(at[1], begin + i);
        if constexpr (with_places) from[i].place = begin + i;
    }
    for (std::uint32_t run = 1; run < count; run *= 2) {
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < count; i += block_threads)
            to[work.place(from, i, run, count)] = from[i];
        Element *const other = from;
        from = to;
        to = other;
    }
    __syncthreads();
    Element *const out = work.to + std::int64_t{row} * work.length + begin;
    for (std::uint32_t i = threadIdx.x; i < count; i += block_threads) out[i] = from[i];
}

template <class S, bool with_places> __global__ void __launch_bounds__(block_threads)
    merge_runs(const __grid_constant__ SortWork<S, with_places> work) {
    const std::int64_t all = std::int64_t{work.rows.count} * work.length;
    for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < all;
         k += std::int64_t{gridDim.x} * block_threads) {
        const std::int64_t row = k / work.length;
        const auto i = static_cast<std::uint32_t>(k - row * work.length);
        const auto *const from = work.from + row * work.length;
        work.to[row * work.length + work.place(from, i, work.run, work.length)] = from[i];
    }
}

template <class S, bool with_places> __global__ void __launch_bounds__(block_threads)
    write_sorted(const __grid_constant__ SortWork<S, with_places> work) {
    const std::int64_t all = std::int64_t{work.rows.count} * work.length;
    for (std::int64_t k = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; k < all;
         k += std::int64_t{gridDim.x} * block_threads) {
        const auto row = static_cast<std::uint32_t>(k / work.length);
        const auto i = static_cast<std::uint32_t>(k - std::int64_t{row} * work.length);
        char *at[2];
        work.rows.locate(row, at);
        if constexpr (with_places)
            work.places.write(at[0], i, work.from[k].place);
        else
            work.out.write(at[0], i, work.from[k].key);
    }
}

template <std::uint32_t dtype, bool with_places>
void sort_call(const Target &target, const atoll_call &call) {
    using S = Stored<dtype>;
    if constexpr (has_key<S>)
        if (row_length(call) >= long_row) return sort_long_rows<dtype, with_places>(target, call);
    using Element = Item<S, with_places>;
    SortWork<S, with_places> work{};
    if constexpr (with_places)
        work.places = row_of<std::int64_t>(call, 0, ATOLL_DTYPE_INT64);
    else
        work.out = row_of<S>(call, 0, dtype);
    work.in = row_of<S>(call, 1, dtype);
    work.length = row_length(call);
    work.tiles = parts_of(work.length, tile);
    work.by_tiles = Divisor(work.tiles);
    work.descending = sdk::flag(call, 0);
    // Rows that fit into 2^28 elements of memory at a time.
    const std::int64_t limit = std::max<std::int64_t>(1, (std::int64_t{1} << 28) / work.length);
    for_each_space(rows_of<2>(call), limit, [&](const Space<2> &space) {
        const std::uint64_t all = std::uint64_t{space.count} * work.length;
        const Temporary first(target, all * sizeof(Element)), second(target, all * sizeof(Element));
        auto *from = reinterpret_cast<Element *>(first.data());
        auto *to = reinterpret_cast<Element *>(second.data());
        const auto blocks = dim3(static_cast<unsigned>(
            std::min<std::uint64_t>((all + block_threads - 1) / block_threads, 65536)));
        work.rows = space;
        work.to = from;
        launch(target, dim3(space.count * work.tiles), &sort_tiles<S, with_places>, work);
        for (std::uint64_t run = tile; run < work.length; run *= 2) {
            work.run = static_cast<std::uint32_t>(run);
            work.from = from;
            work.to = to;
            launch(target, blocks, &merge_runs<S, with_places>, work);
            std::swap(from, to);
        }
        work.from = from;
        launch(target, blocks, &write_sorted<S, with_places>, work);
    });
}

constexpr auto sorts =
    launchers_of<ATOLL_FN_sort>([](auto dtype) { return &sort_call<dtype(), false>; });
constexpr auto argsorts =
    launchers_of<ATOLL_FN_argsort>([](auto dtype) { return &sort_call<dtype(), true>; });

} // namespace

void sort(State &state, atoll_call &call) {
    const Target target(state, call);
    (call.function == ATOLL_FN_sort ? sorts : argsorts)[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
