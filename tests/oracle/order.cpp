// One line per function in tables, keyed by its id; a function of the list without a line does not
// compile.
#include "order.h"

#include "elementwise.h"
#include "reduce.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

namespace oracle {

// ---- running sums and products -----------------------------------------------------------------

namespace {

// Element k is the reduction of elements 0 … k. How far it may be off grows with k: sums are taken
// in order. float32 sums are accumulated in float64.
std::vector<Expected> running_sums(int dtype, const std::vector<Value> &elements) {
    const bool single = facts[dtype].part == ATOLL_DTYPE_FLOAT32;
    const long double unit = epsilon(single ? int{ATOLL_DTYPE_FLOAT64} : compute_part(dtype));
    std::vector<Expected> results;
    __int128 whole = 0;
    Complex total = 0;
    long double size = 0;
    for (const Value &v : elements) {
        if (v.integer) {
            whole = wrap(whole + v.i, dtype);
            results.push_back({Value::of(whole)});
            continue;
        }
        const Complex z(v.re, v.im);
        total = results.empty() ? z : total + z; // 0 + -0 would be 0
        for (const long double part : {v.re, v.im})
            if (std::isfinite(part)) size += std::fabs(part);
        const long double steps = static_cast<long double>(results.size()) + 1;
        results.push_back({Value::of(total.real(), total.imag()), steps * unit * size, false});
    }
    return results;
}
std::vector<Expected> running_products(int dtype, const std::vector<Value> &elements) {
    std::vector<Expected> results;
    const long double unit = epsilon(compute_part(dtype));
    // Step by step, as reduce_product does.
    __int128 whole = 1;
    Complex total = 1;
    bool open = false;
    for (const Value &v : elements) {
        if (v.integer) {
            whole = wrap(wrapped_product(whole, v.i), dtype);
            results.push_back({Value::of(whole)});
            continue;
        }
        const Complex z(v.re, v.im);
        open |= is_complex(dtype) && !finite(z);
        total = is_complex(dtype) ? Complex(total.real() * z.real() - total.imag() * z.imag(),
                                            total.real() * z.imag() + total.imag() * z.real())
                                  : Complex(total.real() * z.real());
        const long double steps = static_cast<long double>(results.size()) + 1;
        Expected e = {Value::of(total.real(), total.imag()),
                      finite(total) ? 4 * steps * std::abs(total) * unit : 0.0L, true};
        e.open = open;
        e.zeros = !is_complex(dtype) || total == Complex(0);
        e.signs = !is_complex(dtype);
        results.push_back(e);
    }
    return results;
}

struct ScanLine {
    int function;
    std::vector<Expected> (*expect)(int dtype, const std::vector<Value> &);
};
constexpr ScanLine scan_lines[] = {
    {ATOLL_FN_cumsum, running_sums},
    {ATOLL_FN_cumprod, running_products},
};
static_assert(complete(scan_lines, is_scan));

} // namespace

std::vector<Expected> scan(int function, int dtype, std::vector<Value> elements) {
    for (Value &v : elements) v = convert(v, dtype);
    return line_of(scan_lines, function).expect(dtype, elements);
}

// ---- order -------------------------------------------------------------------------------------

bool before(const Value &a, const Value &b) {
    if (a.integer && b.integer) return a.i < b.i;
    if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
    return a.real() < b.real() || (a.real() == b.real() && a.im < b.im);
}
std::vector<std::int64_t> sorting(const std::vector<Value> &elements, bool descending) {
    std::vector<std::int64_t> positions(elements.size());
    std::iota(positions.begin(), positions.end(), 0);
    std::stable_sort(positions.begin(), positions.end(), [&](std::int64_t p, std::int64_t q) {
        const Value &a = elements[static_cast<std::size_t>(p)],
                    &b = elements[static_cast<std::size_t>(q)];
        if (!descending || is_nan(a) || is_nan(b)) return before(a, b);
        return before(b, a);
    });
    return positions;
}

namespace {

struct SortLine {
    int function;
    Value (*expect)(const std::vector<Value> &elements, std::int64_t position);
};
constexpr SortLine sort_lines[] = {
    {ATOLL_FN_sort,
     [](const std::vector<Value> &elements, std::int64_t position) {
         return elements[static_cast<std::size_t>(position)];
     }},
    {ATOLL_FN_argsort, [](const std::vector<Value> &,
                          std::int64_t position) { return Value::of(__int128{position}); }},
};
static_assert(complete(sort_lines, is_sort));

} // namespace

std::vector<Value> sort(int function, int dtype, std::vector<Value> elements, bool descending) {
    for (Value &v : elements) v = convert(v, dtype);
    std::vector<Value> results;
    for (std::int64_t position : sorting(elements, descending))
        results.push_back(line_of(sort_lines, function).expect(elements, position));
    return results;
}

namespace {

struct SearchLine {
    int function;
    std::int64_t (*expect)(const Value &, const std::vector<Value> &sorted, bool right);
};
constexpr SearchLine search_lines[] = {
    {ATOLL_FN_searchsorted,
     [](const Value &value, const std::vector<Value> &sorted, bool right) -> std::int64_t {
         return std::count_if(sorted.begin(), sorted.end(), [&](const Value &v) {
             return right ? !before(value, v) : before(v, value);
         });
     }},
};
static_assert(complete(search_lines, is_search));

} // namespace

std::int64_t search(int function, int dtype, const Value &value, std::vector<Value> sorted,
                    bool right) {
    for (Value &v : sorted) v = convert(v, dtype);
    return line_of(search_lines, function).expect(convert(value, dtype), sorted, right);
}

// ---- positions ---------------------------------------------------------------------------------

namespace {

struct FindLine {
    int function;
    bool (*expect)(const Value &);
};
constexpr FindLine find_lines[] = {
    {ATOLL_FN_find, [](const Value &v) { return v.truth(); }},
};
static_assert(complete(find_lines, is_find));

} // namespace

std::vector<std::int64_t> find(int function, int dtype, const std::vector<Value> &elements) {
    std::vector<std::int64_t> positions;
    for (std::size_t k = 0; k < elements.size(); ++k)
        if (line_of(find_lines, function).expect(convert(elements[k], dtype)))
            positions.push_back(static_cast<std::int64_t>(k));
    return positions;
}

} // namespace oracle
