// Matrix products over stacks, and gemm.
#include "call/families.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// An operand seen as a stack of matrices: byte strides of its rows and columns.
struct MatrixView {
    std::int64_t rows, cols, row_stride, col_stride;
};

MatrixView matrix_view(const TensorImpl &t) {
    MatrixView view{1, 1, 0, 0};
    if (t.shape.size() > 0) view.rows = t.shape[0], view.row_stride = t.strides[0];
    if (t.shape.size() > 1) view.cols = t.shape[1], view.col_stride = t.strides[1];
    return view;
}

MatrixView transposed(MatrixView v) { return {v.cols, v.rows, v.col_stride, v.row_stride}; }

Dims stack_of(const TensorImpl &t) {
    Dims stack;
    for (int i = 2; i < t.shape.size(); ++i) stack.push_back(t.shape[i]);
    return stack;
}

bool scales(const TensorImpl &t) {
    return t.size() == 1 || (t.shape.size() >= 3 && t.shape[0] == 1 && t.shape[1] == 1);
}

struct Product {
    Scalar alpha = 1, beta = 0;
    bool transpose_a = false, transpose_b = false;
    std::uint32_t conj = 0; // bit 0: a, bit 1: b
    bool given = true;      // the destination is the caller's: all of it is written or nothing
};

// The result's shape; a vector b gives vectors.
Dims product_shape(const TensorImpl &a, const TensorImpl &b, std::int64_t rows, std::int64_t cols,
                   bool vector, std::string_view op) {
    Dims stack = stack_of(a);
    require_auto_broadcast(stack, stack_of(b), op);
    broadcast_shapes(stack, stack_of(b), op);
    Dims shape{rows};
    if (!vector) shape.push_back(cols);
    for (std::int64_t extent : stack) shape.push_back(extent);
    return shape;
}

class MatmulBuilder {
public:
    explicit MatmulBuilder(const Product &product) : product_(product) {}

    void build(Iteration &it, const TensorImpl &out, const TensorImpl &a, const TensorImpl &b) {
        MatrixView va = matrix_view(a), vb = matrix_view(b);
        if (product_.transpose_a) va = transposed(va);
        if (product_.transpose_b) vb = transposed(vb);
        const bool vector = b.shape.size() == 1 && !product_.transpose_b;
        const int out_stack = vector ? 1 : 2;
        it.rank = 3;
        it.count = 0;
        it.shape[0] = va.rows;
        it.shape[1] = vb.cols;
        // As in BLAS: with alpha == 0 the factors are not read, on any device.
        it.shape[2] = product_.alpha.to_complex() == std::complex<double>(0) ? 0 : va.cols;
        for (int i = out_stack; i < out.shape.size(); ++i) it.shape[it.rank++] = out.shape[i];
        place(it, out, out.strides.empty() ? 0 : out.strides[0],
              vector || out.shape.size() < 2 ? 0 : out.strides[1], 0, out_stack);
        place(it, a, va.row_stride, 0, va.col_stride, 2);
        place(it, b, 0, vb.col_stride, vb.row_stride, 2);
        coalesce(it, 3, it.rank);
    }

    // True iff every matrix is dense column-major, and every stack axis steps forward.
    bool canonical(Iteration &it) const {
        const std::int64_t m = it.shape[0], n = it.shape[1], k = it.shape[2];
        return dense_matrix(it, 0, 0, m, 1, n) && dense_matrix(it, 1, 0, m, 2, k) &&
               dense_matrix(it, 2, 2, k, 1, n);
    }

private:
    static void place(Iteration &it, const TensorImpl &t, std::int64_t m, std::int64_t n,
                      std::int64_t k, int first_stack) {
        IterationOperand &operand = it.operands[it.count++];
        operand.data = t.data();
        operand.tensor = &t;
        operand.dtype = t.dtype;
        operand.swapped = t.swapped();
        operand.strides[0] = it.shape[0] == 1 ? 0 : m;
        operand.strides[1] = it.shape[1] == 1 ? 0 : n;
        operand.strides[2] = it.shape[2] == 1 ? 0 : k;
        for (int i = 3; i < it.rank; ++i) {
            const int axis = first_stack + i - 3;
            operand.strides[i] = axis < t.shape.size() && t.shape[axis] != 1 ? t.strides[axis] : 0;
        }
    }
    static bool dense_matrix(Iteration &it, int operand, int row_axis, std::int64_t rows,
                             int col_axis, std::int64_t cols) {
        IterationOperand &o = it.operands[operand];
        const std::int64_t itemsize = size_of(o.dtype);
        if (rows > 1 && o.strides[row_axis] != itemsize) return false;
        if (cols > 1 && o.strides[col_axis] != itemsize * rows) return false;
        o.strides[row_axis] = itemsize; // extents of 1 may have any stride: give the dense one
        o.strides[col_axis] = itemsize * rows;
        return true;
    }

