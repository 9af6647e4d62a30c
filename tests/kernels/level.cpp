#include "level.h"

#include "kept_scratch.h"
#include "kernel_of.h"

using namespace Atoll::kernels;

extern "C" __attribute__((visibility("default"))) const oracle::LevelKernels atoll_test_level;
const oracle::LevelKernels atoll_test_level = {
    LEVEL,
    [](const atoll_call *call) { return kernel_of(call->function)(call); },
    &atoll_kernels_set_pool,
    &large_operands,
    &kept_scratch_bytes,
    [](std::int64_t bytes) { const KeptScratch used(bytes); },
    &atoll_kernels_use_amx,
};
