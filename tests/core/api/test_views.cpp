// Assignment through views, and what the named options of functions do.
#include "../support.hpp"

using namespace Atoll;
using namespace support;

namespace {
using Doubles = std::vector<double>;
Tensor table() { return arange(6, {float64, cpu()}).reshape({2, 3}); } // columns (0 1) (2 3) (4 5)
} // namespace

TEST_CASE("assignment to a view writes the elements, whether it has a name or not") {
    const Tensor t = table();
    auto row = t(0, all_);
    row = 9;
    CHECK(t.to_doubles() == Doubles{9, 1, 9, 3, 9, 5});
    row = t(1, all_); // a view too: its elements, not the handle
    CHECK(t.to_doubles() == Doubles{1, 1, 3, 3, 5, 5});
    row = vector({7, 8, 9}, {int32, cpu()});
    CHECK(t.to_doubles() == Doubles{7, 1, 8, 3, 9, 5});
    t.slice(1, 0, 1) = 0;
    t.diag(1) = -1;
    CHECK(t.to_doubles() == Doubles{0, 0, -1, 3, 9, -1});
    const Tensor z = t.cast(complex128);
    z.real() = 1;
    imag(z) = 2;
    CHECK(z(1, 2).item<std::complex<double>>() == std::complex<double>(1, 2));
    CHECK(error_status([&] { t.broadcast_to({2, 3, 2})(0) = 1; }) == Status::read_only);
}

TEST_CASE("assignment to a tensor rebinds it, also where it came from a view") {
    const Tensor t = table();
    Tensor first = t(0, all_);
    CHECK(first.storage() == t.storage());
    first = zeros({2}, {float64, cpu()});
    CHECK(first.size() == 2);
    CHECK(t.to_doubles() == Doubles{0, 1, 2, 3, 4, 5});
}

TEST_CASE("named options reach the function") {
    const Tensor v = vector({3.0, std::nan(""), -4.0}, {cpu()}),
                 w = vector({1.0, 2.0, 2.0, 3.0}, {cpu()});
    CHECK(sum(v, {}, {.skip_nan = true}).item<double>() == -1);
    CHECK(norm(v, {}, {.skip_nan = true}).item<double>() == 5);
    CHECK(norm(v, {}, {.p = 1, .skip_nan = true}).item<double>() == 7);
    CHECK(std::isnan(norm(v).item<double>()));
    // An infinite part beside NaN is infinite, as hypot says.
    for (const DType dtype : {complex64, complex128}) {
        const Tensor z = full({70}, std::complex<double>(3, 4), {dtype, cpu()});
        z(3) = Scalar(std::complex<double>(INFINITY, NAN));
        CHECK(norm(z, {}, {.p = 1}).item<double>() == INFINITY);
    }
    CHECK(var(w, {}, {.ddof = 1}).item<double>() == doctest::Approx(2.0 / 3));
    CHECK(stddev(w).item<double>() == doctest::Approx(std::sqrt(0.5)));
    CHECK(sort(w, {}, {.descending = true}).to_doubles() == Doubles{3, 2, 2, 1});
    CHECK(argsort(w, 0, {.descending = true})(0).item<int>() == 3);
    CHECK(searchsorted(vector({2.0}, {cpu()}), w)(0).item<int>() == 1);
    CHECK(searchsorted(vector({2.0}, {cpu()}), w, {.right = true})(0).item<int>() == 3);
    CHECK(all_le(table(), 4, 1, {.keepdims = true}).shape() == Dims{2, 1});
}

TEST_CASE("an axis has to be named where there are several") {
    const Tensor t = table();
    const char *const none = "got no axis";
    CHECK(contains(error_text([&] { sort(t); }), none));
    CHECK(contains(error_text([&] { argsort(t); }), none));
    CHECK(contains(error_text([&] { cumsum(t); }), none));
    CHECK(contains(error_text([&] { concatenate({t, t}); }), none));
    CHECK(concatenate({t(0), t(0)}).size() == 6);
    CHECK(sort(t(0)).size() == 3);
}
