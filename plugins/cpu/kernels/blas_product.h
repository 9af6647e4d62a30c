// Products of matrices by BLAS.
#pragma once

#include "matrix.h"

#include <climits>

namespace Atoll::kernels {

// The leading dimension of a matrix that is dense from row to row; 0 where it is none for BLAS.
inline std::int64_t leading(const Matrix &a, std::int64_t size) {
    if (a.rows != 1 && a.down != size) return 0;
    if (a.columns == 1) return a.rows;
    if (a.across % size != 0) return 0;
    const std::int64_t ld = a.across / size;
    return ld >= a.rows && ld <= INT_MAX ? ld : 0;
}

// Whether BLAS takes a matrix as it is, transposed or not.
inline bool is_blas_matrix(const Matrix &a, std::int64_t size) {
    return leading(a, size) || leading(a.transposed(), size);
}

// c = alpha a b + beta c, all native, aligned, and matrices that BLAS takes. Needs blas(). T is
// float, double, or complex of these.
template <class T>
void blas_product(const Matrix &c, const Matrix &a, const Matrix &b, T alpha, T beta);

} // namespace Atoll::kernels
