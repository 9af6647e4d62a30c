// Values, conversions and comparisons of the oracle, which says element by element and slowly what
// kernels should give: values in __int128 and long double, conversions by their definition. Shares
// nothing with the kernels but the lists. The functions themselves are in oracle_elementwise.h,
// oracle_reduce.h and oracle_order.h.
#pragma once

#include "atoll/core_functions.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
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
    {name, size, ATOLL_DTYPE_KIND_##KIND, ATOLL_DTYPE_##PART},
#include "atoll/lists/dtypes.inc"
};
inline bool is_complex(int d) { return facts[d].kind == ATOLL_DTYPE_KIND_COMPLEX; }
inline bool is_real_float(int d) {
    return facts[d].kind == ATOLL_DTYPE_KIND_FLOAT || facts[d].kind == ATOLL_DTYPE_KIND_BRAIN;
}
inline bool is_integer(int d) {
    return facts[d].kind == ATOLL_DTYPE_KIND_SIGNED || facts[d].kind == ATOLL_DTYPE_KIND_UNSIGNED;
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
    const bool minus = facts[dtype].kind == ATOLL_DTYPE_KIND_SIGNED && (low >> (bits - 1)) != 0;
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
    if (std::fabs(x) <= 256 && x == static_cast<int>(x)) return x; // exact in every format
    switch (part) {
    case ATOLL_DTYPE_FLOAT16: return round_to(x, 11, -24, 16);
    case ATOLL_DTYPE_BFLOAT16: return round_to(x, 8, -133, 128);
    case ATOLL_DTYPE_FLOAT32: return static_cast<float>(x); // as the processor rounds
    default: return static_cast<double>(x);
    }
}

inline Value convert(const Value &v, int to) {
    if (facts[to].kind == ATOLL_DTYPE_KIND_BOOL) return Value::of(__int128{v.truth()});
    if (is_integer(to)) {
        if (v.integer) return Value::of(wrap(v.i, to));
        if (std::isnan(v.re)) return Value::of(__int128{0});
        const int bits = 8 * facts[to].size;
        const bool sign = facts[to].kind == ATOLL_DTYPE_KIND_SIGNED;
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
    case ATOLL_DTYPE_FLOAT16: return decode_half(raw<std::uint16_t>(p), 11, 15);
    case ATOLL_DTYPE_BFLOAT16: return decode_half(raw<std::uint16_t>(p), 8, 127);
    case ATOLL_DTYPE_FLOAT32: return raw<float>(p);
    default: return raw<double>(p);
    }
}
inline Value read(const char *p, int dtype, bool swapped = false) {
    char copy[16];
    std::memcpy(copy, p, static_cast<std::size_t>(facts[dtype].size));
    if (swapped) reverse_parts(copy, dtype);
    switch (dtype) {
    case ATOLL_DTYPE_BOOL: return Value::of(__int128{copy[0] != 0});
    case ATOLL_DTYPE_INT8: return Value::of(__int128{raw<std::int8_t>(copy)});
    case ATOLL_DTYPE_INT16: return Value::of(__int128{raw<std::int16_t>(copy)});
    case ATOLL_DTYPE_INT32: return Value::of(__int128{raw<std::int32_t>(copy)});
    case ATOLL_DTYPE_INT64: return Value::of(__int128{raw<std::int64_t>(copy)});
    case ATOLL_DTYPE_UINT8: return Value::of(__int128{raw<std::uint8_t>(copy)});
    case ATOLL_DTYPE_UINT16: return Value::of(__int128{raw<std::uint16_t>(copy)});
    case ATOLL_DTYPE_UINT32: return Value::of(__int128{raw<std::uint32_t>(copy)});
    case ATOLL_DTYPE_UINT64: return Value::of(__int128{raw<std::uint64_t>(copy)});
    default: break;
    }
    const int part = facts[dtype].part, size = facts[part].size;
    return Value::of(read_part(copy, part),
                     is_complex(dtype) ? read_part(copy + size, part) : 0.0L);
}
inline void write_part(char *p, int part, long double x) {
    const std::uint16_t half =
        part == ATOLL_DTYPE_FLOAT16 ? encode_half(x, 11, 15) : encode_half(x, 8, 127);
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

// The list of functions, by id.
using Function = Atoll::sdk::FunctionLine;
inline constexpr auto &function_list = Atoll::sdk::core_functions;

// Kinds of functions, by what their signatures say. copy is none of the element-wise ones: it has a
// kernel of its own.
constexpr bool is_elementwise(const Function &f) {
    return f.signature.elementwise() && f.signature.input_count() > 0 && f.id != ATOLL_FN_copy;
}
template <int inputs> constexpr bool has_inputs(const Function &f) {
    return is_elementwise(f) && f.signature.input_count() == inputs;
}
constexpr bool has_slot(const Function &f, int inputs, Atoll::sdk::AxisKind kind) {
    return f.signature.slot_count == 1 && f.signature.input_count() == inputs &&
           f.signature.slots[0].kind == kind;
}
constexpr bool is_reduction(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::group);
}
constexpr bool is_sort(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::one) && f.signature.attribute_count == 1;
}
constexpr bool is_scan(const Function &f) {
    return has_slot(f, 1, Atoll::sdk::AxisKind::one) && !is_sort(f);
}
constexpr bool is_search(const Function &f) { return has_slot(f, 2, Atoll::sdk::AxisKind::one); }
constexpr bool is_find(const Function &f) {
    return f.signature.slot_count == 2 && f.signature.input_count() == 1;
}

