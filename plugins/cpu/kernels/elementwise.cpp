// Copies, fills and element-wise functions: which typed loop computes what.
#include "atoll/core_functions.hpp"
#include "compare.h"
#include "elementwise_run.h"
#include "half_loops.h"
#include "parallel.h"
#include "streaming.h"

#include <algorithm>

namespace Atoll::kernels {

Pool pool;
constinit thread_local const Pool *own_pool = nullptr;

namespace {

// Whether all operands go to the typed loop as they are: native, aligned, of the right dtypes. The
// loop reads `dtype` (`first` as the first input).
bool ready(const atoll_operand *operands, int count, std::uint32_t rank, std::uint32_t first,
           std::uint32_t dtype, std::uint32_t result) {
    const auto address = [&](const atoll_operand &operand) {
        std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(operand.data);
        for (std::uint32_t axis = 0; axis < rank; ++axis)
            bits |= static_cast<std::uintptr_t>(operand.strides[axis]);
        return bits;
    };
    std::uintptr_t in = 0;
    std::uintptr_t mismatch = (operands[0].dtype ^ result) | (operands[1].dtype ^ first);
    const std::uintptr_t out = address(operands[0]);
    std::uint32_t flags = operands[0].flags | operands[1].flags;
    for (int k = 1; k < count; ++k) {
        if (k == 1 && first != dtype) continue; // a mask of bytes is always aligned
        in |= address(operands[k]);
        if (k > 1) mismatch |= operands[k].dtype ^ dtype;
        flags |= operands[k].flags;
    }
    mismatch |= out & (alignment_of(result) - 1);
    mismatch |= in & (alignment_of(dtype) - 1);
    return (mismatch | (flags & ATOLL_OPERAND_SWAPPED)) == 0;
}

// How many bytes all operands may have whose inputs of 8 bytes are brought together first if they
// are not dense. Tests pick single elements, and integers are divided one by one: their loops gain
// nothing. Complex numbers gain most, as their loops are slow where they are not vectors.
std::int64_t most_packed(std::uint32_t function, std::uint32_t dtype, int inputs) {
    if (kinds[dtype] == ATOLL_DTYPE_KIND_COMPLEX) return 16 << 20;
    if (result_of(function, dtype) == ATOLL_DTYPE_BOOL) return 0;
    constexpr std::int64_t in_l2 = 1 << 20, in_l3 = 24 << 20;
    if (vector_bytes == 32) {
        // On Zen 3 square roots take 0.4 of the time at 1.4 MB and 0.7 at 16 MB, other functions of
        // one input 0.6 to 0.9 at 1.4 MB; reciprocals and functions of two take no less.
        if (function == ATOLL_FN_sqrt) return in_l3;
        if (inputs == 1 && function != ATOLL_FN_sign && function != ATOLL_FN_reciprocal)
            return 4 << 20;
    }
    switch (function) {
    // One by one, these take long.
    case ATOLL_FN_sign:
    case ATOLL_FN_left_shift:
    case ATOLL_FN_right_shift: return in_l3;
    case ATOLL_FN_floor_divide:
    case ATOLL_FN_trunc_divide:
    case ATOLL_FN_remainder:
    case ATOLL_FN_fmod:
    case ATOLL_FN_pow: return kinds[dtype] < ATOLL_DTYPE_KIND_FLOAT ? 0 : in_l2;
    default: return in_l2;
    }
}

// Whether the answer is the same for all elements of a dtype.
bool ignores_elements(std::uint32_t function, std::uint32_t dtype) {
    return kinds[dtype] < ATOLL_DTYPE_KIND_FLOAT &&
           (function == ATOLL_FN_isnan || function == ATOLL_FN_isinf ||
            function == ATOLL_FN_isfinite);
}

template <int Count> [[gnu::noinline]] void apply_any(Loop loop, const atoll_call &call) {
    const std::uint32_t function = call.function, dtype = call.dtype, rank = call.rank;
    const std::int64_t *shape = call.shape;
    const atoll_operand *operands = call.operands;
    // A selection is of bits: nothing to widen.
    const bool selects = Count == 4 && function == ATOLL_FN_where;
    const std::uint32_t wide = selects ? dtype : widened(dtype);
    const std::uint32_t first = selects ? std::uint32_t{ATOLL_DTYPE_BOOL} : dtype;
    const std::uint32_t result = result_of(function, dtype);
    if (rank <= 2 && wide == dtype && ready(operands, Count, rank, first, dtype, result)) {
        const std::int64_t n = rank ? shape[0] : 1, rows = rank == 2 ? shape[1] : 1;
        char *data[Count];
        std::int64_t strides[Count];
        for (int k = 0; k < Count; ++k) {
            data[k] = static_cast<char *>(operands[k].data);
            strides[k] = rank ? operands[k].strides[0] : 0;
        }
        bool small = rank == 2 ? n * rows <= block_size : n < parallel_threshold;
        if (n >= shortest_sparse_row)
            for (int k = 1; k < Count; ++k) {
                const std::int64_t size = sizes[operands[k].dtype];
                if (strides[k] == size || strides[k] == 0) continue;
                const bool packs = strides[0] == sizes[operands[0].dtype] &&
                                   most_packed(function, dtype, Count - 1) > 0;
                small &= !is_sparse(n, strides[k], size, packs);
            }
        if (small && strides[0] >= 0) {
            for (std::int64_t row = 0; row < rows; ++row) {
                loop(n, data, strides);
                for (int k = 0; k < Count && row + 1 < rows; ++k) data[k] += operands[k].strides[1];
            }
            return;
        }
    }
    const Loop streamed = Count > 2 ? streamed_loop(function, dtype) : nullptr;
    TypedLoop typed{loop,
                    streamed,
                    streams_every_second(function, dtype),
                    !streamed && sdk::core_functions[function].rule == ATOLL_RULE_FLOAT,
                    most_packed(function, dtype, Count - 1),
                    {},
                    {}};
    typed.set(0, result, result_of(function, wide));
    for (int k = 1; k < Count; ++k) typed.set(k, dtype, wide);
    if (selects) typed.set(1, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL);
    Space space(0, rank, shape, operands, Count);
    if (const Loop halves = half_loop(function, dtype)) { // instead of loops over float32
        typed.run = halves;
        for (int k = 0; k < Count; ++k) typed.set(k, dtype, dtype);
    }
    if (Count == 2 && ignores_elements(function, dtype) && space.shape[0] * space.outer() > 0)
        std::fill_n(space.strides[1], space.rank, 0);
    run_loop(space, operands, typed);
}

// What most calls are needs no more than this: few elements, as the loop takes them, which follow
// each other.
template <int Count> bool apply_quickly(Loop loop, const atoll_call &call) {
    const std::uint32_t dtype = call.dtype, result = result_of(call.function, dtype);
    if (Count == 4 && call.function == ATOLL_FN_where) return false; // one input is another dtype
    if (call.rank > 1 || widened(dtype) != dtype) return false;
    const std::int64_t n = call.rank ? call.shape[0] : 1;
    char *data[Count];
    std::int64_t strides[Count] = {};
    std::uintptr_t mismatch = 0, address = 0;
    for (int k = 0; k < Count; ++k) {
        const atoll_operand &operand = call.operands[k];
        const std::uint32_t wanted = k == 0 ? result : dtype;
        if (operand.dtype != wanted) return false;
        data[k] = static_cast<char *>(operand.data);
        mismatch |= operand.flags & ATOLL_OPERAND_SWAPPED;
        address |= reinterpret_cast<std::uintptr_t>(data[k]);
        if (call.rank == 0) continue;
        strides[k] = operand.strides[0];
        mismatch |= static_cast<std::uintptr_t>(strides[k] ^ sizes[wanted]);
    }
    mismatch |= address & ((alignment_of(dtype) - 1) | (alignment_of(result) - 1));
    if (mismatch || n >= parallel_threshold) return false;
    loop(n, data, strides);
    return true;
}

template <int Count> std::int32_t apply(const LoopTable &table, const atoll_call &call) {
    const std::uint32_t function = call.function, dtype = call.dtype;
    if (function >= ATOLL_FN_COUNT || dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const Loop loop = table[function][dtype];
    if (!loop) return ATOLL_STATUS_NOT_SUPPORTED;
    if (!apply_quickly<Count>(loop, call)) apply_any<Count>(loop, call);
    return ATOLL_STATUS_OK;
}

// A comparison of operands that the compute dtype cannot hold.
void compare_exactly(Loop loop, const atoll_call &call) {
    TypedLoop typed{loop, nullptr, false, false, 0, {}, {}};
    typed.set(0, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL);
    for (int k = 1; k < 3; ++k) {
        const std::uint32_t dtype = exact_dtype(call.operands[k].dtype);
        typed.set(k, dtype, dtype);
    }
    Space space(0, call.rank, call.shape, call.operands, 3);
    run_loop(space, call.operands, typed);
}

bool known(std::uint32_t dtype) { return dtype > ATOLL_DTYPE_NONE && dtype < ATOLL_DTYPE_COUNT; }

std::int32_t copy(const atoll_call &call, const atoll_operand *operands) {
    if (!known(operands[0].dtype) || !known(operands[1].dtype)) return ATOLL_STATUS_NOT_SUPPORTED;
    Space space(0, call.rank, call.shape, operands, 2);
    run_copy(space, operands);
    return ATOLL_STATUS_OK;
}

} // namespace
} // namespace Atoll::kernels

using namespace Atoll::kernels;

std::int32_t atoll_kernels_copy(const atoll_call *call) { return copy(*call, call->operands); }

std::int32_t atoll_kernels_fill(const atoll_call *call) {
    static constexpr std::int64_t no_strides[ATOLL_MAX_RANK] = {};
    const atoll_scalar &value = call->attributes[0];
    atoll_operand both[2] = {call->operands[0], call->operands[0]};
    both[1].data = const_cast<std::uint8_t *>(value.value.bytes);
    both[1].strides = no_strides;
    both[1].dtype = static_cast<std::uint16_t>(value.dtype);
    both[1].flags = ATOLL_OPERAND_SCALAR;
    return copy(*call, both);
}

std::int32_t atoll_kernels_unary(const atoll_call *call) { return apply<2>(unary_loops, *call); }

std::int32_t atoll_kernels_binary(const atoll_call *call) {
    const std::uint32_t a = call->operands[1].dtype, b = call->operands[2].dtype;
    if (a != b)
        if (const Loop loop = exact_loop(call->function, call->dtype, a, b)) {
            compare_exactly(loop, *call);
            return ATOLL_STATUS_OK;
        }
    return apply<3>(binary_loops, *call);
}

std::int32_t atoll_kernels_ternary(const atoll_call *call) {
    return apply<4>(ternary_loops, *call);
}

void atoll_kernels_set_pool(atoll_parallel_for run, void *self, std::int32_t threads) {
    pool = {run, self, threads};
}
