// matmul of the dtypes that cuBLAS does not have: tiles in shared memory.
#include "kernels.hpp"
#include "rows.cuh"

#include <cstring>

namespace Atoll::cuda {
namespace {

constexpr unsigned side = 16; // of a tile; a block has a thread for each of its elements
static_assert(side * side == block_threads);

template <class S, class A> struct Product {
    Space<4> stack; // d, a, b, c
    std::int64_t m, k, n;
    std::int64_t d_steps[2], a_steps[2], b_steps[2], c_steps[2]; // down, across
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
    const std::int64_t row = std::int64_t{tile % work.tiles_down} * side + x;
    const std::int64_t column = std::int64_t{tile / work.tiles_down} * side + y;
    A sum{};
    for (std::int64_t begin = 0; begin < work.k; begin += side) {
        const std::int64_t p = begin + y, q = begin + x;
        left[y][x] =
            row < work.m && p < work.k
                ? work.factor(at[1] + row * work.a_steps[0] + p * work.a_steps[1], work.conj_a)
                : A{};
        right[y][x] =
            column < work.n && q < work.k
                ? work.factor(at[2] + q * work.b_steps[0] + column * work.b_steps[1], work.conj_b)
                : A{};
        __syncthreads();
        const std::int64_t rest = work.k - begin;
        const unsigned count = rest < side ? static_cast<unsigned>(rest) : side;
        for (unsigned p2 = 0; p2 < count; ++p2)
            sum = add::apply(sum, multiply::apply(left[p2][x], right[y][p2]));
        __syncthreads();
    }
    if (row >= work.m || column >= work.n) return;
    A result = multiply::apply(work.alpha, sum);
    if (work.adds)
        result = add::apply(result,
                            multiply::apply(work.beta, work.factor(at[3] + row * work.c_steps[0] +
                                                                       column * work.c_steps[1],
                                                                   false)));
    *reinterpret_cast<S *>(at[0] + row * work.d_steps[0] + column * work.d_steps[1]) =
        stored_as<S>(result);
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
    work.m = call.shape[0];
    work.k = call.shape[1];
    work.n = call.shape[2];
    const auto steps = [&](int operand, int down, int across, std::int64_t(&to)[2]) {
        to[0] = call.operands[operand].strides[down];
        to[1] = call.operands[operand].strides[across];
    };
    steps(0, 0, 2, work.d_steps);
    steps(1, 0, 1, work.a_steps);
    steps(2, 1, 2, work.b_steps);
    steps(3, 0, 2, work.c_steps);
    work.alpha = number(0);
    work.beta = number(1);
    work.adds = !(call.operands[3].flags & ATOLL_OPERAND_ABSENT) && kernels::truth(work.beta);
    work.conj_a = sdk::flag(call, 2);
    work.conj_b = sdk::flag(call, 3);
    const std::int64_t down = (work.m + side - 1) / side, across = (work.n + side - 1) / side;
    work.tiles_down = static_cast<std::uint32_t>(down);
    work.tiles = Divisor(static_cast<std::uint32_t>(down * across));
    const std::int64_t limit = std::max<std::int64_t>(1, space_limit / (down * across));
    for_each_space(rows_of<4>(call), limit, [&](const Space<4> &space) {
        work.stack = space;
        launch(target, dim3(static_cast<unsigned>(space.count * down * across)),
               &multiply_tiles<S, A>, work);
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
    if (blas_dtypes >> call.dtype & 1) return blas_product(state, call);
    const Target target(state, call);
    table[call.dtype](target, call);
    target.enqueued();
}

} // namespace Atoll::cuda
