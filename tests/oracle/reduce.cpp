// One line per function in a table, keyed by its id; a function of the list without a line does not
// compile. Integers are exact; sums and products of floats are taken in long double, with a
// tolerance relative to the sum of the moduli, which any sensible order of additions keeps.
#include "reduce.h"

#include "elementwise.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace oracle {

namespace {

// Units in the last place, of what the dtype accumulates in, that a sum may be off relative to the
// sum of the moduli. A running sum of many elements is off by far more.
constexpr long double sum_ulps = 16;
// Those that a variance may be off, however many deviations the mean is.
constexpr long double variance_ulps = 4;

// The elements of one reduction, in the compute dtype and in order, and the numbers of the call.
struct Reduction {
    int function, dtype;
    std::vector<Value> elements;
    Value x;

    bool integers() const { return is_integer(dtype) || dtype == ATOLL_DTYPE_BOOL; }
    int natural() const { return result_dtype(function, dtype); }
    // Of the dtype that is accumulated in, near 1.
    long double unit() const { return epsilon(compute_part(dtype)); }
    auto count() const { return static_cast<long double>(elements.size()); }
};

bool is_inf(const Value &v) { return !v.integer && (std::isinf(v.re) || std::isinf(v.im)); }
Expected number(long double x, long double tolerance = 0) {
    return {Value::of(x, 0.0L), tolerance, false};
}
// The modulus, of the part dtype; exact for reals and integers.
Value modulus(const Value &v, int dtype) { return unary(ATOLL_FN_abs, dtype, v).value; }

Expected reduce_sum(const Reduction &r) {
    if (r.integers()) {
        __int128 total = 0;
        for (const Value &v : r.elements) total = wrap(total + v.i, ATOLL_DTYPE_UINT64);
        return {Value::of(wrap(total, r.natural()))};
    }
    Complex total = 0;
    long double size = 0;
    for (const Value &v : r.elements) {
        total += Complex(v.re, v.im);
        for (const long double part : {v.re, v.im})
            if (std::isfinite(part)) size += std::fabs(part);
    }
    return {Value::of(total.real(), total.imag()), sum_ulps * size * r.unit(), false};
}
Expected reduce_product(const Reduction &r) {
    if (r.integers()) {
        __int128 total = 1;
        for (const Value &v : r.elements)
            total = wrap(wrapped_product(total, v.i), ATOLL_DTYPE_UINT64);
        return {Value::of(wrap(total, r.natural()))};
    }
    Complex total = 1;
    bool finite_parts = true, zero = false;
    for (const Value &v : r.elements) {
        const Complex z(v.re, v.im);
        total = is_complex(r.dtype) ? Complex(total.real() * z.real() - total.imag() * z.imag(),
                                              total.real() * z.imag() + total.imag() * z.real())
                                    : Complex(total.real() * z.real());
        finite_parts &= finite(z);
        zero |= z == Complex(0);
    }
    Expected e = {Value::of(total.real(), total.imag()),
                  finite(total) ? 4 * r.count() * std::abs(total) * r.unit() : 0.0L, zero};
    // Which parts are NaN, and the signs of zeros, depend on the order of complex products; so does
    // what becomes of one that leaves the range.
    const int part = compute_part(r.dtype);
    finite_parts &= finite(Complex(round_part(total.real(), part), round_part(total.imag(), part)));
    e.open = is_complex(r.dtype) && !finite_parts;
    e.signs = !is_complex(r.dtype);
    return e;
}
// The position of the smallest (largest) element, of the first among equals; of the first NaN.
std::size_t extreme(const std::vector<Value> &elements, bool largest) {
    std::size_t best = 0;
    for (std::size_t k = 0; k < elements.size(); ++k) {
        if (is_nan(elements[k])) return k;
        const Value &v = elements[k], &b = elements[best];
        if (v.integer ? (largest ? v.i > b.i : v.i < b.i) : (largest ? v.re > b.re : v.re < b.re))
            best = k;
    }
    return best;
}
// Which of two zeros is the smaller one is not said.
Expected extreme_value(const Reduction &r, bool largest) {
    if (r.elements.empty()) return number(NAN);
    Expected e = {r.elements[extreme(r.elements, largest)]};
    e.signs = e.value.re != 0;
    return e;
}
Reduction moduli(Reduction r) {
    for (Value &v : r.elements) v = modulus(v, r.dtype);
    return r;
}
Expected extreme_modulus(const Reduction &r, bool largest) {
    Expected e = extreme_value(moduli(r), largest);
    if (is_complex(r.dtype) && std::isfinite(e.value.re))
        e.tolerance = 4 * ulp(e.value.re, compute_part(r.dtype));
    return e;
}
Expected reduce_moduli(const Reduction &r) {
    Expected e = reduce_sum(moduli(r));
    if (is_complex(r.dtype)) e.tolerance *= 2;
    return e;
}
Expected reduce_mean(const Reduction &r) {
    if (r.elements.empty()) return {Value::of(NAN, is_complex(r.dtype) ? NAN : 0.0L)};
    Expected e = reduce_sum(r);
    e.value.re /= r.count(), e.value.im /= r.count();
    e.tolerance =
        e.tolerance / r.count() +
        2 * ulp(std::max(std::fabs(e.value.re), std::fabs(e.value.im)), compute_part(r.dtype));
    return e;
}
Expected count_if(const Reduction &r, bool (*test)(const Value &)) {
    return {Value::of(
        static_cast<__int128>(std::count_if(r.elements.begin(), r.elements.end(), test)))};
}
bool all_of(const Reduction &r, bool (*test)(const Value &)) {
    return std::all_of(r.elements.begin(), r.elements.end(), test);
}
Expected reduce_variance(const Reduction &r, bool root) {
    const long double divisor = r.count() - r.x.real();
    if (!(divisor > 0)) return number(NAN);
    // About one of the elements: a mean of many deviations would cost the digits that count.
    const Complex near(r.elements[0].re, r.elements[0].im);
    Complex mean = 0;
    for (const Value &v : r.elements) mean += Complex(v.re, v.im) - near;
    mean /= r.count();
    if (!finite(mean)) return number(NAN);
    long double total = 0;
    for (const Value &v : r.elements) total += std::norm(Complex(v.re, v.im) - near - mean);
    const long double variance = total / divisor,
                      tolerance = variance_ulps * ulp(variance, compute_part(r.dtype));
    if (!root) return number(variance, tolerance);
    Expected e = number(std::sqrt(variance),
                        variance_ulps * ulp(std::sqrt(variance), compute_part(r.dtype)));
    // The variance itself leaves the range.
    e.open = compute_part(r.dtype) == ATOLL_DTYPE_FLOAT32 && variance > 1e36L;
    return e;
}
Expected reduce_norm(const Reduction &r, long double power) {
    if (r.elements.empty()) return number(0);
    if (power == 0) {
        const Expected e = count_if(r, [](const Value &v) { return v.truth(); });
        return number(static_cast<long double>(e.value.i),
                      e.value.i >= 1 << 24 ? static_cast<long double>(e.value.i) * r.unit() : 0);
    }
    if (std::isinf(power)) return extreme_modulus(r, true);
    long double total = 0, largest = 0;
    bool odd = false;
    for (const Value &v : r.elements) {
        const long double size = std::hypot(v.re, v.im);
        odd |= is_nan(v) && is_inf(v);
        if (is_nan(v)) total = NAN;
        largest = std::max(largest, size);
        total += std::pow(size, power);
    }
    Expected e = number(std::pow(total, 1 / power));
    if (std::isfinite(e.value.re)) e.tolerance = sum_ulps * r.unit() * e.value.re;
    e.open = odd; // infinite by its modulus, NaN by its square
    return e;
}
struct ReduceLine {
    int function;
    Expected (*expect)(const Reduction &);
};
// clang-format off
constexpr ReduceLine reduce_lines[] = {
    {ATOLL_FN_sum, reduce_sum},
    {ATOLL_FN_prod, reduce_product},
    {ATOLL_FN_min, [](const Reduction &r) { return extreme_value(r, false); }},
    {ATOLL_FN_max, [](const Reduction &r) { return extreme_value(r, true); }},
    {ATOLL_FN_any, [](const Reduction &r) { return truth_of(!all_of(r, [](const Value &v) { return !v.truth(); })); }},
    {ATOLL_FN_all, [](const Reduction &r) { return truth_of(all_of(r, [](const Value &v) { return v.truth(); })); }},
    {ATOLL_FN_argmin, [](const Reduction &r) { return Expected{Value::of(static_cast<__int128>(extreme(r.elements, false)))}; }},
    {ATOLL_FN_argmax, [](const Reduction &r) { return Expected{Value::of(static_cast<__int128>(extreme(r.elements, true)))}; }},
    {ATOLL_FN_all_finite, [](const Reduction &r) { return truth_of(all_of(r, [](const Value &v) { return !is_nan(v) && !is_inf(v); })); }},
    {ATOLL_FN_any_inf, [](const Reduction &r) { return truth_of(!all_of(r, [](const Value &v) { return !is_inf(v); })); }},
    {ATOLL_FN_any_nan, [](const Reduction &r) { return truth_of(!all_of(r, [](const Value &v) { return !is_nan(v); })); }},
    {ATOLL_FN_mean, reduce_mean},
    {ATOLL_FN_sum_abs, reduce_moduli},
    {ATOLL_FN_min_abs, [](const Reduction &r) { return extreme_modulus(r, false); }},
    {ATOLL_FN_max_abs, [](const Reduction &r) { return extreme_modulus(r, true); }},
    {ATOLL_FN_var, [](const Reduction &r) { return reduce_variance(r, false); }},
    {ATOLL_FN_stddev, [](const Reduction &r) { return reduce_variance(r, true); }},
    {ATOLL_FN_norm, [](const Reduction &r) { return reduce_norm(r, r.x.real()); }},
    {ATOLL_FN_count_nonzero, [](const Reduction &r) { return count_if(r, [](const Value &v) { return v.truth(); }); }},
};
// clang-format on
static_assert(complete(reduce_lines, is_reduction));

} // namespace

