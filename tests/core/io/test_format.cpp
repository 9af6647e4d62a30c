// Text of tensors: the layout of the Ocean paper's figure 2(d), and numbers that read back as what
// they stand for.
#include "../support.hpp"
#include "atoll/format.hpp"

#include <cmath>
#include <sstream>

using namespace Atoll;
using namespace support;

namespace {

std::string text_of(const Tensor &tensor) { return Atoll::to_string(tensor); }

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

} // namespace

TEST_CASE("Q and R of the figure print as there") {
    load_devices();
    Tensor q = Atoll::tensor({{0.179605302, 0.410365061, 0.583178291, 0.512369, 0.443529},
                              {0.179605302, 0.779101, -0.590874, -0.078411, 0.073921},
                              {0.359210604, 0.267631, 0.513892, -0.669198, -0.295686},
                              {0.538815906, -0.0594702, -0.0654426, 0.509148, -0.665293},
                              {0.718421208, -0.386583, -0.205938, -0.155752, 0.517450}},
                             {float64, device("cpu")});
    q.byteswap();
    CHECK(text_of(q) == "(:,:)\n"
                        "  0.17961  0.41037  0.58318  0.51237  0.44353\n"
                        "  0.17961  0.77910 -0.59087 -0.07841  0.07392\n"
                        "  0.35921  0.26763  0.51389 -0.66920 -0.29569\n"
                        "  0.53882 -0.05947 -0.06544  0.50915 -0.66529\n"
                        "  0.71842 -0.38658 -0.20594 -0.15575  0.51745\n"
                        "<tensor.float64 of size 5x5 on cpu (byteswapped)>");
    const Tensor r = Atoll::tensor({{5.567764, 15.446064, 25.503952, 35.561853, 45.619748},
                                    {0, 5.423958, 9.967718, 14.695838, 19.423968},
                                    {0, 0, 2.278807, 2.873538, 3.907083},
                                    {0, 0, 0, 1.769136, 1.695019},
                                    {0, 0, 0, 0, 1.552360}},
                                   {float32, device("dummy:0")});
    CHECK(text_of(r) == "(:,:)\n"
                        "   5.56776  15.44606  25.50395  35.56185  45.61975\n"
                        "   0.00000   5.42396   9.96772  14.69584  19.42397\n"
                        "   0.00000   0.00000   2.27881   2.87354   3.90708\n"
                        "   0.00000   0.00000   0.00000   1.76914   1.69502\n"
                        "   0.00000   0.00000   0.00000   0.00000   1.55236\n"
                        "<tensor.float32 of size 5x5 on dummy:0>");
    CHECK(Atoll::to_string(Scalar(8.81018e-15)) == "8.81018e-15");
    CHECK(Atoll::to_string(Scalar(2.1845e-6)) == "2.1845e-06");
}

TEST_CASE("every dtype and rank has its own look") {
    const Device c = cpu();
    CHECK(text_of(arange(12, {c}).reshape({3, 4})) == "(:,:)\n"
                                                      "  0  3  6  9\n"
                                                      "  1  4  7 10\n"
                                                      "  2  5  8 11\n"
                                                      "<tensor.int32 of size 3x4 on cpu>");
    CHECK(text_of(arange(-2, 2, 1, {int8, c})) ==
          "(:)\n -2 -1  0  1\n<tensor.int8 of size 4 on cpu>");
    CHECK(text_of(equal(arange(3, {c}), 1)) ==
          "(:)\n False  True False\n<tensor.bool of size 3 on cpu>");
    CHECK(text_of(vector({~std::uint64_t{0}}, {c})) ==
          "(:)\n 18446744073709551615\n<tensor.uint64 of size 1 on cpu>");
    CHECK(text_of(vector<std::complex<double>>({{1, -2}, {10.5, 3.25}, {-0.5, 100}}, {c})) ==
          "(:)\n"
          "   1.00 -   2.00j  10.50 +   3.25j  -0.50 + 100.00j\n"
          "<tensor.complex128 of size 3 on cpu>");
    CHECK(text_of(vector({1.5, 0.25}, {float16, c})) ==
          "(:)\n  1.50  0.25\n<tensor.float16 of size 2 on cpu>");
    CHECK(text_of(arange(8, {c}).reshape({2, 2, 1, 2})) == "(:,:,0,0)\n 0 2\n 1 3\n"
                                                           "(:,:,0,1)\n 4 6\n 5 7\n"
                                                           "<tensor.int32 of size 2x2x1x2 on cpu>");
    CHECK(text_of(vector<double>({NAN, INFINITY, -INFINITY, 1.5}, {c})) ==
          "(:)\n  nan  inf -inf  1.5\n<tensor.float64 of size 4 on cpu>");
}

