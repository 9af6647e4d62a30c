// Elements as kernels see them: numbers of every dtype, converted as the semantics page says.
// Everything here works on the host too, so that it can be tested there.
#pragma once

#include "atoll/plugin.h"

#include <cstdint>
#include <cstring>

#include <cuda_fp16.h>

namespace Atoll::cuda {

template <class To, class From> __host__ __device__ inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// --- Halves ----------------------------------------------------------------------------------

struct Half {
    std::uint16_t bits;
};
struct Brain {
    std::uint16_t bits;
};
struct Bool {
    std::uint8_t value;
};
template <class T> struct Complex { T re, im; };

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
    while (magnitude >> shift > 0xffffffffu) ++shift;
    const std::uint64_t high = magnitude >> shift;
    const bool sticky = (high << shift) != magnitude;
    const double value = static_cast<double>(high * 2 + (sticky ? 1 : 0));
    const double scaled = value * static_cast<double>(std::uint64_t{1} << shift) * 0.5;
    return to_odd_float(negative ? -scaled : scaled);
}

// --- Numbers ---------------------------------------------------------------------------------

// Any element without loss.
struct Number {
    bool is_integer;
    bool is_signed;     // of an integer
    std::uint64_t bits; // of an integer, sign-extended
    double re, im;      // otherwise
};

// How an operand's memory is to be read or written.
struct Access {
    bool swapped; // the other byte order
    bool aligned; // to the word that is read
};

