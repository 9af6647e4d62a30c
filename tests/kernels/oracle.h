// What the kernels should give, element by element and slowly: values in __int128 and long double,
// conversions by their definition. Shares nothing with the kernels but the lists.
#pragma once

#include "atoll/abi/module.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace oracle {

struct Facts {
    const char *name;
    int size;
    int kind, part;
};
inline constexpr Facts facts[ATOLL_DTYPE_COUNT] = {
    {"none", 0, 0, 0},
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias)                           \
    {name, size, ATOLL_KIND_##KIND, ATOLL_##PART},
#include "atoll/lists/dtypes.inc"
};
inline bool is_complex(int d) { return facts[d].kind == ATOLL_KIND_COMPLEX; }
inline bool is_real_float(int d) {
    return facts[d].kind == ATOLL_KIND_FLOAT || facts[d].kind == ATOLL_KIND_BRAIN;
}
inline bool is_integer(int d) {
    return facts[d].kind == ATOLL_KIND_SIGNED || facts[d].kind == ATOLL_KIND_UNSIGNED;
}

// An exact element of any dtype: an integer, or two real parts.
struct Value {
    bool integer = true;
    __int128 i = 0;
    long double re = 0, im = 0;

    static Value of(__int128 i) { return {true, i, 0, 0}; }
    static Value of(long double re, long double im) { return {false, 0, re, im}; }
    long double real() const { return integer ? static_cast<long double>(i) : re; }
    bool truth() const { return integer ? i != 0 : re != 0 || im != 0; }
};

inline __int128 wrap(__int128 x, int dtype) {
    const int bits = 8 * facts[dtype].size;
    const unsigned __int128 mask = (static_cast<unsigned __int128>(1) << bits) - 1;
    const unsigned __int128 low = static_cast<unsigned __int128>(x) & mask;
    const bool minus = facts[dtype].kind == ATOLL_KIND_SIGNED && (low >> (bits - 1)) != 0;
    return static_cast<__int128>(low) - (minus ? static_cast<__int128>(1) << bits : 0);
}

// Nearest, ties to even, to `digits` binary digits with lowest exponent `lowest` (of the unit of
// the smallest subnormal) and everything from 2^`end` on infinite.
inline long double round_to(long double x, int digits, int lowest, int end) {
    if (x == 0 || !std::isfinite(x)) return x;
    int exponent;
    std::frexp(x, &exponent);
    const int unit = std::max(exponent - digits, lowest);
    const long double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    if (std::fabs(rounded) >= std::ldexp(1.0L, end)) return std::copysign(INFINITY, x);
    return rounded == 0 ? std::copysign(0.0L, x) : rounded;
}
inline long double round_part(long double x, int part) {
    switch (part) {
    case ATOLL_FLOAT16: return round_to(x, 11, -24, 16);
    case ATOLL_BFLOAT16: return round_to(x, 8, -133, 128);
    case ATOLL_FLOAT32: return round_to(x, 24, -149, 128);
    default: return round_to(x, 53, -1074, 1024);
    }
}

inline Value convert(const Value &v, int to) {
    if (facts[to].kind == ATOLL_KIND_BOOL) return Value::of(__int128{v.truth()});
    if (is_integer(to)) {
        if (v.integer) return Value::of(wrap(v.i, to));
        if (std::isnan(v.re)) return Value::of(__int128{0});
        const int bits = 8 * facts[to].size;
        const bool sign = facts[to].kind == ATOLL_KIND_SIGNED;
        const __int128 one = 1, high = (one << (sign ? bits - 1 : bits)) - 1,
                       low = sign ? -(one << (bits - 1)) : 0;
        if (v.re >= static_cast<long double>(high)) return Value::of(high);
        if (v.re <= static_cast<long double>(low)) return Value::of(low);
        return Value::of(static_cast<__int128>(v.re));
    }
    const int part = facts[to].part;
    return Value::of(round_part(v.real(), part),
                     is_complex(to) && !v.integer ? round_part(v.im, part) : 0.0L);
}

