// cumsum and cumprod.
//
// Note [Scans]
// A few lanes of a warp take a row, a tile at a time: `per_thread` neighbouring elements each,
// whose totals they scan by shuffles; what stands before the next tile goes on in a register.
// Memory is read and written with neighbouring lanes side by side; shared memory turns one order
// into the other, within the warp. Few long rows are cut into chunks, one for each warp. A first
// kernel makes the total of each chunk but the last; the second joins those that stand before a
// block, and goes on from there. Where memory runs across the rows, neighbouring threads take
// neighbouring rows, or chunks of them, an element at a time. Every total is one of neighbouring
// elements, joined in their order: where all results of a cumprod are between the square roots of
// the smallest and the largest number of the accumulator, no total overflows or underflows.
// Otherwise 0 and infinity may become NaN. How elements are grouped follows from the shape, and
// from which strides are the smallest, so the bits are the same on every run, stream and device,
// and for every address.
#include "kernels.hpp"
#include "reducers.cuh"
#include "rows.cuh"

#include <bit>
#include <optional>

namespace Atoll::cuda {
namespace {

constexpr unsigned warp_threads = 32, block_warps = block_threads / warp_threads;

// What F has made of some elements S. float32 accumulates in float64, so that one rounding is left
// per result; halves in float32.
template <class S> struct WiderThan { using type = Value<S>; };
template <> struct WiderThan<float> { using type = double; };
template <> struct WiderThan<Complex<float>> { using type = Complex<double>; };

template <class To, class From> __device__ To widened(From x) {
    if constexpr (kernels::is_complex<To>)
        return {static_cast<kernels::Part<To>>(x.re), static_cast<kernels::Part<To>>(x.im)};
    else
        return static_cast<To>(x);
}

template <class F, class S> struct Total {
    using Wide = typename WiderThan<S>::type;
    Wide total;
    __device__ static Total of(S x) { return {widened<Wide>(value_of(x))}; }
    __device__ void take(Total next) { total = F::apply(total, next.total); }
    __device__ Value<S> value() const { return widened<Value<S>>(total); }
};

// Nothing is wider than float64: there what rounding takes is kept beside.
template <class S> struct ExactSum {
    Sum<S> total;
    __device__ static ExactSum of(S x) {
        ExactSum result;
        if constexpr (kernels::is_complex<S>)
            result.total.re.high = x.re, result.total.im.high = x.im;
        else
            result.total.high = x;
        return result;
    }
    __device__ void take(ExactSum next) { total.add(next.total); }
    __device__ S value() const { return total.value(); }
};
struct ExactProduct {
    double high, low;
    __device__ static ExactProduct of(double x) { return {x, 0}; }
    __device__ void take(ExactProduct next) {
        const double product = high * next.high;
        low = fma(high, next.high, -product) + (high * next.low + low * next.high);
        high = product;
    }
    // What rounding took from an infinite product is not a number.
    __device__ double value() const { return low != 0 && low - low == 0 ? high + low : high; }
};

template <class F, class S> struct AccumulatorOf { using type = Total<F, S>; };
template <> struct AccumulatorOf<kernels::functor::add, double> { using type = ExactSum<double>; };
template <> struct AccumulatorOf<kernels::functor::add, Complex<double>> {
    using type = ExactSum<Complex<double>>;
};
template <> struct AccumulatorOf<kernels::functor::multiply, double> { using type = ExactProduct; };

template <class A> __device__ A joined(A a, const A &b) {
    a.take(b);
    return a;
}

// shuffle(word) for the words of a value.
template <class T, class Shuffle> __device__ T shuffled(const T &value, const Shuffle &shuffle) {
    using Word = std::conditional_t<sizeof(T) % 8 == 0, unsigned long long, unsigned>;
    static_assert(sizeof(T) % sizeof(Word) == 0);
    Word words[sizeof(T) / sizeof(Word)];
    memcpy(words, &value, sizeof value);
#pragma unroll
    for (Word &word : words) word = shuffle(word);
    T result;
    memcpy(&result, words, sizeof result);
    return result;
}
// What the lane so far before has; some value for the first ones.
template <class T> __device__ T shuffled_up(const T &value, unsigned distance) {
    return shuffled(value, [=](auto word) { return __shfl_up_sync(~0u, word, distance); });
}
template <class T> __device__ T shuffled_from(const T &value, unsigned lane) {
    return shuffled(value,
                    [=](auto word) { return __shfl_sync(~0u, word, static_cast<int>(lane)); });
}
// Inclusive scan over so many neighbouring lanes of a warp, a power of two.
template <class A> __device__ A scan_lanes(A value, unsigned lanes) {
    const unsigned lane = threadIdx.x % lanes;
#pragma unroll
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
        if (distance >= lanes) break;
        const A all = joined(shuffled_up(value, distance), value);
        if (lane >= distance) value = all;
    }
    return value;
}

template <class F, class S> struct ScanWork {
    using A = typename AccumulatorOf<F, S>::type;
    static constexpr unsigned width = pack_width<S>, packs = 4, per_thread = packs * width;
    using Loaded = Pack<S, width>;
    // Blocks of scan_within that a multiprocessor has registers for.
    static constexpr unsigned blocks_at_once = sizeof(A) > 8 ? 3 : 4;

    Space<2> rows; // out, in
    Row<S> out, in;
    std::uint32_t length;
    // Bytes of aligned native integers that are read as wider ones, and what they are; 0: others.
    std::uint32_t narrow;
    bool narrow_signed, narrow_bool;
    std::uint32_t lanes;  // of a row, or of a chunk
    std::uint32_t chunk;  // elements
    std::uint32_t chunks; // of a row
    Divisor by_blocks;    // of a row, where it has several chunks
    Divisor by_rows;      // of scan_columns
    A *totals;            // of each chunk of each row; null if a row is one chunk
    bool only_totals;     // of scan_columns

    __device__ static S result_of(const A &a) { return stored_as<S>(a.value()); }
};

// How some lanes go through a row, or a chunk of it.
template <class F, class S> class Scan {
public:
    using Work = ScanWork<F, S>;
    using A = typename Work::A;
    using Loaded = typename Work::Loaded;
    static constexpr unsigned width = Work::width, packs = Work::packs,
                              per_thread = Work::per_thread;

    __device__ Scan(const Work &work, Loaded *shared, std::uint32_t row, unsigned lanes)
        : work_(work), shared_(shared), lanes_(lanes), lane_(threadIdx.x % lanes),
          first_(threadIdx.x - lane_) {
        work.rows.locate(row, at_);
    }
    // The total of whole tiles.
    __device__ A total(std::uint32_t begin, std::uint32_t end) const {
        A running{};
        for (std::uint32_t i = begin; i < end; i += tile()) {
            read(i, end);
            running = last(scanned(running, i != begin));
            __syncwarp(); // before the memory is used again
        }
        return running;
    }
    // Writes running totals of [begin, end), of which there are elements before `present` only.
    __device__ void write_totals(std::uint32_t begin, std::uint32_t end, std::uint32_t present,
                                 A running, bool any) const {
        for (std::uint32_t i = begin; i < end; i += tile()) {
            read(i, present);
            const A all = scanned(running, any), before = shuffled_up(all, 1);
            if (lane_ > 0) running = before;
            any |= lane_ > 0;
#pragma unroll
            for (unsigned k = 0; k < packs; ++k) {
                Loaded own = pack(lane_ * packs + k);
#pragma unroll
                for (unsigned n = 0; n < width; ++n) {
                    const A next = A::of(own.at[n]);
                    running = any || k + n > 0 ? joined(running, next) : next;
                    own.at[n] = Work::result_of(running);
                }
                pack(lane_ * packs + k) = own;
            }
            write(i, present);
            running = last(all), any = true;
        }
    }

private:
    __device__ std::uint32_t tile() const { return lanes_ * per_thread; }
    // The totals up to each lane's last element, from those of the tile before on.
    __device__ A scanned(const A &before, bool any) const {
        A own{};
#pragma unroll
        for (unsigned k = 0; k < packs; ++k) {
            const Loaded loaded = pack(lane_ * packs + k);
#pragma unroll
            for (unsigned n = 0; n < width; ++n) {
                const A next = A::of(loaded.at[n]);
                own = k + n > 0 ? joined(own, next) : next;
            }
        }
        if (any && lane_ == 0) own = joined(before, own);
        return scan_lanes(own, lanes_);
    }
    // The value of the group's last lane.
    __device__ A last(const A &a) const {
        return shuffled_from(a, (first_ + lanes_ - 1) % warp_threads);
    }

    // Pack p of those of the lanes, in shared memory. Where neighbouring lanes have neighbouring
    // packs, and where they have `packs` neighbours each, eight lanes meet all banks.
    __device__ Loaded &pack(unsigned p) const {
        p += first_ * packs;
        return shared_[p ^ (p / 8 % packs)];
    }
    __device__ S &element(unsigned e) const { return pack(e / width).at[e % width]; }
    __device__ bool in_packs(const Row<S> &operand, const char *row, std::uint32_t i,
                             std::uint32_t present) const {
        return operand.direct && operand.step == sizeof(S) &&
               reinterpret_cast<std::uintptr_t>(row) % 16 == 0 &&
               (i + tile() <= present || work_.length % width == 0);
    }

    __device__ void read(std::uint32_t i, std::uint32_t present) const {
        const char *const row = at_[1];
        if (in_packs(work_.in, row, i, present)) {
            Loaded loaded[packs] = {};
#pragma unroll
            for (unsigned k = 0; k < packs; ++k) {
                const std::uint32_t place = i + (k * lanes_ + lane_) * width;
                if (place < present)
                    loaded[k] = *reinterpret_cast<const Loaded *>(row + place * sizeof(S));
            }
#pragma unroll
            for (unsigned k = 0; k < packs; ++k) pack(k * lanes_ + lane_) = loaded[k];
        } else {
            read_elements(row, i, present);
        }
        __syncwarp();
    }
    __device__ void read_elements(const char *row, std::uint32_t i, std::uint32_t present) const {
        if (work_.in.direct) return read_elements_as<S>(row, i, present, [](S x) { return x; });
        if constexpr (std::is_integral_v<S>) {
            const auto read_narrow = [&]<class T>(T) {
                const bool is_signed = work_.narrow_signed, is_bool = work_.narrow_bool;
                read_elements_as<T>(row, i, present, [=](T x) {
                    if (is_bool) return S{x != 0};
                    return is_signed ? static_cast<S>(static_cast<std::make_signed_t<T>>(x)) : S{x};
                });
            };
            if (work_.narrow == 1) return read_narrow(std::uint8_t{});
            if (work_.narrow == 2) return read_narrow(std::uint16_t{});
            if (work_.narrow == 4) return read_narrow(std::uint32_t{});
        }
#pragma unroll 1
        for (unsigned e = lane_; e < tile(); e += lanes_)
            element(e) = i + e < present ? work_.in.read(row, i + e) : S{};
    }
    template <class T, class Convert>
    __device__ void read_elements_as(const char *row, std::uint32_t i, std::uint32_t present,
                                     const Convert &convert) const {
        constexpr unsigned in_flight = per_thread < 8 ? per_thread : 8;
#pragma unroll 1
        for (unsigned e = lane_; e < tile(); e += in_flight * lanes_) {
            T loaded[in_flight] = {};
#pragma unroll
            for (unsigned k = 0; k < in_flight; ++k) {
                const std::uint32_t place = i + e + k * lanes_;
                if (place < present)
                    loaded[k] = *reinterpret_cast<const T *>(row + place * work_.in.step);
            }
#pragma unroll
            for (unsigned k = 0; k < in_flight; ++k) element(e + k * lanes_) = convert(loaded[k]);
        }
    }
    __device__ void write(std::uint32_t i, std::uint32_t present) const {
        char *const row = at_[0];
        __syncwarp();
        if (in_packs(work_.out, row, i, present)) {
#pragma unroll
            for (unsigned k = 0; k < packs; ++k) {
                const std::uint32_t place = i + (k * lanes_ + lane_) * width;
                if (place < present)
                    *reinterpret_cast<Loaded *>(row + place * sizeof(S)) = pack(k * lanes_ + lane_);
            }
        } else {
#pragma unroll 1
            for (unsigned e = lane_; e < tile() && i + e < present; e += lanes_)
                work_.out.write(row, i + e, element(e));
        }
        __syncwarp(); // before the memory is used again
    }

    const Work &work_;
    Loaded *shared_;
    unsigned lanes_;
    unsigned lane_, first_; // this lane in its group, and the thread of the group's first lane
    char *at_[2];
};

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_totals(const __grid_constant__ ScanWork<F, S> work) {
    using Work = ScanWork<F, S>;
    __shared__ typename Work::Loaded shared[block_threads * Work::packs];
    const std::uint32_t row = work.by_blocks.quotient(blockIdx.x);
    const std::uint32_t which =
        (blockIdx.x - row * work.by_blocks.extent) * block_warps + threadIdx.x / warp_threads;
    if (which + 1 >= work.chunks) return; // nothing stands behind
    const typename Work::A total = Scan<F, S>(work, shared, row, warp_threads)
                                       .total(which * work.chunk, (which + 1) * work.chunk);
    if (threadIdx.x % warp_threads == 0)
        work.totals[std::int64_t{row} * work.chunks + which] = total;
}

// What stands before the chunk of this warp, of the block's first chunk `first` and others. There
// is something unless it is the first of all.
template <class A>
__device__ A total_before(const A *totals, std::uint32_t first, std::uint32_t chunks) {
    constexpr unsigned most = 2 * block_warps;
    alignas(16) __shared__ unsigned char memory[most * sizeof(A)];
    A *const parts = reinterpret_cast<A *>(memory);
    const unsigned warp = threadIdx.x / warp_threads;
    // Of the chunks before the block, a thread takes neighbouring ones. The threads behind the last
    // one that has any do not matter to those before.
    const std::uint32_t share = parts_of(first, block_threads);
    const std::uint32_t sharing = share == 0 ? 0 : parts_of(first, share);
    const std::uint32_t begin = threadIdx.x * share;
    A own{};
    if (threadIdx.x < sharing) {
        const std::uint32_t end = begin + share < first ? begin + share : first;
        own = totals[begin];
#pragma unroll 4
        for (std::uint32_t k = begin + 1; k < end; ++k) own.take(totals[k]);
    }
    own = scan_lanes(own, warp_threads);
    const bool is_last = threadIdx.x % warp_threads == warp_threads - 1;
    if (threadIdx.x < sharing && (is_last || threadIdx.x + 1 == sharing)) parts[warp] = own;
    const std::uint32_t before = parts_of(sharing, warp_threads);
    A place{};
    if (threadIdx.x < block_warps && first + threadIdx.x + 1 < chunks)
        place = totals[first + threadIdx.x];
    if (threadIdx.x < block_warps) parts[before + threadIdx.x] = place;
    __syncthreads();
    A result = parts[0];
    for (unsigned k = 1; k < before + warp; ++k) result.take(parts[k]);
    return result;
}

template <class F, class S>
__global__ void __launch_bounds__(block_threads, ScanWork<F, S>::blocks_at_once)
    scan_within(const __grid_constant__ ScanWork<F, S> work) {
    using Work = ScanWork<F, S>;
    using A = typename Work::A;
    __shared__ typename Work::Loaded shared[block_threads * Work::packs];
    std::uint32_t row, begin = 0, end = work.length;
    bool has_row = true, any = false;
    A before{};
    if (work.totals) {
        row = work.by_blocks.quotient(blockIdx.x);
        const std::uint32_t first = (blockIdx.x - row * work.by_blocks.extent) * block_warps;
        const std::uint32_t which = first + threadIdx.x / warp_threads;
        before = total_before(work.totals + std::int64_t{row} * work.chunks, first, work.chunks);
        if (which >= work.chunks) return;
        any = which > 0;
        begin = which * work.chunk;
        if (end - begin > work.chunk) end = begin + work.chunk;
    } else {
        row = blockIdx.x * (block_threads / work.lanes) + threadIdx.x / work.lanes;
        has_row = row < work.rows.count;
    }
    Scan<F, S>(work, shared, has_row ? row : 0, work.lanes)
        .write_totals(begin, end, has_row ? end : begin, before, any);
}

template <class F, class S> __global__ void __launch_bounds__(block_threads)
    scan_columns(const __grid_constant__ ScanWork<F, S> work) {
    using Work = ScanWork<F, S>;
    using A = typename Work::A;
    constexpr unsigned in_flight = Work::per_thread < 16 ? Work::per_thread : 16;
    const std::uint32_t place = blockIdx.x * block_threads + threadIdx.x;
    const std::uint32_t which = work.by_rows.quotient(place);
    if (which + work.only_totals >= work.chunks) return; // nothing stands behind the last chunk
    const std::uint32_t row = place - which * work.rows.count;
    char *at[2];
    work.rows.locate(row, at);
    A total{};
    bool any = false;
    const auto take = [&](const A &next) {
        total = any ? joined(total, next) : next;
        any = true;
    };
    if (!work.only_totals)
#pragma unroll 8
        for (std::uint32_t k = 0; k < which; ++k)
            take(work.totals[std::int64_t{k} * work.rows.count + row]);
    std::uint32_t i = which * work.chunk;
    const std::uint32_t left = work.length - i;
    const std::uint32_t end = i + (left < work.chunk ? left : work.chunk);
    if (work.in.direct && work.out.direct)
        for (; i + in_flight <= end; i += in_flight) {
            S x[in_flight];
#pragma unroll
            for (unsigned k = 0; k < in_flight; ++k)
                x[k] = *reinterpret_cast<const S *>(at[1] + (i + k) * work.in.step);
#pragma unroll
            for (unsigned k = 0; k < in_flight; ++k) {
                take(A::of(x[k]));
                if (!work.only_totals)
                    *reinterpret_cast<S *>(at[0] + (i + k) * work.out.step) =
                        Work::result_of(total);
            }
        }
#pragma unroll 1
    for (; i < end; ++i) {
        take(A::of(work.in.read(at[1], i)));
        if (!work.only_totals) work.out.write(at[0], i, Work::result_of(total));
    }
    if (work.only_totals) work.totals[place] = total;
}

template <class F, std::uint32_t dtype>
void scan_call(const Target &target, const atoll_call &call) {
    using S = kernels::Wrapping<Stored<dtype>>;
    using Work = ScanWork<F, S>;
    Work work{};
    work.out = row_of<S>(call, 0, dtype);
    work.in = row_of<S>(call, 1, dtype);
    const Access &access = work.in.access;
    const PartFormat format = format_of(access.dtype);
    if (format.is_integer() && format.bytes() < sizeof(S) && access.aligned && !access.swapped)
        work.narrow = format.bytes();
    work.narrow_signed = is_signed_dtype(access.dtype);
    work.narrow_bool = access.dtype == ATOLL_DTYPE_BOOL;
    work.length = row_length(call);
    const Extents<2> rows = rows_of<2>(call);
    const std::int64_t count = rows.count();
    const bool across = along_results(call) && count >= 32;
    // As many chunks as it takes to keep a device busy, but none so short that a second pass over
    // memory takes longer.
    std::uint32_t least, most;
    if (across) {
        work.lanes = 1, least = 64;
        most = static_cast<std::uint32_t>(std::clamp<std::int64_t>(65536 / count, 1, 1024));
    } else {
        const std::uint32_t wanted = parts_of(work.length, Work::per_thread);
        work.lanes = std::min(std::bit_ceil(wanted), warp_threads);
        const std::uint32_t tile = work.lanes * Work::per_thread;
        least = tile;
        most = count >= 1024 || work.length <= 4 * tile
                   ? 1
                   : parts_of(512, static_cast<std::uint32_t>(count)) * block_warps;
    }
    work.chunk = parts_of(parts_of(work.length, most), least) * least;
    work.chunks = parts_of(work.length, work.chunk);
    const std::uint32_t blocks = parts_of(work.chunks, block_warps);
    work.by_blocks = Divisor(blocks);
    for_each_space(rows, space_limit / work.chunks, [&](const Space<2> &space) {
        work.rows = space;
        std::optional<Temporary> totals;
        if (work.chunks > 1) {
            totals.emplace(target,
                           std::uint64_t{space.count} * work.chunks * sizeof(typename Work::A));
            work.totals = reinterpret_cast<typename Work::A *>(totals->data());
        }
        if (across) {
            work.by_rows = Divisor(space.count);
            const dim3 grid(parts_of(space.count * work.chunks, block_threads));
            work.only_totals = work.chunks > 1;
            if (work.only_totals) launch(target, grid, &scan_columns<F, S>, work);
            work.only_totals = false;
            launch(target, grid, &scan_columns<F, S>, work);
        } else if (work.chunks > 1) {
            launch(target, dim3(space.count * blocks), &scan_totals<F, S>, work);
            launch(target, dim3(space.count * blocks), &scan_within<F, S>, work);
        } else {
            launch(target, dim3(parts_of(space.count, block_threads / work.lanes)),
                   &scan_within<F, S>, work);
        }
    });
}

constexpr auto sums = launchers_of<ATOLL_FN_cumsum>(
    [](auto dtype) { return &scan_call<kernels::functor::add, dtype()>; });
constexpr auto products = launchers_of<ATOLL_FN_cumprod>(
    [](auto dtype) { return &scan_call<kernels::functor::multiply, dtype()>; });

} // namespace

void scan(State &state, atoll_call &call) {
    const Target target(state, call);
    (call.function == ATOLL_FN_cumsum ? sums : products)[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
