// What gather and scatter share: offsets; elements of fixed size at any address; and bool, of which
// 0 or 1 is written.
#pragma once

#include "convert.h"
#include "fetch.h"
#include "pack_rows.h"
#include "space.h"
#include "streaming.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {

// Whether rows along axis 0 are moved as a whole: they lie together on both sides, with one offset
// for each, and are short. Of bools 0 or 1 is written, one by one.
inline bool moves_rows(const Space &space, std::uint32_t dtype) {
    constexpr std::int64_t longest = 4096; // bytes
    const std::int64_t size = sizes[dtype];
    return space.rank > 1 && space.strides[0][0] == size && space.strides[1][0] == size &&
           space.strides[2][0] == 0 && space.shape[0] * size <= longest &&
           dtype != ATOLL_DTYPE_BOOL;
}

template <std::int64_t Size> struct Bytes {
    static constexpr std::int64_t size = Size;
    static void move(char *out, const char *in) {
        std::memcpy(out, in, static_cast<std::size_t>(Size));
    }
    // n elements with any strides.
    static void move(std::int64_t n, char *out, std::int64_t os, const char *in, std::int64_t is) {
        move_elements(n, Size, out, os, in, is);
    }
};
struct BoolByte {
    static constexpr std::int64_t size = 1;
    static void move(char *out, const char *in) { *out = *in != 0; }
    static void move(std::int64_t n, char *out, std::int64_t os, const char *in, std::int64_t is) {
        if (os == 1 && is == 1) {
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) out[k] = in[k] != 0;
            return;
        }
        for (std::int64_t k = 0; k < n; ++k) move(out + k * os, in + k * is);
    }
};

// A caller may be older than the attribute.
inline std::int64_t unit_of(const atoll_call &call) {
    return call.attribute_count ? call.attributes[0].value.i64 : 1;
}

// Offset k in bytes. `Unit` is a constant for offsets that are dense; 0: no constant.
template <std::int64_t Unit> struct Offsets {
    const char *first;
    std::int64_t operator[](std::int64_t k) const {
        return load<std::int64_t>(first + k * 8) * Unit;
    }
};
template <> struct Offsets<0> {
    const char *first;
    std::int64_t stride, unit;
    std::int64_t operator[](std::int64_t k) const {
        return load<std::int64_t>(first + k * stride) * unit;
    }
};

// run(offsets) with a constant unit, where the offsets are dense and the unit is a byte or an
// element, or false. The shorter the loop, the more elements are on their way from memory at once.
template <class Mover, class Run>
bool with_constant_unit(const char *offsets, std::int64_t stride, std::int64_t unit, Run &&run) {
    if (stride != 8) return false;
    if (unit == Mover::size)
        run(Offsets<Mover::size>{offsets});
    else if (unit == 1)
        run(Offsets<1>{offsets});
    else
        return false;
    return true;
}

// How far apart the places are that some offsets give.
enum class Apart { near, far, very_far };

// As far as some of n offsets tell: far if they are spread over more than the caches next to a
// processor hold, mostly not beside one another, and no few places again and again.
inline Apart how_far_apart(std::int64_t n, const Offsets<0> &offsets) {
    constexpr int asked = 32;
    constexpr std::int64_t spread = 4 << 20, beside = 32, line = 64; // bytes
    if (n < 32 * asked) return Apart::near;
    std::int64_t places[asked], apart = 0, places_apart = 0;
    for (int k = 0; k < asked; ++k) {
        places[k] = offsets[n / asked * k];
        apart += std::abs(offsets[n / asked * k + 1] - places[k]) >= beside;
    }
    std::sort(places, places + asked);
    for (int k = 1; k < asked; ++k) places_apart += places[k] - places[k - 1] >= line;
    const std::int64_t range = places[asked - 1] - places[0];
    if (range <= spread || apart <= asked / 4 || places_apart <= asked / 2) return Apart::near;
    return range >= large_operands().paced ? Apart::very_far : Apart::far;
}

// Note [Paced accesses]
// A processor that has begun a hundred accesses that miss the caches is slower than with two dozen:
// they are in each other's way. Instructions that do nothing fill its reorder buffer, so that it
// looks no further ahead than that: on Emerald Rapids 1 M elements out of 40 MB then take 3.8 ms
// instead of 5.0, out of 400 MB 6.9 instead of 9.0, out of 16 MB as long.
inline void pace() {
#if defined(__x86_64__)
    asm volatile(".rept 16\n\tnop\n\t.endr");
#endif
}

// move(k) for each k below n, which touches at(k). The processor finds out by itself what it has to
// fetch, but keeps few lines on their way to L1. More of them fit into L2.
template <class At, class Move>
void each_fetched(std::int64_t n, Apart apart, const At &at, const Move &move) {
    constexpr std::int64_t ahead = 64;
    const std::int64_t last = apart == Apart::near ? 0 : std::max<std::int64_t>(0, n - ahead);
    std::int64_t k = 0;
    if (apart == Apart::very_far)
        for (; k < last; ++k) {
            fetch(at(k + ahead));
            move(k);
            pace();
        }
    for (; k < last; ++k) {
        fetch(at(k + ahead));
        move(k);
    }
    for (; k < n; ++k) move(k);
}

// The rows of copy_rows_at, of which those to come are fetched ahead on the side that the processor
// does not foresee, at(row): in_at or out_at. One line of a short row is enough, as it fetches what
// is beside.
template <class OutAt, class InAt, class At> void move_rows(std::int64_t rows, std::int64_t bytes,
                                                            Apart apart, const OutAt &out_at,
                                                            const InAt &in_at, const At &at) {
    constexpr std::int64_t few = 8, many = 16;             // rows ahead
    constexpr std::int64_t long_row = 512, fetched = 2048; // bytes
    if (apart != Apart::near && bytes >= long_row) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const char *const next = at(std::min(row + few, rows - 1));
            for (std::int64_t byte = 0; byte < std::min(bytes, fetched); byte += 64)
                fetch(next + byte);
            std::memcpy(out_at(row), in_at(row), static_cast<std::size_t>(bytes));
        }
        return;
    }
    copy_rows_at(rows, bytes, out_at, [&](std::int64_t row) {
        __builtin_prefetch(at(std::min(row + many, rows - 1)));
        return in_at(row);
    });
}

// run(Bytes<size of the elements> or BoolByte).
template <class Run> void with_mover(std::uint32_t dtype, Run &&run) {
    if (dtype == ATOLL_DTYPE_BOOL) return run(BoolByte());
    switch (sizes[dtype]) {
    case 1: return run(Bytes<1>());
    case 2: return run(Bytes<2>());
    case 4: return run(Bytes<4>());
    case 8: return run(Bytes<8>());
    default: return run(Bytes<16>());
    }
}

} // namespace Atoll::kernels
