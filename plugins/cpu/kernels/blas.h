// The part of OpenBLAS that the kernels use, found at run time.
#pragma once

#include <cstdint>

#include <cblas.h>

namespace Atoll::kernels {

struct Blas {
    bool found = false;
    decltype(&cblas_sgemm) sgemm = nullptr;
    decltype(&cblas_dgemm) dgemm = nullptr;
    decltype(&cblas_cgemm) cgemm = nullptr;
    decltype(&cblas_zgemm) zgemm = nullptr;
    decltype(&cblas_sgemv) sgemv = nullptr;
    decltype(&cblas_dgemv) dgemv = nullptr;
    decltype(&cblas_cgemv) cgemv = nullptr;
    decltype(&cblas_zgemv) zgemv = nullptr;
};

// Loads OpenBLAS at the first call; thread-safe.
const Blas &blas();

} // namespace Atoll::kernels
