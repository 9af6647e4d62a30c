// atoll/half.h against the definition of the formats, and against the compiler's _Float16.
#include "conversions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace {

// A 16-bit float by its definition (IEEE 754, section 3.4), computed in double.
struct Format {
    int fraction_bits, bias;

    int min_exponent() const { return 1 - bias; }
    unsigned infinity() const { return (0x7fffu >> fraction_bits) << fraction_bits; }

    double decode(std::uint16_t bits) const {
        const unsigned magnitude = bits & 0x7fffu;
        const int biased = static_cast<int>(magnitude >> fraction_bits);
        const unsigned fraction = magnitude & ((1u << fraction_bits) - 1);
        double value;
        if (magnitude == infinity())
            value = std::numeric_limits<double>::infinity();
        else if (magnitude > infinity())
            value = std::numeric_limits<double>::quiet_NaN();
        else if (biased == 0)
            value = std::ldexp(fraction, min_exponent() - fraction_bits);
        else
            value = std::ldexp(fraction + (1u << fraction_bits), biased - bias - fraction_bits);
        return bits & 0x8000u ? -value : value;
    }

    // Round to nearest, ties to even; not for NaN.
    std::uint16_t encode(double value) const {
        const unsigned sign = std::signbit(value) ? 0x8000u : 0;
        value = std::fabs(value);
        if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity());
        const int exponent =
            value == 0 ? min_exponent() : std::max(std::ilogb(value), min_exponent());
        // In units of the last place; nearbyint rounds ties to even. A carry to the next power of
        // two gives the right bits by itself, up to infinity.
        const double units = std::nearbyint(std::ldexp(value, fraction_bits - exponent));
        const double magnitude = units + std::ldexp(exponent - min_exponent(), fraction_bits);
        return static_cast<std::uint16_t>(
            sign | std::min<unsigned>(static_cast<unsigned>(magnitude), infinity()));
    }
};
constexpr Format half{10, 15}, bfloat{7, 127};

// Every value of a format, what lies half way to the next one, and the nearest floats on both
// sides: all places where rounding can go wrong. Then random bit patterns.
std::vector<float> interesting_floats(const Format &format) {
    std::vector<float> values;
    const float inf = std::numeric_limits<float>::infinity();
    for (unsigned bits = 0; bits < format.infinity(); ++bits) {
        const double low = format.decode(static_cast<std::uint16_t>(bits));
        // Past the largest value comes what would be the next one if the exponent went on.
        const double high = bits + 1 < format.infinity()
                                ? format.decode(static_cast<std::uint16_t>(bits + 1))
                                : 2 * low - format.decode(static_cast<std::uint16_t>(bits - 1));
        for (const double exact : {low, (low + high) / 2}) {
            const float value = static_cast<float>(exact);
            for (const float x :
                 {value, std::nextafterf(value, inf), std::nextafterf(value, -inf)}) {
                values.push_back(x);
                values.push_back(-x);
            }
        }
    }
    values.insert(values.end(), {inf, -inf, std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::denorm_min()});
    std::mt19937 random(20240607);
    for (int i = 0; i < 1'000'000; ++i) {
        const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (!std::isnan(value)) values.push_back(value);
    }
    return values;
}

bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

void check_decode(const Format &format, float (*decode)(std::uint16_t)) {
    int wrong = 0;
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        const double expected = format.decode(pattern);
        const float got = decode(pattern);
        wrong += std::isnan(expected) ? !std::isnan(got) || std::signbit(got) != (bits >> 15 != 0)
                                      : !same(got, static_cast<float>(expected));
    }
    CHECK(wrong == 0);
}

void check_encode(const Format &format, std::uint16_t (*encode)(float)) {
    int wrong = 0;
    for (const float value : interesting_floats(format)) {
        const bool right = encode(value) == format.encode(value);
        if (!right && wrong++ == 0) {
            CAPTURE(value);
            CHECK(encode(value) == format.encode(value));
        }
    }
    CHECK(wrong == 0);
}

