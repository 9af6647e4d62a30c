// What products are computed in.
//
// Note [Pairs]
// Integers of at most 16 bits are multiplied in pairs: a lane of a panel holds two numbers that
// follow each other along k, and one instruction multiplies the numbers of two lanes and adds both
// products up. Sums wrap as int32, so results of at most 16 bits are right whatever the signs, and
// results of 32 bits where both factors are int16 or smaller.
//
// Processors with AVX512-VNNI multiply bytes by fours in the same way, those with AVX512-BF16 two
// bfloat16, which become float32 sums: exact products are added up, where subnormal numbers,
// products and sums count as zero. See also Note [AMX].
#pragma once

#include "types.h"

namespace Atoll::kernels {

// A bool in products: 0 or 1; sums are or, products and.
struct Truth {
    std::uint32_t value;
};
inline bool truth(Truth x) { return x.value != 0; }

// A sum, which R holds, of products of numbers of `Size` bytes that share lanes of 32 bits.
template <class R, int Size, bool Amx> struct Packed { R value; };
using Pairs = Packed<std::uint32_t, 2, false>; // of int16: see Note [Pairs]
using Bytes = Packed<std::uint32_t, 1, false>;
using Bfloat16s = Packed<float, 2, false>;
using AmxBytes = Packed<std::uint32_t, 1, true>; // see Note [AMX]
using AmxBfloat16s = Packed<float, 2, true>;
template <class R, int Size, bool Amx> bool truth(Packed<R, Size, Amx> x) { return x.value != 0; }

template <class T> inline constexpr bool is_packed = false;
template <class R, int Size, bool Amx> inline constexpr bool is_packed<Packed<R, Size, Amx>> = true;
template <class T> inline constexpr bool by_amx = false;
template <class R, int Size, bool Amx> inline constexpr bool by_amx<Packed<R, Size, Amx>> = Amx;
// Bytes of a number in a panel.
template <class T> inline constexpr int packed_size = sizeof(T);
template <class R, int Size, bool Amx> inline constexpr int packed_size<Packed<R, Size, Amx>> =
    Size;

template <class T> struct LaneOf { using type = Part<T>; };
template <> struct LaneOf<Truth> { using type = std::uint32_t; };
template <class R, int Size, bool Amx> struct LaneOf<Packed<R, Size, Amx>> { using type = R; };
template <class T> using Lane = typename LaneOf<T>::type;

// What lanes of other types than Pairs hold: of bytes, whether those of rows and those of columns
// have a sign.
enum class PackedNumbers : std::uint8_t {
    bfloat16,
    signed_signed,
    signed_unsigned,
    unsigned_signed,
    unsigned_unsigned
};

inline bool have_same_sign(PackedNumbers n) {
    return n == PackedNumbers::signed_signed || n == PackedNumbers::unsigned_unsigned;
}

// Indices along k that share a lane of a panel.
template <class T> inline constexpr int in_lane = is_packed<T> ? 4 / packed_size<T> : 1;

} // namespace Atoll::kernels