inline void reverse_parts(char *p, int dtype) {
    const int part = facts[facts[dtype].part].size;
    for (int at = 0; at < facts[dtype].size; at += part) std::reverse(p + at, p + at + part);
}

inline long double decode_half(std::uint16_t h, int digits, int bias) {
    const int fraction_bits = digits - 1, exponent_bits = 16 - digits;
    const int exponent = (h >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = h & ((1 << fraction_bits) - 1);
    long double x;
    if (exponent == (1 << exponent_bits) - 1)
        x = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        x = std::ldexp(static_cast<long double>(fraction), 1 - bias - fraction_bits);
    else
        x = std::ldexp(static_cast<long double>(fraction + (1 << fraction_bits)),
                       exponent - bias - fraction_bits);
    return h & 0x8000 ? -x : x;
}
// Of a value that the format holds exactly.
inline std::uint16_t encode_half(long double x, int digits, int bias) {
    const int fraction_bits = digits - 1;
    const int top = ((1 << (16 - digits)) - 1) << fraction_bits;
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    if (std::isnan(x)) return static_cast<std::uint16_t>(top | 1 << (fraction_bits - 1));
    if (std::isinf(x)) return static_cast<std::uint16_t>(sign | top);
    if (x == 0) return sign;
    int exponent = std::ilogb(x);
    if (exponent < 1 - bias)
        return static_cast<std::uint16_t>(
            sign | static_cast<int>(std::ldexp(x, bias - 1 + fraction_bits)));
    const int fraction = static_cast<int>(std::ldexp(x, fraction_bits - exponent));
    return static_cast<std::uint16_t>(sign | ((exponent + bias) << fraction_bits) |
                                      (fraction & ((1 << fraction_bits) - 1)));
}

template <class T> T raw(const char *p) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

inline long double read_part(const char *p, int part) {
    switch (part) {
    case ATOLL_FLOAT16: return decode_half(raw<std::uint16_t>(p), 11, 15);
    case ATOLL_BFLOAT16: return decode_half(raw<std::uint16_t>(p), 8, 127);
    case ATOLL_FLOAT32: return raw<float>(p);
    default: return raw<double>(p);
    }
}
inline Value read(const char *p, int dtype, bool swapped = false) {
    char copy[16];
    std::memcpy(copy, p, static_cast<std::size_t>(facts[dtype].size));
    if (swapped) reverse_parts(copy, dtype);
    switch (dtype) {
    case ATOLL_BOOL: return Value::of(__int128{copy[0] != 0});
    case ATOLL_INT8: return Value::of(__int128{raw<std::int8_t>(copy)});
    case ATOLL_INT16: return Value::of(__int128{raw<std::int16_t>(copy)});
    case ATOLL_INT32: return Value::of(__int128{raw<std::int32_t>(copy)});
    case ATOLL_INT64: return Value::of(__int128{raw<std::int64_t>(copy)});
    case ATOLL_UINT8: return Value::of(__int128{raw<std::uint8_t>(copy)});
    case ATOLL_UINT16: return Value::of(__int128{raw<std::uint16_t>(copy)});
    case ATOLL_UINT32: return Value::of(__int128{raw<std::uint32_t>(copy)});
    case ATOLL_UINT64: return Value::of(__int128{raw<std::uint64_t>(copy)});
    default: break;
    }
    const int part = facts[dtype].part, size = facts[part].size;
    return Value::of(read_part(copy, part),
                     is_complex(dtype) ? read_part(copy + size, part) : 0.0L);
}
inline void write_part(char *p, int part, long double x) {
    const std::uint16_t half =
        part == ATOLL_FLOAT16 ? encode_half(x, 11, 15) : encode_half(x, 8, 127);
    const float f = static_cast<float>(x);
    const double d = static_cast<double>(x);
    if (facts[part].size == 2)
        std::memcpy(p, &half, 2);
    else if (facts[part].size == 4)
        std::memcpy(p, &f, 4);
    else
        std::memcpy(p, &d, 8);
}
// `v` is a value that the dtype holds.
inline void write(char *p, int dtype, bool swapped, const Value &v) {
    char copy[16] = {};
    if (v.integer) {
        const std::uint64_t bits = static_cast<std::uint64_t>(v.i);
        std::memcpy(copy, &bits, 8);
    } else {
        const int part = facts[dtype].part;
        write_part(copy, part, v.re);
        if (is_complex(dtype)) write_part(copy + facts[part].size, part, v.im);
    }
    if (swapped) reverse_parts(copy, dtype);
    std::memcpy(p, copy, static_cast<std::size_t>(facts[dtype].size));
}

// The dtype of a function's result by its rule.
inline int result_dtype(int function, int dtype) {
    static const int rules[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc) ATOLL_RULE_##RULE,
#include "atoll/lists/functions.inc"
    };
    switch (rules[function]) {
    case ATOLL_RULE_COMPARE: return ATOLL_BOOL;
    case ATOLL_RULE_REAL:
    case ATOLL_RULE_NORM: return facts[dtype].part;
    default: return dtype;
    }
}

