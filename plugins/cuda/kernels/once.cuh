// For code that a kernel should have once, however often it is used.
#pragma once

// Before a function's return type: a call on devices.
#if defined(__CUDACC__)
#define ATOLL_OUT_OF_LINE __noinline__
#else
#define ATOLL_OUT_OF_LINE
#endif

// Before a loop: not unrolled on devices.
#if defined(__CUDA_ARCH__)
#define ATOLL_ROLLED _Pragma("unroll 1")
#else
#define ATOLL_ROLLED
#endif
