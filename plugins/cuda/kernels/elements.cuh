// Elements as they lie in memory, as values that functors take, and as numbers of any dtype.
#pragma once

#include "compiled_dtypes.hpp"
#include "functors/arithmetic.h"
#include "once.cuh"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_fp16.h>

namespace Atoll::cuda {

using kernels::Bool;
using kernels::Complex;

template <class To, class From> __host__ __device__ inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// --- Stored elements --------------------------------------------------------------------------

struct Half {
    std::uint16_t bits;
};
struct Brain {
    std::uint16_t bits;
};

// The type of an element in memory, by the dtype's identifier.
namespace stored {
using namespace kernels::wide;
using float16 = Half;
using bfloat16 = Brain;
using complex32 = Complex<Half>;
} // namespace stored

template <unsigned dtype> struct StoredOf;
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    template <> struct StoredOf<id> { using type = stored::identifier; };
#include "atoll/lists/dtypes.inc"
template <unsigned dtype> using Stored = typename StoredOf<dtype>::type;

__host__ __device__ inline float to_float(Half half) {
    __half_raw raw;
    raw.x = half.bits;
    return __half2float(__half(raw));
}
__host__ __device__ inline float to_float(Brain brain) {
    return bits_as<float>(static_cast<std::uint32_t>(brain.bits) << 16);
}

// Rounding to nearest even, once.
__host__ __device__ inline Half to_half(float value) {
    return {static_cast<__half_raw>(__float2half_rn(value)).x};
}
__host__ __device__ inline Brain to_brain(float value) {
    const std::uint32_t bits = bits_as<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

// What functors compute on, and back: halves in float, bool as 0 or 1.
template <class S> __host__ __device__ inline S value_of(S element) { return element; }
__host__ __device__ inline Bool value_of(Bool element) { return Bool(element != Bool(0)); }
__host__ __device__ inline float value_of(Half element) { return to_float(element); }
__host__ __device__ inline float value_of(Brain element) { return to_float(element); }
__host__ __device__ inline Complex<float> value_of(Complex<Half> element) {
    return {to_float(element.re), to_float(element.im)};
}
template <class S> using Value = decltype(value_of(S{}));

template <class S, class V> __host__ __device__ inline S stored_as(V value) {
    if constexpr (std::is_same_v<S, V>)
        return value;
    else if constexpr (std::is_same_v<S, Half>)
        return to_half(value);
    else if constexpr (std::is_same_v<S, Brain>)
        return to_brain(value);
    else if constexpr (std::is_same_v<S, Complex<Half>>)
        return {to_half(value.re), to_half(value.im)};
    else if constexpr (std::is_integral_v<S>)
        return static_cast<S>(value); // the same bits in the other sign
    else
        return value;
}

// An element that is only moved: its bits stay, those of halves and of NaN, too.
template <class S> struct Raw { S element; };
template <class S> inline constexpr bool is_raw = false;
template <class S> inline constexpr bool is_raw<Raw<S>> = true;

// --- Numbers ----------------------------------------------------------------------------------

// Any element without loss.
struct Number {
    bool is_integer;
    bool is_signed;     // of an integer
    std::uint64_t bits; // of an integer, sign-extended
    double re, im;      // otherwise
};

template <class S> __host__ __device__ inline Number number_of(S element) {
    if constexpr (std::is_same_v<S, Bool>)
        return {true, false, element != Bool(0), 0, 0};
    else if constexpr (std::is_integral_v<S>)
        return {true, std::is_signed_v<S>, static_cast<std::uint64_t>(element), 0, 0};
    else if constexpr (kernels::is_complex<S>)
        return {false, false, 0, value_of(element).re, value_of(element).im};
    else
        return {false, false, 0, value_of(element), 0};
}

// Rounds to odd: an inexact result has its last bit set, whichever way that is. Rounding it once
// more, to a format with at least two bits less, is then as good as rounding the double directly.
__host__ __device__ inline float to_odd_float(double value) {
    const float nearest = static_cast<float>(value);
    const double back = nearest;
    if (back == value || value != value) return nearest;
    std::uint32_t bits = bits_as<std::uint32_t>(nearest);
    const bool too_large = value < 0 ? back < value : back > value;
    if (too_large) --bits; // towards zero; from infinity to the largest finite number
    return bits_as<float>(bits | 1u);
}
__host__ __device__ inline float to_odd_float(std::uint64_t magnitude, bool negative) {
    // What stands below the highest 32 bits only matters for being there or not.
    int shift = 0;
    ATOLL_ROLLED
    while (magnitude >> shift > 0xffffffffu) ++shift;
    const std::uint64_t high = magnitude >> shift;
    const bool sticky = (high << shift) != magnitude;
    const double value = static_cast<double>(high * 2 + (sticky ? 1 : 0));
    const double scaled = value * static_cast<double>(std::uint64_t{1} << shift) * 0.5;
    return to_odd_float(negative ? -scaled : scaled);
}
// The real part, on its way to a half.
__host__ __device__ inline float to_odd(const Number &number) {
    if (!number.is_integer) return to_odd_float(number.re);
    const bool negative = number.is_signed && (number.bits >> 63);
    return to_odd_float(negative ? 0 - number.bits : number.bits, negative);
}

// Truncates, saturates to so many bits, NaN gives 0.
__host__ __device__ inline std::int64_t saturated_signed(double value, unsigned bits) {
    const auto limit = static_cast<double>(std::uint64_t{1} << (bits - 1)); // the first too large
    const std::int64_t highest = INT64_MAX >> (64 - bits);
    if (value != value) return 0;
    if (value >= limit) return highest;
    if (value <= -limit) return -highest - 1;
    return static_cast<std::int64_t>(value);
}
__host__ __device__ inline std::uint64_t saturated_unsigned(double value, unsigned bits) {
    const double limit = static_cast<double>(std::uint64_t{1} << (bits - 1)) * 2.0;
    if (!(value > 0)) return 0;
    if (value >= limit) return UINT64_MAX >> (64 - bits);
    return static_cast<std::uint64_t>(value);
}
template <class T> __host__ __device__ inline T saturated(double value) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<T>(saturated_signed(value, sizeof(T) * 8));
    else
        return static_cast<T>(saturated_unsigned(value, sizeof(T) * 8));
}

template <class T> __host__ __device__ inline T to_floating(const Number &number) {
    if (!number.is_integer) return static_cast<T>(number.re);
    return number.is_signed ? static_cast<T>(static_cast<std::int64_t>(number.bits))
                            : static_cast<T>(number.bits);
}

template <class S> __host__ __device__ inline S element_of(const Number &number) {
    if constexpr (std::is_same_v<S, Bool>)
        return Bool(number.is_integer ? number.bits != 0 : number.re != 0 || number.im != 0);
    else if constexpr (std::is_integral_v<S>)
        return number.is_integer ? static_cast<S>(number.bits) : saturated<S>(number.re);
    else if constexpr (std::is_same_v<S, Half>)
        return to_half(to_odd(number));
    else if constexpr (std::is_same_v<S, Brain>)
        return to_brain(to_odd(number));
    else if constexpr (std::is_same_v<S, Complex<Half>>)
        return {to_half(to_odd(number)), to_half(to_odd_float(number.im))};
    else if constexpr (kernels::is_complex<S>)
        return {to_floating<decltype(S::re)>(number), static_cast<decltype(S::re)>(number.im)};
    else
        return to_floating<S>(number);
}

// --- Memory -----------------------------------------------------------------------------------
//
// Note [Any dtype]
// Kernels that convert have what follows in them once each, so it is short: it takes the bits of a
// part, whatever their dtype, and tells dtypes apart as late as it can.

// How an operand's elements lie in memory.
struct Access {
    std::uint8_t dtype;
    bool swapped; // the other byte order
    bool aligned; // to the element's parts
};

// What a part of an element is.
enum class PartKind : unsigned { Unsigned, Signed, Float, Brain };
struct PartFormat {
    unsigned log_bytes;
    PartKind kind;
    __host__ __device__ unsigned bytes() const { return 1u << log_bytes; }
    __host__ __device__ unsigned bits() const { return 8u << log_bytes; }
    __host__ __device__ bool is_integer() const { return kind <= PartKind::Signed; }
};
constexpr std::uint64_t packed_format(std::uint32_t dtype) {
    const auto &part = sdk::dtype_facts[sdk::dtype_facts[dtype].part];
    const PartKind kind = part.kind == ATOLL_DTYPE_KIND_FLOAT    ? PartKind::Float
                          : part.kind == ATOLL_DTYPE_KIND_BRAIN  ? PartKind::Brain
                          : part.kind == ATOLL_DTYPE_KIND_SIGNED ? PartKind::Signed
                                                                 : PartKind::Unsigned;
    return static_cast<std::uint64_t>(static_cast<int>(kind) * 4 +
                                      std::countr_zero(static_cast<unsigned>(part.size)));
}
// Four bits for each dtype, from 1.
constexpr std::uint64_t packed_formats() {
    static_assert(ATOLL_DTYPE_COUNT <= 17);
    std::uint64_t formats = 0;
    for (std::uint32_t dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        formats |= packed_format(dtype) << (dtype - 1) * 4;
    return formats;
}
__host__ __device__ inline PartFormat format_of(unsigned dtype) {
    constexpr std::uint64_t formats = packed_formats();
    const unsigned format = static_cast<unsigned>(formats >> (dtype - 1) * 4) & 15u;
    return {format % 4, static_cast<PartKind>(format / 4)};
}
__host__ __device__ inline bool is_complex_dtype(unsigned dtype) {
    return ATOLL_DOMAIN_COMPLEXES >> dtype & 1;
}

__host__ __device__ inline std::uint64_t reversed(std::uint64_t word) {
    word = (word & 0x00ff00ff00ff00ffu) << 8 | (word >> 8 & 0x00ff00ff00ff00ffu);
    word = (word & 0x0000ffff0000ffffu) << 16 | (word >> 16 & 0x0000ffff0000ffffu);
    return word << 32 | word >> 32;
}

using Word16 = std::uint16_t __attribute__((may_alias));
using Word32 = std::uint32_t __attribute__((may_alias));
using Word64 = std::uint64_t __attribute__((may_alias));

// A part's bits; those above it are 0.
__host__ __device__ inline std::uint64_t read_bits(const char *from, PartFormat format,
                                                   Access access) {
    std::uint64_t word = 0;
    if (access.aligned) {
        switch (format.log_bytes) {
        case 0: word = *reinterpret_cast<const std::uint8_t *>(from); break;
        case 1: word = *reinterpret_cast<const Word16 *>(from); break;
        case 2: word = *reinterpret_cast<const Word32 *>(from); break;
        default: word = *reinterpret_cast<const Word64 *>(from);
        }
    } else {
        ATOLL_ROLLED
        for (unsigned i = format.bytes(); i-- > 0;)
            word = word << 8 | static_cast<unsigned char>(from[i]);
    }
    return access.swapped ? reversed(word) >> (64 - format.bits()) : word;
}
__host__ __device__ inline void write_bits(char *to, PartFormat format, Access access,
                                           std::uint64_t word) {
    if (access.swapped) word = reversed(word) >> (64 - format.bits());
    if (access.aligned) {
        switch (format.log_bytes) {
        case 0: *reinterpret_cast<std::uint8_t *>(to) = static_cast<std::uint8_t>(word); return;
        case 1: *reinterpret_cast<Word16 *>(to) = static_cast<std::uint16_t>(word); return;
        case 2: *reinterpret_cast<Word32 *>(to) = static_cast<std::uint32_t>(word); return;
        default: *reinterpret_cast<Word64 *>(to) = word; return;
        }
    }
    ATOLL_ROLLED
    for (unsigned i = 0; i < format.bytes(); ++i, word >>= 8) to[i] = static_cast<char>(word);
}

// A part of a floating dtype, from and to its bits.
__host__ __device__ inline double floating_of(std::uint64_t bits, PartFormat format) {
    if (format.log_bytes == 3) return bits_as<double>(bits);
    if (format.log_bytes == 2) return bits_as<float>(static_cast<std::uint32_t>(bits));
    const auto half = static_cast<std::uint16_t>(bits);
    return format.kind == PartKind::Brain ? to_float(Brain{half}) : to_float(Half{half});
}
__host__ __device__ inline std::uint64_t floating_bits(const Number &number, PartFormat format) {
    if (format.log_bytes == 3) return bits_as<std::uint64_t>(to_floating<double>(number));
    if (format.log_bytes == 2) return bits_as<std::uint32_t>(to_floating<float>(number));
    const float odd = to_odd(number);
    return format.kind == PartKind::Brain ? to_brain(odd).bits : to_half(odd).bits;
}
// Some of what is above the integer's own bits may be left.
__host__ __device__ inline std::uint64_t integer_bits(const Number &number, PartFormat format) {
    if (number.is_integer) return number.bits;
    return format.kind == PartKind::Signed
               ? static_cast<std::uint64_t>(saturated_signed(number.re, format.bits()))
               : saturated_unsigned(number.re, format.bits());
}

struct Bits {
    std::uint64_t re, im;
};
__host__ __device__ inline Number decoded(unsigned dtype, Bits bits) {
    const PartFormat format = format_of(dtype);
    if (!format.is_integer())
        return {false, false, 0, floating_of(bits.re, format),
                is_complex_dtype(dtype) ? floating_of(bits.im, format) : 0};
    if (dtype == ATOLL_DTYPE_BOOL) return {true, false, bits.re != 0, 0, 0};
    const bool is_signed = format.kind == PartKind::Signed;
    if (is_signed) {
        const std::uint64_t sign = std::uint64_t{1} << (format.bits() - 1);
        bits.re = (bits.re ^ sign) - sign;
    }
    return {true, is_signed, bits.re, 0, 0};
}
__host__ __device__ inline Bits encoded(unsigned dtype, const Number &number) {
    const PartFormat format = format_of(dtype);
    if (dtype == ATOLL_DTYPE_BOOL) return {element_of<Bool>(number) != Bool(0), 0};
    if (format.is_integer()) {
        const unsigned unused = 64 - format.bits();
        return {integer_bits(number, format) << unused >> unused, 0};
    }
    Bits bits{floating_bits(number, format), 0};
    if (is_complex_dtype(dtype)) bits.im = floating_bits({false, false, 0, number.im, 0}, format);
    return bits;
}

// An element part by part: only the parts are aligned, and only they are swapped.
__host__ __device__ ATOLL_OUT_OF_LINE inline Number load(const char *from, Access access) {
    const PartFormat format = format_of(access.dtype);
    Bits bits{read_bits(from, format, access), 0};
    if (is_complex_dtype(access.dtype)) bits.im = read_bits(from + format.bytes(), format, access);
    return decoded(access.dtype, bits);
}
__host__ __device__ ATOLL_OUT_OF_LINE inline void store(char *to, Access access,
                                                        const Number &number) {
    const PartFormat format = format_of(access.dtype);
    const Bits bits = encoded(access.dtype, number);
    write_bits(to, format, access, bits.re);
    if (is_complex_dtype(access.dtype)) write_bits(to + format.bytes(), format, access, bits.im);
}

// What `number` becomes in a dtype.
__host__ __device__ ATOLL_OUT_OF_LINE inline Number rounded_to(unsigned dtype,
                                                               const Number &number) {
    return decoded(dtype, encoded(dtype, number));
}

} // namespace Atoll::cuda
