// A call of any function of the module `core` by its id, for tests that go over all of them.
#pragma once

#include "atoll/atoll.hpp"
#include "function_facts.hpp"

#include <array>

// Of two 3x3 matrices; reductions along axis 0. `out` where the family takes one.
inline Atoll::Tensor call_any(int function, const Atoll::Tensor &a, const Atoll::Tensor &b,
                              Atoll::Out out = {}) {
    using namespace Atoll;
    const std::array<Scalar, 2> numbers{1, 2};
    switch (functions[function].family) {
    case ATOLL_FAMILY_COPY: return out.get() ? out.get()->assign(a) : a.replicate();
    case ATOLL_FAMILY_FILL: return (out.get() ? *out.get() : a).fill(7);
    case ATOLL_FAMILY_STEPS: return arange(0, 5, 1, {a.dtype(), a.device()});
    case ATOLL_FAMILY_UNARY: return detail::call_unary(function, a, out);
    case ATOLL_FAMILY_BINARY: return detail::call_binary(function, a, b, out);
    case ATOLL_FAMILY_TERNARY: return detail::call_ternary(function, a, b, a, out);
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_ARG_REDUCE: return detail::call_reduce(function, a, 0, false, out);
    case ATOLL_FAMILY_REDUCE_ONE:
        return detail::call_reduce(function, a, 0, false, out, {numbers.data(), 1});
    case ATOLL_FAMILY_MATMUL: return matmul(a, b, out);
    case ATOLL_FAMILY_SCAN: return detail::call_scan(function, a, 0, out);
    case ATOLL_FAMILY_SORT: return detail::call_sort(function, a, 0, true, out);
    case ATOLL_FAMILY_SEARCH: return detail::call_search(function, a, b(all_, 0), false, out);
    case ATOLL_FAMILY_FIND: return detail::call_find(function, a);
    case ATOLL_FAMILY_GATHER:
    case ATOLL_FAMILY_SCATTER: {
        // Bound to the layout, so that the call does nothing but to move elements.
        const Tensor &from =
            functions[function].family == ATOLL_FAMILY_SCATTER && out.get() ? *out.get() : a;
        const Index index = make_index(vector({2, 0, 1}, {int64, a.device()})).bind(from);
        if (functions[function].family == ATOLL_FAMILY_GATHER) return from(index);
        from(index) = b;
        return from;
    }
    default: throw Error(Status::internal, functions[function].name, "no call for this family");
    }
}

// Whether the result can be given, and its shape for the call above.
inline bool takes_out(int function) {
    const int family = functions[function].family;
    return family != ATOLL_FAMILY_STEPS && family != ATOLL_FAMILY_FIND &&
           family != ATOLL_FAMILY_GATHER;
}
inline bool gives_vector(int function) {
    const int family = functions[function].family;
    return family == ATOLL_FAMILY_REDUCE || family == ATOLL_FAMILY_ARG_REDUCE ||
           family == ATOLL_FAMILY_REDUCE_ONE;
}
