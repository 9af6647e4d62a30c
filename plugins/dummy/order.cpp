// Running sums and products, sorting, searching: all along the first axis.
#include "kernels.hpp"
#include "wide.hpp"

#include <algorithm>
#include <vector>

namespace Dummy {

namespace {

// The i-th element of operand o in a line, which begins at `line`.
char *element_at(const atoll_call &call, const Pointers &line, std::size_t o, std::int64_t i) {
    return line[o] + i * call.operands[o].strides[0];
}

// Running totals in type V, each rounded when it is stored. The first is the element itself: 0 + -0
// and 1 * (inf + 0i) are not.
template <class V, class Element, class Operation>
void scan(const atoll_call &call, Element element, const Operation &operation) {
    for_each_loop(call, [&](Pointers line) {
        V total{};
        for (std::int64_t i = 0; i < call.shape[0]; ++i) {
            const auto next = static_cast<V>(element.load(element_at(call, line, 1, i)));
            total = i == 0 ? next : operation(total, next);
            store(element_at(call, line, 0, i), widen(total), call.dtype);
        }
    });
}

// Ascending, -0 equals +0, complex numbers by their real parts and then the imaginary ones, NaN
// (in either part) after everything.
template <class V> bool before(V a, V b) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a);
    if constexpr (is_complex<V>)
        return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
    else
        return a < b;
}

// Also when descending, NaN is last.
template <class V> bool comes_first(V a, V b, bool descending) {
    return descending && !is_nan(a) && !is_nan(b) ? before(b, a) : before(a, b);
}

template <class V> struct Item {
    V value;
    std::int64_t position;
};

// Calls put(address of the output, item) for each place of each sorted line.
template <class Put> void sort_lines(const atoll_call &call, const Put &put) {
    const bool descending = Atoll::sdk::flag(call, 0);
    with_dtype<ATOLL_DOMAIN_ALL>(call.dtype, [&](auto element, auto) {
        using V = typename decltype(element)::Value;
        for_each_loop(call, [&](Pointers line) {
            std::vector<Item<V>> items;
            for (std::int64_t i = 0; i < call.shape[0]; ++i)
                items.push_back({element.load(element_at(call, line, 1, i)), i});
            std::stable_sort(items.begin(), items.end(), [&](const Item<V> &a, const Item<V> &b) {
                return comes_first(a.value, b.value, descending);
            });
            for (std::int64_t i = 0; i < call.shape[0]; ++i)
                put(element, element_at(call, line, 0, i), items[static_cast<std::size_t>(i)]);
        });
    });
}

} // namespace

namespace Kernels {

// float32 is summed in double, the narrower types in float.
void cumsum(const atoll_call &call) {
    const auto sum = [](auto a, auto b) { return plus(a, b); };
    if (call.dtype == ATOLL_DTYPE_FLOAT32)
        return scan<double>(call, Element<ATOLL_DTYPE_FLOAT32>(), sum);
    if (call.dtype == ATOLL_DTYPE_COMPLEX64)
        return scan<std::complex<double>>(call, Element<ATOLL_DTYPE_COMPLEX64>(), sum);
    with_dtype<ATOLL_DOMAIN_SUMMED>(call.dtype, [&](auto element, auto) {
        scan<typename decltype(element)::Value>(call, element, sum);
    });
}

void cumprod(const atoll_call &call) {
    with_dtype<ATOLL_DOMAIN_SUMMED>(call.dtype, [&](auto element, auto) {
        scan<typename decltype(element)::Value>(call, element,
                                                [](auto a, auto b) { return times(a, b); });
    });
}

void sort(const atoll_call &call) {
    sort_lines(call,
               [](auto element, char *out, const auto &item) { element.store(out, item.value); });
}

void argsort(const atoll_call &call) {
    sort_lines(call, [](auto, char *out, const auto &item) {
        Element<ATOLL_DTYPE_INT64>::store(out, item.position);
    });
}

// The first axis runs along the sorted vector; out and the values stand still there.
void searchsorted(const atoll_call &call) {
    const bool right = Atoll::sdk::flag(call, 0);
    with_dtype<ATOLL_DOMAIN_ALL>(call.dtype, [&](auto element, auto) {
        for_each_loop(call, [&](Pointers line) {
            const auto value = element.load(line[1]);
            std::int64_t position = 0;
            for (std::int64_t i = 0; i < call.shape[0]; ++i) {
                const auto other = element.load(element_at(call, line, 2, i));
                position += right ? !before(value, other) : before(other, value);
            }
            Element<ATOLL_DTYPE_INT64>::store(line[0], position);
        });
    });
}

} // namespace Kernels

} // namespace Dummy
