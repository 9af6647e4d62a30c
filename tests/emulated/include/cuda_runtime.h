// The part of the CUDA runtime that the plugin `cuda` uses, carried out by this machine's
// processor.
//
// Kernels are compiled by the C++ compiler and run on the threads of emulated streams: see
// launch.hpp for how, and runtime.cpp for memory, streams and events. What stands here has CUDA's
// names and values; what a name means is in CUDA's documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <math.h>
#include <tuple>
#include <type_traits>

// ---- The language ------------------------------------------------------------------------------

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
// A block runs on one thread of the processor, one block at a time.
#define __shared__ static thread_local
#define CUDART_CB

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

// Set by the scheduler before each thread of a block goes on.
extern thread_local constinit uint3 threadIdx, blockIdx;
extern thread_local constinit dim3 blockDim, gridDim;

namespace Emulated {
// All threads of the block, or of the warp, have come here when this returns.
void block_barrier();
void warp_barrier();
// 16 bytes for each lane of the warp, to hand values over.
void *lane_slot(unsigned lane);

template <class T> T exchange(T value, unsigned from) {
    static_assert(sizeof(T) <= 16);
    const unsigned lane = threadIdx.x % 32;
    *static_cast<T *>(lane_slot(lane)) = value;
    warp_barrier();
    const T other = *static_cast<T *>(lane_slot(from < 32 ? from : lane));
    warp_barrier();
    return other;
}
} // namespace Emulated

inline void __syncthreads() { Emulated::block_barrier(); }
inline void __syncwarp(unsigned = 0xffffffffu) { Emulated::warp_barrier(); }
template <class T> T __shfl_down_sync(unsigned, T value, unsigned delta) {
    return Emulated::exchange(value, threadIdx.x % 32 + delta);
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned delta) {
    return Emulated::exchange(value, threadIdx.x % 32 - delta);
}
template <class T> T __shfl_sync(unsigned, T value, int lane) {
    return Emulated::exchange(value, static_cast<unsigned>(lane) % 32);
}
template <class T> T __ldg(const T *from) { return *from; }

template <class T> T atomicAdd(T *at, T value) {
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <class T> T atomicOr(T *at, T value) {
    return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <class T> T atomicExch(T *at, T value) {
    return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}
template <class T> T atomicCAS(T *at, T expected, T value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <class T> T atomicMax(T *at, T value) {
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
    return old;
}

// ---- Errors ------------------------------------------------------------------------------------

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorECCUncorrectable = 214,
    cudaErrorNvlinkUncorrectable = 220,
    cudaErrorUnsupportedPtxVersion = 222,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorContextIsDestroyed = 709,
    cudaErrorAssert = 710,
    cudaErrorHardwareStackError = 714,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorInvalidAddressSpace = 717,
    cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorSystemNotReady = 802,
    cudaErrorSystemDriverMismatch = 803,
    cudaErrorCompatNotSupportedOnDevice = 804,
    cudaErrorMpsConnectionFailed = 805,
    cudaErrorMpsRpcFailure = 806,
    cudaErrorMpsServerNotReady = 807,
    cudaErrorMpsMaxClientsReached = 808,
    cudaErrorMpsMaxConnectionsReached = 809,
    cudaErrorUnknown = 999
};
const char *cudaGetErrorName(cudaError_t code);
const char *cudaGetErrorString(cudaError_t code);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- Devices -----------------------------------------------------------------------------------

enum cudaDeviceAttr {
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMemoryPoolsSupported = 115
};
struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
    int multiProcessorCount;
    int major, minor;
    int pciBusID, pciDeviceID, pciDomainID;
};
#define CUDART_VERSION 13000
inline constexpr unsigned long long cudaEnableDefault = 0;
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
    cudaDriverEntryPointVersionNotSufficent = 2
};
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *result);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *facts, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceCanAccessPeer(int *possible, int device, int peer);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total);

// ---- Streams and events ------------------------------------------------------------------------

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st *;
using cudaEvent_t = CUevent_st *;
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDefault = 0,
                          cudaEventDisableTiming = 2;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  void (*callback)(cudaStream_t, cudaError_t, void *), void *user,
                                  unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

// ---- Memory ------------------------------------------------------------------------------------

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemAccessFlags { cudaMemAccessFlagsProtReadWrite = 3 };
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrUsedMemCurrent = 7
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemLocation location;
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
};
struct CUmemPoolHandle_st;
using cudaMemPool_t = CUmemPoolHandle_st *;

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access,
                                 std::size_t count);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMallocFromPoolAsync(void **memory, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaMallocHost(void **memory, std::size_t bytes);
cudaError_t cudaFreeHost(void *memory);
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
cudaError_t cudaMemcpyAsync(void *destination, const void *source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *destination, int destination_device, const void *source,
                                int source_device, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, std::size_t bytes, cudaStream_t stream);

// ---- Launches ----------------------------------------------------------------------------------

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    void *attrs = nullptr;
    unsigned numAttrs = 0;
};

namespace Emulated {
cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, std::size_t argument_bytes,
                   std::function<void()> thread);
} // namespace Emulated

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
    return Emulated::launch(*config, reinterpret_cast<const void *>(kernel),
                            (std::size_t{0} + ... + sizeof(Parameters)),
                            [kernel, copies = std::tuple<std::remove_const_t<Parameters>...>(
                                         arguments...)] { std::apply(kernel, copies); });
}