// One result of a UNARY or BINARY function on values of the compute dtype, rounded to the result
// dtype once. `*approximate`: the last digits may differ.
template <class P>
Value apply_parts(int function, const Value &a, const Value &b, bool complex, bool *approximate) {
    using C = std::complex<long double>;
    const P ar = static_cast<P>(a.re), ai = static_cast<P>(a.im), br = static_cast<P>(b.re),
            bi = static_cast<P>(b.im);
    const auto flag = [](bool x) { return Value::of(__int128{x}); };
    const auto of = [](P re, P im) { return Value::of(static_cast<long double>(re), im); };
    switch (function) {
    case ATOLL_FN_add: return of(ar + br, ai + bi);
    case ATOLL_FN_subtract: return of(ar - br, ai - bi);
    case ATOLL_FN_square:
        return complex ? of(ar * ar - ai * ai, ar * ai + ai * ar) : of(ar * ar, 0);
    case ATOLL_FN_multiply:
        return complex ? of(ar * br - ai * bi, ar * bi + ai * br) : of(ar * br, 0);
    case ATOLL_FN_divide: {
        if (!complex) return of(ar / br, 0);
        *approximate = true;
        const long double d = static_cast<long double>(br) * br + static_cast<long double>(bi) * bi;
        return Value::of(
            (static_cast<long double>(ar) * br + static_cast<long double>(ai) * bi) / d,
            (static_cast<long double>(ai) * br - static_cast<long double>(ar) * bi) / d);
    }
    case ATOLL_FN_equal: return flag(ar == br && ai == bi);
    case ATOLL_FN_not_equal: return flag(!(ar == br && ai == bi));
    case ATOLL_FN_less: return flag(ar < br);
    case ATOLL_FN_less_equal: return flag(ar <= br);
    case ATOLL_FN_greater: return flag(ar > br);
    case ATOLL_FN_greater_equal: return flag(ar >= br);
    case ATOLL_FN_negative: return of(-ar, complex ? -ai : P(0));
    case ATOLL_FN_conj: return of(ar, complex ? -ai : P(0));
    case ATOLL_FN_abs:
        if (!complex) return of(std::fabs(ar), 0);
        *approximate = true;
        return Value::of(std::hypot(static_cast<long double>(ar), static_cast<long double>(ai)),
                         0.0L);
    case ATOLL_FN_sqrt: {
        if (!complex) return of(std::sqrt(ar), 0);
        *approximate = true;
        const C z = std::sqrt(C(ar, ai));
        return Value::of(z.real(), z.imag());
    }
    default: return {};
    }
}

