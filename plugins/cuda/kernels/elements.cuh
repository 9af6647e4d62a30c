// Elements as they lie in memory, as values that functors take, and as numbers of any dtype.
#pragma once

#include "compiled_dtypes.hpp"
#include "functors/arithmetic.h"

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

// Truncates, saturates, NaN gives 0.
template <class T> __host__ __device__ inline T saturated(double value) {
    constexpr int value_bits = sizeof(T) * 8 - (std::is_signed_v<T> ? 1 : 0);
    constexpr T highest = static_cast<T>(~std::uint64_t{0} >> (64 - value_bits));
    constexpr T lowest = std::is_signed_v<T> ? static_cast<T>(-highest - 1) : 0;
    // 2^value_bits, exactly: the first value that is too large.
    constexpr double limit = static_cast<double>(std::uint64_t{1} << (value_bits - 1)) * 2.0;
    if (value != value) return 0;
    if (value >= limit) return highest;
    if (value <= static_cast<double>(lowest)) return lowest;
    return static_cast<T>(value);
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

// How an operand's elements lie in memory.
struct Access {
    std::uint8_t dtype;
    bool swapped; // the other byte order
    bool aligned; // to the element's parts
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

// An element part by part: only the parts are aligned, and only they are swapped.
template <class S> __host__ __device__ inline S read_element(const char *from, Access access) {
    if constexpr (kernels::is_complex<S>) {
        using P = decltype(S::re);
        return {read<P>(from, access), read<P>(from + sizeof(P), access)};
    } else {
        return read<S>(from, access);
    }
}
template <class S>
__host__ __device__ inline void write_element(char *to, Access access, S element) {
    if constexpr (kernels::is_complex<S>) {
        write(to, access, element.re);
        write(to + sizeof(element.re), access, element.im);
    } else {
        write(to, access, element);
    }
}

// Not inlined on devices: every kernel that converts would have all dtypes in it.
#if defined(__CUDACC__)
#define ATOLL_OUT_OF_LINE __noinline__
#else
#define ATOLL_OUT_OF_LINE
#endif

__host__ __device__ ATOLL_OUT_OF_LINE inline Number load(const char *from, Access access) {
    switch (access.dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        return number_of(read_element<Stored<id>>(from, access));
#include "atoll/lists/dtypes.inc"
    }
    return {};
}
__host__ __device__ ATOLL_OUT_OF_LINE inline void store(char *to, Access access,
                                                        const Number &number) {
    switch (access.dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        write_element(to, access, element_of<Stored<id>>(number));                                 \
        break;
#include "atoll/lists/dtypes.inc"
    }
}

// What `number` becomes in a dtype.
__host__ __device__ ATOLL_OUT_OF_LINE inline Number rounded_to(unsigned dtype,
                                                               const Number &number) {
    Number result = number;
    switch (dtype) {
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    case id:                                                                                       \
        result = number_of(element_of<Stored<id>>(number));                                        \
        break;
#include "atoll/lists/dtypes.inc"
    }
    return result;
}

} // namespace Atoll::cuda
