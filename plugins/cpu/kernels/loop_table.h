// From the list of functions to their loops: a function without core axes whose operands are of T
// needs no more than its line and a functor of its name.
#pragma once

#include "complex_loops.h"
#include "functors/functors.h"
#include "integer_loops.h"
#include "test_loops.h"
#include "vector_loops.h"
#include "vector_shifts.h"

namespace Atoll::kernels {

template <class F, class T> inline constexpr bool has_vector = is_float<T> &&requires {
    typename vector_math::Of<F, T>::type;
};

template <class F, class T> inline constexpr bool has_complex_vector = is_complex<T> &&requires {
    typename vector_math::OfComplex<F>::Vectors;
};

template <int Inputs, class F, class T> constexpr Loop loop_of() {
    if constexpr (requires { typename F::Exchanged; })
        return &exchanged_loop<loop_of<Inputs, typename F::Exchanged, T>()>;
    else if constexpr (has_test<F>)
        return &test_loop<Inputs, F, typename F::template Type<T>>;
    else if constexpr (is_complex<T> && std::is_same_v<F, functor::multiply>)
        return &product_loop<T>;
    else if constexpr (is_complex<T> && std::is_same_v<F, functor::divide>)
        return &quotient_loop<T>;
    else if constexpr (is_complex<T> && std::is_same_v<F, functor::reciprocal>)
        return &reciprocal_loop<T>;
    else if constexpr (is_complex<T> && std::is_same_v<F, functor::abs> &&
                       has_vector<functor::hypot, Part<T>>)
        return &real_of_complex_loop<ModulusOfParts<Part<T>>, T>;
    else if constexpr (is_complex<T> && std::is_same_v<F, functor::angle>)
        return &real_of_complex_loop<AngleOfParts, T>;
    else if constexpr (has_complex_vector<F, T>)
        return &complex_vector_loop<F, T, Inputs>;
    else if constexpr (Inputs == 1 && has_vector<F, T>)
        return &vector_unary_loop<F, T>;
    else if constexpr (has_vector<F, T> && std::is_same_v<F, functor::pow>)
        return &vector_pow_loop<F, T>;
    else if constexpr (has_vector<F, T>)
        return &vector_binary_loop<F, T>;
    else if constexpr (Inputs == 2 && is_integer_division<F, T>)
        return &integer_division_loop<F, T>;
    else if constexpr (is_integer<T> && std::is_same_v<F, functor::pow>)
        return &integer_pow_loop<T>;
#if defined(__AVX2__) && !defined(__AVX512F__)
    else if constexpr (has_vector_shift<F, T>)
        return &vector_shift_loop<F, typename F::template Type<T>>;
#endif
    else if constexpr (Inputs == 1)
        return &unary_loop<F, typename F::template Type<T>>;
    else if constexpr (Inputs == 2)
        return &binary_loop<F, typename F::template Type<T>>;
    else
        return &ternary_loop<F, typename F::template Type<T>, typename F::template Type<T>>;
}

using LoopRow = LoopTable::value_type;

// The loops of functor F, which is that of function `id`.
template <int Inputs, std::uint16_t id, class F> constexpr LoopRow loop_row() {
    LoopRow row{};
    if constexpr (constexpr auto &line = sdk::core_functions[id];
                  has_functor(line.signature, Inputs)) {
#define ATOLL_DTYPE(dtype, ENUM, identifier, name, size, KIND, PART, alias)                        \
    if constexpr (line.domain >> dtype & 1) row[dtype] = loop_of<Inputs, F, wide::identifier>();
#include "atoll/lists/dtypes.inc"
    }
    return row;
}

// The loops of all functions with so many inputs.
template <int Inputs> constexpr LoopTable loop_table() {
    return {
#define ATOLL_FUNCTION(id, name, ...) loop_row<Inputs, id, functor::name>(),
#include "atoll/lists/functions.inc"
    };
}

} // namespace Atoll::kernels