inline Value apply(int function, int dtype, const Value &a, const Value &b, bool *approximate) {
    *approximate = false;
    const int result = result_dtype(function, dtype);
    Value v;
    if (dtype == ATOLL_BOOL) {
        const bool x = a.truth(), y = b.truth();
        bool r = x;
        switch (function) {
        case ATOLL_FN_add: r = x || y; break;
        case ATOLL_FN_multiply: r = x && y; break;
        case ATOLL_FN_equal: r = x == y; break;
        case ATOLL_FN_not_equal: r = x != y; break;
        case ATOLL_FN_less: r = !x && y; break;
        case ATOLL_FN_less_equal: r = !x || y; break;
        case ATOLL_FN_greater: r = x && !y; break;
        case ATOLL_FN_greater_equal: r = x || !y; break;
        default: break;
        }
        return Value::of(__int128{r});
    }
    if (is_integer(dtype)) {
        __int128 r = a.i;
        switch (function) {
        case ATOLL_FN_add: r = a.i + b.i; break;
        case ATOLL_FN_subtract: r = a.i - b.i; break;
        case ATOLL_FN_multiply:
            r = static_cast<__int128>(static_cast<unsigned __int128>(a.i) *
                                      static_cast<unsigned __int128>(b.i));
            break;
        case ATOLL_FN_square:
            r = static_cast<__int128>(static_cast<unsigned __int128>(a.i) *
                                      static_cast<unsigned __int128>(a.i));
            break;
        case ATOLL_FN_equal: r = a.i == b.i; break;
        case ATOLL_FN_not_equal: r = a.i != b.i; break;
        case ATOLL_FN_less: r = a.i < b.i; break;
        case ATOLL_FN_less_equal: r = a.i <= b.i; break;
        case ATOLL_FN_greater: r = a.i > b.i; break;
        case ATOLL_FN_greater_equal: r = a.i >= b.i; break;
        case ATOLL_FN_negative: r = -a.i; break;
        case ATOLL_FN_abs: r = a.i < 0 ? -a.i : a.i; break;
        default: break;
        }
        return convert(Value::of(r), result);
    }
    const bool wide = facts[facts[dtype].part].size == 8;
    v = wide ? apply_parts<double>(function, a, b, is_complex(dtype), approximate)
             : apply_parts<float>(function, a, b, is_complex(dtype), approximate);
    return convert(v, result);
}

// Spacing of a part dtype near 1.
inline long double epsilon(int dtype) {
    switch (facts[dtype].part) {
    case ATOLL_FLOAT16: return 0x1p-10L;
    case ATOLL_BFLOAT16: return 0x1p-7L;
    case ATOLL_FLOAT32: return 0x1p-23L;
    case ATOLL_FLOAT64: return 0x1p-52L;
    default: return 0;
    }
}

inline bool same_part(long double x, long double y, long double tolerance) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
    if (x == y) return x != 0 || tolerance > 0 || std::signbit(x) == std::signbit(y);
    return std::fabs(x - y) <= tolerance;
}
// Equal, or within `ulps` of the larger part, in `dtype`.
// `natural` is the dtype that was rounded to before the conversion to an integer.
inline bool same(const Value &x, const Value &y, int dtype, double ulps,
                 int natural = ATOLL_FLOAT64) {
    if (x.integer && y.integer) {
        if (ulps == 0) return x.i == y.i;
        const long double distance =
            std::fabs(static_cast<long double>(x.i) - static_cast<long double>(y.i));
        return distance <= 1 + ulps * epsilon(natural) * std::fabs(static_cast<long double>(y.i));
    }
    const long double size = std::max(std::fabs(y.real()), std::fabs(y.im));
    // A quotient of subnormals may lose all relative accuracy.
    const long double floor = facts[dtype].part == ATOLL_FLOAT16 ? 0x1p-24L : 0x1p-126L;
    const long double tolerance =
        ulps > 0 && std::isfinite(size) ? ulps * std::max(size * epsilon(dtype), floor) : 0;
    return same_part(x.real(), y.real(), tolerance) && same_part(x.im, y.im, tolerance);
}

inline std::string text(const Value &v) {
    if (v.integer) return std::to_string(static_cast<long long>(v.i));
    return std::to_string(static_cast<double>(v.re)) + "," +
           std::to_string(static_cast<double>(v.im));
}

} // namespace oracle