    const Product &product_;
};

// One call per matrix, for plugins without stacks.
void call_each_matrix(Plan &plan, Iteration &it, const void *params) {
    std::int64_t index[max_axes] = {};
    Iteration one = it;
    one.rank = 3;
    for (;;) {
        for (int o = 0; o < it.count; ++o) {
            one.operands[o].data = it.operands[o].data;
            for (int i = 3; i < it.rank; ++i)
                one.operands[o].data += index[i] * it.operands[o].strides[i];
        }
        plan.call(one, 1, params);
        int axis = 3;
        while (axis < it.rank && ++index[axis] == it.shape[axis]) index[axis++] = 0;
        if (axis >= it.rank) return;
    }
}

// A copy in which every matrix, as the product reads it, is dense column-major.
const TensorImpl &expand_matrix(Plan &plan, const TensorImpl &t, bool transposed) {
    int axes[ATOLL_MAX_RANK];
    for (int i = 0; i < t.shape.size(); ++i) axes[i] = i;
    if (transposed && t.shape.size() > 1) std::swap(axes[0], axes[1]);
    return plan.expand(t, t.shape, axes);
}

// 0 or 1: what a factor can be among bools.
bool is_flag(const Scalar &factor) {
    return !is_floating(factor.dtype()) && (factor.to_int() == 0 || factor.to_int() == 1);
}

DType parameter_dtype(DType compute) {
    if (compute == float16 || compute == bfloat16) return float32;
    return compute == complex32 ? complex64 : compute;
}

void run_product(const FunctionRecord &function, DeviceRecord *device, Dtypes dtypes,
                 const TensorImpl &a, const TensorImpl &b, const TensorImpl &out,
                 const Product &product) {
    // A destination on another device has a stream of that device.
    const TensorImpl *here = &out;
    for (const TensorImpl *input : {&a, &b})
        if (here->device() != device) here = input;
    Plan plan(function, device, dtypes.compute, dtypes.result, here->storage->stream);
    if (out.size() == 0) return;
    const bool accumulates = product.beta.to_complex() != std::complex<double>(0);
    const auto replace = [&]() -> const TensorImpl * {
        const TensorImpl &fresh = plan.replace_output(out);
        const InsertedScope inserted(&function);
        if (accumulates) copy_elements(fresh, out);
        return &fresh;
    };
    const TensorImpl *target = &out;
    const bool tangled = overlapping(out, a) || overlapping(out, b);
    if (tangled)
        target = replace();
    else if (const TensorImpl *fit = &plan.prepare_output(out); fit != &out) {
        const InsertedScope inserted(&function);
        if (accumulates) copy_elements(*fit, out);
        target = fit;
    }
    const TensorImpl *pa = &plan.prepare_input(a, nullptr), *pb = &plan.prepare_input(b, nullptr);

    atoll_matmul_params params{};
    params.struct_size = sizeof params;
    params.conj = product.conj;
    params.alpha = product.alpha.cast(parameter_dtype(dtypes.compute)).raw();
    params.beta = product.beta.cast(parameter_dtype(dtypes.compute)).raw();

    Iteration it;
    MatmulBuilder builder(product);
    builder.build(it, *target, *pa, *pb);
    if (!plan.takes_layout(it) && !builder.canonical(it)) {
        // The transposed operand is copied with its axes in the other order: no second pass.
        pa = &expand_matrix(plan, *pa, product.transpose_a);
        pb = &expand_matrix(plan, *pb, product.transpose_b);
        if (!dense(*target, Order::F)) target = replace();
        builder.build(it, *target, *pa, *pb);
        builder.canonical(it);
    }
    if (it.rank > 3 && !plan.takes(ATOLL_CAP_STACKS)) {
        if (product.given && target == &out) {
            target = replace();
            builder.build(it, *target, *pa, *pb);
            builder.canonical(it);
        }
        call_each_matrix(plan, it, &params);
    } else
        plan.call(it, 1, &params);
    plan.finish();
}

} // namespace
} // namespace Atoll::detail

