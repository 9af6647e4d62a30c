// An element-wise call on an iteration space, once it is known which typed loop computes what.
#pragma once

#include "loops.h"
#include "space.h"

namespace Atoll::kernels {

// A typed loop and the dtypes around it. Input k is converted to `narrow[k]` and then to
// `loops[k]`, which the loop reads; the loop writes `loops[0]`, which is rounded to `narrow[0]` and
// converted to the output's dtype.
struct TypedLoop {
    Loop run, streamed;       // the second one, if there is one, for large operands
    bool every_second;        // whether `streamed` takes that of its inputs
    bool is_math;             // of floats alone, such as exp, and without a streamed loop
    std::int64_t most_packed; // bytes of all operands whose inputs of 8 bytes are brought together
    std::uint8_t narrow[max_operands];
    std::uint8_t loops[max_operands];

    void set(int k, std::uint32_t narrow_dtype, std::uint32_t loop_dtype) {
        narrow[k] = static_cast<std::uint8_t>(narrow_dtype);
        loops[k] = static_cast<std::uint8_t>(loop_dtype);
    }
};

// Change the space.
void run_loop(Space &space, const atoll_operand *operands, const TypedLoop &typed);
void run_copy(Space &space, const atoll_operand *operands);

// See Note [Sparse inputs]; of `n` elements of `size` bytes.
inline constexpr std::int64_t shortest_sparse_row = 32, shortest_packed_row = 256;
inline bool is_sparse(std::int64_t n, std::int64_t stride, std::int64_t size, bool packs) {
    if (n < shortest_sparse_row || stride == size || stride == 0) return false;
    // Few strides of such elements have vectors that bring them together.
    if (size == 8)
        return packs && n >= shortest_packed_row && (stride == 2 * size || stride == -size);
    return size < 8;
}

} // namespace Atoll::kernels