TEST_CASE("rank 0 is the value, an empty tensor its footer") {
    for (const Device device : all_devices()) {
        CHECK(text_of(full({}, 2.5, {device})) == "2.5");
        CHECK(text_of(full({}, -7, {device})) == "-7");
        CHECK(text_of(full({}, true, {device})) == "True");
        CHECK(text_of(full({}, std::complex<double>(1.5, -2), {device})) == "1.5 - 2.0j");
        CHECK(text_of(full({}, NAN, {device})) == "nan");
        CHECK(text_of(zeros({0, 3}, {device})) ==
              "<tensor.float32 of size 0x3 on " + device.name() + ">");
    }
    CHECK(text_of(Tensor()) == "<undefined tensor>");
}

TEST_CASE("the footer names flags") {
    const auto last = [](const Tensor &t) { return lines_of(text_of(t)).back(); };
    Tensor t = ones({2}, {float64, cpu()});
    t.set_read_only();
    CHECK(last(t) == "<tensor.float64 of size 2 on cpu (read-only)>");
    t.set_byteswapped(true);
    CHECK(last(t) == "<tensor.float64 of size 2 on cpu (byteswapped, read-only)>");
    CHECK(last(zeros({}, {cpu()}).broadcast_to({2})) ==
          "<tensor.float32 of size 2 on cpu (read-only)>");
}

TEST_CASE("one magnitude below 1e-4 or from 1e8 on makes the whole tensor scientific") {
    const auto scientific = [](std::initializer_list<double> values) {
        return contains(lines_of(text_of(vector(values, {cpu()})))[1], "e");
    };
    CHECK(!scientific({0.0, 1e-4, 99999999.0}));
    CHECK(scientific({1.0, 9.99e-5}));
    CHECK(scientific({1.0, -1e8}));
    CHECK(!scientific({0.0, -0.0}));
    CHECK(!scientific({INFINITY}));
    CHECK(lines_of(text_of(vector({1e-5, 1.0, -123456.0}, {cpu()})))[1] ==
          "  1.00000e-05  1.00000e+00 -1.23456e+05");
    // Integers never are.
    CHECK(lines_of(text_of(vector<std::int32_t>({1, 1000000}, {cpu()})))[1] == "       1 1000000");
    const Tensor z = vector<std::complex<float>>({{1, 1e-6f}}, {cpu()});
    CHECK(contains(text_of(z), "e-06j"));
}

// Leaves digits where buffers of the next call will be: none of them may be read.
[[gnu::noinline]] static void leave_digits() {
    char digits[8192];
    std::memset(digits, '9', sizeof digits);
    asm volatile("" : : "r"(digits) : "memory");
}

TEST_CASE("a number alone has the fewest digits that read back as the same value") {
    const auto text = [](double x, DType dtype) {
        const Scalar number(x, dtype);
        leave_digits();
        return Atoll::to_string(number);
    };
    CHECK(text(1234567.5, float64) == "1234567.5");
    CHECK(text(0.1, float64) == "0.1");
    CHECK(text(0.1, float32) == "0.1");
    CHECK(text(0.1, float16) == "0.1");
    CHECK(text(0.1, bfloat16) == "0.1");
    CHECK(text(1.0 / 3, float16) == "0.3333");
    CHECK(text(100000, float32) == "100000");
    CHECK(text(1e16, float64) == "1e+16");
    CHECK(text(-1.5e-5, float64) == "-1.5e-05");
    CHECK(text(-0.0, float64) == "-0");
    CHECK(text(NAN, float32) == "nan");
    CHECK(Atoll::to_string(Scalar(std::complex<double>(1.5, -1e6 / 8))) == "1.5 - 125000.0j");
    CHECK(Atoll::to_string(full({}, 1234567.5, {cpu()})) == "1234567.5");
    Random random(72);
    for (const DType dtype : {float16, bfloat16, float32, float64})
        for (int trial = 0; trial < 2000; ++trial) {
            const double any =
                std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90));
            const Scalar value = Scalar(any).cast(dtype);
            if (!std::isfinite(value.to_double())) continue;
            const std::string shown = Atoll::to_string(value);
            CAPTURE(shown);
            CHECK(Scalar(std::stod(shown)).cast(dtype).to_double() == value.to_double());
        }
}

