// Elements in the host's hands: item<T>(), host_span, host_view, and what they refuse.
#include "../support.hpp"

#include <numeric>

using namespace Atoll;
using namespace support;

TEST_CASE("item<T> converts as cast does, and refuses what does not fit") {
    const auto value = [](const Scalar &x, DType dtype) { return full({1}, x, {dtype, cpu()}); };
    CHECK(value(2.75, float32).item<double>() == 2.75);
    CHECK(value(2.75, float64).item<int>() == 2);
    CHECK(value(-3, int8).item<std::int64_t>() == -3);
    CHECK(value(7, uint64).item<bool>());
    CHECK(value(1.5, float16).item<float>() == 1.5f);
    CHECK(value(2, int32).item<std::complex<double>>() == 2.0);
    CHECK(error_status([&] { (void)value(300, int32).item<std::uint8_t>(); }) ==
          Status::out_of_range);
    CHECK(error_text([&] { (void)value(1.0, complex64).item<double>(); }) ==
          "[tensor.item] on cpu: got complex64, which a real number does not hold; use "
          "item<std::complex<double>>(), or real() and imag() of the tensor");
    CHECK(error_status([&] { (void)zeros({2}, {cpu()}).item<double>(); }) ==
          Status::invalid_argument);
}

TEST_CASE("a span holds the elements of a contiguous tensor, for reading or writing") {
    const Tensor t = arange(6, {float64, cpu()}).reshape({2, 3});
    const std::span<const double> read = t.host_span<const double>();
    CHECK(std::accumulate(read.begin(), read.end(), 0.0) == 15);
    for (double &x : t.host_span<double>()) x *= 2;
    CHECK(t.to_doubles() == std::vector<double>{0, 2, 4, 6, 8, 10});
    CHECK(zeros({0, 3}, {float64, cpu()}).host_span<double>().empty());
}

TEST_CASE("a view reaches elements by their indices, whatever the strides") {
    const Tensor t = arange(24, {int32, cpu()}).reshape({2, 3, 4});
    const Tensor turned = t.flip(1).swap_axes(0, 2)(range(0, 4, 2));
    const auto view = turned.host_view<const int, 3>();
    CHECK(view.extent(0) == 2);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 2; ++k) CHECK(view(i, j, k) == turned(i, j, k).item<int>());
    turned.host_view<int, 3>()(1, 2, 0) = 100;
    CHECK(t(0, 0, 2).item<int>() == 100);
}

TEST_CASE("direct access is refused with what does not hold") {
    load_devices();
    const Tensor t = arange(6, {float64, cpu()}).reshape({2, 3});
    CHECK(contains(error_text([&] { (void)t.to(device("dummy:1")).host_span<double>(); }),
                   "[tensor.host_span] on dummy:1: the elements are not in host memory"));
    CHECK(contains(error_text([&] { (void)t.host_span<float>(); }),
                   "got a C++ type of float32 for a tensor of float64"));
    CHECK(contains(error_text([&] { (void)t.T().host_span<double>(); }), "are not contiguous"));
    CHECK(contains(error_text([&] { (void)t.host_view<double, 3>(); }),
                   "[tensor.host_view] on cpu: got shape (2, 3), need 3 axes"));
    Tensor swapped = t.clone();
    swapped.byteswap();
    CHECK(contains(error_text([&] { (void)swapped.host_view<double, 2>(); }), "byte-swapped"));
    Tensor frozen = t.shallow_copy();
    frozen.set_read_only();
    CHECK(error_status([&] { (void)frozen.host_span<double>(); }) == Status::read_only);
    CHECK(frozen.host_span<const double>().size() == 6);
    CHECK_THROWS_AS((void)Tensor().host_span<double>(), Error);
}