// Doubles whose nearest float is, or is next to, a value or a half-way point of the format:
// rounding to float first and then again would go wrong there.
void check_encode_double(const Format &format, std::uint16_t (*encode)(double)) {
    int wrong = 0;
    const auto check = [&](double value) {
        wrong += encode(value) != format.encode(value);
        wrong += encode(-value) != format.encode(-value);
    };
    const double inf = std::numeric_limits<double>::infinity();
    for (unsigned bits = 0; bits + 1 < format.infinity(); ++bits) {
        const double low = format.decode(static_cast<std::uint16_t>(bits));
        const double high = format.decode(static_cast<std::uint16_t>(bits + 1));
        for (const double exact : {low, (low + high) / 2}) {
            check(exact);
            check(std::nextafter(exact, inf));
            check(std::nextafter(exact, -inf));
            for (const int scale : {-23, -24, -25, -26, -40}) {
                check(exact + std::ldexp(high - low, scale + format.fraction_bits));
                check(exact - std::ldexp(high - low, scale + format.fraction_bits));
            }
        }
    }
    std::mt19937_64 random(20240607);
    for (int i = 0; i < 200'000; ++i) {
        const double value = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
        if (!std::isnan(value)) check(value);
        check(
            std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 90));
    }
    for (const double value : {0.0, inf, 65519.999999999, 65520.0, 1e300, 1e-300, 3.4028235e38,
                               3.39e38, 3.4e38, 1e39, 1e-45, 1e-46, 5e-324})
        check(value);
    CHECK(wrong == 0);
    CHECK((encode(std::numeric_limits<double>::quiet_NaN()) & 0x7fffu) > format.infinity());
}

void check_nan(const Format &format, std::uint16_t (*encode)(float)) {
    const std::uint16_t quiet = static_cast<std::uint16_t>(1u << (format.fraction_bits - 1));
    int wrong = 0;
    for (std::uint32_t payload = 1; payload <= 0x7fffff; payload += payload < 4096 ? 1 : 997)
        for (const std::uint32_t sign : {0u, 0x80000000u}) {
            const std::uint16_t got = encode(std::bit_cast<float>(sign | 0x7f800000u | payload));
            wrong += (got & 0x7fffu) <= format.infinity() || !(got & quiet) ||
                     (got >> 15) != (sign >> 31);
        }
    CHECK(wrong == 0);
}

bool has_f16c() {
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & (1u << 29)) && (ecx & (1u << 27));
#else
    return false;
#endif
}

} // namespace

TEST_CASE("float16 to float is exact for all 65536 patterns") {
    check_decode(half, portable_conversions.half_to_float);
    if (has_f16c()) check_decode(half, f16c_conversions.half_to_float);
}

TEST_CASE("float to float16 rounds to nearest even") {
    check_encode(half, portable_conversions.float_to_half);
    if (has_f16c()) check_encode(half, f16c_conversions.float_to_half);
}

TEST_CASE("float16 NaN stays a quiet NaN of the same sign") {
    check_nan(half, portable_conversions.float_to_half);
    if (has_f16c()) check_nan(half, f16c_conversions.float_to_half);
}

TEST_CASE("bfloat16 to float is exact for all 65536 patterns") {
    check_decode(bfloat, portable_conversions.bfloat_to_float);
}

TEST_CASE("float to bfloat16 rounds to nearest even") {
    check_encode(bfloat, portable_conversions.float_to_bfloat);
}

TEST_CASE("bfloat16 NaN stays a quiet NaN of the same sign") {
    check_nan(bfloat, portable_conversions.float_to_bfloat);
}

TEST_CASE("double to 16 bits rounds once") {
    check_encode_double(half, portable_conversions.double_to_half);
    check_encode_double(bfloat, portable_conversions.double_to_bfloat);
    if (has_f16c()) check_encode_double(half, f16c_conversions.double_to_half);
}

TEST_CASE("portable and F16C conversions agree bit for bit, NaN included") {
    if (!has_f16c()) return;
    int wrong = 0;
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        wrong += !same(portable_conversions.half_to_float(pattern),
                       f16c_conversions.half_to_float(pattern));
    }
    std::mt19937 random(4);
    for (int i = 0; i < 1'000'000; ++i) {
        // Half of them NaN.
        const std::uint32_t bits = static_cast<std::uint32_t>(random()) | (i % 2 ? 0x7f800000u : 0);
        const float value = std::bit_cast<float>(bits);
        wrong += portable_conversions.float_to_half(value) != f16c_conversions.float_to_half(value);
    }
    CHECK(wrong == 0);
}

#if defined(__FLT16_MAX__)
TEST_CASE("float16 agrees with the compiler's _Float16") {
    int wrong = 0;
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        const float expected = static_cast<float>(std::bit_cast<_Float16>(pattern));
        const float got = portable_conversions.half_to_float(pattern);
        wrong += std::isnan(expected) ? !std::isnan(got) : !same(got, expected);
    }
    for (const float value : interesting_floats(half)) {
        const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
        wrong += portable_conversions.float_to_half(value) != expected;
    }
    CHECK(wrong == 0);
}
#endif
