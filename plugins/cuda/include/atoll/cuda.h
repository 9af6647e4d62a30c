/* Kinds of native handles of the device type `cuda` (atoll_native_handle_params,
 * Atoll::Stream::native_handle). The device's primary context is the one that they belong to. */
#ifndef ATOLL_CUDA_H
#define ATOLL_CUDA_H

enum atoll_cuda_handle {
    ATOLL_CUDA_STREAM = 1, /* the cudaStream_t (CUstream) */
    ATOLL_CUDA_DEVICE = 2, /* the CUDA device ordinal */
    ATOLL_CUDA_CONTEXT = 3 /* the CUcontext: the device's primary context */
};

/* Facts of the device, asked for as native handles are. */
enum atoll_cuda_fact {
    ATOLL_CUDA_COMPUTE_CAPABILITY = 16, /* 10 * major + minor */
    ATOLL_CUDA_MULTIPROCESSORS = 17,
    ATOLL_CUDA_CLOCK = 18,        /* kHz, at most */
    ATOLL_CUDA_MEMORY_CLOCK = 19, /* kHz, at most */
    ATOLL_CUDA_PCI = 20,          /* domain << 16 | bus << 8 | device */
    ATOLL_CUDA_DRIVER_VERSION =
        21, /* of CUDA that the driver supports: 1000 * major + 10 * minor */
    ATOLL_CUDA_RUNTIME_VERSION = 22,
    /* Memory in bytes: taken from the driver; of that, kept for reuse; the most ever taken. */
    ATOLL_CUDA_MEMORY_TAKEN = 23,
    ATOLL_CUDA_MEMORY_KEPT = 24,
    ATOLL_CUDA_MEMORY_PEAK = 25,
    /* Allocations since the device was opened; of these, without a call of the driver. */
    ATOLL_CUDA_ALLOCATIONS = 26,
    ATOLL_CUDA_REUSES = 27
};

#endif
