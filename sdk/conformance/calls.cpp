// Arguments, invocation and expectation per family.
#include "calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

DType result_of(const FunctionFacts &function, DType compute) {
    const std::uint32_t dtype =
        sdk::dtype_of_operand(function.signature.operands[0], static_cast<std::uint32_t>(compute));
    return dtype ? static_cast<DType>(dtype) : compute;
}

// The compute dtype that inputs of a common dtype lead to.
DType compute_of(const FunctionFacts &function, DType common) {
    return static_cast<DType>(sdk::make_T(function.rule, static_cast<std::uint32_t>(common)));
}

bool is_core(const FunctionFacts &f) { return f.name.starts_with("core."); }
bool is(const FunctionFacts &f, int id) { return is_core(f) && f.id == id; }

bool multiplies_up(const FunctionFacts &f) {
    return is(f, ATOLL_FN_prod) || is(f, ATOLL_FN_nan_prod) || is(f, ATOLL_FN_cumprod);
}
// Whether operand `o` counts: exponents and shifts are small and not negative.
bool is_count(const FunctionFacts &f, std::size_t o) {
    return o == 1 &&
           (is(f, ATOLL_FN_pow) || is(f, ATOLL_FN_left_shift) || is(f, ATOLL_FN_right_shift));
}

// Element k of operand o, exact in the dtype.
Scalar value_of(const FunctionFacts &f, DType dtype, std::size_t o, std::size_t k, bool special,
                bool damped) {
    const std::size_t mixed = (k * 7919 + o * 104729 + k * k * 31 + 13) % 1031;
    const auto spread = static_cast<std::int64_t>(mixed % 129) - 64;
    const auto other = static_cast<std::int64_t>((mixed * 53 + 7) % 127) - 63;
    if (dtype == bool_) return Scalar(mixed % 2 == 1).cast(dtype);
    if (is_integer(dtype)) {
        const bool has_sign = info(dtype).kind == Kind::signed_;
        if (is_count(f, o)) return Scalar(static_cast<std::int64_t>(mixed % 6)).cast(dtype);
        if (special && k % 4 < 2) {
            const int bits = 8 * info(dtype).size;
            if (!has_sign)
                return Scalar(k % 4 ? std::uint64_t{0} : ~std::uint64_t{0} >> (64 - bits))
                    .cast(dtype);
            const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
            return Scalar(k % 4 ? high : -high - 1).cast(dtype);
        }
        const std::int64_t small = spread / 6;
        return Scalar(has_sign ? small : std::abs(small)).cast(dtype);
    }
    static constexpr double specials[] = {0.0, -0.0, 1.0, NAN, INFINITY, -INFINITY, -1.0, 2.0};
    if (special && k % 2 == 0 && is_real_float(dtype)) {
        const double x = specials[(k / 2 + 3 * o) % 8];
        return Scalar(x).cast(dtype);
    }
    double re = static_cast<double>(spread) / (damped ? 32 : 8);
    double im = static_cast<double>(other == 0 ? 1 : other) / (damped ? 32 : 16);
    if (multiplies_up(f)) {
        const double size = mixed % 8 == 0 ? 2 : mixed % 8 == 1 ? 0.5 : 1;
        re = mixed % 3 ? size : -size;
        im = 0;
        if (is_complex(dtype) && mixed % 2) std::swap(re, im);
    }
    return is_complex(dtype) ? Scalar(std::complex<double>(re, im)).cast(dtype)
                             : Scalar(re).cast(dtype);
}

Values values_for(const FunctionFacts &f, DType dtype, const Shape &shape, std::size_t o,
                  bool special, bool damped) {
    Values values;
    for (std::int64_t k = 0; k < count_of(shape); ++k)
        values.push_back(value_of(f, dtype, o, static_cast<std::size_t>(k), special, damped));
    return values;
}

