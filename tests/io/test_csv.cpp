// CSV: what is read, what is refused with which words, and that what is written reads back.
#include "../core/plugin_tests.hpp"
#include "../core/support.hpp"
#include "atoll/csv.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

using namespace Atoll;
using plugin_tests::Folder;
using namespace support;

namespace {

Csv read(const std::string &text, const CsvReadOptions &options = {}, DType dtype = DType::none) {
    std::istringstream stream(text);
    return read_csv(stream, options, {dtype, cpu()});
}
std::string refusal(const std::string &text, const CsvReadOptions &options = {},
                    DType dtype = DType::none) {
    return error_text([&] { read(text, options, dtype); });
}
std::string written(const Tensor &table, const CsvWriteOptions &options = {}) {
    std::ostringstream stream;
    write_csv(stream, table, options);
    return stream.str();
}
// Element by element, a record after the other.
std::vector<double> records(const Tensor &t) { return t.T().to_doubles(); }

} // namespace

TEST_CASE("records become rows") {
    const Csv table = read("1,2.5,-3\n4,5e2,+6\n");
    CHECK(table.values.shape() == Dims{2, 3});
    CHECK(table.values.dtype() == float64);
    CHECK(records(table.values) == std::vector<double>{1, 2.5, -3, 4, 500, 6});
    CHECK(table.columns.empty());
    for (const char *same : {"1,2\n3,4", "1,2\r\n3,4\r\n", "1,2\r3,4",
                             "\xEF\xBB\xBF"
                             "1,2\n3,4\n",
                             "\n1,2\n\n3,4\n\n", " 1 ,\t2\n3,4 \n", "\"1\",\"2\"\n3,\"4\""}) {
        CAPTURE(std::string(same));
        CHECK(records(read(same).values) == std::vector<double>{1, 2, 3, 4});
    }
    CHECK(records(read("1;2\n3;4\n", {.separator = ';'}).values) ==
          std::vector<double>{1, 2, 3, 4});
    CHECK(records(read("# x\ntitle\n1\n# y\n2\n", {.skip_lines = 2, .comment = '#'}).values) ==
          std::vector<double>{1, 2});
    CHECK(read("").values.shape() == Dims{0, 0});
    CHECK(read("a,b\n", {.header = true}).values.shape() == Dims{0, 2});
    CHECK(read("7\n").values.shape() == Dims{1, 1});
}

TEST_CASE("a header names the columns") {
    const Csv table =
        read("time,\"speed, in \"\"m/s\"\"\",\"two\nlines\"\n1,2,3\n", {.header = true});
    CHECK(table.columns == std::vector<std::string>{"time", "speed, in \"m/s\"", "two\nlines"});
    CHECK(records(table.values) == std::vector<double>{1, 2, 3});
    CHECK(contains(refusal("a,\"b\nb\"\n1,x\n", {.header = true}),
                   "line 3: column 2 ('b?b') is 'x', which is no number"));
}

