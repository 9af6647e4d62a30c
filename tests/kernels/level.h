// The kernels of one level as the tests call them: the one symbol of a module that has them all.
#pragma once

#include "entries.h"
#include "streaming.h"

namespace oracle {

struct LevelKernels {
    const char *name; // "v3"
    std::int32_t (*call)(const atoll_call *);
    void (*set_pool)(atoll_parallel_for, void *, std::int32_t threads);
    Atoll::kernels::LargeOperands &(*large_operands)();
    std::int64_t (*kept_scratch_bytes)();
    void (*use_scratch)(std::int64_t bytes); // and gives it back
    void (*use_amx)(std::int32_t use);
};

} // namespace oracle