// Shapes of the inputs and of the output.
void set_shapes(Call &call, Size size) {
    const bool small = size == Size::small;
    const Shape matrix = size == Size::one     ? Shape{}
                         : size == Size::large ? Shape{4001, 3}
                         : small               ? Shape{4, 3}
                                               : Shape{257, 3};
    auto &in = call.inputs;
    switch (call.function.family) {
    case ATOLL_FAMILY_FILL:
    case ATOLL_FAMILY_STEPS: break;
    case ATOLL_FAMILY_BINARY: in.resize(2); break;
    case ATOLL_FAMILY_TERNARY: in.resize(3); break;
    case ATOLL_FAMILY_SEARCH:
    case ATOLL_FAMILY_MATMUL: in.resize(2); break;
    default: in.resize(1);
    }
    for (Call::Input &input : in) input.shape = matrix;
    call.out_shape = matrix;
    switch (call.function.family) {
    case ATOLL_FAMILY_STEPS:
        call.out_shape = {small ? 7 : 53}; // fits int8
        call.takes_out = false;
        break;
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_REDUCE_ONE:
    case ATOLL_FAMILY_ARG_REDUCE:
        if (size != Size::one && !call.whole)
            call.out_shape = {matrix[1]};
        else
            call.out_shape = {};
        break;
    case ATOLL_FAMILY_SEARCH: in[1].shape = {small ? 5 : 63}; break;
    case ATOLL_FAMILY_MATMUL:
        in[0].shape = small ? Shape{3, 4} : Shape{33, 40};
        in[1].shape = small ? Shape{4, 2} : Shape{40, 19};
        call.out_shape = {in[0].shape[0], in[1].shape[1]};
        break;
    case ATOLL_FAMILY_FIND:
    case ATOLL_FAMILY_GATHER: call.takes_out = false; break;
    default: break;
    }
}

// All rows, from the end: what GATHER and SCATTER move here. On the host where there is a device
// for it, because an index is checked by functions that `device` may lack.
Tensor rows_tensor(const Shape &shape, Device device) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = shape[0]; i-- > 0;) rows.push_back(i);
    for (const Device &other : devices())
        if (other.is_host_memory()) return vector(rows, {int64, other});
    return vector(rows, {int64, device});
}

DType wide(DType dtype) {
    return is_complex(dtype) ? complex128 : is_real_float(dtype) ? float64 : dtype;
}

Values moved_rows(const Values &values, const Shape &shape) {
    Values result = values;
    const auto n = static_cast<std::size_t>(shape[0]);
    for (std::size_t k = 0; k < values.size(); ++k) result[k] = values[k - k % n + n - 1 - k % n];
    return result;
}

Values found(const Values &values) {
    Values positions;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k].cast(bool_).to_int() != 0)
            positions.push_back(Scalar(static_cast<std::int64_t>(k)));
    return positions;
}

Tensor plain(const Call::Input &input, DType dtype, Device device) {
    std::vector<char> bytes;
    for (const Scalar &value : input.values) {
        const Scalar as = value.cast(dtype);
        const auto *from = reinterpret_cast<const char *>(as.raw().value.bytes);
        bytes.insert(bytes.end(), from, from + size_of(dtype));
    }
    const Tensor all = from_values(bytes.data(), dtype,
                                   static_cast<std::int64_t>(input.values.size()), {dtype, device});
    return Tensor(all.storage(), 0, dims_of(input.shape),
                  empty(dims_of(input.shape), {dtype, device}).strides(), dtype);
}

} // namespace

bool callable(const FunctionFacts &function) {
    if (function.family == ATOLL_FAMILY_CUSTOM || function.family == ATOLL_FAMILY_DEVICE)
        return false;
    const bool general =
        function.family == ATOLL_FAMILY_UNARY || function.family == ATOLL_FAMILY_BINARY ||
        function.family == ATOLL_FAMILY_TERNARY || function.family == ATOLL_FAMILY_REDUCE ||
        function.family == ATOLL_FAMILY_REDUCE_ONE || function.family == ATOLL_FAMILY_ARG_REDUCE ||
        function.family == ATOLL_FAMILY_SCAN || function.family == ATOLL_FAMILY_SORT ||
        function.family == ATOLL_FAMILY_SEARCH;
    return general || is_core(function);
}

