// Note [Thin matrices]
// OpenBLAS shares thin matrices among threads so badly that one alone is faster, and packs what it
// need not pack. So it gets pieces that are small enough for it to do neither, on our threads.
#include "openblas_product.h"

#include "blas_product.h"
#include "functors/arithmetic.h"
#include "parallel.h"

namespace Atoll::kernels {
namespace {

constexpr std::int64_t least_depth = 256; // of pieces along k, so that adding them takes no time

// d is thin: piece by piece along its longer side.
template <class T>
void long_product(const Matrix &d, const Matrix &a, const Matrix &b, T alpha, T beta) {
    const bool cuts_columns = d.columns >= d.rows;
    const std::int64_t length = cuts_columns ? d.columns : d.rows,
                       width = cuts_columns ? d.rows : d.columns, k = a.columns;
    const std::int64_t piece = openblas_serial_work<T> / (width * k);
    if (piece < 32 || length < 2 * piece) return blas_product<T>(d, a, b, alpha, beta);
    const std::int64_t pieces = (length + piece - 1) / piece;
    parallel(pieces, piece * width * k, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t first = i * piece, n = std::min(piece, length - first);
            if (cuts_columns)
                blas_product<T>(d.part(0, first, width, n), a, b.part(0, first, k, n), alpha, beta);
            else
                blas_product<T>(d.part(first, 0, n, width), a.part(first, 0, n, k), b, alpha, beta);
        }
    });
}

// d is small: the sum of products of `depth` columns of a with as many rows of b. Some follow each
// other, others are added up side by side.
template <class T> void deep_product(const Matrix &d, const Matrix &a, const Matrix &b, T alpha,
                                     T beta, std::int64_t depth) {
    constexpr std::int64_t size = sizeof(T), most_sums = 8;
    const std::int64_t m = d.rows, n = d.columns, k = a.columns, pieces = (k + depth - 1) / depth,
                       per_sum = (pieces + most_sums - 1) / most_sums,
                       sums = (pieces + per_sum - 1) / per_sum;
    alignas(64) char others[most_sums * openblas_serial_work<T> / least_depth * size];
    const auto sum = [&](std::int64_t i) {
        return i == 0 ? d : Matrix{others + i * m * n * size, m, n, size, m * size};
    };
    parallel(sums, per_sum * depth * m * n, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            T own = i == 0 ? beta : T{};
            const std::int64_t last = std::min(k, (i + 1) * per_sum * depth);
            for (std::int64_t at = i * per_sum * depth; at < last; at += depth) {
                const std::int64_t count = std::min(depth, last - at);
                blas_product<T>(sum(i), a.part(0, at, m, count), b.part(at, 0, count, n), alpha,
                                own);
                own = one<T>();
            }
        }
    });
    for (std::int64_t i = 1; i < sums; ++i) {
        const Matrix other = sum(i);
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < m; ++row) {
                T &to = *reinterpret_cast<T *>(d.at(row, column));
                to = functor::add::apply(to, load<T>(other.at(row, column)));
            }
    }
}

} // namespace

template <class T>
void openblas_product(const Matrix &d, const Matrix &a, const Matrix &b, T alpha, T beta) {
    const std::int64_t depth = openblas_serial_work<T> / (d.rows * d.columns);
    if (d.rows == 1 || d.columns == 1)
        blas_product<T>(d, a, b, alpha, beta);
    else if (depth >= least_depth && a.columns >= 2 * depth)
        deep_product<T>(d, a, b, alpha, beta, depth);
    else
        long_product<T>(d, a, b, alpha, beta);
}

template void openblas_product(const Matrix &, const Matrix &, const Matrix &, float, float);
template void openblas_product(const Matrix &, const Matrix &, const Matrix &, double, double);
template void openblas_product(const Matrix &, const Matrix &, const Matrix &, Complex<float>,
                               Complex<float>);
template void openblas_product(const Matrix &, const Matrix &, const Matrix &, Complex<double>,
                               Complex<double>);

} // namespace Atoll::kernels
