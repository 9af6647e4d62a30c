// Reductions: the elements of one result are collected, then folded by the book.
#include "kernels.hpp"
#include "wide.hpp"

#include <vector>

namespace Dummy {

namespace {

using Real = long double;

// For each index of the loop: stores operation(elements), where elements is a vector of the type
// that the arithmetic is done in, in the order of the reduced axes. Results are rounded once.
template <std::uint16_t function, class Operation>
void reduce(const atoll_call &call, const Operation &operation) {
    with_dtype<Atoll::sdk::core_functions[function].domain>(call.dtype, [&](auto element, auto) {
        std::vector<typename decltype(element)::Value> elements;
        for_each_loop(call, [&](Pointers row) {
            elements.clear();
            for_each_core(call, row, [&](Pointers at) { elements.push_back(element.load(at[1])); });
            store(row[0], widen(operation(elements)), call.operands[0].dtype);
        });
    });
}

// ddof, or p.
double parameter(const atoll_call &call) { return number<double>(call.attributes[0]); }

template <class V> std::vector<V> without_nan(const std::vector<V> &elements) {
    std::vector<V> numbers;
    for (const V a : elements)
        if (!is_nan(a)) numbers.push_back(a);
    return numbers;
}

// The same with the attribute skip_nan, which is the last one.
template <std::uint16_t function, class Operation>
void reduce_numbers(const atoll_call &call, const Operation &operation) {
    const bool skip_nan = Atoll::sdk::flag(call, call.attribute_count - 1u);
    reduce<function>(call, [&](const auto &elements) {
        return operation(skip_nan ? without_nan(elements) : elements);
    });
}

// (bool has no V & as an element of a vector: elements go by value everywhere)
template <class V> auto moduli(const std::vector<V> &elements) {
    std::vector<decltype(modulus(V{}))> result;
    for (const V a : elements) result.push_back(modulus(a));
    return result;
}

// Pairwise: every element takes part in about log2(n) roundings.
template <class V> V sum_of(const std::vector<V> &elements, std::size_t begin, std::size_t end) {
    if (end - begin == 0) return V{};
    if (end - begin == 1) return elements[begin];
    const std::size_t middle = begin + (end - begin) / 2;
    return plus(sum_of(elements, begin, middle), sum_of(elements, middle, end));
}

template <class V> V sum_of(const std::vector<V> &elements) {
    return sum_of(elements, 0, elements.size());
}

template <class V> V product_of(const std::vector<V> &elements) {
    V product{1};
    for (const V a : elements) product = times(product, a);
    return product;
}

template <class V> V mean_of(const std::vector<V> &elements) {
    const V sum = sum_of(elements);
    if constexpr (is_complex<V>) {
        const auto count = static_cast<typename V::value_type>(elements.size());
        return {sum.real() / count, sum.imag() / count};
    } else {
        return sum / static_cast<V>(elements.size());
    }
}

// Whether `next` displaces `best` for good: the first NaN stays, and the first of equals.
template <class V, class Better> bool displaces(V next, V best, const Better &better) {
    return !is_nan(best) && (is_nan(next) || better(next, best));
}

// NaN where there are none (min and max allow that with skip_nan alone).
template <class V, class Better> V best_of(const std::vector<V> &elements, const Better &better) {
    if (elements.empty()) return std::numeric_limits<V>::quiet_NaN();
    V best = elements[0];
    for (const V a : elements)
        if (displaces(a, best, better)) best = a;
    return best;
}

// The wider exponent of long double makes scaling needless for squares.
static_assert(std::numeric_limits<Real>::max_exponent > 2 * 1024 + 64);

template <class V> Real square_of(V a) {
    const Real re = std::real(a), im = std::imag(a);
    return re * re + im * im;
}

template <class V> Real norm_of(const std::vector<V> &elements, double x) {
    std::vector<Real> terms;
    if (x == 0) {
        for (const V a : elements) terms.push_back(nonzero(a));
        return sum_of(terms);
    }
    if (x == 2) {
        for (const V a : elements) terms.push_back(square_of(a));
        return std::sqrt(sum_of(terms));
    }
    if (std::isinf(x)) {
        terms.push_back(0);
        for (const V a : elements) terms.push_back(modulus(a));
        return best_of(terms, std::greater<Real>());
    }
    Real largest = 0; // finite; powers of what is at most 1 stay in range
    for (const V a : elements)
        if (const Real size = modulus(a); std::isfinite(size)) largest = std::max(largest, size);
    if (largest == 0) largest = 1;
    for (const V a : elements) terms.push_back(std::pow(modulus(a) / largest, Real{x}));
    return largest * std::pow(sum_of(terms), 1 / Real{x});
}

// The sum of squared distances from the mean / (count - correction).
template <class V> Real variance_of(const std::vector<V> &elements, double correction) {
    const Real count = static_cast<Real>(elements.size());
    if (!(count > correction)) return std::numeric_limits<Real>::quiet_NaN();
    std::vector<std::complex<Real>> numbers;
    for (const V a : elements) numbers.push_back(std::complex<Real>(a));
    const std::complex<Real> mean = mean_of(numbers);
    std::vector<Real> squares;
    for (const std::complex<Real> a : numbers) squares.push_back(square_of(a - mean));
    return sum_of(squares) / (count - correction);
}

template <class V, class Test> bool all_pass(const std::vector<V> &elements, const Test &test) {
    for (const V a : elements)
        if (!test(a)) return false;
    return true;
}

template <class V, class Test>
std::int64_t count_of(const std::vector<V> &elements, const Test &test) {
    std::int64_t count = 0;
    for (const V a : elements) count += test(a);
    return count;
}

// The position of the element that nothing displaces.
template <class Better> void arg_reduce(const atoll_call &call, const Better &better) {
    with_dtype<ATOLL_DOMAIN_ORDERED>(call.dtype, [&](auto element, auto) {
        for_each_loop(call, [&](Pointers row) {
            auto best = element.load(row[1]);
            std::int64_t position = 0, best_position = 0;
            for_each_core(call, row, [&](Pointers at) {
                const auto next = element.load(at[1]);
                if (displaces(next, best, better)) {
                    best = next;
                    best_position = position;
                }
                ++position;
            });
            Element<ATOLL_DTYPE_INT64>::store(row[0], best_position);
        });
    });
}

} // namespace

namespace Kernels {

#define REDUCE(name, ...)                                                                          \
    void name(const atoll_call &call) {                                                            \
        reduce<ATOLL_FN_##name>(call, [](const auto &elements) { return __VA_ARGS__; });           \
    }
#define REDUCE_NUMBERS(name, ...)                                                                  \
    void name(const atoll_call &call) {                                                            \
        reduce_numbers<ATOLL_FN_##name>(call, [](const auto &elements) { return __VA_ARGS__; });   \
    }

REDUCE_NUMBERS(sum, sum_of(elements))
REDUCE_NUMBERS(prod, product_of(elements))
REDUCE_NUMBERS(mean, mean_of(elements))
REDUCE_NUMBERS(min, best_of(elements, std::less()))
REDUCE_NUMBERS(max, best_of(elements, std::greater()))
REDUCE_NUMBERS(sum_abs, sum_of(moduli(elements)))
REDUCE(min_abs, best_of(moduli(elements), std::less()))
REDUCE(max_abs, best_of(moduli(elements), std::greater()))
REDUCE(any, !all_pass(elements, [](auto a) { return !nonzero(a); }))
REDUCE(all, all_pass(elements, [](auto a) { return nonzero(a); }))
REDUCE(all_finite, all_pass(elements, [](auto a) { return is_finite(a); }))
REDUCE(any_inf, !all_pass(elements, [](auto a) { return !is_inf(a); }))
REDUCE(any_nan, !all_pass(elements, [](auto a) { return !is_nan(a); }))
REDUCE_NUMBERS(count_nonzero, count_of(elements, [](auto a) { return nonzero(a); }))

void var(const atoll_call &call) {
    const double x = parameter(call);
    reduce<ATOLL_FN_var>(call, [&](const auto &elements) { return variance_of(elements, x); });
}

void stddev(const atoll_call &call) {
    const double x = parameter(call);
    reduce<ATOLL_FN_stddev>(
        call, [&](const auto &elements) { return std::sqrt(variance_of(elements, x)); });
}

void norm(const atoll_call &call) {
    const double x = parameter(call);
    reduce_numbers<ATOLL_FN_norm>(call, [&](const auto &elements) { return norm_of(elements, x); });
}

void argmin(const atoll_call &call) { arg_reduce(call, std::less()); }
void argmax(const atoll_call &call) { arg_reduce(call, std::greater()); }

#undef REDUCE
#undef REDUCE_NUMBERS

} // namespace Kernels

} // namespace Dummy
