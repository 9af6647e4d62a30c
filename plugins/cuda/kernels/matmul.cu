// matmul of the dtypes that cuBLAS does not have: tiles in shared memory, of operands with any
// axes.
#include "elements.cuh"
#include "functors/functors.h"
#include "kernels.hpp"
#include "launchers.cuh"
#include "product_axes.hpp"
#include "space.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

constexpr unsigned side = 16; // of a tile; a block has a thread for each of its elements
static_assert(side * side == block_threads);

template <class S, class A> struct Product {
    Space<4> stack;         // d, a, b, c
    Space<3> rows, columns; // d, a, c; d, b, c
    Space<2> inner;         // a, b
    std::uint32_t tiles_down;
    Divisor tiles; // of one product
    A alpha, beta;
    bool conj_a, conj_b, adds;

    __device__ static S element(const char *at) { return *reinterpret_cast<const S *>(at); }
    __device__ static A factor(const char *at, bool conj) {
        const A value = value_of(element(at));
        return conj ? kernels::functor::conj::apply(value) : value;
    }
};

template <class S, class A> __global__ void __launch_bounds__(block_threads)
    multiply_tiles(const __grid_constant__ Product<S, A> work) {
    using kernels::functor::add;
    using kernels::functor::multiply;
    __shared__ A left[side][side + 1], right[side][side + 1];
    const std::uint32_t which = work.tiles.quotient(blockIdx.x);
    const std::uint32_t tile = blockIdx.x - which * work.tiles.extent;
    char *at[4];
    work.stack.locate(which, at);
    const unsigned x = threadIdx.x % side, y = threadIdx.x / side;
    const std::uint32_t row = tile % work.tiles_down * side + x;
    const std::uint32_t column = tile / work.tiles_down * side + y;
    const bool in_rows = row < work.rows.count, in_columns = column < work.columns.count;
    std::int64_t down[3] = {}, across[3] = {};
    if (in_rows) work.rows.offsets(row, down);
    if (in_columns) work.columns.offsets(column, across);
    A sum{};
    for (std::uint32_t begin = 0; begin < work.inner.count; begin += side) {
        const std::uint32_t p = begin + y, q = begin + x;
        std::int64_t along[2];
        left[y][x] = right[y][x] = A{};
        if (in_rows && p < work.inner.count) {
            work.inner.offsets(p, along);
            left[y][x] = work.factor(at[1] + down[1] + along[0], work.conj_a);
        }
        if (in_columns && q < work.inner.count) {
            work.inner.offsets(q, along);
            right[y][x] = work.factor(at[2] + across[1] + along[1], work.conj_b);
        }
        __syncthreads();
        const std::uint32_t rest = work.inner.count - begin, count = rest < side ? rest : side;
        for (unsigned p2 = 0; p2 < count; ++p2)
            sum = add::apply(sum, multiply::apply(left[p2][x], right[y][p2]));
        __syncthreads();
    }
    if (!in_rows || !in_columns) return;
    A result = multiply::apply(work.alpha, sum);
    if (work.adds)
        result = add::apply(
            result, multiply::apply(work.beta, work.factor(at[3] + down[2] + across[2], false)));
    *reinterpret_cast<S *>(at[0] + down[0] + across[0]) = stored_as<S>(result);
}

// The axes of a group for some of the operands; `strides` is where theirs are kept.
template <int Operands>
Extents<Operands> extents_of(const ProductGroup &group, const ProductAxes &axes,
                             const ProductOperand (&operands)[Operands],
                             std::int64_t (&strides)[Operands][ATOLL_MAX_RANK]) {
    Extents<Operands> extents;
    extents.rank = static_cast<std::uint32_t>(group.count);
    for (int i = 0; i < group.count; ++i) {
        extents.shape[i] = group.axis[i].extent;
        for (int k = 0; k < Operands; ++k) strides[k][i] = group.axis[i].stride[operands[k]];
    }
    for (int k = 0; k < Operands; ++k) {
        extents.data[k] = axes.data[operands[k]];
        extents.strides[k] = strides[k];
    }
    return extents;
}

