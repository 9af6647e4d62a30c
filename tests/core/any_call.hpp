// A call of any function of the module `core` by its id, for tests that go over all of them.
#pragma once

#include "atoll/atoll.hpp"
#include "by_id.hpp"

#include <array>

// Of two 3x3 matrices; reductions along axis 0. `out` where the function takes one.
inline Atoll::Tensor call_any(int function, const Atoll::Tensor &a, const Atoll::Tensor &b,
                              Atoll::Out out = {}) {
    using namespace Atoll;
    const std::array<Scalar, 2> numbers{1, 2};
    switch (functions[function].form) {
    case Form::copy: return out.get() ? Tensor(*out.get()).assign(a) : a.replicate();
    case Form::fill: return Tensor(out.get() ? *out.get() : a).fill(7);
    case Form::steps: return arange(0, 5, 1, {a.dtype(), a.device()});
    case Form::unary: return by_id::unary(function, a, out);
    case Form::binary: return by_id::binary(function, a, b, out);
    case Form::ternary: return by_id::ternary(function, a, b, a, out);
    case Form::reduce:
    case Form::arg_reduce: return by_id::reduce(function, a, 0, false, out);
    case Form::reduce_one: return by_id::reduce(function, a, 0, false, out, {numbers.data(), 1});
    case Form::product: return matmul(a, b, out);
    case Form::scan: return by_id::scan(function, a, 0, out);
    case Form::sort: return by_id::sort(function, a, 0, true, out);
    case Form::search: return by_id::search(function, a, b(all_, 0), false, out);
    case Form::find: return Atoll::find(a, out);
    case Form::compress: return compress(a, ones(a.shape(), {bool_, a.device()}), out);
    case Form::gather:
    case Form::scatter: {
        // Bound to the layout, so that the call does nothing but to move elements.
        const Tensor &from =
            functions[function].form == Form::scatter && out.get() ? *out.get() : a;
        const Index index = make_index(vector({2, 0, 1}, {int64, a.device()})).bind(from);
        if (functions[function].form == Form::gather) return from(index);
        from(index) = b;
        return from;
    }
    default: throw Error(Status::internal, functions[function].name, "no call of this form");
    }
}

// Whether the result can be given, and its shape for the call above.
inline bool takes_out(int function) {
    const Form form = functions[function].form;
    return form != Form::steps && form != Form::find && form != Form::compress &&
           form != Form::gather;
}
inline bool gives_vector(int function) { return is_reduction(functions[function].form); }
