// Arguments to measure at: see samples.h.
#include "samples.h"

#include "atoll/abi/module.h"

#include <algorithm>

namespace accuracy {
namespace {

// Draws real parts of one dtype.
class Parts {
public:
    Parts(int part, Random &random) : part_(part), format_(format_of(part)), random_(random) {}

    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
    }
    double sign() { return random_() % 2 ? 1 : -1; }
    double round(double value) { return rounded(part_, value); }

    // Any bit pattern.
    double bits() {
        const std::uint64_t pattern = random_();
        char element[8];
        std::memcpy(element, &pattern, 8);
        return load_part(part_, element);
    }
    double finite_bits() {
        for (;;)
            if (const double value = bits(); std::isfinite(value)) return value;
    }
    // Either sign, the exponent evenly in [low, high].
    double exponents(double low, double high) {
        return round(sign() * std::exp2(std::clamp(uniform(low, high), format_.emin - 60.0,
                                                   format_.emax + 0.999)));
    }
    // `to` times 1 ± 2^-k for any k: as near as a last place, or as far as a factor of 2.
    double near(double to) {
        return round(to + to * sign() * std::exp2(-uniform(1, format_.digits + 1)));
    }
    // Near a multiple of pi/2, small or as large as the dtype has its neighbours within a radian.
    double near_half_turns() {
        const double turns = std::floor(std::exp2(uniform(0, std::min(format_.digits, 50))));
        const double place = std::exp2(std::floor(std::log2(turns)) - format_.digits);
        return round(sign() * (turns + place * static_cast<double>(below(3) - 1)) *
                     1.57079632679489661923132169163975);
    }
    // Where exponentials and powers overflow, underflow or become subnormal.
    double near_threshold() {
        const double top = format_.emax + 1, bottom = format_.emin, last = bottom - format_.digits;
        const double logarithms[] = {top,
                                     bottom,
                                     last,
                                     top + 1,
                                     -format_.digits / 1.0,
                                     format_.digits / 1.0,
                                     format_.digits / 2.0};
        const double scale[] = {1, 0.693147180559945309, 0.301029995663981195};
        const double value =
            logarithms[below(std::size(logarithms))] * scale[below(std::size(scale))];
        return random_() % 2 ? near(value) : round(value * (1 + 1e-3 * uniform(-1, 1)));
    }
    double subnormal() {
        const double unit = std::ldexp(1.0, format_.emin - format_.digits + 1);
        return sign() * unit * std::floor(std::exp2(uniform(0, format_.digits - 1)));
    }
    // Powers of 2 and 10, integers and halves: often exact, so that nothing but the exact is right.
    double round_number() {
        switch (below(3)) {
        case 0:
            return round(sign() * std::ldexp(1.0, static_cast<int>(
                                                      format_.emin - 20 +
                                                      below(format_.emax - format_.emin + 20))));
        case 1: return round(sign() * std::pow(10.0, static_cast<double>(below(40) - 20)));
        default: return round(0.5 * static_cast<double>(below(2000) - 1000));
        }
    }
    static constexpr int regions = 10;
    double from(int region) {
        switch (region) {
        case 0: return bits();
        case 1: return round(uniform(-1, 1));
        case 2: return round(uniform(-12, 12));
        case 3: return exponents(-format_.digits - 4, 12);
        case 4: return near(sign());
        case 5: return near_half_turns();
        case 6: return near_threshold();
        case 7: return subnormal();
        case 8: return round_number();
        default: return round(uniform(-1.1, 1.1) * format_.emax);
        }
    }
    double any() { return from(static_cast<int>(below(regions))); }
    double any_finite() {
        for (;;)
            if (const double value = any(); std::isfinite(value)) return value;
    }
    std::vector<double> special(bool finite) {
        const double most = std::ldexp(2 - std::ldexp(1.0, 1 - format_.digits), format_.emax);
        std::vector<double> values = {0,
                                      std::ldexp(1.0, format_.emin - format_.digits + 1),
                                      std::ldexp(1.0, format_.emin),
                                      0.5,
                                      1 - std::ldexp(1.0, -format_.digits),
                                      1,
                                      1 + std::ldexp(1.0, 1 - format_.digits),
                                      2,
                                      3,
                                      1e4,
                                      most};
        // The nearest to multiples of pi / 2 below 2^24, by 9e-10 and 2e-7 of a last place.
        if (format_.digits == 53)
            for (const double near : {0x1.b951f1572eba5p+23, 0x1.9eb7148f354d6p+20,
                                      0x1.9eb7148f354d6p+23, 0x1.d3ecce1f28274p+22})
                values.push_back(near);
        if (!finite) values.push_back(INFINITY);
        if (!finite) values.push_back(NAN);
        for (std::size_t k = values.size(); k-- > 0;) values.push_back(-values[k]);
        return values;
    }
    Format format() const { return format_; }

private:
    int part_;
    Format format_;
    Random &random_;
};

// Numbers near what complex functions have singularities, cuts and zeros at.
Number complex_sample(int function, Parts &parts) {
    const Format format = parts.format();
    switch (parts.below(10)) {
    case 0: return {parts.any_finite(), parts.any_finite()};
    case 1: return {parts.round(parts.uniform(-12, 12)), parts.round(parts.uniform(-12, 12))};
    case 2:
        return {parts.exponents(-format.digits - 4, 12), parts.exponents(-format.digits - 4, 12)};
    case 3: { // on a cut or beside it
        const double beside[] = {0.0, -0.0, parts.exponents(format.emin, 0), parts.subnormal()};
        const double along = parts.any_finite(), off = beside[parts.below(4)];
        return parts.below(2) ? Number(along, off) : Number(off, along);
    }
    case 4: { // near the unit circle
        const double angle = parts.uniform(-3.2, 3.2), radius = parts.near(1);
        return {parts.round(radius * std::cos(angle)), parts.round(radius * std::sin(angle))};
    }
    case 5: { // near ±1 and ±i
        const double one = parts.near(parts.sign()), zero = parts.exponents(-2 * format.digits, 0);
        return parts.below(2) ? Number(one, zero) : Number(zero, one);
    }
    case 6: { // huge or tiny in both parts
        const double exponent = parts.uniform(format.emin - format.digits, format.emax + 1);
        return {parts.exponents(exponent - 2, exponent + 2),
                parts.exponents(exponent - 2, exponent + 2)};
    }
    case 7: { // beside a zero or a pole of a trigonometric or hyperbolic function
        const double turns = parts.near_half_turns(), off = parts.exponents(-format.digits - 4, 3);
        return parts.below(2) ? Number(turns, off) : Number(off, turns);
    }
    case 8: { // where the real part of log1p or expm1 is near its zero
        const double away = parts.uniform(-3.5, 3.5) * std::exp2(-parts.uniform(0, format.digits));
        const double angle = parts.below(2) ? away : away + std::acos(-1.0);
        const double half = std::sin(angle / 2), cos = std::fabs(std::cos(angle));
        if (function == ATOLL_FN_log1p)
            return {parts.near(-2 * half * half), parts.round(std::sin(angle))};
        // Closer than this float128 may lose too many digits.
        const double off = std::exp2(-parts.uniform(1, format.digits - 4));
        return {parts.round(-std::log(cos) * (1 + parts.sign() * off)), parts.round(angle)};
    }
    default: { // where exponentials overflow
        const double threshold = parts.near_threshold(), angle = parts.round(parts.uniform(-7, 7));
        return parts.below(2) ? Number(threshold, angle) : Number(angle, threshold);
    }
    }
}

// Pairs for pow: powers over the whole range of results, most with a base near 1.
Arguments pow_sample(Parts &parts) {
    const Format format = parts.format();
    double base = parts.below(2) ? parts.near(1) : parts.exponents(format.emin, format.emax);
    if (parts.below(8)) base = std::fabs(base);
    double exponent;
    switch (parts.below(4)) {
    case 0: exponent = parts.any(); break;
    case 1: exponent = static_cast<double>(parts.below(41) - 20); break;
    default:
        exponent = parts.below(2) ? parts.uniform(-1.1, 1.1) * format.emax
                                  : parts.sign() * (format.emax + 1 + parts.uniform(-1, 1));
        exponent = parts.round(exponent / std::log2(std::fabs(base)));
        if (base < 0) exponent = std::trunc(exponent);
    }
    return {base, parts.round(exponent)};
}

Arguments real_pair(int function, Parts &parts) {
    if (function == ATOLL_FN_pow && parts.below(4)) return pow_sample(parts);
    const Format format = parts.format();
    const double a = parts.any();
    switch (parts.below(5)) {
    case 0: return {a, parts.any()};
    case 1: { // of like magnitude: cancellation, quotients near 1
        const double b = parts.round(a * std::exp2(parts.uniform(-3, 3)));
        return {a, parts.below(2) ? b : -b};
    }
    case 2: return {a, parts.near(parts.sign() * a)};
    case 3: { // a is nearly a multiple of b
        const double b = parts.exponents(-20, 20);
        return {parts.near(parts.round(b * static_cast<double>(parts.below(100000) - 50000))), b};
    }
    default: { // results near the ends of the range, subnormal ones included
        const double x = parts.exponents(format.emin, format.emax);
        const double end = parts.below(2) ? format.emax + 1 : format.emin - format.digits / 2.0;
        const double y = end - std::log2(std::fabs(x));
        return {x,
                parts.exponents(parts.below(2) ? y - 8 : -y - 8, parts.below(2) ? y + 8 : -y + 8)};
    }
    }
}

Arguments complex_pair(int function, Parts &parts) {
    const Format format = parts.format();
    if (function == ATOLL_FN_pow) {
        const auto within = [&](double size) { return parts.round(parts.uniform(-size, size)); };
        const Number base = parts.below(2)
                                ? Number(within(4), within(4))
                                : Number(parts.exponents(-30, 10), parts.exponents(-30, 10));
        const double small = format.emax / 12.0;
        switch (parts.below(8)) {
        case 4: // bases of any size
            return {
                {parts.exponents(-small * 8, small * 8), parts.exponents(-small * 8, small * 8)},
                {within(1), within(0.1)}};
        case 5: // of real numbers
            return {{within(4), parts.sign() * 0.0},
                    {parts.below(2) ? within(8) : std::floor(within(120)), parts.sign() * 0.0}};
        case 6: { // a result beside an axis
            const double u = within(6), log_size = std::log(std::abs(base));
            const double turns = static_cast<double>(parts.below(16) - 8) * std::acos(0.0);
            return {base, {u, parts.near((turns - u * std::arg(base)) / log_size)}};
        }
        case 7: return {base, {parts.exponents(-60, 0), parts.exponents(-60, 0)}};
        case 0: return {base, {static_cast<double>(parts.below(21) - 10), 0.0}};
        case 1: return {base, {within(8), 0.0}};
        case 2: return {{parts.near(1), parts.exponents(-20, -2)}, {within(30), within(30)}};
        default: return {base, {within(6), within(6)}};
        }
    }
    if (function == ATOLL_FN_add || function == ATOLL_FN_subtract)
        return {complex_sample(function, parts), complex_sample(function, parts)};
    // The product is the plain one, whose parts must not leave the range on the way; quotients are
    // asked for wherever they are in range.
    const bool product = function == ATOLL_FN_multiply;
    const double low = product ? format.emin / 2.2 : format.emin - format.digits + 1;
    const double high = product ? format.emax / 2.2 : format.emax + 0.9;
    const auto number = [&](double exponent, double spread) {
        const auto part = [&] {
            return parts.exponents(std::max(low, exponent - spread),
                                   std::min(high, exponent + spread));
        };
        const double re = part();
        return Number(re, part());
    };
    const double spreads[] = {1, 4, 30, 2000};
    const double a = parts.uniform(low, high), b = parts.below(2) ? a : parts.uniform(low, high);
    const Number x = number(a, spreads[parts.below(4)]);
    return {x, number(b, spreads[parts.below(4)])};
}

} // namespace

