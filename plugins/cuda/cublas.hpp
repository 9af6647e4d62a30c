// cuBLAS, opened by the first matrix product: it maps 200 MB and takes 50 ms, which a program that
// only lists its devices should not pay.
#pragma once

#include <cublas_v2.h>

namespace Atoll::cuda {

struct Cublas {
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    decltype(&cublasSetStream_v2) set_stream;
    decltype(&cublasSetMathMode) set_math_mode;
    decltype(&cublasGetStatusName) status_name;
    decltype(&cublasGetStatusString) status_string;
    decltype(&cublasGemmStridedBatchedEx_64) gemm;

    // Thread-safe. Throws sdk::Error (not supported) if the library or a function is missing; the
    // next call tries again.
    static const Cublas &get();
};

} // namespace Atoll::cuda
