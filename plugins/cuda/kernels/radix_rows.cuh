// Long rows, sorted by CUB one after the other.
//
// Note [Keys and elements]
// CUB sorts keys (sort_keys.cuh), of which equal elements have equal ones, and argsort takes the
// places that it moves along. sort makes the elements of the sorted keys, which costs much less
// than to move them too. But keys do not tell -0 from 0, and one NaN from another: before they are
// written, restore_equals gives zeros and NaN the keys of their own bits, in the order of the row.
// Where they go is known from how many there are, and how many elements are before the zeros.
// Blocks count them, each in its part of the row, as they make the keys. Complex numbers have many
// such groups of equal ones: they are fetched by their places.
#pragma once

#include "rows.cuh"
#include "sort_keys.cuh"

#include <functional>
#include <optional>

namespace Atoll::cuda {

// Elements of a row, or a part of it.
struct EqualCounts {
    std::uint32_t before_zeros, zeros, negative_zeros, nans;

    __host__ __device__ friend EqualCounts operator+(const EqualCounts &a, const EqualCounts &b) {
        return {a.before_zeros + b.before_zeros, a.zeros + b.zeros,
                a.negative_zeros + b.negative_zeros, a.nans + b.nans};
    }
};

constexpr unsigned loads_at_once = 8;

// A row's elements, and how many of them a block takes.
struct RowParts {
    std::uint32_t length, part;

