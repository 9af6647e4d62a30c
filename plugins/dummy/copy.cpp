// Copy with conversion, fill and steps.
#include "kernels.hpp"
#include "wide.hpp"

namespace Dummy::Kernels {

void copy(const atoll_call &call) {
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    const bool out_swapped = out.flags & ATOLL_OPERAND_SWAPPED;
    const bool in_swapped = in.flags & ATOLL_OPERAND_SWAPPED;
    for_each(call, [&](Pointers at) {
        if (out.dtype == in.dtype) // keeps every bit, also of NaNs
            copy_bytes(at[0], at[1], in.dtype, in_swapped != out_swapped);
        else
            store(at[0], load(at[1], in.dtype, in_swapped), out.dtype, out_swapped);
    });
}

void fill(const atoll_call &call) {
    const char *bytes = reinterpret_cast<const char *>(call.attributes[0].value.bytes);
    for_each(call, [&](Pointers at) { copy_bytes(at[0], bytes, call.operands[0].dtype, false); });
}

void steps(const atoll_call &call) {
    const atoll_scalar *const start_step_last = call.attributes;
    const bool has_last = start_step_last[2].dtype != ATOLL_VALUE_ABSENT;
    std::int64_t i = 0;
    const auto step_through = [&](auto zero) {
        using V = decltype(zero);
        const V start = number<V>(start_step_last[0]), step = number<V>(start_step_last[1]);
        for_each(call, [&](Pointers at) {
            const V value = has_last && i == call.shape[0] - 1
                                ? number<V>(start_step_last[2])
                                : plus(start, times(static_cast<V>(i), step));
            store(at[0], widen(value), call.operands[0].dtype);
            ++i;
        });
    };
    switch (start_step_last[0].dtype) {
    case ATOLL_DTYPE_INT64: return step_through(std::int64_t{});
    case ATOLL_DTYPE_UINT64: return step_through(std::uint64_t{});
    case ATOLL_DTYPE_FLOAT64: return step_through(double{});
    case ATOLL_DTYPE_COMPLEX128: return step_through(std::complex<double>{});
    default:
        throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                std::string("steps cannot start from ") +
                                    Atoll::sdk::dtype_name(start_step_last[0].dtype));
    }
}

} // namespace Dummy::Kernels
