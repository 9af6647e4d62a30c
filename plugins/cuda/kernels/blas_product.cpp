// matmul through cuBLAS: float16, bfloat16, float32, float64, complex64, complex128.
//
// cuBLAS wants matrices with one unit stride. Operands whose axes do not make matrices are packed
// whole; whatever else comes (both strides large, negative or zero, a conjugate that is not
// transposed) is packed into a temporary, one matrix at a time; without that a loop axis goes to
// cuBLAS as a batch.
#include "atoll/dtype_facts.hpp"
#include "kernels.hpp"
#include "product_axes.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace Atoll::cuda {
namespace {

// Strides in bytes.
struct Matrix {
    char *data;
    std::int64_t rows, columns;
    std::int64_t row_stride, column_stride;

    Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// Elements from one column to the next if the rows of each column are adjacent, else 0. The stride
// of an axis of extent 1 means nothing. cuBLAS loads whole elements, so a complex number that is
// aligned to its parts only would be the end of the context.
std::int64_t leading_dimension(const Matrix &matrix, std::int64_t size) {
    if (reinterpret_cast<std::uintptr_t>(matrix.data) % static_cast<std::uintptr_t>(size) != 0)
        return 0;
    if (matrix.rows > 1 && matrix.row_stride != size) return 0;
    if (matrix.columns == 1) return matrix.rows;
    if (matrix.column_stride % size != 0 || matrix.column_stride < matrix.rows * size) return 0;
    return matrix.column_stride / size;
}

// How an input goes to cuBLAS.
struct Input {
    cublasOperation_t operation;
    std::int64_t leading; // 0: it must be packed first
};

Input input_of(const Matrix &matrix, std::int64_t size, bool conjugate) {
    if (!conjugate) {
        if (const std::int64_t leading = leading_dimension(matrix, size))
            return {CUBLAS_OP_N, leading};
    }
    const std::int64_t leading = leading_dimension(matrix.transposed(), size);
    return {conjugate ? CUBLAS_OP_C : CUBLAS_OP_T, leading};
}

struct Product {
    const Target &target;
    unsigned dtype;
    std::int64_t size; // bytes per element
    bool conjugate_a, conjugate_b;
    const atoll_scalar &alpha, &beta;
};

void copy_matrix(const Product &product, const Matrix &to, const Matrix &from) {
    const std::int64_t shape[] = {to.rows, to.columns};
    const std::int64_t to_strides[] = {to.row_stride, to.column_stride};
    const std::int64_t from_strides[] = {from.row_stride, from.column_stride};
    const auto operand = [&](char *data, const std::int64_t *strides) {
        return atoll_operand{data,
                             strides,
                             static_cast<std::uint16_t>(product.dtype),
                             0,
                             product.target.call.device,
                             0,
                             data,
                             {}};
    };
    copy_elements(product.target, 2, shape, operand(to.data, to_strides),
                  operand(from.data, from_strides));
}

// A matrix of the same shape, dense by columns, or by rows.
Matrix packed(const Matrix &like, char *data, std::int64_t size, bool by_rows) {
    if (by_rows) return {data, like.rows, like.columns, like.columns * size, size};
    return {data, like.rows, like.columns, size, like.rows * size};
}

bool is_zero(const atoll_scalar &scalar) {
    switch (scalar.dtype) {
    case ATOLL_DTYPE_FLOAT32: return scalar.value.f32[0] == 0; // also that of halves
    case ATOLL_DTYPE_FLOAT64: return scalar.value.f64[0] == 0;
    case ATOLL_DTYPE_COMPLEX64: return scalar.value.f32[0] == 0 && scalar.value.f32[1] == 0;
    default: return scalar.value.f64[0] == 0 && scalar.value.f64[1] == 0;
    }
}

// Steps in elements from one matrix of the batch to the next.
struct Batch {
    std::int64_t count, out_step, a_step, b_step;
};

// out is dense enough, a and b are as they say.
void call_cublas(const Product &product, const Matrix &out, const Matrix &a, Input a_input,
                 const Matrix &b, Input b_input, const Batch &batch) {
    const Target &target = product.target;
    Stream &stream = target.stream;
    const std::lock_guard lock(stream.mutex);
    const Cublas &cublas = Cublas::get();
    if (!stream.blas) {
        cublasHandle_t handle = nullptr;
        target.check(cublas.create(&handle), "cublasCreate");
        cublasStatus_t code = cublas.set_stream(handle, stream.handle);
        // Sums of halves stay in float32 to the end.
        if (code == CUBLAS_STATUS_SUCCESS)
            code = cublas.set_math_mode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
        if (code != CUBLAS_STATUS_SUCCESS) {
            cublas.destroy(handle);
            target.check(code, "cublasSetStream, cublasSetMathMode");
        }
        stream.blas = handle;
    }
    cudaDataType type = CUDA_C_64F;
    switch (product.dtype) {
    case ATOLL_DTYPE_FLOAT16: type = CUDA_R_16F; break;
    case ATOLL_DTYPE_BFLOAT16: type = CUDA_R_16BF; break;
    case ATOLL_DTYPE_FLOAT32: type = CUDA_R_32F; break;
    case ATOLL_DTYPE_FLOAT64: type = CUDA_R_64F; break;
    case ATOLL_DTYPE_COMPLEX64: type = CUDA_C_32F; break;
    default: break;
    }
    const bool is_double =
        product.dtype == ATOLL_DTYPE_FLOAT64 || product.dtype == ATOLL_DTYPE_COMPLEX128;
    // Read by aligned loads.
    alignas(16) unsigned char alpha[16], beta[16];
    std::memcpy(alpha, product.alpha.value.bytes, sizeof alpha);
    std::memcpy(beta, product.beta.value.bytes, sizeof beta);
    target.check(cublas.gemm(stream.blas, a_input.operation, b_input.operation, out.rows,
                             out.columns, a.columns, alpha, a.data, type, a_input.leading,
                             batch.a_step, b.data, type, b_input.leading, batch.b_step, beta,
                             out.data, type, leading_dimension(out, product.size), batch.out_step,
                             batch.count, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
}

// out = alpha * a b + beta * out for one matrix, packing what must be packed.
void multiply(const Product &product, const Matrix &out, const Matrix &a, const Matrix &b) {
    std::optional<Temporary> a_memory, b_memory, out_memory;
    const std::int64_t size = product.size;
    const auto pack = [&](const Matrix &matrix, bool conjugate, std::optional<Temporary> &memory) {
        if (input_of(matrix, size, conjugate).leading) return matrix;
        memory.emplace(product.target,
                       static_cast<std::uint64_t>(matrix.rows * matrix.columns * size));
        // By rows, cuBLAS sees the transpose, which it can conjugate.
        const Matrix result = packed(matrix, memory->data(), size, conjugate);
        copy_matrix(product, result, matrix);
        return result;
    };
    const Matrix a_packed = pack(a, product.conjugate_a, a_memory);
    const Matrix b_packed = pack(b, product.conjugate_b, b_memory);
    Matrix result = out;
    if (!leading_dimension(out, size)) {
        out_memory.emplace(product.target,
                           static_cast<std::uint64_t>(out.rows * out.columns * size));
        result = packed(out, out_memory->data(), size, false);
        if (!is_zero(product.beta)) copy_matrix(product, result, out);
    }
    call_cublas(product, result, a_packed, input_of(a_packed, size, product.conjugate_a), b_packed,
                input_of(b_packed, size, product.conjugate_b), {1, 0, 0, 0});
    if (out_memory) copy_matrix(product, out, result);
}

// d = c, so that cuBLAS finds c where it writes.
void copy_c(const Target &target, const atoll_operand &d, const atoll_operand &c) {
    const atoll_call &call = target.call;
    std::int64_t shape[ATOLL_MAX_RANK];
    std::copy_n(call.shape, call.rank, shape);
    std::fill_n(shape + call.axes[0], call.axes[1], 1); // k, on which neither varies
    copy_elements(target, call.rank, shape, d, c);
}

// Makes each of m, k and n one axis. What does not fold is packed; but matrices with so many rows
// or columns are worth a product each, and then the other axes are a loop.
void make_matrices(const Product &product, ProductAxes &axes, PackedOperands &packed) {
    constexpr std::int64_t many = 128;
    const auto pack_unless_folded = [&](const ProductGroup &group, ProductOperand operand) {
        if (group.folds(operand)) return;
        // By rows, cuBLAS sees the transpose, which it can conjugate.
        if (operand == product_a)
            packed.pack(operand, product.conjugate_a ? axes.k : axes.m);
        else if (operand == product_b)
            packed.pack(operand, product.conjugate_b ? axes.n : axes.k);
        else
            packed.pack_result(!is_zero(product.beta));
    };
    pack_unless_folded(axes.k, product_a);
    pack_unless_folded(axes.k, product_b);
    axes.k.fold();
    const auto make_one = [&](ProductGroup &group, ProductOperand input) {
        const bool folds = group.folds(input) && group.folds(product_d);
        if (!folds && group.axis[0].extent >= many) {
            while (group.count > 1) axes.loop.add(group.axis[--group.count]);
            return;
        }
        pack_unless_folded(group, input);
        pack_unless_folded(group, product_d);
        group.fold();
    };
    make_one(axes.m, product_a);
    make_one(axes.n, product_b);
}

} // namespace

// Operands d, a, b, c.
void blas_product(const Target &target) {
    const atoll_call &call = target.call;
    const atoll_operand &d = call.operands[0], &c = call.operands[3];
    atoll_scalar beta = call.attributes[1];
    if (c.flags & ATOLL_OPERAND_ABSENT) beta.value = {};
    if (!is_zero(beta) && c.data != d.data) copy_c(target, d, c);
    const bool is_complex = sdk::dtype_facts[call.dtype].kind == ATOLL_DTYPE_KIND_COMPLEX;
    Product product{target,
                    call.dtype,
                    sdk::dtype_size(call.dtype),
                    is_complex && sdk::flag(call, 2),
                    is_complex && sdk::flag(call, 3),
                    call.attributes[0],
                    beta};
    const std::int64_t size = product.size;
    ProductAxes axes(call);
    PackedOperands packed(target, axes);
    make_matrices(product, axes, packed);
    const auto matrix = [&](ProductOperand o, const ProductGroup &rows,
                            const ProductGroup &columns) {
        const ProductGroup::Axis &down = rows.axis[0], &across = columns.axis[0];
        return Matrix{axes.data[o], down.extent, across.extent, down.stride[o], across.stride[o]};
    };
    Matrix out = matrix(product_d, axes.m, axes.n);
    Matrix a = matrix(product_a, axes.m, axes.k), b = matrix(product_b, axes.k, axes.n);
    ProductOperand order[] = {product_d, product_a, product_b};
    if (!leading_dimension(out, size) && leading_dimension(out.transposed(), size)) {
        // By rows: out' = b' a'.
        out = out.transposed();
        std::swap(a, b);
        a = a.transposed();
        b = b.transposed();
        std::swap(product.conjugate_a, product.conjugate_b);
        std::swap(order[1], order[2]);
    }

    // The longest of the loop's axes is a batch, if no matrix has to be packed; the others are
    // looped over, as an odometer.
    ProductGroup &loop = axes.loop;
    const auto steps = [&](int axis, int operand) {
        return loop.axis[axis].stride[order[operand]];
    };
    const Input a_input = input_of(a, size, product.conjugate_a);
    const Input b_input = input_of(b, size, product.conjugate_b);
    bool is_direct = a_input.leading && b_input.leading && leading_dimension(out, size);
    for (int axis = 0; axis < loop.count; ++axis)
        for (int operand = 0; operand < 3; ++operand)
            is_direct = is_direct && steps(axis, operand) % size == 0;
    Batch batch{1, 0, 0, 0};
    int longest = -1;
    for (int axis = 0; axis < loop.count && is_direct; ++axis)
        if (steps(axis, 0) >= 0 && steps(axis, 1) >= 0 && steps(axis, 2) >= 0 &&
            (longest < 0 || loop.axis[axis].extent > loop.axis[longest].extent))
            longest = axis;
    if (longest >= 0) {
        batch = {loop.axis[longest].extent, steps(longest, 0) / size, steps(longest, 1) / size,
                 steps(longest, 2) / size};
        loop.axis[longest] = loop.axis[--loop.count];
    }
    std::int64_t index[ATOLL_MAX_RANK] = {};
    for (;;) {
        if (is_direct)
            call_cublas(product, out, a, a_input, b, b_input, batch);
        else
            multiply(product, out, a, b);
        int axis = 0;
        for (; axis < loop.count; ++axis) {
            char **const moving[] = {&out.data, &a.data, &b.data};
            const std::int64_t extent = loop.axis[axis].extent;
            const bool wraps = ++index[axis] == extent;
            for (int operand = 0; operand < 3; ++operand)
                *moving[operand] += (wraps ? 1 - extent : 1) * steps(axis, operand);
            if (!wraps) break;
            index[axis] = 0;
        }
        if (axis >= loop.count) break;
    }
    packed.finish();
}

} // namespace Atoll::cuda