    __device__ std::uint32_t begin() const { return blockIdx.x * part; }
    __device__ std::uint32_t end() const {
        return length - begin() < part ? length : begin() + part;
    }
    // take(row, i, load(row, i)) for the elements i of a block; of a direct row, which the compiler
    // then knows it to be, a thread loads several before it takes them.
    template <class S, class Load, class Take>
    __device__ void each(const Row<S> &row, const Load &load, const Take &take) const {
        constexpr std::uint32_t round = loads_at_once * block_threads;
        std::uint32_t i = begin() + threadIdx.x;
        if (row.direct) {
            Row<S> direct = row;
            direct.direct = true;
            for (; i + round - block_threads < end(); i += round) {
                decltype(load(row, i)) loaded[loads_at_once];
                for (unsigned k = 0; k < loads_at_once; ++k)
                    loaded[k] = load(direct, i + k * block_threads);
                for (unsigned k = 0; k < loads_at_once; ++k)
                    take(direct, i + k * block_threads, loaded[k]);
            }
        }
        for (; i < end(); i += block_threads) take(row, i, load(row, i));
    }
};

template <class S> struct RadixWork {
    Row<S> out, in;
    char *to;
    const char *from;
    RowParts parts;
    bool descending;
    SortBuffers<KeyOf<S>> keys;
    SortBuffers<std::uint32_t> places; // null: not wanted
    EqualCounts *counts;               // of each block

    __device__ KeyOf<S> turned(KeyOf<S> key) const {
        return descending ? static_cast<KeyOf<S>>(~key) : key;
    }
};

// Whether elements of different bits have the same key, in two groups.
template <class S> inline constexpr bool has_equals = kernels::is_float<Value<S>>;

template <class S> __global__ void __launch_bounds__(block_threads)
    make_keys(const __grid_constant__ RadixWork<S> work) {
    [[maybe_unused]] EqualCounts counts{};
    work.parts.each(
        work.in, [&](const Row<S> &in, std::uint32_t i) { return in.read(work.from, i); },
        [&](const Row<S> &, std::uint32_t i, S x) {
            const KeyOf<S> key = sort_key(x, work.descending);
            work.keys.data[i] = key;
            if (work.places.data) work.places.data[i] = i;
            if constexpr (has_equals<S>) {
                const bool is_zero = value_of(x) == 0;
                counts.before_zeros += key < work.turned(highest_bit<KeyOf<S>>);
                counts.zeros += is_zero;
                counts.negative_zeros += is_zero && bits_as<KeyOf<S>>(x) != 0;
                counts.nans += kernels::is_unordered(value_of(x));
            }
        });
    if constexpr (has_equals<S>) {
        counts = last_of_block(scan_block(counts, std::plus<>()));
        if (threadIdx.x == 0) work.counts[blockIdx.x] = counts;
    }
}

// See Note [Keys and elements]. Blocks and parts are those of make_keys.
template <class S> __global__ void __launch_bounds__(block_threads)
    restore_equals(const __grid_constant__ RadixWork<S> work) {
    const std::plus<> plus;
    EqualCounts all{}, before{};
    for (unsigned block = threadIdx.x; block < gridDim.x; block += block_threads) {
        all = all + work.counts[block];
        if (block < blockIdx.x) before = before + work.counts[block];
    }
    all = last_of_block(scan_block(all, plus));
    if (all.negative_zeros == 0 && all.nans == 0) return;
    before = last_of_block(scan_block(before, plus));
    std::uint32_t zeros = all.before_zeros + before.zeros;
    std::uint32_t nans = work.parts.length - all.nans + before.nans;
    for (std::uint32_t first = work.parts.begin(); first < work.parts.end();
         first += block_threads) {
        const std::uint32_t i = first + threadIdx.x;
        const bool is_there = i < work.parts.end();
        const S x = is_there ? work.in.read(work.from, i) : S{};
        const bool is_zero = is_there && value_of(x) == 0;
        const bool is_nan = kernels::is_unordered(value_of(x));
        // Both at once: neither is more than a block has threads.
        const std::uint32_t up_to = scan_block(is_zero + (std::uint32_t{is_nan} << 16), plus);
        if (is_zero) work.keys.data[zeros + up_to % 65536 - 1] = work.turned(key_of_bits(x));
        if (is_nan) work.keys.data[nans + up_to / 65536 - 1] = work.turned(key_of_bits(x));
        const std::uint32_t found = last_of_block(up_to);
        zeros += found % 65536;
        nans += found / 65536;
    }
}

// Elements by their places, in the room of the keys.
template <class S> __global__ void __launch_bounds__(block_threads)
    fetch_sorted(const __grid_constant__ RadixWork<S> work) {
    work.parts.each(
        work.in,
        [&](const Row<S> &in, std::uint32_t i) { return in.read(work.from, work.places.data[i]); },
        [&](const Row<S> &, std::uint32_t i, S x) {
            work.keys.room[i] = work.turned(key_of_bits(x));
        });
}

template <class S> __global__ void __launch_bounds__(block_threads)
    write_keys(const __grid_constant__ RadixWork<S> work) {
    work.parts.each(
        work.out, [&](const Row<S> &, std::uint32_t i) { return work.keys.data[i]; },
        [&](const Row<S> &out, std::uint32_t i, KeyOf<S> key) {
            out.write(work.to, i, of_key<S>(work.turned(key)));
        });
}
static __global__ void __launch_bounds__(block_threads)
    write_places(const __grid_constant__ Row<std::int64_t> out, char *to,
                 const std::uint32_t *places, const __grid_constant__ RowParts parts) {
    using At = Row<std::int64_t>;
    parts.each(
        out, [&](const At &, std::uint32_t i) { return places[i]; },
        [&](const At &at, std::uint32_t i, std::uint32_t place) { at.write(to, i, place); });
}

template <std::uint32_t dtype, bool is_argsort>
void sort_long_rows(const Target &target, const atoll_call &call) {
    using S = Stored<dtype>;
    using K = KeyOf<S>;
    constexpr bool with_places = is_argsort || kernels::is_complex<S>;
    RadixWork<S> work{};
    if constexpr (!is_argsort) work.out = row_of<S>(call, 0, dtype);
    work.in = row_of<S>(call, 1, dtype);
    work.descending = sdk::flag(call, 0);
    const std::uint32_t length = row_length(call);
    // Enough blocks to fill the device twice over, of whole rounds of loads.
    constexpr std::uint32_t round = loads_at_once * block_threads;
    const std::uint32_t most = static_cast<std::uint32_t>(target.device.units) * 16;
    work.parts = {length, parts_of(parts_of(length, round), most) * round};
    const dim3 blocks(parts_of(length, work.parts.part));

    const std::size_t scratch_bytes = radix_sort_scratch<K>(target, length, with_places);
    const Temporary scratch(target, scratch_bytes), counts(target, blocks.x * sizeof(EqualCounts));
    const Temporary keys(target, std::uint64_t{length} * sizeof(K)),
        more_keys(target, std::uint64_t{length} * sizeof(K));
    std::optional<Temporary> places, more_places;
    work.counts = reinterpret_cast<EqualCounts *>(counts.data());
    work.keys = {reinterpret_cast<K *>(keys.data()), reinterpret_cast<K *>(more_keys.data())};
    if constexpr (with_places) {
        places.emplace(target, std::uint64_t{length} * sizeof(std::uint32_t));
        more_places.emplace(target, std::uint64_t{length} * sizeof(std::uint32_t));
        work.places = {reinterpret_cast<std::uint32_t *>(places->data()),
                       reinterpret_cast<std::uint32_t *>(more_places->data())};
    }
    for_each_space(rows_of<2>(call), [&](const Space<2> &space) {
        for (std::uint32_t row = 0; row < space.count; ++row) {
            char *at[2];
            space.locate(row, at);
            work.to = at[0];
            work.from = at[1];
            launch(target, blocks, &make_keys<S>, work);
            radix_sort(target, scratch.data(), scratch_bytes, work.keys, work.places, length);
            if constexpr (is_argsort) {
                launch(target, blocks, &write_places,
                       row_of<std::int64_t>(call, 0, ATOLL_DTYPE_INT64), at[0], work.places.data,
                       work.parts);
            } else {
                if constexpr (with_places) {
                    launch(target, blocks, &fetch_sorted<S>, work);
                    std::swap(work.keys.data, work.keys.room);
                } else if constexpr (has_equals<S>) {
                    launch(target, blocks, &restore_equals<S>, work);
                }
                launch(target, blocks, &write_keys<S>, work);
            }
        }
    });
}

} // namespace Atoll::cuda
