/* Conversions between float and the two 16-bit float formats, as bit patterns: round to nearest
 * even, overflow to infinity, keep subnormals, NaN stays a (quiet) NaN. C11 and C++; no
 * dependencies. */
#ifndef ATOLL_HALF_H
#define ATOLL_HALF_H

#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

static inline float atoll_half_to_float(uint16_t half) {
#if defined(__F16C__)
    return _cvtsh_ss(half);
#else
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    uint32_t bits;
    float value;
    if (magnitude >= 0x7c00u) {
        bits = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
        if (bits & 0x7fffffu) bits |= 0x400000u;
    } else if (magnitude >= 0x400u) {
        bits = (magnitude << 13) + ((127u - 15u) << 23);
    } else {
        /* Subnormal or zero: the integer times 2^-24 is exact in float. */
        value = (float)magnitude * 5.9604644775390625e-8f;
        memcpy(&bits, &value, 4);
    }
    bits |= sign;
    memcpy(&value, &bits, 4);
    return value;
#endif
}

static inline uint16_t atoll_float_to_half(float value) {
#if defined(__F16C__)
    return (uint16_t)_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#else
    uint32_t bits, magnitude, sign, rounded;
    memcpy(&bits, &value, 4);
    sign = (bits >> 16) & 0x8000u;
    magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to 2^16 or above */
    if (magnitude < 0x38800000u) {
        /* Below 2^-14: adding 2^-1 lets the float adder round to a multiple of 2^-24. */
        float scaled;
        memcpy(&scaled, &magnitude, 4);
        scaled += 0.5f;
        memcpy(&rounded, &scaled, 4);
        return (uint16_t)(sign | (rounded - 0x3f000000u));
    }
    rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | ((rounded - ((127u - 15u) << 23)) >> 13));
#endif
}

static inline float atoll_bfloat_to_float(uint16_t bfloat) {
    const uint32_t bits = (uint32_t)bfloat << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline uint16_t atoll_float_to_bfloat(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* Rounds to float with round to odd: an inexact result has its last bit set. Rounding the result to
 * a 16-bit float then gives the same as rounding the double directly. */
static inline float atoll_double_to_float_odd(double value) {
    float nearest = (float)value;
    uint32_t bits;
    if ((double)nearest == value || value != value) return nearest;
    memcpy(&bits, &nearest, 4);
    /* First round towards zero: one step back if rounding went away from zero (or to infinity). */
    if ((value < 0 ? -(double)nearest : (double)nearest) > (value < 0 ? -value : value)) --bits;
    bits |= 1u;
    memcpy(&nearest, &bits, 4);
    return nearest;
}

static inline uint16_t atoll_double_to_half(double value) {
    return atoll_float_to_half(atoll_double_to_float_odd(value));
}

static inline uint16_t atoll_double_to_bfloat(double value) {
    return atoll_float_to_bfloat(atoll_double_to_float_odd(value));
}

#endif