TEST_CASE("numbers are those of the dtype") {
    CHECK(read("9223372036854775807\n-9223372036854775808\n", {}, int64)
              .values.to_vector<std::int64_t>() == std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
    CHECK(read("18446744073709551615\n", {}, uint64).values.item<std::uint64_t>() == UINT64_MAX);
    CHECK(read("-0\n", {}, uint8).values.item<std::uint8_t>() == 0);
    CHECK(read("true,false,1,0\n", {}, bool_).values.T().to_vector<bool>() ==
          std::vector<bool>{true, false, true, false});
    // Halfway between two floats but for what a double cannot hold.
    CHECK(read("1.00000005960464477539062500001\n", {}, float32).values.item<float>() ==
          1.00000012f);
    const std::vector<double> special =
        records(read("inf,-Infinity,nan,1e-400,-1e-400,4.9e-324\n").values);
    CHECK(special[0] == INFINITY);
    CHECK(special[1] == -INFINITY);
    CHECK(std::isnan(special[2]));
    CHECK((special[3] == 0 && !std::signbit(special[3])));
    CHECK((special[4] == 0 && std::signbit(special[4])));
    CHECK(special[5] == std::numeric_limits<double>::denorm_min());
    for (const auto &[text, dtype, words] :
         std::initializer_list<std::tuple<const char *, DType, const char *>>{
             {"1e400\n", float64, "'1e400', which float64 does not hold"},
             {"1e39\n", float32, "'1e39', which float32 does not hold"},
             {"1e5\n", float16, "'1e5', which float16 does not hold"},
             {"128\n", int8, "'128', which int8 does not hold"},
             {"9223372036854775808\n", int64, "which int64 does not hold"},
             {"2\n", bool_, "'2', which bool does not hold"},
             {"-1\n", uint8, "'-1', which uint8 does not hold"},
             {"-99999999999999999999\n", uint64, "which uint64 does not hold"},
             {"--1\n", uint8, "'--1', which is no integer"},
             {"-\n", uint8, "'-', which is no integer"},
             {"-1.5\n", uint8, "'-1.5', which is no integer"},
             {"1.5\n", int32, "'1.5', which is no integer"},
             {"yes\n", bool_, "'yes', which is no bool"},
             {"+-1\n", float64, "'+-1', which is no number"},
             {"0x10\n", float64, "'0x10', which is no number"},
             {"1 2\n", float64, "'1 2', which is no number"}}) {
        CAPTURE(std::string(text));
        CHECK(contains(refusal(text, {}, dtype), words));
        CHECK(contains(refusal(text, {}, dtype), "[read_csv] stream: line 1: column 1 is "));
    }
}

TEST_CASE("missing numbers") {
    const std::vector<double> values = records(read("1,,NA\nnull, ,2\n").values);
    CHECK(values[0] == 1);
    CHECK(values[5] == 2);
    for (int i = 1; i < 5; ++i) CHECK(std::isnan(values[static_cast<std::size_t>(i)]));
    CHECK(records(read("1,\n-,2\n", {.missing = {"", "-"}, .fill = -1}).values) ==
          std::vector<double>{1, -1, -1, 2});
    CHECK(records(read("1,\n", {.fill = 7}, int32).values) == std::vector<double>{1, 7});
    CHECK(refusal("x,y\n1,\n", {.header = true}, int32) ==
          "[read_csv] stream: line 2: column 2 ('y') is missing, and int32 has no NaN; give "
          "CsvReadOptions::fill");
    CHECK(refusal("1\n", {.fill = 300}, uint8) == "[read_csv] the fill 300 does not fit uint8");
}

TEST_CASE("malformed tables are refused") {
    CHECK(refusal("1,2\n3\n") ==
          "[read_csv] stream: line 2: got 1 fields, need 2 as in the first record");
    CHECK(refusal("a,b\n1\n", {.header = true}) ==
          "[read_csv] stream: line 2: got 1 fields, need 2 as in the header");
    CHECK(refusal("1,\"2\n3\n") == "[read_csv] stream: line 1: a quoted field does not end");
    CHECK(refusal("1,\"2\"3\n") == "[read_csv] stream: line 1: more follows a quoted field");
    CHECK(contains(refusal("1\n", {.separator = '1'}), "got the separator '1'"));
    CHECK(contains(refusal("1\n", {}, complex64), "got dtype complex64, need a real one"));
    CHECK(contains(error_text([] { read_csv("/nowhere/x.csv"); }),
                   "'/nowhere/x.csv' cannot be opened: No such file"));
    CHECK(contains(error_text([] { read_csv("/"); }), "'/' cannot be read"));
}

TEST_CASE("what is written reads back") {
    for (const Device device : all_devices()) {
        const Tensor t =
            tensor({{0.1, -2.0, 1e300}, {5e-324, 1.0 / 3, INFINITY}}, {float64, device});
        CHECK(written(t) == "0.1,-2,1e+300\n5e-324,0.3333333333333333,inf\n");
        CHECK(all(equal(read(written(t)).values, t.to(cpu()))));
        const Tensor f = t(all_, range(0, 2)).ensure(float32);
        CHECK(written(f) == "0.1,-2\n0,0.33333334\n");
        for (const DType dtype : {float16, bfloat16, float32, int8, uint64, bool_}) {
            const Tensor values = t(all_, range(0, 2)).cast(dtype);
            CHECK(all(equal(read(written(values), {}, dtype).values, values.to(cpu()))));
        }
        CHECK(written(t(0, all_)) == "0.1\n-2\n1e+300\n"); // a vector is a column
        CHECK(written(t(all_, range(0, 2)).byteswap()) == "0.1,-2\n5e-324,0.3333333333333333\n");
    }
    const Tensor one = tensor({{1, 2}}, {int32, cpu()});
    CHECK(written(one, {.separator = ';', .columns = {"a;b", "c"}}) == "\"a;b\";c\n1;2\n");
    CHECK(contains(error_text([&] { written(one, {.columns = {"a"}}); }),
                   "got 1 names for 2 columns"));
    CHECK(contains(error_text([&] {
                       written(zeros({1, 1, 1}, {float64, cpu()}));
                   }),
                   "got rank 3, need a matrix or a vector"));
    CHECK(contains(error_text([&] { written(one.cast(complex64)); }), "real() and imag()"));
}

TEST_CASE("a file is whole or unchanged") {
    const Folder folder;
    const std::filesystem::path path = std::filesystem::path(folder.path) / "table.csv";
    const Tensor t = tensor({{1.5, 2.5}}, {float64, cpu()});
    write_csv(path, t, {.columns = {"a", "b"}});
    const Csv again = read_csv(path, {.header = true}, {cpu()});
    CHECK(again.columns == std::vector<std::string>{"a", "b"});
    CHECK(records(again.values) == std::vector<double>{1.5, 2.5});
    CHECK_THROWS_AS(write_csv(path, t, {.columns = {"a"}}), Error);
    CHECK(records(read_csv(path, {.header = true}, {cpu()}).values) ==
          std::vector<double>{1.5, 2.5});
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("no text makes the reader crash or hang") {
    Random random(7);
    const std::string letters = "0123456789.,;\"\n\r +-einfa#\t\0\xEF\xBB";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (int n = static_cast<int>(random() % 40); n > 0; --n)
            text += letters[random() % letters.size()];
        try {
            const Csv table = read(text, {.header = random() % 2 == 0});
            CHECK(table.values.rank() == 2);
        } catch (const Error &) {
        }
    }
}
