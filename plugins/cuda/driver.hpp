// The few functions of the driver that the runtime has no equal of. They are looked up when a
// device is opened, so that the plugin loads where there is no driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace Atoll::cuda {

struct Driver {
    decltype(&cuDeviceGet) device_get = nullptr;
    decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
    decltype(&cuDevicePrimaryCtxRelease) release = nullptr;
    decltype(&cuCtxGetCurrent) get_current = nullptr;
    decltype(&cuCtxPushCurrent) push = nullptr;
    decltype(&cuCtxPopCurrent) pop = nullptr;

    // To be called before all else, by one thread at a time; again after a failure.
    cudaError_t find();
};

// The runtime's codes have the driver's numbers.
inline cudaError_t runtime_code(CUresult code) { return static_cast<cudaError_t>(code); }

} // namespace Atoll::cuda
