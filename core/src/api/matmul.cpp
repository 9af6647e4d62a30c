// Matrix products over stacks, and gemm: what of their rules is not in the signature.
#include "atoll/create.hpp"
#include "atoll/operations.hpp"
#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "call/broadcast.hpp"
#include "call/factors.hpp"
#include "call/pipeline.hpp"
#include "call/taken_apart.hpp"
#include "call/uniform.hpp"

#include <algorithm>
#include <optional>

namespace Atoll {

using namespace detail;

namespace {

// One element, or rank >= 3 with leading 1×1.
bool scales(const TensorImpl &t) {
    return t.size() == 1 || (t.shape.size() >= 3 && t.shape[0] == 1 && t.shape[1] == 1);
}

// With both matrix axes, in the order in which the product reads them.
Tensor as_matrix(const TensorImpl &t, bool transposed) {
    Dims shape = t.shape, strides = t.strides;
    while (shape.size() < 2) {
        shape.push_back(1);
        strides.push_back(size_of(t.dtype));
    }
    if (transposed) {
        std::swap(shape[0], shape[1]);
        std::swap(strides[0], strides[1]);
    }
    return make_view(t, t.offset, std::move(shape), std::move(strides));
}

// d = alpha * a b + beta * c, c being `out`. `vector`: b is one column, and the result has none.
Tensor product(const Operand &a, bool transpose_a, const Operand &b, bool transpose_b, bool vector,
               const ProductAttributes &attributes, const Operand *c, const Tensor *out,
               const Context &context) {
    const TensorImpl &ta = *a.tensor()->impl(), &tb = *b.tensor()->impl();
    const Operand *inputs[] = {&a, &b, c};
    std::optional<Operand> left, right;
    Tensor left_view, right_view;
    if (transpose_a || ta.shape.size() < 2) {
        left_view = as_matrix(ta, transpose_a);
        inputs[0] = &left.emplace(left_view);
    }
    if (transpose_b || (tb.shape.size() < 2 && !vector)) {
        right_view = as_matrix(tb, transpose_b);
        inputs[1] = &right.emplace(right_view);
    }
    static constexpr std::uint8_t groups[] = {1, 1, 1}, vector_groups[] = {1, 1, 0};
    return run_one(Registry::get().core_function(ATOLL_FN_matmul),
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = attributes,
                    .group_axes = vector ? vector_groups : groups},
                   context);
}

} // namespace

Tensor matmul(const Operand &a, const Operand &b, Out out) {
    if (!a.tensor() || !b.tensor()) return multiply(a, b, out);
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_matmul);
    const TensorImpl &ta = detail::impl(*a.tensor()), &tb = detail::impl(*b.tensor());
    if (scales(ta) || scales(tb)) {
        // A single element takes the other's shape, whatever its rank.
        if (ta.size() == 1 && ta.shape.size() > tb.shape.size())
            return multiply(a.tensor()->reshape({}), b, out);
        if (tb.size() == 1 && tb.shape.size() > ta.shape.size())
            return multiply(a, b.tensor()->reshape({}), out);
        return multiply(a, b, out);
    }
    const std::int64_t inner = ta.shape.size() > 1 ? ta.shape[1] : 1;
    if (inner != tb.shape[0])
        throw_error(Status::invalid_argument, function.full_name,
                    "{} needs k = {} rows, as {} has columns{}", shape_text("b", tb.shape), inner,
                    shape_text("a", ta.shape),
                    ta.shape.size() == 1 && tb.shape.size() == 1
                        ? " (vectors are columns: a.T() * b is the inner product, "
                          "multiply(a, b) the element-wise one)"
                        : "");
    const ReadSection section;
    Tensor result;
    if (!out.get() && run_uniform_product(function, ta, tb, plain_product(ta.dtype), result, {}))
        return result;
    const Operand *const inputs[] = {&a, &b};
    const DType T = decide_T(function, inputs, {});
    return product(a, false, b, false, tb.shape.size() == 1, plain_product(T), nullptr, out.get(),
                   {.dtype = T});
}

const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_matmul);
    const TensorImpl &ta = detail::impl(a), &tb = detail::impl(b), &tc = detail::impl(c);
    for (const Op op : {op_a, op_b})
        require_one_of(op, {Op::N, Op::T, Op::C}, "op", "N, T or C", function.full_name);
    const bool transpose_a = op_a != Op::N, transpose_b = op_b != Op::N;
    const bool vector = tb.shape.size() == 1 && !transpose_b;
    const Dims shape_a = as_matrix(ta, transpose_a).shape();
    const Dims shape_b = as_matrix(tb, transpose_b).shape();
    const char *const name_a = transpose_a ? "a transposed" : "a";
    const char *const name_b = transpose_b ? "b transposed" : "b";
    if (shape_a[1] != shape_b[0])
        throw_error(Status::invalid_argument, function.full_name,
                    "{} needs k = {} rows, as {} has columns", shape_text(name_b, shape_b),
                    shape_a[1], shape_text(name_a, shape_a));
    Dims stack(shape_a.data() + 2, static_cast<std::size_t>(shape_a.size() - 2));
    const Dims other(shape_b.data() + 2, static_cast<std::size_t>(shape_b.size() - 2));
    if (!(stack == other) && !current_settings().auto_broadcast)
        refuse_auto_broadcast({"a", ta.shape}, {"b", tb.shape}, function.full_name);
    int rank = stack.size();
    stack.resize(std::max(rank, other.size()));
    if (const int i = broadcast_shapes(stack.data(), rank, other); i >= 0)
        refuse_broadcast({name_a, shape_a}, i + 2, {name_b, shape_b}, i + 2, function.full_name);
    Dims shape{shape_a[0]};
    if (!vector) shape.push_back(shape_b[1]);
    for (std::int64_t extent : stack) shape.push_back(extent);
    if (!(tc.shape == shape))
        throw_error(Status::invalid_argument, function.full_name, "{} needs shape {}",
                    shape_text("c", tc.shape), shape_text(shape));
    check_output(tc, "c", function.full_name);
    const Operand left(a), right(b), third(c);
    const Operand *const addend = is_zero(beta) ? nullptr : &third;
    const DType T = decide_product_T(left, right, addend, alpha, beta);
    const Operand *const factors[] = {&left, &right};
    require_output_dtype(tc, "c", T, decide_device(function, factors, {}), function.full_name, {});
    const DType factor = accumulator(T);
    const ProductAttributes attributes = {alpha.cast(factor).raw(), beta.cast(factor).raw(),
                                          Scalar(op_a == Op::C).raw(), Scalar(op_b == Op::C).raw()};
    product(left, transpose_a, right, transpose_b, vector, attributes, addend, &c,
            {.dtype = T, .device = tc.device()});
    return c;
}

} // namespace Atoll
