/* A BLAS for tests, by plain loops: which names and sizes it has says the build (SUFFIX, INT), and
 * which function it lacks (WITHOUT_ZGEMV). fake_blas_calls counts. */
#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMED(name) JOIN(name, SUFFIX)

long fake_blas_calls = 0;

#define PASS(x) x
#define LOAD_float(x) (*(const float complex *)x)
#define LOAD_double(x) (*(const double complex *)x)
enum { plain = 112, conjugate = 113 };

/* Element (i, j) of a matrix, transposed or not; column-major. */
#define AT(E, a, t, lda, i, j)                                                                     \
    ((t) == conjugate ? (E)conj(((const E *)(a))[(j) + (lda) * (i)])                               \
     : (t) == plain   ? ((const E *)(a))[(j) + (lda) * (i)]                                        \
                      : ((const E *)(a))[(i) + (lda) * (j)])

#define GEMM(letter, E, FACTOR, VALUE)                                                             \
    void NAMED(cblas_##letter##gemm)(int order, int ta, int tb, INT m, INT n, INT k, FACTOR alpha, \
                                     const void *a, INT lda, const void *b, INT ldb, FACTOR beta,  \
                                     void *c, INT ldc) {                                           \
        (void)order;                                                                               \
        ++fake_blas_calls;                                                                         \
        if (ta > conjugate || tb > conjugate) return; /* OpenBLAS knows more */                    \
        for (INT j = 0; j < n; ++j)                                                                \
            for (INT i = 0; i < m; ++i) {                                                          \
                E sum = 0, *to = (E *)c + i + ldc * j;                                             \
                for (INT p = 0; p < k; ++p)                                                        \
                    sum += AT(E, a, ta, lda, i, p) * AT(E, b, tb, ldb, p, j);                      \
                *to = VALUE(alpha) * sum + (VALUE(beta) == 0 ? 0 : VALUE(beta) * *to);             \
            }                                                                                      \
    }
#define GEMV(letter, E, FACTOR, VALUE)                                                             \
    void NAMED(cblas_##letter##gemv)(int order, int t, INT m, INT n, FACTOR alpha, const void *a,  \
                                     INT lda, const void *x, INT incx, FACTOR beta, void *y,       \
                                     INT incy) {                                                   \
        (void)order;                                                                               \
        ++fake_blas_calls;                                                                         \
        const INT rows = t == plain || t == conjugate ? n : m, columns = m + n - rows;             \
        for (INT i = 0; i < rows; ++i) {                                                           \
            E sum = 0, *to = (E *)y + i * incy;                                                    \
            for (INT p = 0; p < columns; ++p)                                                      \
                sum += AT(E, a, t, lda, i, p) * ((const E *)x)[p * incx];                          \
            *to = VALUE(alpha) * sum + (VALUE(beta) == 0 ? 0 : VALUE(beta) * *to);                 \
        }                                                                                          \
    }

GEMM(s, float, float, PASS)
GEMM(d, double, double, PASS)
GEMM(c, float complex, const void *, LOAD_float)
GEMM(z, double complex, const void *, LOAD_double)
GEMV(s, float, float, PASS)
GEMV(d, double, double, PASS)
GEMV(c, float complex, const void *, LOAD_float)
#ifndef WITHOUT_ZGEMV
GEMV(z, double complex, const void *, LOAD_double)
#endif

size_t NAMED(cblas_isamax)(INT n, const float *x, INT incx) {
    size_t best = 0;
    for (INT i = 1; i < n; ++i)
        if (x[i * incx] > x[best * (size_t)incx]) best = (size_t)i;
    return best;
}
