// Expected results of a call: by definition, from another device, or from the same function.
#include "call_parts.hpp"

#include <cstring>

namespace Atoll::conformance {

namespace {

// Null if it was not passed.
const Scalar *attribute(const Call &call, std::string_view name) {
    for (const NamedAttribute &given : call.options.attributes)
        if (given.name == name) return &std::get<Scalar>(given.value);
    return nullptr;
}

DType wide(DType dtype) {
    return is_complex(dtype) ? complex128 : is_real_float(dtype) ? float64 : dtype;
}

bool by_definition(const Call &call, Values &values) {
    const FunctionFacts &f = call.function;
    if (!f.is_core()) return false;
    const Shape &shape = call.outputs[0].shape;
    switch (f.id) {
    case ATOLL_FN_copy: values = call.inputs[0].values; return true;
    case ATOLL_FN_fill:
        values.assign(static_cast<std::size_t>(count_of(shape)),
                      attribute(call, "value")->cast(call.compute));
        return true;
    case ATOLL_FN_steps: {
        const std::int64_t start = attribute(call, "start")->to_int(),
                           step = attribute(call, "step")->to_int();
        for (std::int64_t k = 0; k < shape[0]; ++k)
            values.push_back(Scalar(start + step * k).cast(call.compute));
        if (const Scalar *last = attribute(call, "last")) values.back() = last->cast(call.compute);
        return true;
    }
    case ATOLL_FN_gather:
    case ATOLL_FN_scatter: {
        values = call.inputs[0].values;
        const auto n = static_cast<std::size_t>(shape[0]);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = call.inputs[0].values[k - k % n + n - 1 - k % n];
        return true;
    }
    case ATOLL_FN_find: values = found(call.inputs[0].values); return true;
    case ATOLL_FN_compress:
        for (const Scalar &at : found(call.inputs[1].values))
            values.push_back(call.inputs[0].values[static_cast<std::size_t>(at.to_int())]);
        return true;
    default: return false;
    }
}

Tensor plain(const Call::Argument &argument, DType dtype, Device device) {
    if (argument.absent || argument.values.empty()) return {};
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::vector<char> bytes(argument.values.size() * size);
    char *to = bytes.data();
    for (const Scalar &value : argument.values) {
        const Scalar as = value.dtype() == dtype ? value : value.cast(dtype);
        std::memcpy(to, as.raw().value.bytes, size);
        to += size;
    }
    return from_values(bytes.data(), dtype, static_cast<std::int64_t>(argument.values.size()),
                       {dtype, device})
        .reshape(dims_of(argument.shape));
}

Shape shape_of(const Tensor &tensor) { return {tensor.shape().begin(), tensor.shape().end()}; }

// Calls it with contiguous operands. Passes outputs only if they determine the shape or are read.
Expected ask(const Call &call, Device device, DType (*dtype_of)(DType), std::string source) {
    Call own{call.function, call.compute};
    own.options = call.options;
    own.options.dtype = dtype_of(call.options.dtype);
    std::vector<Tensor> in, out;
    for (const Call::Argument &input : call.inputs)
        in.push_back(plain(input, dtype_of(input.dtype), device));
    // With beta == 0 a product does not depend on c, which contains NaN.
    if (is(call.function, ATOLL_FN_matmul) && !attribute(call, "beta")) in[2] = Tensor();
    for (const Call::Argument &output : call.outputs)
        out.push_back(call.inputs.empty() && call.settled()
                          ? empty(dims_of(output.shape), {dtype_of(output.dtype), device})
                          : plain(output, dtype_of(output.dtype), device));
    Expected expected{{}, {}, std::move(source)};
    for (const Tensor &result : invoke(own, in, device, out)) {
        const bool there = result.is_defined();
        expected.values.push_back(there ? values_of(result) : Values());
        expected.shapes.push_back(there ? shape_of(result) : Shape());
    }
    return expected;
}

} // namespace

void Expected::require() const {
    if (source.empty())
        skip("no other device has the function to compare the result with: load one "
             "(--with PLUGIN)");
}

Expected expect(const Target &target, const Call &call, const std::string &device_type) {
    if (Values values; by_definition(call, values))
        return {{std::move(values)}, {call.outputs[0].shape}, "the definition"};
    const auto device = target.reference(call.function, device_type, wide(call.compute));
    if (!device) return {};
    return ask(call, *device, wide, device->name());
}

Expected expect_of_itself(const Call &call, Device device) {
    const auto same = [](DType dtype) { return dtype; };
    return ask(call, device, same, "the same call with contiguous operands");
}

} // namespace Atoll::conformance
