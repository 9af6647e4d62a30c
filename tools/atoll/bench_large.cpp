// The large rows of `atoll bench`, for devices that a million elements do not keep busy. Their data
// is made on the device. Square matrices have as many elements as fit in `elements`.
#include "bench.hpp"
#include "bench_work.hpp"

#include <cmath>

namespace Atoll::tools {

namespace {

template <class Prepare>
BenchRow large(const char *id, const char *what, const char *function, Prepare prepare) {
    return {id, what, {function}, prepare, BenchGroup::large};
}

BenchRow sum_row(const char *id, const char *what, const Dims &shape, Axes axes) {
    return large(id, what, "sum", [=](Device d) {
        return reduction(hashed(shape, float32, d),
                         [axes](const Tensor &a) { return sum(a, axes); });
    });
}
BenchRow transpose_row(const char *id, const char *what, std::int64_t side, DType dtype) {
    return large(id, what, "copy", [=](Device d) {
        return copying(hashed({side, side}, dtype, d).T());
    });
}
BenchRow product_row(const char *id, const char *what, std::int64_t side, DType dtype,
                     double low = 0.5, double high = 2) {
    return large(id, what, "matmul", [=](Device d) {
        const double n = static_cast<double>(side);
        return product(hashed({side, side}, dtype, d, low, high),
                       hashed({side, side}, dtype, d, low, high), 2 * n * n * n);
    });
}

} // namespace

std::vector<BenchRow> large_rows(std::int64_t n) {
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))), half = side / 2;
    const auto add_row = [n](const char *id, const char *what, DType dtype, double low,
                             double high) {
        return large(id, what, "add", [=](Device d) {
            return binary(add, hashed({n}, dtype, d, low, high), hashed({n}, dtype, d, low, high));
        });
    };
    return {
        add_row("x1", "a + b, N float32, new result", float32, 0.5, 2),
        add_row("x2", "a + b, N float16, new result", float16, 0.5, 2),
        add_row("x3", "a + b, N int8, new result", int8, -60, 60),
        large("x4", "exp, N float32", "exp",
              [=](Device d) { return unary(exp, hashed({n}, float32, d, -5, 5)); }),
        large("x5", "sin, N float64", "sin",
              [=](Device d) { return unary(sin, hashed({n}, float64, d, -9, 9)); }),
        large("x6", "plain copy, N float32", "copy",
              [=](Device d) { return copying(hashed({n}, float32, d)); }),
        sum_row("x7", "sum, N float32", {n}, {}),
        sum_row("x8", "sum over the slow axis, √N² float32", {side, side}, {1}),
        sum_row("x9", "sum over the fast axis, √N² float32", {side, side}, {0}),
        transpose_row("x10", "transposed copy, √N² float32", side, float32),
        transpose_row("x11", "transposed copy, √N² float16", side, float16),
        large("x12", "cumsum, N float32", "cumsum",
              [=](Device d) {
                  const Tensor a = hashed({n}, float32, d);
                  return work([=] { return cumsum(a, 0); }, 2 * bytes_of(a));
              }),
        large("x13", "sort, N int32", "sort",
              [=](Device d) {
                  const Tensor a = hashed({n}, int32, d, -2e9, 2e9);
                  return work([=] { return sort(a); }, 2 * bytes_of(a));
              }),
        large("x14", "gather, N of N float32, random int64 indices", "gather",
              [=](Device d) {
                  const Tensor a = hashed({n}, float32, d),
                               at = hashed({n}, int64, d, 0, static_cast<double>(n));
                  return work([=]() -> Tensor { return a(at); }, 2 * bytes_of(a) + bytes_of(at));
              }),
        product_row("x15", "sgemm, (√N / 2)²", half, float32),
        product_row("x16", "dgemm, (√N / 2)²", half, float64),
        product_row("x17", "float16 product, (√N / 2)²", half, float16),
        product_row("x18", "bfloat16 product, (√N / 2)²", half, bfloat16),
        product_row("x19", "int32 product, (√N / 2)²", half, int32, 0, 9),
        large("x20", "upload from ordinary memory, N float32", "copy",
              [=](Device d) {
                  const std::vector<float> values(static_cast<std::size_t>(n), 1);
                  return work(
                      [=] {
                          return from_values(values.data(), float32, n, {float32, d});
                      },
                      4.0 * static_cast<double>(n));
              }),
        large("x21", "download to ordinary memory, N float32", "copy",
              [=](Device d) {
                  const Tensor from = hashed({n}, float32, d);
                  std::vector<float> values(static_cast<std::size_t>(n));
                  return work(
                      [=]() mutable -> const Tensor & {
                          from.read(values.data(), float32);
                          return from;
                      },
                      bytes_of(from));
              }),
    };
}

} // namespace Atoll::tools
