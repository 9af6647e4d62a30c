// Copy with conversion, fill and steps.
#include "kernels.hpp"
#include "wide.hpp"

namespace Dummy::Kernels {

void copy(const atoll_call &call) {
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    const bool out_swapped = out.flags & ATOLL_OPERAND_SWAPPED;
    const bool in_swapped = in.flags & ATOLL_OPERAND_SWAPPED;
    for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
        if (out.dtype == in.dtype) // keeps every bit, also of NaNs
            copy_bytes(at[0], at[1], in.dtype, in_swapped != out_swapped);
        else
            store(at[0], load(at[1], in.dtype, in_swapped), out.dtype, out_swapped);
    });
}

void fill(const atoll_call &call) {
    const auto &value = Atoll::sdk::params<atoll_fill_params>(call).value;
    const char *bytes = reinterpret_cast<const char *>(value.value.bytes);
    for_each(call, 0, call.rank, first_elements(call),
             [&](Pointers at) { copy_bytes(at[0], bytes, call.operands[0].dtype, false); });
}

void steps(const atoll_call &call) {
    const auto &params = Atoll::sdk::params<atoll_steps_params>(call);
    const std::int64_t count = call.rank == 0 ? 1 : call.shape[0];
    std::int64_t i = 0;
    const auto step_through = [&](auto zero) {
        using V = decltype(zero);
        const V start = number<V>(params.start), step = number<V>(params.step);
        const V last = number<V>(params.last);
        for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
            const V value = params.has_last && i == count - 1
                                ? last
                                : plus(start, times(static_cast<V>(i), step));
            store(at[0], widen(value), call.operands[0].dtype);
            ++i;
        });
    };
    switch (params.start.dtype) {
    case ATOLL_INT64: return step_through(std::int64_t{});
    case ATOLL_UINT64: return step_through(std::uint64_t{});
    case ATOLL_FLOAT64: return step_through(double{});
    case ATOLL_COMPLEX128: return step_through(std::complex<double>{});
    default:
        throw Atoll::sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                                std::string("steps cannot start from ") +
                                    Atoll::sdk::dtype_name(params.start.dtype));
    }
}

} // namespace Dummy::Kernels
