// The kernels of one processor level, behind one symbol: all that the kernel library sees of them.
#pragma once

#include "atoll/abi/call.h"
#include "parallel.h"

namespace Atoll::kernels {

struct Level {
    int isa; // ATOLL_ISA_LEVEL
    // One of the list's functions, on this pool. Does not throw.
    std::int32_t (*run)(const atoll_call &call, const Pool &pool);
    // The functions of these names in entries.h.
    const char *(*lack)(const atoll_call *call);
    void (*set_blas)(const char *library, std::int32_t threads);
    const char *(*open_blas)();
    const char *(*blas)();
    void (*use_amx)(std::int32_t use);
};

} // namespace Atoll::kernels
