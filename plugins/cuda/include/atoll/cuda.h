/* Kinds of native handles of the device type `cuda` (atoll_native_handle_params,
 * Atoll::Stream::native_handle). The device's primary context is the one that they belong to. */
#ifndef ATOLL_CUDA_H
#define ATOLL_CUDA_H

enum atoll_cuda_handle {
    ATOLL_CUDA_STREAM = 1, /* the cudaStream_t (CUstream) */
    ATOLL_CUDA_DEVICE = 2  /* the CUDA device ordinal */
};

#endif