TEST_CASE("settings decide decimals and exponents") {
    const Tensor t = vector({0.1, 1.0 / 3, 1234567.5}, {cpu()});
    const auto shown = [&](const Tensor &tensor, FloatMode mode, bool suppress = false) {
        PrintSettings print;
        print.decimals = 3;
        print.float_mode = mode;
        print.suppress_exponent = suppress;
        return lines_of(Atoll::to_string(tensor, print))[1];
    };
    CHECK(shown(t, FloatMode::maxprec) == "        0.100        0.333  1234567.500");
    CHECK(shown(vector({0.1, 1234567.5}, {cpu()}), FloatMode::maxprec) == "        0.1  1234567.5");
    CHECK(shown(ones({2}, {float32, cpu()}), FloatMode::fixed) == "  1.000  1.000");
    CHECK(shown(t.cast(float32), FloatMode::unique) ==
          "        0.10000000        0.33333334  1234567.50000000");
    const Tensor small = vector({1e-6, 2.0}, {cpu()});
    CHECK(shown(small, FloatMode::maxprec) == "  1e-06  2e+00");
    CHECK(shown(small, FloatMode::maxprec, true) == "  0  2");
    CHECK(shown(small, FloatMode::unique, true) == "  0.000001  2.000000");
    PrintSettings print;
    print.float_mode = static_cast<FloatMode>(7);
    CHECK(contains(error_text([&] { Atoll::to_string(t, print); }), "float mode"));
}

TEST_CASE("printed numbers read back to within the decimals, in columns of one width") {
    Random random(71);
    for (const Device device : all_devices())
        for (int trial = 0; trial < 60; ++trial) {
            const int decimals = static_cast<int>(random() % 8);
            const double scale = std::pow(10.0, static_cast<int>(random() % 9) - 4);
            const double values[] = {scale * static_cast<double>(random() % 2001) / 7,
                                     -scale * static_cast<double>(random() % 2001) / 7,
                                     scale,
                                     0,
                                     -scale / 3,
                                     scale * 2};
            const Tensor t = vector(std::span<const double>(values), {device}).reshape({2, 3});
            PrintSettings print;
            print.decimals = decimals;
            const std::string text = Atoll::to_string(t, print);
            CAPTURE(text);
            const std::vector<std::string> lines = lines_of(text);
            REQUIRE(lines.size() == 4);
            CHECK(lines[1].size() == lines[2].size());
            for (int i = 0; i < 2; ++i) {
                std::istringstream row(lines[static_cast<std::size_t>(1 + i)]);
                for (int j = 0; j < 3; ++j) {
                    std::string word;
                    row >> word;
                    const double read = std::stod(word), exact = values[i + 2 * j];
                    const bool scientific = word.find('e') != std::string::npos;
                    const double unit =
                        std::pow(10.0, -decimals) *
                        (scientific && exact != 0
                             ? std::pow(10.0, std::floor(std::log10(std::abs(exact))))
                             : 1);
                    CHECK(std::abs(read - exact) <= 0.5000001 * unit);
                }
            }
        }
}

TEST_CASE("long tensors show their edges, and only those are fetched") {
    CHECK(text_of(arange(2000, {cpu()})) == "(:)\n"
                                            "    0    1    2  ... 1997 1998 1999\n"
                                            "<tensor.int32 of size 2000 on cpu>");
    for (const Device device : all_devices()) {
        const std::vector<std::string> lines =
            lines_of(text_of(arange(5000, {float64, device}).reshape({50, 100})));
        REQUIRE(lines.size() == 9);
        CHECK(lines[1] == "     0    50   100   ...  4850  4900  4950");
        CHECK(lines[4] == "   ...   ...   ...   ...   ...   ...   ...");
        CHECK(lines[7] == "    49    99   149   ...  4899  4949  4999");
    }
    const Tensor endless = zeros({}, {int8, cpu()}).broadcast_to({std::int64_t{1} << 40, 2});
    CHECK(lines_of(text_of(endless)).size() == 9);
    const std::vector<std::string> deep = lines_of(text_of(zeros({2, 2, 1000}, {cpu()})));
    CHECK(deep.size() == 6 * 3 + 2 + 1);
    CHECK(deep[9] == "(:,:,...)");
    CHECK(deep[11] == "(:,:,997)");
    PrintSettings print;
    print.threshold = 4;
    print.edge = 1;
    CHECK(Atoll::to_string(arange(5, {cpu()}), print) ==
          "(:)\n   0 ...   4\n<tensor.int32 of size 5 on cpu>");
    print.threshold = 5;
    CHECK(Atoll::to_string(arange(5, {cpu()}), print) ==
          "(:)\n 0 1 2 3 4\n<tensor.int32 of size 5 on cpu>");
}

