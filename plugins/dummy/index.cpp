// Finding, gathering and scattering elements.
#include "kernels.hpp"
#include "wide.hpp"

namespace Dummy::Kernels {

// The last core axis is the output's.
void find(const atoll_call &call) {
    const int last = call.core - 1;
    char *out = first_elements(call)[0];
    std::int64_t position = 0;
    for_each(call, 0, last, first_elements(call), [&](Pointers at) {
        const Wide value = load(at[1], call.dtype);
        if (value.re != 0 || value.im != 0) {
            Element<ATOLL_DTYPE_INT64>::store(out, position);
            out += call.operands[0].strides[last];
        }
        ++position;
    });
}

// The last core axis is the output's.
void compress(const atoll_call &call) {
    const int last = call.core - 1;
    char *out = first_elements(call)[0];
    for_each(call, 0, last, first_elements(call), [&](Pointers at) {
        if (!Element<ATOLL_DTYPE_BOOL>::load(at[2])) return;
        move_element(out, at[1], call.dtype);
        out += call.operands[0].strides[last];
    });
}

// Bytes but those of bool are copied as they are, so either byte order will do.
void gather(const atoll_call &call) {
    const std::int64_t unit = Atoll::sdk::integer(call, 0, 1);
    for_each(call, [&](Pointers at) {
        move_element(at[0], at[1] + Element<ATOLL_DTYPE_INT64>::load(at[2]) * unit, call.dtype);
    });
}

void scatter(const atoll_call &call) {
    const std::int64_t unit = Atoll::sdk::integer(call, 0, 1);
    for_each(call, [&](Pointers at) {
        move_element(at[0] + Element<ATOLL_DTYPE_INT64>::load(at[2]) * unit, at[1], call.dtype);
    });
}

} // namespace Dummy::Kernels
