#include "values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace oracle {

namespace {

// 2^exponent, exactly, for the exponents that formats of 16 bits need. std::ldexp says the same, at
// ten times the cost.
long double power_of_two(int exponent) {
    constexpr int largest = 256;
    static const std::vector<long double> powers = [] {
        std::vector<long double> all;
        for (int e = -largest; e <= largest; ++e) all.push_back(std::ldexp(1.0L, e));
        return all;
    }();
    return powers.at(static_cast<std::size_t>(exponent + largest));
}

// Nearest, ties to even, to `digits` binary digits with lowest exponent `lowest` (of the unit of
// the smallest subnormal) and everything from 2^`end` on infinite.
long double round_to(long double x, int digits, int lowest, int end) {
    if (x == 0 || !std::isfinite(x)) return x;
    const long double size = std::fabs(x);
    if (const auto single = static_cast<float>(size); single == size) {
        // Most values have few digits already. These formats have the exponents of float or fewer.
        const auto bits = std::bit_cast<std::uint32_t>(single);
        const int exponent = static_cast<int>(bits >> 23) - 127;
        if (bits % (1u << (24 - digits)) == 0 && exponent < end &&
            exponent - digits + 1 >= lowest && bits >> 23 != 0)
            return x;
    }
    if (size >= power_of_two(end)) return std::copysign(INFINITY, x);
    int exponent;
    std::frexp(size, &exponent);
    // The unit in the last place of this sum is that of the result, so the addition rounds.
    const int unit = std::max(exponent - digits, lowest);
    const long double shift = power_of_two(unit + std::numeric_limits<long double>::digits - 1);
    const long double rounded = (size + shift) - shift;
    return std::copysign(rounded == power_of_two(end) ? INFINITY : rounded, x);
}

long double decode_half(std::uint16_t h, int digits, int bias) {
    const int fraction_bits = digits - 1, exponent_bits = 16 - digits;
    const int exponent = (h >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = h & ((1 << fraction_bits) - 1);
    long double x;
    if (exponent == (1 << exponent_bits) - 1)
        x = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        x = fraction * power_of_two(1 - bias - fraction_bits);
    else
        x = (fraction + (1 << fraction_bits)) * power_of_two(exponent - bias - fraction_bits);
    return h & 0x8000 ? -x : x;
}

// Of a value that the format holds exactly.
std::uint16_t encode_half(long double x, int digits, int bias) {
    const int fraction_bits = digits - 1;
    const int top = ((1 << (16 - digits)) - 1) << fraction_bits;
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    if (std::isnan(x)) return static_cast<std::uint16_t>(top | 1 << (fraction_bits - 1));
    if (std::isinf(x)) return static_cast<std::uint16_t>(sign | top);
    // float holds the value, too: its exponent has 8 bits, its fraction 23.
    const int bits = std::bit_cast<std::int32_t>(static_cast<float>(x)),
              exponent = (bits >> 23) - 127;
    if (exponent < 1 - bias)
        return static_cast<std::uint16_t>(
            sign | static_cast<int>(x * power_of_two(bias - 1 + fraction_bits)));
    const int fraction = bits >> (23 - fraction_bits) & ((1 << fraction_bits) - 1);
    return static_cast<std::uint16_t>(sign | ((exponent + bias) << fraction_bits) | fraction);
}

long double read_part(const char *p, int part) {
    switch (part) {
    case ATOLL_DTYPE_FLOAT16: return decode_half(raw<std::uint16_t>(p), 11, 15);
    case ATOLL_DTYPE_BFLOAT16: return decode_half(raw<std::uint16_t>(p), 8, 127);
    case ATOLL_DTYPE_FLOAT32: return raw<float>(p);
    default: return raw<double>(p);
    }
}

void write_part(char *p, int part, long double x) {
    const auto put = [p](auto bits) { std::memcpy(p, &bits, sizeof bits); };
    switch (part) {
    case ATOLL_DTYPE_FLOAT16: return put(encode_half(x, 11, 15));
    case ATOLL_DTYPE_BFLOAT16: return put(encode_half(x, 8, 127));
    case ATOLL_DTYPE_FLOAT32: return put(static_cast<float>(x));
    default: return put(static_cast<double>(x));
    }
}

bool accepts_part(long double got, long double low, long double high, bool signs) {
    if (std::isnan(low) || std::isnan(high) || std::isnan(got))
        return std::isnan(got) && (std::isnan(low) || std::isnan(high));
    if (!signs && std::isinf(low) && low == high) return std::isinf(got);
    if (got < low || got > high) return false;
    return got != 0 || !signs || (std::signbit(got) ? std::signbit(low) : !std::signbit(high));
}

} // namespace

__int128 wrap(__int128 x, int dtype) {
    const int unused = 128 - 8 * facts[dtype].size;
    const unsigned __int128 high = static_cast<unsigned __int128>(x) << unused;
    if (facts[dtype].kind == ATOLL_DTYPE_KIND_SIGNED) return static_cast<__int128>(high) >> unused;
    return static_cast<__int128>(high >> unused);
}

long double round_part(long double x, int part) {
    switch (part) {
    case ATOLL_DTYPE_FLOAT16: return round_to(x, 11, -24, 16);
    case ATOLL_DTYPE_BFLOAT16: return round_to(x, 8, -133, 128);
    case ATOLL_DTYPE_FLOAT32: return static_cast<float>(x); // as the processor rounds
    default: return static_cast<double>(x);
    }
}

Value convert(const Value &v, int to) {
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

void reverse_parts(char *p, int dtype) {
    const int part = facts[facts[dtype].part].size;
    for (int at = 0; at < facts[dtype].size; at += part) std::reverse(p + at, p + at + part);
}

Value read(const char *p, int dtype, bool swapped) {
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

void write(char *p, int dtype, bool swapped, const Value &v) {
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

int result_dtype(int function, int dtype) {
    return static_cast<int>(
        Atoll::sdk::core_functions[function].result_dtype(static_cast<std::uint32_t>(dtype)));
}

int compute_part(int dtype) {
    return facts[dtype].part == ATOLL_DTYPE_FLOAT64 ? int{ATOLL_DTYPE_FLOAT64}
                                                    : int{ATOLL_DTYPE_FLOAT32};
}

long double epsilon(int dtype) {
    switch (facts[dtype].part) {
    case ATOLL_DTYPE_FLOAT16: return 0x1p-10L;
    case ATOLL_DTYPE_BFLOAT16: return 0x1p-7L;
    case ATOLL_DTYPE_FLOAT32: return 0x1p-23L;
    case ATOLL_DTYPE_FLOAT64: return 0x1p-52L;
    default: return 0;
    }
}

bool same_part(long double x, long double y, long double tolerance) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
    if (x == y) return x != 0 || tolerance > 0 || std::signbit(x) == std::signbit(y);
    return std::fabs(x - y) <= tolerance;
}

bool same(const Value &x, const Value &y, int dtype, double ulps, int natural) {
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

long double ulp(long double x, int part) {
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

bool accepts(const Expected &e, const Value &got, int natural, int to) {
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
    const Value low = through(-1), high = e.tolerance != 0 ? through(1) : low;
    if (facts[to].kind == ATOLL_DTYPE_KIND_BOOL) {
        const bool near_zero = (low.truth() && high.truth()) ? false : low.truth() != high.truth();
        return near_zero || e.tolerance > std::fabs(e.value.re) || got.i == high.i;
    }
    if (got.integer) return low.i <= got.i && got.i <= high.i;
    return accepts_part(got.re, low.re, high.re, e.signs) &&
           accepts_part(got.im, low.im, high.im, e.signs);
}

Expected truth_of(bool x) { return {Value::of(__int128{x})}; }

Value rounded(const Expected &e, int natural) { return convert(e.value, natural); }

std::string text(const Value &v) {
    if (v.integer) {
        if (v.i > std::numeric_limits<std::int64_t>::max())
            return std::to_string(static_cast<std::uint64_t>(v.i));
        return std::to_string(static_cast<std::int64_t>(v.i));
    }
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%.17Lg,%.17Lg", v.re, v.im);
    return buffer;
}

std::string text(const Expected &e) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.3Lg", e.tolerance);
    return text(e.value) + (e.tolerance > 0 ? std::string(" within ") + buffer : "") +
           (e.open    ? " or anything"
            : e.signs ? ""
                      : " or other signs");
}

} // namespace oracle
