// Reads the file that make_expectations.py writes, and compares elements with it.
#pragma once

#include "../oracle/operand.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace golden {

using oracle::Shape;
using oracle::Value;

struct Array {
    int dtype = 0;
    Shape shape;
    const char *data = nullptr; // column-major, native
    std::int64_t size() const { return oracle::elements(shape); }
    const char *at(std::int64_t position) const {
        return data + position * oracle::facts[dtype].size;
    }
};

struct Case {
    std::string name;
    std::vector<const Array *> inputs;
    bool axes_given = false;
    std::vector<int> axes;
    bool flag = false; // keepdims, descending, right, endpoint
    std::vector<atoll_scalar> numbers;
    bool fails = false; // an error is expected; the rest is empty
    const Array *result = nullptr, *mask = nullptr;
    double ulps = 0;
    bool by_modulus = false;
};

// Bits of a mask's element: what is not compared.
enum : unsigned { mask_signs = 1, mask_anything = 2 };

class File {
public:
    explicit File(const char *path) {
        std::ifstream stream(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(stream), {});
        if (std::string(take(8), 8) != "ATGOLDEN") throw std::runtime_error("no golden file");
        arrays_.resize(number<std::uint32_t>());
        cases.resize(number<std::uint32_t>());
        for (Array &array : arrays_) read(array);
        for (Case &c : cases) read(c);
        if (next_ != bytes_.size()) throw std::runtime_error("the golden file is too long");
    }
    std::vector<Case> cases;

private:
    const char *take(std::size_t count) {
        if (bytes_.size() - next_ < count) throw std::runtime_error("the golden file is cut");
        next_ += count;
        return bytes_.data() + next_ - count;
    }
    template <class T> T number() { return oracle::raw<T>(take(sizeof(T))); }
    int small() { return static_cast<int>(number<std::uint32_t>()); }

    void read(Array &array) {
        array.dtype = small();
        array.shape.resize(number<std::uint32_t>());
        for (std::int64_t &extent : array.shape) extent = number<std::int64_t>();
        array.data = take(number<std::uint64_t>());
    }
    void read(Case &c) {
        const std::size_t length = number<std::uint32_t>();
        c.name = std::string(take(length), length);
        c.inputs.resize(number<std::uint32_t>());
        for (const Array *&input : c.inputs) input = &arrays_.at(number<std::uint32_t>());
        const auto axes = number<std::int32_t>();
        c.axes_given = axes >= 0;
        for (int i = 0; i < axes; ++i) c.axes.push_back(number<std::int32_t>());
        c.flag = number<std::uint32_t>();
        c.numbers.resize(number<std::uint32_t>());
        for (atoll_scalar &x : c.numbers) {
            x = {number<std::uint32_t>(), 0, 0, {}};
            std::memcpy(x.value.bytes, take(16), 16);
        }
        c.fails = number<std::uint32_t>();
        if (c.fails) return;
        c.result = &arrays_.at(number<std::uint32_t>());
        const auto mask = number<std::uint32_t>();
        if (mask != UINT32_MAX) c.mask = &arrays_.at(mask);
        c.ulps = number<double>();
        c.by_modulus = number<std::uint32_t>();
    }

    std::vector<char> bytes_;
    std::size_t next_ = 0;
    std::vector<Array> arrays_;
};

// A floating part dtype: the significand's digits, the exponents of the smallest number's unit and
// of what comes after the largest.
struct Format {
    int digits, lowest, end;
};
inline Format format_of(int part) {
    switch (part) {
    case ATOLL_DTYPE_FLOAT16: return {11, -24, 16};
    case ATOLL_DTYPE_BFLOAT16: return {8, -133, 128};
    case ATOLL_DTYPE_FLOAT32: return {24, -149, 128};
    default: return {53, -1074, 1024};
    }
}
// Spacing of the part dtype's numbers around x; 0 for integers.
inline long double unit(long double x, int part) {
    if (oracle::epsilon(part) == 0) return 0;
    const Format format = format_of(part);
    int exponent = format.lowest;
    if (x != 0 && std::isfinite(x)) std::frexp(x, &exponent);
    return std::ldexp(1.0L, std::max(exponent - format.digits, format.lowest));
}
// What would come after the largest number, in place of an infinity.
inline long double clamped(long double x, int part) {
    return std::isinf(x) ? std::copysign(std::ldexp(1.0L, format_of(part).end), x) : x;
}

// Is `got`, of dtype `to`, what `want`, of dtype `from`, becomes there? The bound is in units of
// `from`; the conversion may then fall on either side.
inline bool agrees(const Value &got, const Value &want, int from, int to, double ulps,
                   bool by_modulus, unsigned mask) {
    if (mask & mask_anything) return true;
    if (want.integer) ulps = 0;
    const Value target = oracle::convert(want, to);
    const int part_from = oracle::facts[from].part, part_to = oracle::facts[to].part;
    long double size = 0;
    if (by_modulus)
        for (long double x : {want.re, want.im})
            if (std::isfinite(x)) size = std::max(size, std::fabs(x));
    const auto bound = [&](long double x) {
        const long double scale = std::max(size, std::isfinite(x) ? std::fabs(x) : 0);
        return ulps * unit(scale, part_from) + (from != to ? unit(scale, part_to) : 0);
    };
    if (got.integer || target.integer) {
        if (got.integer != target.integer) return false;
        if (got.i == target.i) return true;
        if (ulps == 0) return false;
        if (to == ATOLL_DTYPE_BOOL) return std::fabs(want.re) <= bound(want.re);
        const long double distance =
            std::fabs(static_cast<long double>(got.i) - static_cast<long double>(target.i));
        return distance <= 1 + bound(want.real());
    }
    const auto part = [&](long double x, long double y, long double exact) {
        if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
        if (x == y && (x != 0 || std::signbit(x) == std::signbit(y))) return true;
        if (mask & mask_signs && ((x == 0 && y == 0) || (std::isinf(x) && std::isinf(y))))
            return true;
        if (ulps == 0 || (x == 0 && y == 0 && exact == 0)) return false;
        return std::fabs(clamped(x, part_to) - clamped(y, part_to)) <= bound(exact);
    };
    return part(got.re, target.re, want.real()) && part(got.im, target.im, want.im);
}

inline std::string text(const char *element, int dtype) {
    const Value v = oracle::read(element, dtype);
    if (v.integer)
        return dtype == ATOLL_DTYPE_UINT64 ? std::to_string(static_cast<std::uint64_t>(v.i))
                                           : std::to_string(static_cast<std::int64_t>(v.i));
    char buffer[100];
    if (oracle::is_complex(dtype))
        std::snprintf(buffer, sizeof buffer, "(%.17Lg, %.17Lg)", v.re, v.im);
    else
        std::snprintf(buffer, sizeof buffer, "%.17Lg", v.re);
    return buffer;
}

} // namespace golden