bool is_nan(const Value &v) { return !v.integer && (std::isnan(v.re) || std::isnan(v.im)); }
bool can_skip_nan(int function) {
    const auto &s = function_list[function].signature;
    return s.attribute_count > 0 && s.attributes[s.attribute_count - 1u].name == "skip_nan";
}
bool has_number(int function) {
    return function_list[function].signature.attribute_count > can_skip_nan(function);
}

Expected reduce(int function, int dtype, const std::vector<Value> &elements, Value x,
                bool skip_nan) {
    Reduction r = {function, dtype, elements, x};
    for (Value &v : r.elements) v = convert(v, dtype);
    if (skip_nan) std::erase_if(r.elements, is_nan);
    return line_of(reduce_lines, function).expect(r);
}

Value dot(const Value *x, const Value *y, std::int64_t count, int dtype) {
    if (dtype == ATOLL_DTYPE_BOOL) {
        bool any = false;
        for (std::int64_t k = 0; k < count; ++k) any |= x[k].truth() && y[k].truth();
        return Value::of(__int128{any});
    }
    if (is_integer(dtype)) {
        __int128 sum = 0;
        for (std::int64_t k = 0; k < count; ++k)
            sum = wrap(sum + wrap(wrapped_product(x[k].i, y[k].i), dtype), dtype);
        return Value::of(sum);
    }
    long double re = 0, im = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        re += x[k].re * y[k].re - x[k].im * y[k].im;
        if (is_complex(dtype)) im += x[k].re * y[k].im + x[k].im * y[k].re;
    }
    return Value::of(re, im);
}

} // namespace oracle
