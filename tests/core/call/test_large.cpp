// Tensors that are long enough for the ways that kernels of accelerators keep for them (several
// chunks and tiles, radix sorts, products by tiles of registers), beside the same on the cpu.
// ATOLL_TEST_ELEMENTS: how many elements. Few are enough for the simulated accelerator, which has
// no such ways.
#include "../support.hpp"

#include <cmath>

using namespace Atoll;
using support::load_devices;

namespace {

std::int64_t elements() {
    const char *const text = std::getenv("ATOLL_TEST_ELEMENTS");
    return text ? std::atoll(text) : std::int64_t{1} << 14;
}
// Of a square matrix of so many elements.
std::int64_t side() {
    return static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements())));
}
Device accelerator() {
    load_devices();
    return device(support::gpu_plugin() ? "cuda:0" : "dummy:0");
}

// Whole numbers from `low` to `high`, without a pattern.
Tensor whole_numbers(const Dims &shape, DType dtype, double low, double high) {
    load_devices();
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    Tensor bits = arange(0, size, 1, {int64, device("cpu")});
    for (const std::int64_t factor : {-0x61c8864680b583ebLL, -0x3b314601e57a13adLL})
        bits = multiply(bitwise_xor(bits, right_shift(bits, Scalar(29))), Scalar(factor));
    const Tensor units = multiply(bits.cast(float64), Scalar(0x1p-64)); // -0.5 to 0.5
    const Tensor spread =
        floor(add(multiply(units, Scalar(high - low + 1)), Scalar((low + high + 1) / 2)));
    return spread.cast(dtype).reshape(shape);
}

std::vector<char> bytes_of(const Tensor &tensor) {
    std::vector<char> bytes(static_cast<std::size_t>(tensor.size() * size_of(tensor.dtype())));
    if (!bytes.empty()) tensor.read(bytes.data(), tensor.dtype());
    return bytes;
}
bool same(const Tensor &a, const Tensor &b) {
    return a.shape() == b.shape() && a.dtype() == b.dtype() && bytes_of(a) == bytes_of(b);
}
Tensor there(const Tensor &tensor) { return tensor.cast(tensor.dtype(), accelerator()); }

} // namespace

TEST_CASE("large: rows are sorted as the cpu sorts them, equal elements in their order") {
    const std::int64_t size = elements();
    for (const DType dtype : {int8, int32, int64, uint16, float16, float32, float64}) {
        CAPTURE(to_string(dtype));
        const Tensor all = whole_numbers({size}, dtype, dtype == uint16 ? 0 : -100, 100);
        for (const Tensor &rows :
             std::vector<Tensor>{all, all.reshape({size / 4, 4}), all.reshape({size / 64, 64})})
            for (const bool descending : {false, true}) {
                CHECK(same(argsort(there(rows), 0, {.descending = descending}),
                           argsort(rows, 0, {.descending = descending})));
                CHECK(same(sort(there(rows), 0, {.descending = descending}),
                           sort(rows, 0, {.descending = descending})));
            }
    }
}

TEST_CASE("large: running totals are the cpu's") {
    const std::int64_t n = side(), size = n * n;
    for (const DType dtype : {bool_, int16, int32, int64, float32, float64}) {
        CAPTURE(to_string(dtype));
        // Every total of them is a whole number, too, which all floats hold.
        const Tensor all =
            whole_numbers({size}, dtype, dtype == bool_ ? 0 : -8, dtype == bool_ ? 1 : 8);
        const Tensor square = all.reshape({n, n});
        for (const Tensor &rows : std::vector<Tensor>{all, all(range(1, size)), square, square.T()})
            CHECK(same(cumsum(there(rows), 0), cumsum(rows, 0)));
    }
}

TEST_CASE("large: reductions along each axis are the cpu's") {
    const std::int64_t n = side() / 16 * 16;
    for (const DType dtype : {int8, int32, int64, float16, float32, float64}) {
        CAPTURE(to_string(dtype));
        const Tensor a = whole_numbers({n, n}, dtype, -3, 3), b = there(a);
        // As it lies, transposed, and beginning between multiples of 16 bytes.
        const auto part = range(1, n - 2);
        const std::pair<Tensor, Tensor> views[] = {
            {a, b}, {a.T(), b.T()}, {a(part, all_), b(part, all_)}};
        for (const auto &[here, away] : views)
            for (const Axes &axes : {Axes{}, Axes{0}, Axes{1}}) {
                CHECK(same(sum(away, axes), sum(here, axes)));
                CHECK(same(max(away, axes), max(here, axes)));
                CHECK(same(count_nonzero(away, axes), count_nonzero(here, axes)));
                CHECK(same(argmin(away, axes), argmin(here, axes)));
            }
    }
}

TEST_CASE("large: transposes of elements of any size") {
    const std::int64_t n = side();
    for (const DType dtype : {int8, int16, int32, int64, complex128}) {
        CAPTURE(to_string(dtype));
        // Multiples of all tiles, of words alone, and of neither; several matrices.
        for (const Dims &shape :
             {Dims{n, n}, Dims{n - 8, n + 8}, Dims{n - 5, n + 3}, Dims{n, 3, n / 4 + 4}}) {
            const Tensor a = whole_numbers(shape, dtype, 0, 100), b = there(a);
            CHECK(same(b.T().replicate(), a.T().replicate()));
            const auto part = range(1, shape[0]);
            CHECK(same(b(part).T().replicate(), a(part).T().replicate()));
        }
    }
}

TEST_CASE("large: products of whole numbers are exact") {
    const std::int64_t n = side();
    for (const DType dtype : {uint8, int16, int32, int64, float32, float64}) {
        CAPTURE(to_string(dtype));
        const double most = size_of(dtype) == 1 ? 1 : size_of(dtype) == 2 ? 2 : 9;
        for (const Dims &shape : {Dims{n, n, n}, Dims{n + 3, n / 2 + 1, n - 5}}) {
            const Tensor a = whole_numbers({shape[0], shape[1]}, dtype, 0, most);
            const Tensor b =
                whole_numbers({shape[1], shape[2]}, dtype, dtype == uint8 ? 0 : -most, most);
            // The cpu's of float64 is another library's; integers wrap, here as in conversions.
            const Tensor product = matmul(a.cast(float64), b.cast(float64));
            CHECK(same(matmul(there(a), there(b)), product.cast(int64).cast(dtype)));
        }
    }
}