bool elementwise(const FunctionFacts &function) {
    switch (function.family) {
    case ATOLL_FAMILY_COPY:
    case ATOLL_FAMILY_UNARY:
    case ATOLL_FAMILY_BINARY:
    case ATOLL_FAMILY_TERNARY: return true;
    default: return false;
    }
}

bool has_size(const FunctionFacts &function, Size size) {
    if (size != Size::one) return true;
    switch (function.family) {
    case ATOLL_FAMILY_MATMUL: // one element scales: another function
    case ATOLL_FAMILY_SORT:   // needs an axis
    case ATOLL_FAMILY_STEPS:  // has one axis
    case ATOLL_FAMILY_GATHER: // need an axis to index
    case ATOLL_FAMILY_SCATTER:
    case ATOLL_FAMILY_FIND: return false;
    default: return true;
    }
}

Call make_call(const FunctionFacts &function, DType compute, Size size, bool special, bool damped) {
    Call call{function, compute, result_of(function, compute), {}, {}, false, {}, true, false};
    set_shapes(call, size);
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        Call::Input &input = call.inputs[o];
        input.dtype = is(function, ATOLL_FN_where) && o == 0 ? bool_ : compute;
        input.values = values_for(function, input.dtype, input.shape, o, special, damped);
    }
    if (function.family == ATOLL_FAMILY_SEARCH) {
        std::stable_sort(call.inputs[1].values.begin(), call.inputs[1].values.end(),
                         [](const Scalar &a, const Scalar &b) {
                             const auto x = a.to_complex(), y = b.to_complex();
                             if (std::isnan(x.real()) || std::isnan(y.real()))
                                 return !std::isnan(x.real()) && std::isnan(y.real());
                             return x.real() != y.real() ? x.real() < y.real()
                                                         : x.imag() < y.imag();
                         });
    }
    if (function.family == ATOLL_FAMILY_REDUCE_ONE) {
        const bool order = is(function, ATOLL_FN_norm) || is(function, ATOLL_FN_nan_norm);
        const bool freedom = is(function, ATOLL_FN_var) || is(function, ATOLL_FN_stddev);
        call.numbers.push_back(order ? Scalar(3) : freedom ? Scalar(1) : Scalar(2));
    }
    return call;
}

bool mix_inputs(Call &call) {
    if (call.inputs.empty() || call.function.family == ATOLL_FAMILY_GATHER ||
        call.function.family == ATOLL_FAMILY_SCATTER || call.function.family == ATOLL_FAMILY_COPY ||
        call.function.family == ATOLL_FAMILY_FIND)
        return false;
    const bool select = is(call.function, ATOLL_FN_where);
    Call::Input &input = call.inputs[select || call.inputs.size() > 1 ? 1 : 0];
    const bool alone = call.inputs.size() == 1;
    for (const DType other : {int8, uint8, int16, float16, int32, float32, float64, bool_}) {
        const DType common = alone ? other : promote(call.compute, other);
        // A 64-bit integer that loses digits in the common dtype is compared apart.
        if (other == call.compute || compute_of(call.function, common) != call.compute) continue;
        input.dtype = other;
        for (Scalar &value : input.values) value = value.cast(other);
        if (call.function.family == ATOLL_FAMILY_SEARCH)
            std::sort(
                input.values.begin(), input.values.end(),
                [](const Scalar &a, const Scalar &b) { return a.to_double() < b.to_double(); });
        return true;
    }
    return false;
}

