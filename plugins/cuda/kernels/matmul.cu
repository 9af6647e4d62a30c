// matmul of the dtypes that cuBLAS does not have, of operands with any axes.
//
// Note [Tiles of a product]
// A block computes a tile of d, a thread `each` x `each` elements of it. Along k the factors go
// through shared memory, `depth` elements at a time; there are two such tiles of both, so that one
// is filled while the other is multiplied. What axes, strides and dtypes there are concerns the
// filling only: offsets along k are found once per tile, those of rows and columns once per block.
// Every sum is taken in the order of k, so its bits depend neither on the size of tiles nor on the
// device.
#include "elements.cuh"
#include "functors/functors.h"
#include "kernels.hpp"
#include "launchers.cuh"
#include "packs.cuh"
#include "product_axes.hpp"
#include "space.cuh"

#include <cstdlib>
#include <cstring>

namespace Atoll::cuda {
namespace {

template <class A> struct Product {
    Space<4> stack;    // d, a, b, c
    Space<3> sides[2]; // rows: d, a, c; columns: d, b, c
    Space<2> inner;    // a, b
    std::uint32_t tiles_down;
    Divisor tiles; // of one product
    A alpha, beta;
    bool conj[2];    // a, b
    bool along_k[2]; // neighbours along k are nearer than those along the other axis
    bool adds;
};

// What is multiplied and added up: whole words for short integers, whose lower bits are the same.
template <class A> using Word = std::conditional_t<sizeof(A) < 4, std::uint32_t, A>;
template <class A> __device__ Word<A> with_product(Word<A> sum, Word<A> a, Word<A> b) {
    using namespace kernels::functor;
    if constexpr (kernels::is_bool<A>)
        return sum | (a & b);
    else
        return add::apply(sum, multiply::apply(a, b));
}

constexpr unsigned block_side = 16; // threads
static_assert(block_side * block_side == block_threads);
constexpr unsigned tile_elements = 1024; // of a factor
constexpr unsigned reads = tile_elements / block_threads;

template <class W, unsigned each> struct Tile {
    static constexpr unsigned side = block_side * each, depth = tile_elements / side;
    static constexpr unsigned width = std::min(each, pack_width<W>);

    // Threads next to each other read packs next to each other.
    __device__ static unsigned place(unsigned thread, unsigned element) {
        return (element / width * block_side + thread) * width + element % width;
    }
    __device__ static void read(W (&to)[each], const W *row, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < each; i += width) {
            const auto pack = *reinterpret_cast<const Pack<W, width> *>(row + place(thread, i));
            for (unsigned j = 0; j < width; ++j) to[i + j] = pack.at[j];
        }
    }
};

// Two blocks of 256 threads on a multiprocessor leave 128 registers for a thread.
template <class S, class A, unsigned each> __global__ void __launch_bounds__(block_threads, 2)
    multiply_tiles(const __grid_constant__ Product<A> work) {
    using kernels::functor::add;
    using kernels::functor::multiply;
    using W = Word<A>;
    using Tile = Tile<W, each>;
    constexpr unsigned side = Tile::side, depth = Tile::depth;
    // Of a and b. Rows are a pack apart, so that the elements of a column are in different banks.
    alignas(16) __shared__ W factors[2][2][depth][side + Tile::width];
    // Bytes from the operands' data: to this product, to its elements along k, and from there to
    // rows and columns.
    __shared__ std::int64_t product[4], along[2][2][depth], across[2][3][side];
    const std::uint32_t which = work.tiles.quotient(blockIdx.x);
    const std::uint32_t tile = blockIdx.x - which * work.tiles.extent;
    const std::uint32_t first_row = tile % work.tiles_down * side;
    const std::uint32_t first_column = tile / work.tiles_down * side;
    if (threadIdx.x == 0) work.stack.offsets(which, product);
    if (threadIdx.x < 2 * side) {
        const unsigned o = threadIdx.x / side, i = threadIdx.x % side;
        const std::uint32_t place = (o == 0 ? first_row : first_column) + i;
        std::int64_t offsets[3] = {}; // beyond the last row or column the first one is read
        if (place < work.sides[o].count) work.sides[o].offsets(place, offsets);
        for (unsigned operand = 0; operand < 3; ++operand) across[o][operand][i] = offsets[operand];
    }
    __syncthreads();

    // A thread reads elements of both factors at one k each. Neighbouring threads read neighbours
    // in global memory.
    constexpr unsigned stride = side / reads;
    unsigned k[2], row[2];
#pragma unroll
    for (unsigned o = 0; o < 2; ++o) {
        k[o] = work.along_k[o] ? threadIdx.x % depth : threadIdx.x / stride;
        row[o] = work.along_k[o] ? threadIdx.x / depth : threadIdx.x % stride;
    }
    const auto locate = [&](std::uint32_t step) {
        if (threadIdx.x >= depth) return;
        const std::uint32_t place = step * depth + threadIdx.x;
        std::int64_t offsets[2] = {};
        if (place < work.inner.count) work.inner.offsets(place, offsets);
        for (unsigned o = 0; o < 2; ++o)
            along[step % 2][o][threadIdx.x] = product[1 + o] + offsets[o];
    };
    // Converted only in keep(), so that no load is waited for before the other tile is multiplied.
    using Loaded = std::conditional_t<std::is_integral_v<S>, W, S>;
    Loaded elements[2][reads];
    const auto read = [&](std::uint32_t step) {
#pragma unroll
        for (unsigned o = 0; o < 2; ++o) {
            const bool exists = step * depth + k[o] < work.inner.count;
            const char *const from = work.stack.data[1 + o] + along[step % 2][o][k[o]];
#pragma unroll
            for (unsigned e = 0; e < reads; ++e) {
                elements[o][e] = Loaded{}; // adds nothing to any sum
                if (exists)
                    elements[o][e] =
                        *reinterpret_cast<const S *>(from + across[o][1][row[o] + e * stride]);
            }
        }
    };
    const auto keep = [&](std::uint32_t step) {
#pragma unroll
        for (unsigned o = 0; o < 2; ++o)
#pragma unroll
            for (unsigned e = 0; e < reads; ++e) {
                A value = static_cast<A>(value_of(elements[o][e]));
                if (work.conj[o]) value = kernels::functor::conj::apply(value);
                factors[step % 2][o][k[o]][row[o] + e * stride] = static_cast<W>(value);
            }
    };

    const unsigned x = threadIdx.x % block_side, y = threadIdx.x / block_side;
    const bool has_results = first_row + Tile::place(x, 0) < work.sides[0].count &&
                             first_column + Tile::place(y, 0) < work.sides[1].count;
    W sums[each][each] = {};
    locate(0);
    __syncthreads();
    read(0);
    keep(0);
    locate(1);
    __syncthreads();
    const std::uint32_t steps = parts_of(work.inner.count, depth);
    ATOLL_ROLLED
    for (std::uint32_t step = 0; step < steps; ++step) {
        read(step + 1);
        if (has_results)
#pragma unroll 4
            for (unsigned p = 0; p < depth; ++p) {
                W a[each], b[each];
                Tile::read(a, factors[step % 2][0][p], x);
                Tile::read(b, factors[step % 2][1][p], y);
#pragma unroll
                for (unsigned j = 0; j < each; ++j)
#pragma unroll
                    for (unsigned i = 0; i < each; ++i)
                        sums[j][i] = with_product<A>(sums[j][i], a[i], b[j]);
            }
        keep(step + 1);
        locate(step + 2);
        __syncthreads();
    }

    char *const d = work.stack.data[0] + product[0], *const c = work.stack.data[3] + product[3];
#pragma unroll
    for (unsigned j = 0; j < each; ++j) {
        const unsigned column = Tile::place(y, j);
        if (first_column + column >= work.sides[1].count) break;
#pragma unroll
        for (unsigned i = 0; i < each; ++i) {
            const unsigned row = Tile::place(x, i);
            if (first_row + row >= work.sides[0].count) break;
            A result = multiply::apply(work.alpha, static_cast<A>(sums[j][i]));
            if (work.adds) {
                const A addend = value_of(
                    *reinterpret_cast<const S *>(c + across[0][2][row] + across[1][2][column]));
                result = add::apply(result, multiply::apply(work.beta, addend));
            }
            *reinterpret_cast<S *>(d + across[0][0][row] + across[1][0][column]) =
                stored_as<S>(result);
        }
    }
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

// More registers than there are would be needed for the sums of longer elements.
template <class A> constexpr bool has_large_tiles = sizeof(A) <= 4;

// Along each side of a thread's share of a tile: 8 only where the tiles still fill the device, as
// each of them takes four times as long.
template <class A> unsigned results_per_thread(const Target &target, std::uint32_t rows,
                                               std::uint32_t columns, std::int64_t products) {
    // Vectors, and stacks of small matrices.
    if (std::min(rows, columns) <= 8 || std::max(rows, columns) <= block_side) return 1;
    constexpr unsigned large = block_side * 8;
    const std::int64_t blocks = products * parts_of(rows, large) * parts_of(columns, large);
    const bool fill = std::min(rows, columns) > large / 2 && blocks >= target.device.units * 2;
    return has_large_tiles<A> && fill ? 8 : 4;
}

template <std::uint32_t dtype> void product_call(const Target &target, const atoll_call &call) {
    using S = kernels::Wrapping<Stored<dtype>>;
    using A = Value<S>;
    const auto number = [&](int k) {
        A value;
        std::memcpy(&value, call.attributes[k].value.bytes, sizeof value);
        return value;
    };
    Product<A> work{};
    work.alpha = number(0);
    work.beta = number(1);
    work.adds = !(call.operands[3].flags & ATOLL_OPERAND_ABSENT) && kernels::truth(work.beta);
    for (int o = 0; o < 2; ++o) work.conj[o] = sdk::flag(call, 2 + o);
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
                    work.sides[0] = rows;
                    for_each_space(
                        extents_of(axes.n, axes, {product_d, product_b, c}, n_strides),
                        [&](const Space<3> &columns) {
                            work.sides[1] = columns;
                            for (int o = 0; o < 2; ++o)
                                work.along_k[o] = std::abs(inner.strides[o][0]) <
                                                  std::abs(work.sides[o].strides[1][0]);
                            const unsigned each = results_per_thread<A>(
                                target, rows.count, columns.count, axes.loop.size());
                            const unsigned side = block_side * each;
                            auto kernel =
                                each == 1 ? &multiply_tiles<S, A, 1> : &multiply_tiles<S, A, 4>;
                            if constexpr (has_large_tiles<A>)
                                if (each == 8) kernel = &multiply_tiles<S, A, 8>;
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
                                           kernel, work);
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
