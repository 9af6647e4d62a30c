// Looks up functions of the driver: see driver.hpp.
#include "driver.hpp"

namespace Atoll::cuda {
namespace {

// Of CUDA 12, whose signatures these are; all newer drivers have them.
template <class Function> cudaError_t find(const char *name, Function &function) {
    void *address = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t code = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
    if (code != cudaSuccess) return code;
    if (found != cudaDriverEntryPointSuccess || !address) return cudaErrorInsufficientDriver;
    function = reinterpret_cast<Function>(address);
    return cudaSuccess;
}

} // namespace

cudaError_t Driver::find() {
    const cudaError_t codes[] = {cuda::find("cuDeviceGet", device_get),
                                 cuda::find("cuDevicePrimaryCtxRetain", retain),
                                 cuda::find("cuDevicePrimaryCtxRelease", release),
                                 cuda::find("cuCtxGetCurrent", get_current),
                                 cuda::find("cuCtxPushCurrent", push),
                                 cuda::find("cuCtxPopCurrent", pop)};
    for (const cudaError_t code : codes)
        if (code != cudaSuccess) return code;
    return cudaSuccess;
}

} // namespace Atoll::cuda