Tensor invoke(const Call &call, const std::vector<Tensor> &in, Device device, Out out,
              bool scalar) {
    const FunctionFacts &f = call.function;
    const Function function(f.name);
    std::vector<Operand> operands;
    for (std::size_t o = 0; o < in.size(); ++o) {
        if (scalar && o + 1 == in.size())
            operands.emplace_back(call.inputs[o].values[0]);
        else
            operands.emplace_back(in[o]);
    }
    const Axes axes = call.whole || (!in.empty() && in[0].rank() == 0) ? Axes() : Axes(0);
    switch (f.family) {
    case ATOLL_FAMILY_COPY: return out.get()->assign(in[0]);
    case ATOLL_FAMILY_FILL: return out.get()->fill(Scalar(7).cast(call.compute));
    case ATOLL_FAMILY_STEPS: return arange(3, 3 + 2 * call.out_shape[0], 2, {call.compute, device});
    case ATOLL_FAMILY_UNARY: return function.unary(operands[0], out);
    case ATOLL_FAMILY_BINARY: return function.binary(operands[0], operands[1], out);
    case ATOLL_FAMILY_TERNARY: return function.ternary(operands[0], operands[1], operands[2], out);
    case ATOLL_FAMILY_REDUCE:
    case ATOLL_FAMILY_ARG_REDUCE:
    case ATOLL_FAMILY_REDUCE_ONE: return function.reduce(in[0], axes, false, out, call.numbers);
    case ATOLL_FAMILY_MATMUL: return matmul(in[0], in[1], out);
    case ATOLL_FAMILY_SCAN:
        return function.scan(in[0], in[0].rank() ? std::optional<int>(0) : std::nullopt, out);
    case ATOLL_FAMILY_SORT: return function.sort(in[0], 0, call.flipped, out);
    case ATOLL_FAMILY_SEARCH: return function.search(operands[0], in[1], call.flipped, out);
    case ATOLL_FAMILY_FIND: return detail::call_find(f.id, in[0]);
    case ATOLL_FAMILY_GATHER: {
        const Shape shape(in[0].shape().begin(), in[0].shape().end());
        return in[0](make_index(rows_tensor(shape, device)).bind(in[0]));
    }
    case ATOLL_FAMILY_SCATTER: {
        const Shape shape(in[0].shape().begin(), in[0].shape().end());
        const Tensor &to = *out.get();
        to(make_index(rows_tensor(shape, device)).bind(to)) = in[0];
        return to;
    }
    default: throw Failed(fmt::format("the kit cannot call family {}", f.family));
    }
}

Expected expect(const Target &target, const Call &call, const std::string &device_type) {
    const FunctionFacts &f = call.function;
    Expected expected{{}, "the definition"};
    switch (f.family) {
    case ATOLL_FAMILY_COPY: expected.values = call.inputs[0].values; return expected;
    case ATOLL_FAMILY_FILL:
        expected.values.assign(static_cast<std::size_t>(count_of(call.out_shape)), Scalar(7));
        return expected;
    case ATOLL_FAMILY_STEPS:
        for (std::int64_t k = 0; k < call.out_shape[0]; ++k)
            expected.values.push_back(Scalar(3 + 2 * k).cast(call.compute));
        return expected;
    case ATOLL_FAMILY_GATHER:
    case ATOLL_FAMILY_SCATTER:
        expected.values = moved_rows(call.inputs[0].values, call.inputs[0].shape);
        return expected;
    case ATOLL_FAMILY_FIND: expected.values = found(call.inputs[0].values); return expected;
    default: break;
    }
    const auto device = target.reference(f, device_type, wide(call.compute));
    if (!device) return {{}, ""};
    expected.source = device->name();
    std::vector<Tensor> in;
    for (const Call::Input &input : call.inputs)
        in.push_back(plain(input, wide(input.dtype), *device));
    expected.values = values_of(invoke(call, in, *device).replicate());
    return expected;
}

double largest_input(const Call &call) {
    double largest = 1;
    for (const Call::Input &input : call.inputs)
        for (const Scalar &value : input.values) {
            const double size = std::abs(value.to_complex());
            if (std::isfinite(size)) largest = std::max(largest, size);
        }
    return largest;
}

std::int64_t terms_of(const Call &call) {
    if (call.inputs.empty() || call.inputs[0].shape.empty()) return 1;
    if (call.function.family == ATOLL_FAMILY_MATMUL) return call.inputs[0].shape[1];
    return call.whole ? count_of(call.inputs[0].shape) : call.inputs[0].shape[0];
}

} // namespace Atoll::conformance
