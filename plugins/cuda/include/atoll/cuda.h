/* Native handles and facts of the device type `cuda` (atoll_native_handle_params,
 * Atoll::Stream::native_handle). The device's primary context is the one that they belong to. */
#ifndef ATOLL_CUDA_H
#define ATOLL_CUDA_H

enum atoll_cuda_handle {
    ATOLL_CUDA_STREAM = 1, /* the cudaStream_t (CUstream) */
    ATOLL_CUDA_DEVICE = 2, /* the CUDA device ordinal */
    ATOLL_CUDA_CONTEXT = 3 /* the CUcontext: the device's primary context */
};

/* Facts of a device (atoll_facts_params, Atoll::Device::facts); none of them opens it:
 *
 *   compute_capability     major.minor
 *   multiprocessors
 *   clock_mhz              at most
 *   memory_clock_mhz       at most
 *   pci                    domain:bus:device.function, in hexadecimal digits
 *   driver_cuda_version    the newest CUDA that the driver supports: major.minor
 *   runtime_cuda_version   the CUDA that the plugin was built with
 *   taken_bytes            memory taken from the driver
 *   kept_bytes             of these, freed and kept for reuse
 *   peak_bytes             the most ever taken
 *   allocations            since the device was opened
 *   reuses                 of these, served without a call of the driver
 */

#endif
