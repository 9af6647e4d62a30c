// The binary formats under test: reading and writing elements, and the distance of a result from
// the true value in units of the format's last place.
#pragma once

#include "atoll/abi/base.h"
#include "atoll/half.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <mpfr.h>

namespace accuracy {

// Holds any element of a floating dtype exactly.
using Number = std::complex<double>;

struct Dtype {
    const char *name;
    int size, kind, part;
};
inline constexpr Dtype dtypes[ATOLL_DTYPE_COUNT] = {
    {"none", 0, 0, 0},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    {name, size, ATOLL_DTYPE_KIND_##KIND, ATOLL_DTYPE_##PART},
#include "atoll/lists/dtypes.inc"
};
inline bool is_complex(int dtype) { return dtypes[dtype].kind == ATOLL_DTYPE_KIND_COMPLEX; }

// Finite values are below 2^(emax + 1); the normal ones from 2^emin on have `digits` binary digits.
struct Format {
    int digits, emin, emax;
};
inline Format format_of(int dtype) {
    switch (dtypes[dtype].part) {
    case ATOLL_DTYPE_FLOAT16: return {11, -14, 15};
    case ATOLL_DTYPE_BFLOAT16: return {8, -126, 127};
    case ATOLL_DTYPE_FLOAT32: return {24, -126, 127};
    default: return {53, -1022, 1023};
    }
}

inline double load_part(int part, const char *from) {
    std::uint16_t bits;
    float single;
    double value;
    switch (part) {
    case ATOLL_DTYPE_FLOAT64: std::memcpy(&value, from, 8); return value;
    case ATOLL_DTYPE_FLOAT32: std::memcpy(&single, from, 4); return static_cast<double>(single);
    default: std::memcpy(&bits, from, 2);
    }
    return static_cast<double>(part == ATOLL_DTYPE_FLOAT16 ? atoll_half_to_float(bits)
                                                           : atoll_bfloat_to_float(bits));
}
inline void store_part(int part, char *to, double value) {
    const float single = static_cast<float>(value);
    std::uint16_t bits;
    switch (part) {
    case ATOLL_DTYPE_FLOAT64: std::memcpy(to, &value, 8); return;
    case ATOLL_DTYPE_FLOAT32: std::memcpy(to, &single, 4); return;
    case ATOLL_DTYPE_FLOAT16: bits = atoll_double_to_half(value); break;
    default: bits = atoll_double_to_bfloat(value);
    }
    std::memcpy(to, &bits, 2);
}
inline Number load(int dtype, const char *from) {
    const int part = dtypes[dtype].part;
    const double re = load_part(part, from);
    return {re, is_complex(dtype) ? load_part(part, from + dtypes[part].size) : 0.0};
}
inline void store(int dtype, char *to, Number value) {
    const int part = dtypes[dtype].part;
    store_part(part, to, value.real());
    if (is_complex(dtype)) store_part(part, to + dtypes[part].size, value.imag());
}
inline double rounded(int part, double value) {
    char element[8];
    store_part(part, element, value);
    return load_part(part, element);
}

// The place of the last digit of `value`, as an exponent of two.
inline long last_place(Format format, mpfr_srcptr value) {
    long exponent = format.emin;
    if (mpfr_regular_p(value)) exponent = std::max<long>(exponent, mpfr_get_exp(value) - 1);
    if (mpfr_inf_p(value)) exponent = format.emax;
    return exponent - (format.digits - 1);
}

// |got - want| in units of 2^place; infinite where one is NaN or infinite and the other has no
// reason to be. Infinity stands for 2^(emax + 1), the number that it is rounded from.
inline double distance(Format format, double got, mpfr_srcptr want, long place) {
    if (mpfr_nan_p(want) || std::isnan(got))
        return mpfr_nan_p(want) && std::isnan(got) ? 0 : INFINITY;
    const bool infinite = mpfr_inf_p(want),
               beyond = !infinite && !mpfr_zero_p(want) && mpfr_get_exp(want) > format.emax + 1;
    if (infinite || beyond) {
        const bool minus = mpfr_signbit(want) != 0;
        if (std::isinf(got)) return std::signbit(got) == minus ? 0 : INFINITY;
        // An infinity that no rounding made must be met; a large finite number only nearly.
        if (infinite) return INFINITY;
        return std::fabs(std::ldexp(minus ? -1.0 : 1.0, format.digits) -
                         std::ldexp(got, format.digits - 1 - format.emax));
    }
    mpfr_t difference;
    mp_limb_t limbs[4];
    mpfr_custom_init(limbs, 4 * GMP_NUMB_BITS);
    mpfr_custom_init_set(difference, MPFR_ZERO_KIND, 0, 4 * GMP_NUMB_BITS, limbs);
    if (std::isinf(got))
        mpfr_set_si_2exp(difference, got > 0 ? 1 : -1, format.emax + 1, MPFR_RNDN);
    else
        mpfr_set_d(difference, got, MPFR_RNDN);
    mpfr_sub(difference, difference, want, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, -place, MPFR_RNDN);
    return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

// Whether a zero, or what stands where a zero is wanted, has the sign of the true value.
inline bool sign_agrees(double got, mpfr_srcptr want) {
    if (std::isnan(got) || mpfr_nan_p(want) || (got != 0 && !mpfr_zero_p(want))) return true;
    return std::signbit(got) == (mpfr_signbit(want) != 0);
}

} // namespace accuracy
