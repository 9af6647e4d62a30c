// Products of matrices by BLAS: operands as it takes them, extents that fit its int.
#include "blas_product.h"

#include "blas.h"
#include "scratch.h"

#include <cstring>
#include <new>

namespace Atoll::kernels {
namespace {

// The routines of an interface for elements of T, and how a factor is passed to them.
template <class T, class Interface> const auto &routines(const Interface &blas) {
    if constexpr (std::is_same_v<T, float>)
        return blas.s;
    else if constexpr (std::is_same_v<T, double>)
        return blas.d;
    else if constexpr (std::is_same_v<T, Complex<float>>)
        return blas.c;
    else
        return blas.z;
}
template <class T> auto passed(const T &factor) {
    if constexpr (is_complex<T>)
        return static_cast<const void *>(&factor);
    else
        return factor;
}
template <class T> using BlasElement = std::conditional_t<is_complex<T>, void, T>;
template <class T> const BlasElement<T> *elements(const char *p) {
    return static_cast<const BlasElement<T> *>(static_cast<const void *>(p));
}
template <class T> BlasElement<T> *elements(char *p) {
    return static_cast<BlasElement<T> *>(static_cast<void *>(p));
}

// A matrix as BLAS takes it.
struct Operand {
    const char *data;
    std::int64_t ld;
    Transpose transpose;
};

template <class T, class Int> void gemm(const BlasInterface<Int> &blas, std::int64_t m,
                                        std::int64_t n, std::int64_t k, T alpha, const Operand &x,
                                        const Operand &y, T beta, char *z, std::int64_t ldz) {
    routines<T>(blas).gemm(column_major, static_cast<int>(x.transpose),
                           static_cast<int>(y.transpose), static_cast<Int>(m), static_cast<Int>(n),
                           static_cast<Int>(k), passed(alpha), elements<T>(x.data),
                           static_cast<Int>(x.ld), elements<T>(y.data), static_cast<Int>(y.ld),
                           passed(beta), elements<T>(z), static_cast<Int>(ldz));
}
template <class T, class Int> void gemv(const BlasInterface<Int> &blas, std::int64_t m,
                                        std::int64_t n, T alpha, const Operand &a, const char *x,
                                        std::int64_t incx, T beta, char *y, std::int64_t incy) {
    routines<T>(blas).gemv(column_major, static_cast<int>(a.transpose), static_cast<Int>(m),
                           static_cast<Int>(n), passed(alpha), elements<T>(a.data),
                           static_cast<Int>(a.ld), elements<T>(x), static_cast<Int>(incx),
                           passed(beta), elements<T>(y), static_cast<Int>(incy));
}

// The longest extent handed to BLAS, whose sizes may be int.
constexpr std::int64_t blas_extent = 1 << 30;

// Element stride of a vector along `stride` bytes; 0 where BLAS cannot have it.
std::int64_t increment(std::int64_t extent, std::int64_t stride, std::int64_t size) {
    if (extent == 1) return 1;
    return stride > 0 && stride % size == 0 && stride / size <= INT_MAX ? stride / size : 0;
}

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
            BlasProduct(blas_, alpha_, one<T>())(c, a.part(0, half, a.rows, rest),
                                                 b.part(half, 0, rest, b.columns));
        } else {
            product(c, a, b);
        }
    }

private:
    static constexpr std::int64_t size = sizeof(T);

    static Operand express(const Matrix &a) {
        if (const std::int64_t ld = leading(a, size))
            return {a.data, ld, a.conj ? Transpose::only_conjugate : Transpose::none};
        return {a.data, leading(a.transposed(), size),
                a.conj ? Transpose::conjugate : Transpose::plain};
    }

    void product(const Matrix &c, const Matrix &a, const Matrix &b) const {
        if (!leading(c, size)) return product(c.transposed(), b.transposed(), a.transposed());
        if (c.columns == 1 && vector_product(c, a, b)) return;
        if (c.rows == 1 && vector_product(c.transposed(), b.transposed(), a.transposed())) return;
        const Operand x = express(a), y = express(b);
        with_interface([&](const auto &blas) {
            gemm<T>(blas, c.rows, c.columns, a.columns, alpha_, x, y, beta_, c.data,
                    leading(c, size));
        });
    }

    // c (m x 1) = a (m x k) b (k x 1), where b and c are vectors that BLAS takes.
    bool vector_product(const Matrix &c, const Matrix &a, const Matrix &b) const {
        const std::int64_t incx = increment(b.rows, b.down, size);
        const std::int64_t incy = increment(c.rows, c.down, size);
        if (!incx || !incy || a.conj || b.conj) return false;
        const Operand x = express(a);
        const bool plain = x.transpose == Transpose::none;
        // OpenBLAS 0.3.21 reads the complex number behind the last one of the vector as well.
        const bool reads_on = is_complex<T> && blas_.is_openblas;
        const Scratch copied(reads_on ? (b.rows + 1) * size : 0, std::nothrow);
        if (!copied.is_there()) return false;
        if (reads_on) {
            for (std::int64_t k = 0; k < b.rows; ++k)
                std::memcpy(copied.data() + k * size, b.data + k * b.down, sizeof(T));
            std::memset(copied.data() + b.rows * size, 0, sizeof(T));
        }
        with_interface([&](const auto &blas) {
            gemv<T>(blas, plain ? a.rows : a.columns, plain ? a.columns : a.rows, alpha_, x,
                    reads_on ? copied.data() : b.data, reads_on ? 1 : incx, beta_, c.data, incy);
        });
        return true;
    }

    template <class Use> void with_interface(Use &&use) const {
        if (blas_.is_wide)
            use(blas_.wide);
        else
            use(blas_.narrow);
    }

    const Blas &blas_;
    T alpha_, beta_;
};

} // namespace

template <class T>
void blas_product(const Matrix &c, const Matrix &a, const Matrix &b, T alpha, T beta) {
    BlasProduct<T>(*blas(), alpha, beta)(c, a, b);
}
template void blas_product(const Matrix &, const Matrix &, const Matrix &, float, float);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, double, double);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, Complex<float>,
                           Complex<float>);
template void blas_product(const Matrix &, const Matrix &, const Matrix &, Complex<double>,
                           Complex<double>);

} // namespace Atoll::kernels