Samples unary_samples(int function, int dtype, std::int64_t count, Random &random) {
    Parts parts(dtypes[dtype].part, random);
    Samples samples;
    if (!is_complex(dtype)) {
        for (const double a : parts.special(false)) samples.push_back({a, 0});
        while (std::ssize(samples) < count) samples.push_back({parts.any(), 0});
        return samples;
    }
    // The plain square must not leave the range on the way.
    const bool plain = function == ATOLL_FN_square;
    if (!plain)
        for (const double re : parts.special(true))
            for (const double im : parts.special(true)) samples.push_back({{re, im}, 0});
    while (std::ssize(samples) < count)
        samples.push_back(
            {plain ? complex_pair(ATOLL_FN_multiply, parts).a : complex_sample(function, parts),
             0});
    return samples;
}

Samples binary_samples(int function, int dtype, std::int64_t count, Random &random) {
    Parts parts(dtypes[dtype].part, random);
    Samples samples;
    if (!is_complex(dtype))
        for (const double a : parts.special(false))
            for (const double b : parts.special(false)) samples.push_back({a, b});
    while (std::ssize(samples) < count)
        samples.push_back(is_complex(dtype) ? complex_pair(function, parts)
                                            : real_pair(function, parts));
    for (Arguments &arguments : samples) // what is out of range in binary16 is infinite
        for (Number *number : {&arguments.a, &arguments.b})
            *number = {parts.round(number->real()), parts.round(number->imag())};
    return samples;
}

Samples all_patterns(int dtype, std::uint64_t step, Random &random) {
    const std::uint64_t end = std::uint64_t{1} << (8 * dtypes[dtype].size);
    Samples samples;
    for (std::uint64_t pattern = step > 1 ? random() % step : 0; pattern < end; pattern += step) {
        char element[8];
        std::memcpy(element, &pattern, 8);
        samples.push_back({load(dtype, element), 0});
    }
    return samples;
}

} // namespace accuracy
