// Finding, gathering and scattering elements.
#include "kernels.hpp"
#include "wide.hpp"

namespace Dummy::Kernels {

// Note [Find] in abi/call.h: out has a stride of its own.
void find(const atoll_call &call) {
    char *out = static_cast<char *>(call.operands[0].data);
    std::int64_t position = 0;
    for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
        const Wide value = load(at[1], call.dtype);
        if (value.re != 0 || value.im != 0) {
            Element<ATOLL_INT64>::store(out, position);
            out += call.operands[0].strides[0];
        }
        ++position;
    });
}

// Bytes are copied as they are, so either byte order will do.
void gather(const atoll_call &call) {
    for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
        copy_bytes(at[0], at[1] + Element<ATOLL_INT64>::load(at[2]), call.dtype, false);
    });
}

void scatter(const atoll_call &call) {
    for_each(call, 0, call.rank, first_elements(call), [&](Pointers at) {
        copy_bytes(at[0] + Element<ATOLL_INT64>::load(at[2]), at[1], call.dtype, false);
    });
}

} // namespace Dummy::Kernels
