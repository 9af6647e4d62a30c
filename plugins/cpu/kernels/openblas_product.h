// Products of matrices by OpenBLAS, whose own threads thin ones are kept from.
#pragma once

#include "matrix.h"

namespace Atoll::kernels {

// OpenBLAS shares larger products among its own threads.
template <class T> constexpr std::int64_t openblas_serial_work =
    is_complex<T> ? 32 * 32 * 32 : 64 * 64 * 64;

// As blas_product, of which it is a part where the library is OpenBLAS.
template <class T>
void openblas_product(const Matrix &d, const Matrix &a, const Matrix &b, T alpha, T beta);

} // namespace Atoll::kernels