template <std::uint32_t dtype> void product_call(const Target &target, const atoll_call &call) {
    using S = kernels::Wrapping<Stored<dtype>>;
    using A = Value<S>;
    const auto number = [&](int k) {
        A value;
        std::memcpy(&value, call.attributes[k].value.bytes, sizeof value);
        return value;
    };
    Product<S, A> work{};
    work.alpha = number(0);
    work.beta = number(1);
    work.adds = !(call.operands[3].flags & ATOLL_OPERAND_ABSENT) && kernels::truth(work.beta);
    work.conj_a = sdk::flag(call, 2);
    work.conj_b = sdk::flag(call, 3);
    ProductAxes axes(call);
    PackedOperands packed(target, axes);
    // Parts of k are added up in d, which rounds: only what no kernel counts is cut.
    if (axes.k.count > space_rank) {
        packed.pack(product_a, axes.m);
        packed.pack(product_b, axes.k);
        axes.k.fold();
    }
    std::int64_t k_strides[2][ATOLL_MAX_RANK], m_strides[3][ATOLL_MAX_RANK],
        n_strides[3][ATOLL_MAX_RANK], loop_strides[4][ATOLL_MAX_RANK];
    ProductOperand c = product_c;
    const auto part_of = [&](ProductOperand o, const char *part) { return part - axes.data[o]; };
    for_each_space(
        extents_of(axes.k, axes, {product_a, product_b}, k_strides), [&](const Space<2> &inner) {
            work.inner = inner;
            for_each_space(
                extents_of(axes.m, axes, {product_d, product_a, c}, m_strides),
                [&](const Space<3> &rows) {
                    work.rows = rows;
                    for_each_space(
                        extents_of(axes.n, axes, {product_d, product_b, c}, n_strides),
                        [&](const Space<3> &columns) {
                            work.columns = columns;
                            work.tiles_down = parts_of(rows.count, side);
                            const std::int64_t tiles =
                                std::int64_t{work.tiles_down} * parts_of(columns.count, side);
                            work.tiles = Divisor(static_cast<std::uint32_t>(tiles));
                            const std::int64_t limit =
                                std::max<std::int64_t>(1, space_limit / tiles);
                            for_each_space(
                                extents_of(axes.loop, axes, {product_d, product_a, product_b, c},
                                           loop_strides),
                                limit, [&](const Space<4> &stack) {
                                    work.stack = stack;
                                    // Kernels add what they find by offsets.
                                    work.stack.data[0] += part_of(product_d, rows.data[0]) +
                                                          part_of(product_d, columns.data[0]);
                                    work.stack.data[1] += part_of(product_a, rows.data[1]) +
                                                          part_of(product_a, inner.data[0]);
                                    work.stack.data[2] += part_of(product_b, columns.data[1]) +
                                                          part_of(product_b, inner.data[1]);
                                    work.stack.data[3] +=
                                        part_of(c, rows.data[2]) + part_of(c, columns.data[2]);
                                    launch(target, dim3(static_cast<unsigned>(stack.count * tiles)),
                                           &multiply_tiles<S, A>, work);
                                });
                        });
                });
            c = product_d;
            work.adds = true;
            if constexpr (kernels::is_complex<A>)
                work.beta = {1, 0};
            else
                work.beta = A(1);
        });
}

constexpr auto table = launchers_of<ATOLL_FN_matmul>([](auto dtype) -> Launcher {
    if constexpr (blas_dtypes >> dtype() & 1)
        return nullptr;
    else
        return &product_call<dtype()>;
});

} // namespace

void matmul(State &state, atoll_call &call) {
    const Target target(state, call);
    // cuBLAS multiplies bfloat16 from compute capability 8.0 on.
    const bool has_blas = (blas_dtypes >> call.dtype & 1) ||
                          (call.dtype == ATOLL_DTYPE_BFLOAT16 && target.device.capability >= 8);
    if (has_blas)
        blas_product(target);
    else
        table[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