// The dtype of a function's result, from the compute dtype.
inline int result_dtype(int function, int dtype) {
    return static_cast<int>(
        Atoll::sdk::core_functions[function].result_dtype(static_cast<std::uint32_t>(dtype)));
}

// The dtype of the parts that a dtype computes in.
inline int compute_part(int dtype) {
    return facts[dtype].part == ATOLL_DTYPE_FLOAT64 ? int{ATOLL_DTYPE_FLOAT64}
                                                    : int{ATOLL_DTYPE_FLOAT32};
}

// Whether every function of a kind has a line in a table, which is in the order of ids.
template <class Line, std::size_t n>
constexpr bool complete(const Line (&table)[n], bool (*is_kind)(const Function &)) {
    std::size_t k = 0;
    for (const Function &f : function_list)
        if (is_kind(f) && (k == n || table[k++].function != f.id)) return false;
    return k == n;
}
template <class Line, std::size_t n> const Line &line_of(const Line (&table)[n], int function) {
    for (const Line &line : table)
        if (line.function == function) return line;
    throw std::logic_error("the oracle has no function " + std::to_string(function) +
                           " of this kind");
}

// Spacing of a part dtype near 1.
inline long double epsilon(int dtype) {
    switch (facts[dtype].part) {
    case ATOLL_DTYPE_FLOAT16: return 0x1p-10L;
    case ATOLL_DTYPE_BFLOAT16: return 0x1p-7L;
    case ATOLL_DTYPE_FLOAT32: return 0x1p-23L;
    case ATOLL_DTYPE_FLOAT64: return 0x1p-52L;
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
                 int natural = ATOLL_DTYPE_FLOAT64) {
    if (x.integer && y.integer) {
        if (ulps == 0) return x.i == y.i;
        const long double distance =
            std::fabs(static_cast<long double>(x.i) - static_cast<long double>(y.i));
        return distance <= 1 + ulps * epsilon(natural) * std::fabs(static_cast<long double>(y.i));
    }
    const long double size = std::max(std::fabs(y.real()), std::fabs(y.im));
    // A quotient of subnormals may lose all relative accuracy.
    const long double floor = facts[dtype].part == ATOLL_DTYPE_FLOAT16 ? 0x1p-24L : 0x1p-126L;
    const long double tolerance =
        ulps > 0 && std::isfinite(size) ? ulps * std::max(size * epsilon(dtype), floor) : 0;
    return same_part(x.real(), y.real(), tolerance) && same_part(x.im, y.im, tolerance);
}

// The spacing of a real dtype at x.
inline long double ulp(long double x, int part) {
    const int digits = part == ATOLL_DTYPE_FLOAT16    ? 11
                       : part == ATOLL_DTYPE_BFLOAT16 ? 8
                       : part == ATOLL_DTYPE_FLOAT32  ? 24
                                                      : 53;
    const int lowest = part == ATOLL_DTYPE_FLOAT16    ? -24
                       : part == ATOLL_DTYPE_BFLOAT16 ? -133
                       : part == ATOLL_DTYPE_FLOAT32  ? -149
                                                      : -1074;
    if (x == 0 || !std::isfinite(x)) return std::ldexp(1.0L, lowest);
    int exponent;
    std::frexp(x, &exponent);
    return std::ldexp(1.0L, std::max(exponent - digits, lowest));
}

// What a function gives: a value that is exact, or one whose finite parts may be off by `tolerance`
// before they are rounded to the result dtype. Roundings and conversions are monotone, so the ends
// of that interval, rounded and converted, bound what is right, whatever the dtypes.
struct Expected {
    Value value;
    long double tolerance = 0;
    bool zeros = true; // a part of 0 is exactly 0; otherwise within the tolerance as any other
    bool signs = true; // the signs of zeros and infinities are said
    bool open = false; // nothing is said
};

inline bool accepts_part(long double got, long double low, long double high, bool signs) {
    if (std::isnan(low) || std::isnan(high) || std::isnan(got))
        return std::isnan(got) && (std::isnan(low) || std::isnan(high));
    if (!signs && std::isinf(low) && low == high) return std::isinf(got);
    if (got < low || got > high) return false;
    return got != 0 || !signs || (std::signbit(got) ? std::signbit(low) : !std::signbit(high));
}
// Whether `got`, an element of dtype `to`, is what `e`, a result of dtype `natural`, may become.
inline bool accepts(const Expected &e, const Value &got, int natural, int to) {
    if (e.open) return true;
    if (e.value.integer) return same(got, convert(convert(e.value, natural), to), to, 0);
    const auto slack = [&](long double x) {
        return std::isfinite(x) && (x != 0 || !e.zeros) ? e.tolerance : 0.0L;
    };
    const auto through = [&](int sign) {
        // Only what is moved: adding 0 would lose the sign of a zero.
        const auto end = [&](long double x) { return slack(x) == 0 ? x : x + sign * slack(x); };
        return convert(convert(Value::of(end(e.value.re), end(e.value.im)), natural), to);
    };
    const Value low = through(-1), high = through(1);
    if (facts[to].kind == ATOLL_DTYPE_KIND_BOOL) {
        const bool near_zero = (low.truth() && high.truth()) ? false : low.truth() != high.truth();
        return near_zero || e.tolerance > std::fabs(e.value.re) || got.i == high.i;
    }
    if (got.integer) return low.i <= got.i && got.i <= high.i;
    return accepts_part(got.re, low.re, high.re, e.signs) &&
           accepts_part(got.im, low.im, high.im, e.signs);
}
// The value itself, of the result dtype.
inline Value rounded(const Expected &e, int natural) { return convert(e.value, natural); }

inline std::string text(const Value &v) {
    if (v.integer) {
        if (v.i > std::numeric_limits<std::int64_t>::max())
            return std::to_string(static_cast<std::uint64_t>(v.i));
        return std::to_string(static_cast<std::int64_t>(v.i));
    }
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%.17Lg,%.17Lg", v.re, v.im);
    return buffer;
}
inline std::string text(const Expected &e) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.3Lg", e.tolerance);
    return text(e.value) + (e.tolerance > 0 ? std::string(" within ") + buffer : "") +
           (e.open    ? " or anything"
            : e.signs ? ""
                      : " or other signs");
}

} // namespace oracle
