// Element-wise kernels: a loop over all elements and one expression per function.
#include "elements.hpp"
#include "kernels.hpp"

namespace Dummy {

namespace {

template <std::uint16_t function, class Operation>
void unary(const atoll_call &call, const Operation &operation) {
    with_dtype<Facts<function>::domain, Facts<function>::rule>(
        call.dtype, [&](auto element, auto result) {
            for_each(call, 0, call.rank, first_elements(call),
                     [&](Pointers at) { result.store(at[0], operation(element.load(at[1]))); });
        });
}

template <std::uint16_t function, class Operation>
void binary(const atoll_call &call, const Operation &operation) {
    with_dtype<Facts<function>::domain, Facts<function>::rule>(
        call.dtype, [&](auto element, auto result) {
            for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
                result.store(at[0], operation(element.load(at[1]), element.load(at[2])));
            });
        });
}

} // namespace

namespace Kernels {

void add(const atoll_call &call) {
    binary<ATOLL_FN_add>(call, [](auto a, auto b) { return plus(a, b); });
}

void subtract(const atoll_call &call) {
    binary<ATOLL_FN_subtract>(call, [](auto a, auto b) { return minus(a, b); });
}

void multiply(const atoll_call &call) {
    binary<ATOLL_FN_multiply>(call, [](auto a, auto b) { return times(a, b); });
}

void divide(const atoll_call &call) {
    binary<ATOLL_FN_divide>(call, [](auto a, auto b) { return over(a, b); });
}

void equal(const atoll_call &call) {
    binary<ATOLL_FN_equal>(call, [](auto a, auto b) { return a == b; });
}

void not_equal(const atoll_call &call) {
    binary<ATOLL_FN_not_equal>(call, [](auto a, auto b) { return a != b; });
}

void less(const atoll_call &call) {
    binary<ATOLL_FN_less>(call, [](auto a, auto b) { return a < b; });
}

void less_equal(const atoll_call &call) {
    binary<ATOLL_FN_less_equal>(call, [](auto a, auto b) { return a <= b; });
}

void greater(const atoll_call &call) {
    binary<ATOLL_FN_greater>(call, [](auto a, auto b) { return a > b; });
}

void greater_equal(const atoll_call &call) {
    binary<ATOLL_FN_greater_equal>(call, [](auto a, auto b) { return a >= b; });
}

void negative(const atoll_call &call) {
    unary<ATOLL_FN_negative>(call, [](auto a) {
        if constexpr (std::is_integral_v<decltype(a)>)
            return minus(decltype(a){0}, a);
        else
            return -a; // not 0 - a: the sign of zero
    });
}

void abs(const atoll_call &call) {
    unary<ATOLL_FN_abs>(call, [](auto a) {
        using V = decltype(a);
        if constexpr (is_complex<V>)
            return std::hypot(a.real(), a.imag());
        else if constexpr (std::is_floating_point_v<V>)
            return std::fabs(a);
        else if constexpr (std::is_signed_v<V>)
            return a < 0 ? minus(V{0}, a) : a;
        else
            return a;
    });
}

void sqrt(const atoll_call &call) {
    unary<ATOLL_FN_sqrt>(call, [](auto a) { return std::sqrt(a); });
}

void square(const atoll_call &call) {
    unary<ATOLL_FN_square>(call, [](auto a) { return times(a, a); });
}

void conj(const atoll_call &call) {
    unary<ATOLL_FN_conj>(call, [](auto a) { return conjugate(a); });
}

} // namespace Kernels

} // namespace Dummy