namespace Atoll {

using namespace detail;

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
    const ReadSection section;
    const MatrixView va = matrix_view(ta), vb = matrix_view(tb);
    if (va.cols != vb.rows)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got shapes {} and {}, need {} rows in the second to match the "
                                "columns of the first{}",
                                shape_text(ta.shape), shape_text(tb.shape), va.cols,
                                ta.shape.size() == 1 && tb.shape.size() == 1
                                    ? " (vectors are columns: a.T() * b is the inner product, "
                                      "multiply(a, b) the element-wise one)"
                                    : ""));
    const Operand *const inputs[] = {&a, &b};
    DeviceRecord *device = common_device(function, inputs);
    const Dtypes dtypes = apply_rule(function, common_dtype(function, inputs));
    const Dims shape =
        product_shape(ta, tb, va.rows, vb.cols, tb.shape.size() == 1, function.full_name);
    Tensor result;
    if (out.get()) {
        const TensorImpl &given = detail::impl(*out.get());
        check_output(given, function.full_name);
        if (!(given.shape == shape))
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("got a destination of shape {}, need {}",
                                    shape_text(given.shape), shape_text(shape)));
        require_auto_cast(given, dtypes.result, device, function.full_name);
        result = *out.get();
    } else {
        result = make_tensor(shape, dtypes.result, device, ta.storage->stream);
    }
    Product product;
    product.given = out.get() != nullptr;
    run_product(function, device, dtypes, ta, tb, *result.impl(), product);
    return result;
}

const Tensor &gemm(Scalar alpha, const Tensor &a, Op op_a, const Tensor &b, Op op_b, Scalar beta,
                   const Tensor &c) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_matmul);
    const TensorImpl &ta = detail::impl(a), &tb = detail::impl(b), &tc = detail::impl(c);
    Product product;
    product.alpha = alpha;
    product.beta = beta;
    product.transpose_a = op_a != Op::N;
    product.transpose_b = op_b != Op::N;
    product.conj = (op_a == Op::C ? 1u : 0u) | (op_b == Op::C ? 2u : 0u);
    MatrixView va = matrix_view(ta), vb = matrix_view(tb);
    if (product.transpose_a) va = transposed(va);
    if (product.transpose_b) vb = transposed(vb);
    const Dims shape = product_shape(
        ta, tb, va.rows, vb.cols, tb.shape.size() == 1 && !product.transpose_b, function.full_name);
    if (va.cols != vb.rows || !(tc.shape == shape))
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("gemm got a of shape {}{}, b of shape {}{} and c of shape {}: "
                                "inner extents {} and {} must agree and c must be {}",
                                shape_text(ta.shape), product.transpose_a ? " transposed" : "",
                                shape_text(tb.shape), product.transpose_b ? " transposed" : "",
                                shape_text(tc.shape), va.cols, vb.rows, shape_text(shape)));
    check_output(tc, function.full_name);
    // The factors promote like scalars beside a tensor, but for 0 and 1 beside bool.
    const Operand left(a), right(b), first(alpha), second(beta);
    const Operand *inputs[4] = {&left, &right};
    std::size_t count = 2;
    for (const Operand *factor : {&first, &second})
        if (!is_flag(factor->scalar()) || promote(ta.dtype, tb.dtype) != bool_)
            inputs[count++] = factor;
    const std::span<const Operand *const> all(inputs, count);
    DeviceRecord *device = tc.device();
    const Dtypes dtypes = apply_rule(function, common_dtype(function, all));
    require_auto_cast(tc, dtypes.result, common_device(function, all), function.full_name);
    run_product(function, device, dtypes, ta, tb, tc, product);
    return c;
}

} // namespace Atoll
