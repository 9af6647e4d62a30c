// Element-wise arithmetic, comparisons, logic, bits: a loop over all elements and one expression
// per function. What is not elementary is in math.cpp.
#include "kernels.hpp"
#include "wide.hpp"

#include <functional>

namespace Dummy {

namespace {

template <std::uint16_t function, class Operation>
void unary(const atoll_call &call, const Operation &operation) {
    with_dtype<Atoll::sdk::core_functions[function].domain, function>(call.dtype, [&](auto element,
                                                                                      auto result) {
        for_each(call, [&](Pointers at) { result.store(at[0], operation(element.load(at[1]))); });
    });
}

template <std::uint16_t function, class Operation>
void binary(const atoll_call &call, const Operation &operation) {
    with_dtype<Atoll::sdk::core_functions[function].domain, function>(
        call.dtype, [&](auto element, auto result) {
            for_each(call, [&](Pointers at) {
                result.store(at[0], operation(element.load(at[1]), element.load(at[2])));
            });
        });
}

// Compares true values, whatever dtypes the two are of: Note [Exact comparisons] in abi/module.h.
template <class Operation> void compare(const atoll_call &call, const Operation &operation) {
    for_each(call, [&](Pointers at) {
        const Wide a = load(at[1], call.operands[1].dtype), b = load(at[2], call.operands[2].dtype);
        Element<ATOLL_DTYPE_BOOL>::store(at[0], operation(a, b));
    });
}

template <class V> struct Division { V quotient, rest; };

// The quotient rounded towards zero. Integers: by zero both are 0, the smallest by -1 wraps.
template <class V> Division<V> trunc_division(V a, V b) {
    if constexpr (std::is_integral_v<V>) {
        if (b == 0) return {0, 0};
        if (std::is_signed_v<V> && b == static_cast<V>(-1)) return {minus(V{0}, a), 0};
        return {static_cast<V>(a / b), static_cast<V>(a % b)};
    } else {
        return {std::trunc(a / b), std::fmod(a, b)};
    }
}

// The quotient rounded down; the rest has the sign of b. That of floats by infinities and zero as
// in NumPy.
template <class V> Division<V> floor_division(V a, V b) {
    if constexpr (std::is_integral_v<V>) {
        Division<V> division = trunc_division(a, b);
        if (division.rest != 0 && (division.rest < 0) != (b < 0)) {
            division.quotient = minus(division.quotient, V{1});
            division.rest = plus(division.rest, b);
        }
        return division;
    } else {
        V quotient = a / b, rest = std::fmod(a, b);
        if (b == 0) return {quotient, rest};
        if (std::isnan(rest)) return {rest, rest};
        const bool down = rest != 0 && (rest < 0) != (b < 0);
        const V zero = std::copysign(V{0}, quotient);
        if (std::fabs(quotient) < 2 / std::numeric_limits<V>::epsilon())
            // A whole number, which more digits are enough to find.
            quotient = static_cast<V>(std::rint((static_cast<long double>(a) - rest) / b)) - down;
        else if (std::isfinite(quotient)) // one already, but perhaps not the nearest
            quotient += std::floor(std::fma(-quotient, b, a) / b);
        rest = rest == 0 ? std::copysign(V{0}, b) : down ? rest + b : rest;
        return {quotient == 0 ? zero : quotient, rest};
    }
}

// Shifting by the width or more shifts everything out; so do negative counts, which the host does
// not let through.
template <class V> V shifted_left(V a, V count) {
    constexpr V width = 8 * sizeof(V);
    if (count < 0 || count >= width) return 0;
    return static_cast<V>(static_cast<std::uint64_t>(a) << count);
}

template <class V> V shifted_right(V a, V count) {
    constexpr V width = 8 * sizeof(V);
    if (count < 0 || count >= width) return static_cast<V>(a < 0 ? -1 : 0);
    return static_cast<V>(a >> count);
}

// NaN wins.
template <class V> V smaller(V a, V b) { return a <= b || is_nan(a) ? a : b; }
template <class V> V larger(V a, V b) { return a >= b || is_nan(a) ? a : b; }

template <class V> V sign_of(V a) {
    if constexpr (is_complex<V>) {
        using Part = typename V::value_type;
        const Part re = a.real(), im = a.imag();
        if (is_nan(a) || (std::isinf(re) && std::isinf(im))) {
            constexpr Part nan = std::numeric_limits<Part>::quiet_NaN();
            return {nan, nan};
        }
        if (std::isinf(re)) return {std::copysign(Part{1}, re), std::copysign(Part{0}, im)};
        if (std::isinf(im)) return {std::copysign(Part{0}, re), std::copysign(Part{1}, im)};
        if (!nonzero(a)) return {};
        const long double x = re, y = im, size = std::hypot(x, y);
        return {static_cast<Part>(x / size), static_cast<Part>(y / size)};
    } else {
        if (is_nan(a)) return a;
        return static_cast<V>((a > 0) - (a < 0));
    }
}

// operation(a) of reals with a fraction, of each part of complex numbers; integers stay.
template <class V, class Operation> V rounded(V a, const Operation &operation) {
    if constexpr (is_complex<V>)
        return {operation(a.real()), operation(a.imag())};
    else if constexpr (std::is_floating_point_v<V>)
        return operation(a);
    else
        return a;
}

// operation(a, b) of bool and integers.
template <class V, class Operation> V bitwise(V a, V b, const Operation &operation) {
    return static_cast<V>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

} // namespace

namespace Kernels {

#define UNARY(name, ...)                                                                           \
    void name(const atoll_call &call) {                                                            \
        unary<ATOLL_FN_##name>(call, [](auto a) { return __VA_ARGS__; });                          \
    }
#define BINARY(name, ...)                                                                          \
    void name(const atoll_call &call) {                                                            \
        binary<ATOLL_FN_##name>(call, [](auto a, auto b) { return __VA_ARGS__; });                 \
    }

// ---- Arithmetic ---------------------------------------------------------------------------------

BINARY(add, plus(a, b))
BINARY(subtract, minus(a, b))
BINARY(multiply, times(a, b))
BINARY(divide, over(a, b))
BINARY(floor_divide, floor_division(a, b).quotient)
BINARY(remainder, floor_division(a, b).rest)
BINARY(trunc_divide, trunc_division(a, b).quotient)
BINARY(fmod, trunc_division(a, b).rest)
UNARY(square, times(a, a))
UNARY(reciprocal, over(decltype(a){1}, a))
UNARY(abs, modulus(a))
BINARY(copysign, std::copysign(a, b))
UNARY(conj, conjugate(a))

void negative(const atoll_call &call) {
    unary<ATOLL_FN_negative>(call, [](auto a) {
        if constexpr (std::is_integral_v<decltype(a)>)
            return minus(decltype(a){0}, a);
        else
            return -a; // not 0 - a: the sign of zero
    });
}

UNARY(sign, sign_of(a))

// ---- Comparisons --------------------------------------------------------------------------------

#define COMPARISON(name, ...)                                                                      \
    void name(const atoll_call &call) {                                                            \
        compare(call, [](const Wide &a, const Wide &b) { return __VA_ARGS__; });                   \
    }

COMPARISON(equal, a.re == b.re && a.im == b.im)
COMPARISON(not_equal, a.re != b.re || a.im != b.im)
COMPARISON(less, a.re < b.re)
COMPARISON(less_equal, a.re <= b.re)
COMPARISON(greater, a.re > b.re)
COMPARISON(greater_equal, a.re >= b.re)

// ---- Selection ----------------------------------------------------------------------------------

BINARY(minimum, smaller(a, b))
BINARY(maximum, larger(a, b))
BINARY(fmin, is_nan(b) ? a : a <= b ? a : b)
BINARY(fmax, is_nan(b) ? a : a >= b ? a : b)

void clip(const atoll_call &call) {
    with_dtype<ATOLL_DOMAIN_ORDERED>(call.dtype, [&](auto element, auto) {
        for_each(call, [&](Pointers at) {
            const auto raised = larger(element.load(at[1]), element.load(at[2]));
            element.store(at[0], smaller(raised, element.load(at[3])));
        });
    });
}

void where(const atoll_call &call) {
    for_each(call, [&](Pointers at) {
        const char *chosen = Element<ATOLL_DTYPE_BOOL>::load(at[1]) ? at[2] : at[3];
        move_element(at[0], chosen, call.dtype);
    });
}

// ---- Logic and bits -----------------------------------------------------------------------------

BINARY(logical_and, nonzero(a) && nonzero(b))
BINARY(logical_or, nonzero(a) || nonzero(b))
BINARY(logical_xor, nonzero(a) != nonzero(b))
UNARY(logical_not, !nonzero(a))
BINARY(bitwise_and, bitwise(a, b, std::bit_and()))
BINARY(bitwise_or, bitwise(a, b, std::bit_or()))
BINARY(bitwise_xor, bitwise(a, b, std::bit_xor()))

void bitwise_not(const atoll_call &call) {
    unary<ATOLL_FN_bitwise_not>(call, [](auto a) {
        if constexpr (std::is_same_v<decltype(a), bool>)
            return !a;
        else
            return static_cast<decltype(a)>(~a);
    });
}

BINARY(left_shift, shifted_left(a, b))
BINARY(right_shift, shifted_right(a, b))

// ---- Rounding and classes -----------------------------------------------------------------------

UNARY(ceil, rounded(a, [](auto x) { return std::ceil(x); }))
UNARY(floor, rounded(a, [](auto x) { return std::floor(x); }))
UNARY(trunc, rounded(a, [](auto x) { return std::trunc(x); }))
UNARY(round, rounded(a, [](auto x) { return std::nearbyint(x); }))
UNARY(isnan, is_nan(a))
UNARY(isinf, is_inf(a))
UNARY(isfinite, is_finite(a))
UNARY(isposinf, is_inf(a) && a > decltype(a){})
UNARY(isneginf, is_inf(a) && a < decltype(a){})

#undef UNARY
#undef BINARY
#undef COMPARISON

} // namespace Kernels

} // namespace Dummy
