// find: the positions of the elements that are not zero, ascending; compress: the elements there of
// another operand. The host has counted them.
#include "kernels.hpp"
#include "move_bytes.cuh"
#include "rows.cuh"

#include <functional>

namespace Atoll::cuda {
namespace {

constexpr std::uint32_t per_thread = 16, chunk = block_threads * per_thread;

struct Find {
    Space<2> elements; // what is looked at; what compress takes
    Access in, out;
    std::uint32_t size; // of what compress takes, in bytes; 0: positions
    bool is_bool;
    char *results;
    std::int64_t step;    // bytes
    std::int64_t first;   // of element 0 of this space
    std::int64_t *counts; // of each chunk; then what stands before each, and all in the end
    std::uint32_t chunks;
    std::int64_t *before; // what earlier spaces have found

    __device__ bool found(std::uint32_t i) const {
        char *at[2];
        elements.locate(i, at);
        const Number number = load(at[0], in);
        return number.is_integer ? number.bits != 0 : number.re != 0 || number.im != 0;
    }
    __device__ std::uint32_t count(std::uint32_t begin) const {
        std::uint32_t result = 0;
        for (std::uint32_t i = begin; i < begin + per_thread && i < elements.count; ++i)
            result += found(i);
        return result;
    }
    __device__ void write(std::uint32_t i, char *to) const {
        if (size == 0) return store(to, out, number_of(std::int64_t{first + i}));
        char *at[2];
        elements.locate(i, at);
        move_bytes(to, at[1], size, is_bool);
    }
};

__global__ void __launch_bounds__(block_threads) find_counts(const __grid_constant__ Find work) {
    const std::uint32_t begin = blockIdx.x * chunk + threadIdx.x * per_thread;
    const std::uint32_t all = scan_block(work.count(begin), std::plus<>());
    if (threadIdx.x == block_threads - 1) work.counts[blockIdx.x] = all;
}
// One block: what stands before each chunk.
__global__ void __launch_bounds__(block_threads) find_places(const __grid_constant__ Find work) {
    std::int64_t before = *work.before;
    for (std::uint32_t begin = 0; begin < work.chunks; begin += block_threads) {
        const std::uint32_t i = begin + threadIdx.x;
        const std::int64_t own = i < work.chunks ? work.counts[i] : 0;
        const std::int64_t running = scan_block(own, std::plus<>());
        if (i < work.chunks) work.counts[i] = before + running - own;
        before += last_of_block(running);
    }
    if (threadIdx.x == 0) *work.before = before;
}
__global__ void __launch_bounds__(block_threads) find_write(const __grid_constant__ Find work) {
    const std::uint32_t begin = blockIdx.x * chunk + threadIdx.x * per_thread;
    const std::uint32_t own = work.count(begin);
    std::int64_t place = work.counts[blockIdx.x] + scan_block(own, std::plus<>()) - own;
    for (std::uint32_t i = begin; i < begin + per_thread && i < work.elements.count; ++i)
        if (work.found(i)) work.write(i, work.results + place++ * work.step);
}

// Where elements of `in` are not zero. `moved`: the operand whose elements are the results.
void find_elements(State &state, atoll_call &call, const atoll_operand &in,
                   const atoll_operand *moved) {
    const Target target(state, call);
    const atoll_operand &out = call.operands[0], &other = moved ? *moved : in;
    Extents<2> elements;
    elements.rank = call.core - 1u; // all but that of the result
    std::copy_n(call.shape, elements.rank, elements.shape);
    elements.data[0] = static_cast<char *>(in.data);
    elements.strides[0] = in.strides;
    elements.data[1] = static_cast<char *>(other.data);
    elements.strides[1] = other.strides;
    const Temporary before(target, sizeof(std::int64_t));
    target.check(cudaMemsetAsync(before.data(), 0, sizeof(std::int64_t), target.stream.handle),
                 "cudaMemsetAsync");
    Find work{{},
              access_of(call.rank, in),
              access_of(call.rank, out),
              moved ? static_cast<std::uint32_t>(sdk::dtype_facts[moved->dtype].size) : 0,
              moved && moved->dtype == ATOLL_DTYPE_BOOL,
              static_cast<char *>(out.data),
              out.strides[call.core - 1],
              0,
              nullptr,
              0,
              reinterpret_cast<std::int64_t *>(before.data())};
    for_each_space(elements, [&](const Space<2> &space) {
        work.elements = space;
        work.chunks = parts_of(space.count, chunk);
        const Temporary counts(target, work.chunks * sizeof(std::int64_t));
        work.counts = reinterpret_cast<std::int64_t *>(counts.data());
        launch(target, dim3(work.chunks), &find_counts, work);
        launch(target, dim3(1), &find_places, work);
        launch(target, dim3(work.chunks), &find_write, work);
        work.first += space.count;
    });
    target.enqueued();
}

} // namespace

void find(State &state, atoll_call &call) { find_elements(state, call, call.operands[1], nullptr); }
void compress(State &state, atoll_call &call) {
    find_elements(state, call, call.operands[2], &call.operands[1]);
}

} // namespace Atoll::cuda