template <class Word> __host__ __device__ inline Word read(const char *from, Access access) {
    if (access.aligned && !access.swapped) return *reinterpret_cast<const Word *>(from);
    unsigned char bytes[sizeof(Word)];
    for (unsigned i = 0; i < sizeof(Word); ++i)
        bytes[i] =
            static_cast<unsigned char>(from[access.swapped ? unsigned{sizeof(Word)} - 1 - i : i]);
    Word word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

template <class Word> __host__ __device__ inline void write(char *to, Access access, Word word) {
    if (access.aligned && !access.swapped) {
        *reinterpret_cast<Word *>(to) = word;
        return;
    }
    unsigned char bytes[sizeof(Word)];
    memcpy(bytes, &word, sizeof word);
    for (unsigned i = 0; i < sizeof(Word); ++i)
        to[access.swapped ? unsigned{sizeof(Word)} - 1 - i : i] = static_cast<char>(bytes[i]);
}

template <class T> __host__ __device__ inline Number integer(T value) {
    return {true, static_cast<T>(-1) < static_cast<T>(0), static_cast<std::uint64_t>(value), 0, 0};
}
__host__ __device__ inline Number real(double re, double im = 0) {
    return {false, false, 0, re, im};
}

__host__ __device__ inline Number load(unsigned dtype, const char *from, Access access) {
    switch (dtype) {
    case ATOLL_DTYPE_BOOL: return integer<std::uint8_t>(read<std::uint8_t>(from, access) != 0);
    case ATOLL_DTYPE_INT8: return integer(read<std::int8_t>(from, access));
    case ATOLL_DTYPE_INT16: return integer(read<std::int16_t>(from, access));
    case ATOLL_DTYPE_INT32: return integer(read<std::int32_t>(from, access));
    case ATOLL_DTYPE_INT64: return integer(read<std::int64_t>(from, access));
    case ATOLL_DTYPE_UINT8: return integer(read<std::uint8_t>(from, access));
    case ATOLL_DTYPE_UINT16: return integer(read<std::uint16_t>(from, access));
    case ATOLL_DTYPE_UINT32: return integer(read<std::uint32_t>(from, access));
    case ATOLL_DTYPE_UINT64: return integer(read<std::uint64_t>(from, access));
    case ATOLL_DTYPE_FLOAT16: return real(to_float(Half{read<std::uint16_t>(from, access)}));
    case ATOLL_DTYPE_BFLOAT16: return real(to_float(Brain{read<std::uint16_t>(from, access)}));
    case ATOLL_DTYPE_FLOAT32: return real(read<float>(from, access));
    case ATOLL_DTYPE_FLOAT64: return real(read<double>(from, access));
    case ATOLL_DTYPE_COMPLEX32:
        return real(to_float(Half{read<std::uint16_t>(from, access)}),
                    to_float(Half{read<std::uint16_t>(from + 2, access)}));
    case ATOLL_DTYPE_COMPLEX64:
        return real(read<float>(from, access), read<float>(from + 4, access));
    default: return real(read<double>(from, access), read<double>(from + 8, access));
    }
}

// Truncates, saturates, NaN gives 0.
template <class T> __host__ __device__ inline T saturated(double value) {
    constexpr int value_bits = sizeof(T) * 8 - (static_cast<T>(-1) < static_cast<T>(0) ? 1 : 0);
    constexpr T highest = static_cast<T>(~std::uint64_t{0} >> (64 - value_bits));
    constexpr T lowest = static_cast<T>(-1) < static_cast<T>(0) ? static_cast<T>(-highest - 1) : 0;
    // 2^value_bits, exactly: the first value that is too large.
    constexpr double limit = static_cast<double>(std::uint64_t{1} << (value_bits - 1)) * 2.0;
    if (value != value) return 0;
    if (value >= limit) return highest;
    if (value <= static_cast<double>(lowest)) return lowest;
    return static_cast<T>(value);
}

template <class T> __host__ __device__ inline T to_integer(const Number &number) {
    return number.is_integer ? static_cast<T>(number.bits) : saturated<T>(number.re);
}

template <class T> __host__ __device__ inline T to_floating(const Number &number) {
    if (!number.is_integer) return static_cast<T>(number.re);
    return number.is_signed ? static_cast<T>(static_cast<std::int64_t>(number.bits))
                            : static_cast<T>(number.bits);
}

// The real part, rounded to odd: on its way to a half.
__host__ __device__ inline float to_odd(const Number &number) {
    if (!number.is_integer) return to_odd_float(number.re);
    const bool negative = number.is_signed && (number.bits >> 63);
    return to_odd_float(negative ? 0 - number.bits : number.bits, negative);
}

__host__ __device__ inline void store(unsigned dtype, char *to, Access access,
                                      const Number &number) {
    switch (dtype) {
    case ATOLL_DTYPE_BOOL:
        write(to, access,
              static_cast<std::uint8_t>(number.is_integer ? number.bits != 0
                                                          : number.re != 0 || number.im != 0));
        break;
    case ATOLL_DTYPE_INT8: write(to, access, to_integer<std::int8_t>(number)); break;
    case ATOLL_DTYPE_INT16: write(to, access, to_integer<std::int16_t>(number)); break;
    case ATOLL_DTYPE_INT32: write(to, access, to_integer<std::int32_t>(number)); break;
    case ATOLL_DTYPE_INT64: write(to, access, to_integer<std::int64_t>(number)); break;
    case ATOLL_DTYPE_UINT8: write(to, access, to_integer<std::uint8_t>(number)); break;
    case ATOLL_DTYPE_UINT16: write(to, access, to_integer<std::uint16_t>(number)); break;
    case ATOLL_DTYPE_UINT32: write(to, access, to_integer<std::uint32_t>(number)); break;
    case ATOLL_DTYPE_UINT64: write(to, access, to_integer<std::uint64_t>(number)); break;
    case ATOLL_DTYPE_FLOAT16: write(to, access, to_half(to_odd(number)).bits); break;
    case ATOLL_DTYPE_BFLOAT16: write(to, access, to_brain(to_odd(number)).bits); break;
    case ATOLL_DTYPE_FLOAT32: write(to, access, to_floating<float>(number)); break;
    case ATOLL_DTYPE_FLOAT64: write(to, access, to_floating<double>(number)); break;
    case ATOLL_DTYPE_COMPLEX32:
        write(to, access, to_half(to_odd(number)).bits);
        write(to + 2, access, to_half(to_odd_float(number.im)).bits);
        break;
    case ATOLL_DTYPE_COMPLEX64:
        write(to, access, to_floating<float>(number));
        write(to + 4, access, static_cast<float>(number.im));
        break;
    default: write(to, access, to_floating<double>(number)); write(to + 8, access, number.im);
    }
}

} // namespace Atoll::cuda