TEST_CASE("no line of elements is wider than the width") {
    PrintSettings print;
    for (int width : {1, 9, 20, 40, 80}) {
        print.width = width;
        const Tensor t = arange(60, {float64, cpu()}) / 7;
        for (const Tensor &shaped : {t, t.reshape({2, 30})}) {
            const std::vector<std::string> lines = lines_of(Atoll::to_string(shaped, print));
            int elements = 0;
            for (const std::string &line : lines) {
                if (line[0] != ' ' || line[1] == 'c') continue;
                CHECK(static_cast<int>(line.size()) <= std::max(width, 9));
                std::istringstream words(line);
                for (std::string word; words >> word;) ++elements;
            }
            CHECK(elements == 60);
        }
    }
    print.width = 16;
    CHECK(Atoll::to_string(arange(6, {cpu()}).reshape({1, 6}) * 100000, print) ==
          "(:,:)\n columns 0 to 1\n      0 100000\n columns 2 to 3\n 200000 300000\n"
          " columns 4 to 5\n 400000 500000\n<tensor.int32 of size 1x6 on cpu>");
    // A gap at the end of a line is not what names it.
    print.width = 8;
    print.threshold = 0;
    print.edge = 1;
    CHECK(Atoll::to_string(arange(10, {cpu()}).reshape({1, 10}), print) ==
          "(:,:)\n column 0\n   0 ...\n column 9\n   9\n<tensor.int32 of size 1x10 on cpu>");
}

TEST_CASE("odd settings are tamed") {
    PrintSettings print;
    print.decimals = -3;
    print.width = -1;
    print.threshold = -1;
    print.edge = INT_MAX;
    CHECK(Atoll::to_string(arange(3, {float64, cpu()}) / 2, print) ==
          "(:)\n  0\n  0\n  1\n<tensor.float64 of size 3 on cpu>");
    print.decimals = INT_MAX;
    CHECK_NOTHROW(Atoll::to_string(full({2}, 1e-300, {float64, cpu()}), print));
}

TEST_CASE("fmt and iostreams print the same, with the settings in force") {
    const Tensor t = full({2}, 0.125, {float64, cpu()});
    const ScopedSettings scope([](Settings &s) { s.print.decimals = 2; });
    std::ostringstream stream;
    stream << t;
    CHECK(stream.str() == fmt::format("{}", t));
    CHECK(contains(stream.str(), "0.12  0.12"));
    CHECK(fmt::format("{}", float16) == "float16");
    CHECK(fmt::format("{} {} {} {}", t.shape(), t.device(), Status::read_only, t(0)) ==
          fmt::format("{} {} read-only {}", to_string(t.shape()), t.device().name(),
                      to_string(t(0))));
    stream.str("");
    stream << Dims{2, 3} << Dims{4} << Dims{} << float16 << t.device() << Device()
           << Status::read_only;
    CHECK(stream.str() == "(2, 3)(4,)()float16" + t.device().name() + "no device" +
                              std::string(name(Status::read_only)));
}

TEST_CASE("scalars, dtypes, devices and states have a text of their own") {
    load_devices();
    CHECK(fmt::format("{} {} {} {}", Scalar(2.5), Scalar(true), complex64,
                      Atoll::device("dummy:1")) == "2.5 True complex64 dummy:1");
    CHECK(fmt::format("{} {}", Device(), Status::out_of_range) == "no device out of range");
    std::ostringstream stream;
    stream << Scalar(std::int64_t{-7});
    CHECK(stream.str() == "-7");
}

TEST_CASE("a huge tensor prints without copying more than its corners") {
    // 64 GiB of zeros that are one element in memory.
    for (const Device device : all_devices()) {
        const Tensor huge = full({1}, 7, {float64, device}).broadcast_to({1 << 18, 1 << 15});
        const std::string text = to_string(huge);
        CHECK(contains(text, "..."));
        CHECK(contains(text, "262144x32768"));
        const Tensor wide = full({1}, 7, {int8, device}).broadcast_to({40, 1, 40, 3, 40});
        CHECK(contains(to_string(wide), "(:,:,39,2,39)"));
    }
}
