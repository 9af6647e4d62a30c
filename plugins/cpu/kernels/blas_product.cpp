// Products of matrices by BLAS: operands as it takes them, extents that fit its int.
#include "blas_product.h"

#include "blas.h"

namespace Atoll::kernels {
namespace {

void gemm(const Blas &b, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
          const char *x, int ldx, const char *y, int ldy, float beta, char *z, int ldz) {
    b.sgemm(CblasColMajor, ta, tb, m, n, k, alpha, reinterpret_cast<const float *>(x), ldx,
            reinterpret_cast<const float *>(y), ldy, beta, reinterpret_cast<float *>(z), ldz);
}
void gemm(const Blas &b, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
          const char *x, int ldx, const char *y, int ldy, double beta, char *z, int ldz) {
    b.dgemm(CblasColMajor, ta, tb, m, n, k, alpha, reinterpret_cast<const double *>(x), ldx,
            reinterpret_cast<const double *>(y), ldy, beta, reinterpret_cast<double *>(z), ldz);
}
void gemm(const Blas &b, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
          Complex<float> alpha, const char *x, int ldx, const char *y, int ldy, Complex<float> beta,
          char *z, int ldz) {
    b.cgemm(CblasColMajor, ta, tb, m, n, k, &alpha, x, ldx, y, ldy, &beta, z, ldz);
}
void gemm(const Blas &b, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
          Complex<double> alpha, const char *x, int ldx, const char *y, int ldy,
          Complex<double> beta, char *z, int ldz) {
    b.zgemm(CblasColMajor, ta, tb, m, n, k, &alpha, x, ldx, y, ldy, &beta, z, ldz);
}
void gemv(const Blas &b, CBLAS_TRANSPOSE t, int m, int n, float alpha, const char *a, int lda,
          const char *x, int incx, float beta, char *y, int incy) {
    b.sgemv(CblasColMajor, t, m, n, alpha, reinterpret_cast<const float *>(a), lda,
            reinterpret_cast<const float *>(x), incx, beta, reinterpret_cast<float *>(y), incy);
}
void gemv(const Blas &b, CBLAS_TRANSPOSE t, int m, int n, double alpha, const char *a, int lda,
          const char *x, int incx, double beta, char *y, int incy) {
    b.dgemv(CblasColMajor, t, m, n, alpha, reinterpret_cast<const double *>(a), lda,
            reinterpret_cast<const double *>(x), incx, beta, reinterpret_cast<double *>(y), incy);
}
void gemv(const Blas &b, CBLAS_TRANSPOSE t, int m, int n, Complex<float> alpha, const char *a,
          int lda, const char *x, int incx, Complex<float> beta, char *y, int incy) {
    b.cgemv(CblasColMajor, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}
void gemv(const Blas &b, CBLAS_TRANSPOSE t, int m, int n, Complex<double> alpha, const char *a,
          int lda, const char *x, int incx, Complex<double> beta, char *y, int incy) {
    b.zgemv(CblasColMajor, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}

// The longest extent handed to BLAS, whose sizes are int.
constexpr std::int64_t blas_extent = 1 << 30;

// Element stride of a vector along `stride` bytes; 0 where BLAS cannot have it.
std::int64_t increment(std::int64_t extent, std::int64_t stride, std::int64_t size) {
    if (extent == 1) return 1;
    return stride > 0 && stride % size == 0 && stride / size <= INT_MAX ? stride / size : 0;
}

// A matrix as BLAS takes it.
struct Operand {
    const char *data;
    std::int64_t ld;
    CBLAS_TRANSPOSE transpose;
};

template <class T> class BlasProduct {
public:
    BlasProduct(const Blas &blas, T alpha, T beta) : blas_(blas), alpha_(alpha), beta_(beta) {}

    // c is dense along its rows or columns.
    void operator()(const Matrix &c, const Matrix &a, const Matrix &b) {
        if (c.rows > blas_extent) {
            const std::int64_t half = c.rows / 2;
            (*this)(c.part(0, 0, half, c.columns), a.part(0, 0, half, a.columns), b);
            (*this)(c.part(half, 0, c.rows - half, c.columns),
                    a.part(half, 0, c.rows - half, a.columns), b);
        } else if (c.columns > blas_extent) {
            (*this)(c.transposed(), b.transposed(), a.transposed());
        } else if (a.columns > blas_extent) {
            const std::int64_t half = a.columns / 2, rest = a.columns - half;
            (*this)(c, a.part(0, 0, a.rows, half), b.part(0, 0, half, b.columns));
            BlasProduct(blas_, alpha_, one())(c, a.part(0, half, a.rows, rest),
                                              b.part(half, 0, rest, b.columns));
        } else {
            product(c, a, b);
        }
    }

private:
    static constexpr std::int64_t size = sizeof(T);

    static T one() {
        if constexpr (is_complex<T>)
            return {1, 0};
        else
            return 1;
    }

    static Operand express(const Matrix &a) {
        if (const std::int64_t ld = leading(a, size))
            return {a.data, ld, a.conj ? CblasConjNoTrans : CblasNoTrans};
        return {a.data, leading(a.transposed(), size), a.conj ? CblasConjTrans : CblasTrans};
    }

    void product(const Matrix &c, const Matrix &a, const Matrix &b) const {
        if (!leading(c, size)) return product(c.transposed(), b.transposed(), a.transposed());
        if (c.columns == 1 && vector_product(c, a, b)) return;
        if (c.rows == 1 && vector_product(c.transposed(), b.transposed(), a.transposed())) return;
        const Operand x = express(a), y = express(b);
        gemm(blas_, x.transpose, y.transpose, static_cast<int>(c.rows), static_cast<int>(c.columns),
             static_cast<int>(a.columns), alpha_, x.data, static_cast<int>(x.ld), y.data,
             static_cast<int>(y.ld), beta_, c.data, static_cast<int>(leading(c, size)));
    }

    // c (m x 1) = a (m x k) b (k x 1), where b and c are vectors that BLAS takes.
    bool vector_product(const Matrix &c, const Matrix &a, const Matrix &b) const {
        const std::int64_t incx = increment(b.rows, b.down, size);
        const std::int64_t incy = increment(c.rows, c.down, size);
        if (!incx || !incy || a.conj || b.conj) return false;
        const Operand x = express(a);
        const bool plain = x.transpose == CblasNoTrans;
        gemv(blas_, x.transpose, static_cast<int>(plain ? a.rows : a.columns),
             static_cast<int>(plain ? a.columns : a.rows), alpha_, x.data, static_cast<int>(x.ld),
             b.data, static_cast<int>(incx), beta_, c.data, static_cast<int>(incy));
        return true;
    }

    const Blas &blas_;
    T alpha_, beta_;
};

} // namespace

template <class T>
void blas_product(const Matrix &c, const Matrix &a, const Matrix &b, T alpha, T beta) {
    BlasProduct<T>(blas(), alpha, beta)(c, a, b);
}
template void blas_product(const Matrix &, const Matrix &, const Matrix &, float, float);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, double, double);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, Complex<float>,
                           Complex<float>);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, Complex<double>,
                           Complex<double>);

} // namespace Atoll::kernels
