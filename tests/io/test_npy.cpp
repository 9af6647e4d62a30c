// .npy and .npz: round trips on every device, what malformed files are refused with, and what is
// left behind when writing fails. tests/interop compares with NumPy itself.
#include "../core/plugin_tests.hpp"
#include "../core/support.hpp"
#include "atoll/npy.hpp"
#include "npy_files.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace Atoll;
using namespace npy_files;
using plugin_tests::Folder;
using support::all_devices;
using support::cpu;
using support::error_status;
using support::error_text;
using support::load_devices;
using support::operand;
using support::Random;
using support::Shape;
using support::upload;
using support::Value;
using support::values_of;
namespace fs = std::filesystem;

namespace {

constexpr DType format_dtypes[] = {bool_,   int8,    int16,     int32,     int64,
                                   uint8,   uint16,  uint32,    uint64,    float16,
                                   float32, float64, complex64, complex128};

std::string content(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
int entries_of(const fs::path &folder) {
    return static_cast<int>(std::distance(fs::directory_iterator(folder), {}));
}
Tensor read(const std::string &file, const Placement &where = {}) {
    // On the heap and of exactly this size: the sanitizer sees every byte too far.
    const std::vector<char> exact(file.begin(), file.end());
    return read_npy(std::as_bytes(std::span(exact)), where);
}
std::string written(const Tensor &tensor) {
    std::ostringstream stream;
    write_npy(stream, tensor);
    return stream.str();
}
void check_same(const Tensor &got, const Tensor &expected) {
    CHECK(got.dtype() == expected.dtype());
    REQUIRE(got.shape() == expected.shape());
    const std::vector<Value> a = values_of(got), b = values_of(expected);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        wrong += !oracle::same(a[i], b[i], static_cast<int>(got.dtype()), 0);
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("tensors of every dtype, layout, byte order and device are read as they were written") {
    for (const Device device : all_devices())
        for (const DType dtype : format_dtypes)
            for (const oracle::Layout layout : oracle::layouts)
                for (const bool swapped : {false, true})
                    for (const Shape &shape : {Shape{}, Shape{0, 2}, Shape{5}, Shape{2, 3}}) {
                        oracle::Operand source =
                            operand(static_cast<int>(dtype), shape, layout, swapped);
                        Random random(1);
                        oracle::each(shape, [&](const Shape &at) {
                            source.set(at, oracle::convert(Value::of(random() % 100),
                                                           static_cast<int>(dtype)));
                        });
                        const Tensor t = upload(source, device);
                        const Tensor back = read(written(t), {device});
                        CHECK(back.device() == device);
                        CHECK(!back.is_byteswapped());
                        CHECK(!back.is_read_only());
                        check_same(back, t);
                    }
}

TEST_CASE("the header says what NumPy would say") {
    const auto header_of = [](const Tensor &t) {
        const std::string file = written(t);
        CHECK(file.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
        const auto length = static_cast<std::size_t>(static_cast<unsigned char>(file[8])) |
                            static_cast<std::size_t>(static_cast<unsigned char>(file[9])) << 8;
        CHECK((10 + length) % 64 == 0);
        CHECK(file[10 + length - 1] == '\n');
        CHECK(file.size() == 10 + length + static_cast<std::size_t>(t.bytes()));
        return file.substr(10, file.find('}') - 9);
    };
    const Tensor t = zeros({2, 3}, {float32, cpu()});
    CHECK(header_of(t) == "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }");
    CHECK(header_of(t.reverse_axes()) ==
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }");
    CHECK(header_of(t.flip(0)) == "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }");
    CHECK(header_of(zeros({}, {bool_, cpu()})) ==
          "{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
    CHECK(header_of(zeros({7}, {uint8, cpu()})) ==
          "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }");
    Tensor swapped = zeros({7}, {complex64, cpu()});
    swapped.set_byteswapped(true);
    CHECK(header_of(swapped) == "{'descr': '>c8', 'fortran_order': False, 'shape': (7,), }");
    CHECK(header_of(swapped.flip(0)) == header_of(swapped));
    CHECK(header_of(zeros(Dims::filled(64, 1), {int8, cpu()})).size() > 190);
    for (const DType none : {bfloat16, complex32}) {
        CHECK(error_status([&] { written(zeros({2}, {none, cpu()})); }) == Status::not_supported);
        CHECK(support::contains(error_text([&] { written(zeros({2}, {none, cpu()})); }), "cast"));
    }
}

TEST_CASE("headers are understood in every form that NumPy reads") {
    load_devices();
    const std::string six = data<std::int16_t>({1, 2, 3, 4, 5, 6});
    const std::vector<double> rows{1, 4, 2, 5, 3, 6}, columns{1, 2, 3, 4, 5, 6};
    CHECK(read(npy(header("<i2", "(2, 3)"), six)).to_doubles() == rows);
    CHECK(read(npy(header("<i2", "(2, 3)"), six)).is_contiguous(Order::C));
    CHECK(read(npy(header("<i2", "(2, 3)", "True"), six)).to_doubles() == columns);
    CHECK(read(npy(header("<i2", "(2, 3)", "True"), six)).is_contiguous(Order::F));
    CHECK(read(npy(header("<i2", "(6,)"), six, 2)).to_doubles() == columns);
    CHECK(read(npy(header("<i2", "(6,)"), six, 3)).to_doubles() == columns);
    CHECK(read(npy(header("=i2", "(6,)"), six)).to_doubles() == columns);
    CHECK(read(npy(header("i2", "(6,)"), six)).to_doubles() == columns);
    CHECK(read(npy(header(">i2", "(6,)"), six))(5).item().to_int() == 6 * 256);
    CHECK(read(npy(header("<i2", "(6L,)"), six)).to_doubles() == columns); // by Python 2
    CHECK(read(npy(" {\"shape\":( 3 ,2,) , 'descr':'<i2',\n'fortran_order' :True}  \n", six))
              .shape() == Dims{3, 2});
    CHECK(read(npy(header("<i2", "(0, 6)"), "")).shape() == Dims{0, 6});
    CHECK(read(npy(header("<i2", "(0, 123456789)"), "")).size() == 0);
    CHECK(read(npy(header("<f8", "()"), data({2.5}))).item().to_double() == 2.5);
    // Bytes that no bool has are made one of its values.
    const Tensor truths = read(npy(header("|b1", "(3,)"), std::string("\0\1\x80", 3)));
    CHECK(truths.view_as(uint8).to_doubles() == std::vector<double>{0, 1, 1});
    // Converted, and placed.
    const Device dummy = Atoll::device("dummy:1");
    const Tensor placed = read(npy(header(">i2", "(2, 3)"), six), {float64, dummy});
    CHECK(placed.dtype() == float64);
    CHECK(placed.device() == dummy);
    CHECK(placed(0, 1).item().to_double() == 512);
    const Stream stream = dummy.new_stream();
    CHECK(read(npy(header("<i2", "(6,)"), six), {DType::none, dummy, stream}).stream() == stream);
}

TEST_CASE("malformed files are refused with what is wrong and where") {
    load_devices();
    const std::string six = data<std::int16_t>({1, 2, 3, 4, 5, 6});
    const std::string good = npy(header("<i2", "(2, 3)"), six);
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
        const std::string file = good.substr(0, cut);
        CHECK(error_status([&] { read(file); }) == Status::invalid_argument);
        std::istringstream stream(file);
        CHECK(error_status([&] { read_npy(stream); }) == Status::invalid_argument);
    }
    CHECK(support::contains(error_text([&] { read(good.substr(0, good.size() - 1)); }),
                            "the data needs 12 bytes, 11 are there"));
    struct Case {
        std::string file;
        Status status;
        const char *says;
    };
    const auto with = [&](std::string_view text) { return npy(text, six); };
    const auto typed = [&](std::string_view descr) { return npy(header(descr, "(6,)"), six); };
    const auto shaped = [&](std::string_view shape) { return npy(header("<i2", shape), six); };
    const Status bad = Status::invalid_argument, no = Status::not_supported;
    const Case cases[] = {
        {"GIF89a, as it were", bad, "no .npy file"},
        {npy(header("<i2", "(6,)"), six, 4), no, "version 4.0"},
        {npy(header("<i2", "(6,)"), six, 0), no, "version 0.0"},
        {npy(header("<i2", "(6,)"), six, 1, 1), no, "version 1.1"},
        {good + "x", bad, "1 byte(s) follow"},
        {std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13), bad, "header needs 4294967295 bytes"},
        {npy(std::string(2 << 20, ' '), "", 2), no, "header of 2097152 bytes"},
        {with(""), bad, "no '{'"},
        {with("{}"), bad, "no 'descr'"},
        {with("{'descr': '<i2', 'fortran_order': False, }"), bad, "no 'shape'"},
        {with("{'descr': '<i2', 'descr': '<i2'}"), bad, "twice"},
        {with("{'descr': '<i2', 'order': 'C'}"), bad, "unknown key 'order'"},
        {with("{'descr': '<i2' 'shape': (6,)}"), bad, "',' or '}'"},
        {with("{'descr' '<i2'}"), bad, "':'"},
        {with("{'descr': '<i2"), bad, "without an end"},
        {with("{'descr': '\\x3ci2'"), bad, "escape"},
        {with("{descr: '<i2'}"), bad, "no quoted text"},
        {with("{'descr': '<i2', 'fortran_order': 0, 'shape': (6,)}"), bad, "True nor False"},
        {with(header("<i2", "(6,)") + "{"), bad, "text after"},
        {with(header("<i2", "(6,)") + std::string(1, '\0')), bad, "text after"},
        {shaped("(6)"), bad, "without a comma"},
        {shaped("6"), bad, "no '('"},
        {shaped("[6]"), bad, "no '('"},
        {shaped("(-6,)"), bad, "no extent"},
        {shaped("(,)"), bad, "no extent"},
        {shaped("(6,,)"), bad, "no extent"},
        {shaped("(06,)"), bad, "begins with 0"},
        {shaped("(2 3)"), bad, "comma"},
        {shaped("(2, 3"), bad, "no extent"},
        {shaped("(2, 3}"), bad, "',' or ')'"},
        {shaped("(6.0,)"), bad, "comma"},
        {npy(header("<i2", "(6L,)"), six, 3), bad, "comma"},
        {shaped("(7,)"), bad, "the data needs 14 bytes, 12 are there"},
        {shaped("(5,)"), bad, "2 byte(s) follow"},
        {shaped("(9223372036854775808,)"), Status::overflow, "63 bits"},
        {shaped("(9223372036854775807,)"), Status::overflow, "63 bits"},
        {shaped("(4294967296, 4294967296, 0)"), Status::overflow, "63 bits"},
        {shaped("(1000000000000,)"), bad, "truncated"}, // and no terabyte is asked for
        {shaped([] {
             std::string s = "(";
             for (int i = 0; i < 65; ++i) s += "1,";
             return s += ")";
         }()),
         no, "64 axes"},
        {typed("|O"), no, "objects"},
        {typed("<U3"), no, "strings"},
        {typed("|S3"), no, "strings"},
        {typed("<M8[ns]"), no, "times"},
        {typed("|V2"), no, "raw bytes"},
        {typed("<f16"), no, "'<f16'"},
        {typed("<c4"), no, "'<c4'"},
        {typed("<i3"), no, "'<i3'"},
        {typed("<f"), no, "'<f'"},
        {typed(""), no, "''"},
        {typed("<<i2"), no, "'<<i2'"},
        {typed("<i2\x01"), no, "'<i2\\x01'"},
        {with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,), }"), no,
         "structured"},
        {with("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (6,), }"), no,
         "structured"},
    };
    for (const Case &c : cases) {
        CAPTURE(std::string(c.says));
        try {
            read(c.file);
            FAIL_CHECK("no error");
        } catch (const Error &error) {
            CHECK(error.status() == c.status);
            CHECK_MESSAGE(support::contains(error.what(), c.says), std::string(error.what()));
        }
    }
}

TEST_CASE("a stream holds several arrays, and need not be able to seek") {
    load_devices();
    std::stringstream stream;
    write_npy(stream, arange(5, {int64, cpu()}));
    write_npy(stream, arange(2, {float32, cpu()}));
    stream << "rest";
    CHECK(read_npy(stream).to_doubles() == std::vector<double>{0, 1, 2, 3, 4});
    CHECK(read_npy(stream).to_doubles() == std::vector<double>{0, 1});
    CHECK(static_cast<char>(stream.get()) == 'r');
    // A buffer that only ever moves forward, in small steps.
    struct Pipe : std::streambuf {
        explicit Pipe(std::string t) : text(std::move(t)) {}
        int_type underflow() override {
            if (at >= text.size()) return traits_type::eof();
            char *begin = text.data() + at;
            at += std::min<std::size_t>(1000, text.size() - at);
            setg(begin, begin, text.data() + at);
            return traits_type::to_int_type(*begin);
        }
        std::string text;
        std::size_t at = 0;
    };
    const Tensor large = arange(500'000, {float64, cpu()}); // more than is read at a time
    Pipe pipe(written(large));
    std::istream piped(&pipe);
    check_same(read_npy(piped), large);
    Pipe cut(written(large).substr(0, 3'000'000));
    std::istream cut_stream(&cut);
    CHECK(error_status([&] { read_npy(cut_stream); }) == Status::invalid_argument);
    // A claim of 2^62 bytes costs nothing either.
    Pipe liar(npy(header("<i2", "(2305843009213693952,)"), std::string(100, 'x')));
    std::istream lie(&liar);
    CHECK(error_status([&] { read_npy(lie); }) == Status::invalid_argument);
    // Streams that throw say it in our words.
    std::istringstream strict("\x93NUM");
    strict.exceptions(std::ios::failbit | std::ios::badbit);
    CHECK(error_status([&] { read_npy(strict); }) == Status::invalid_argument);
    std::ostringstream closed;
    closed.setstate(std::ios::badbit);
    CHECK(error_status([&] { write_npy(closed, large); }) == Status::refused);
}

TEST_CASE("large arrays cross device memory in pieces") {
    for (const Device device : all_devices()) {
        Tensor t = arange(300'001, {float64, device});
        const Tensor back = read(written(t), {device});
        CHECK(back.to_vector<double>() == t.to_vector<double>());
        t.byteswap();
        CHECK(read(written(t)).to_vector<double>() == t.to_vector<double>());
    }
}

TEST_CASE("files are written whole or not at all") {
    const Folder folder;
    const fs::path dir = folder.path, file = dir / "a.npy";
    const Tensor old = arange(3, {int32, cpu()}), t = arange(100'000, {float64, cpu()});
    write_npy(file, old);
    check_same(read_npy(file), old);
    CHECK(content(file) == written(old));
    CHECK(entries_of(dir) == 1);
    // A disk that is full, as it were.
    struct rlimit unlimited, small;
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    small = unlimited;
    small.rlim_cur = 4096;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Status npy_status = error_status([&] { write_npy(file, t); });
    const Status npz_status = error_status([&] { write_npz(file, {{"t", t}}); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    std::signal(SIGXFSZ, handler);
    CHECK(npy_status == Status::refused);
    CHECK(npz_status == Status::refused);
    CHECK(content(file) == written(old));
    CHECK(entries_of(dir) == 1);
    CHECK_THROWS_AS(write_npy(file, zeros({2}, {bfloat16, cpu()})), Error);
    CHECK_THROWS_AS(write_npz(file, {{"a", old}, {"b", zeros({2}, {bfloat16, cpu()})}}), Error);
    CHECK_THROWS_AS(write_npz(file, {{"a", old}, {"b", Tensor()}}), Error);
    CHECK(content(file) == written(old));
    CHECK(entries_of(dir) == 1);
    // An existing file's rights and a link stay.
    REQUIRE(::chmod(file.c_str(), 0640) == 0);
    fs::create_symlink("a.npy", dir / "link.npy");
    write_npy(dir / "link.npy", t);
    CHECK(fs::is_symlink(dir / "link.npy"));
    check_same(read_npy(file), t);
    CHECK((fs::status(file).permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
    write_npz(dir / "link.npy", {{"t", old}});
    CHECK(fs::is_symlink(dir / "link.npy"));
    check_same(read_npz(file, "t"), old);
    CHECK(entries_of(dir) == 2);
    // What is no file is left alone.
    fs::create_directory(dir / "folder");
    for (const fs::path &path : {dir / "folder", fs::path("/dev/null")}) {
        CHECK(error_status([&] { write_npy(path, old); }) == Status::refused);
        CHECK(error_status([&] { write_npz(path, {{"t", old}}); }) == Status::refused);
        CHECK(error_status([&] { write_npz(path, {}); }) == Status::refused);
    }
    CHECK(fs::is_character_file("/dev/null"));
    const fs::path nowhere = dir / "no folder" / "a.npy";
    CHECK(error_status([&] { write_npy(nowhere, old); }) == Status::not_found);
    CHECK(error_status([&] { write_npz(nowhere, {{"t", old}}); }) == Status::not_found);
    CHECK(error_status([&] { read_npy(nowhere); }) == Status::not_found);
    CHECK(error_status([&] { read_npz(nowhere); }) == Status::not_found);
    CHECK(error_status([&] { read_npy(dir / "folder"); }) == Status::refused);
    CHECK_THROWS_AS(read_npz(dir / "folder"), Error);
    CHECK(support::contains(error_text([&] { read_npy(nowhere); }), "no folder/a.npy"));
    const std::string forged = error_text([&] { read_npy("a\n[error] \x1b[31m"); });
    CHECK_MESSAGE(support::contains(forged, "'a\\n[error] \\x1b[31m'"), forged);
    CHECK(error_status([&] { write_npy("", old); }) == Status::refused);
    CHECK(support::contains(error_text([&] { write_npz("", {{"t", old}}); }), "is empty"));
    CHECK(support::contains(error_text([&] { read_npy(folder.file("x", "\x93NUMPY")); }), "/x'"));
}

TEST_CASE("archives come back as they were written, stored or deflated, from every device") {
    const Folder folder;
    const fs::path file = folder.path + "/a.npz";
    for (const Device device : all_devices())
        for (const Compression compression : {Compression::stored, Compression::deflate}) {
            Tensor swapped = arange(6, {int32, device});
            swapped.byteswap();
            const std::map<std::string, Tensor> arrays{
                {"zeros", zeros({100, 100}, {float64, device})},
                {"layer 1/weights", arange(30'000, {float32, device}).reshape({3, 100, 100})},
                {"größe", full({}, 2, {uint8, device})},
                {"a.npy", arange(10, {int64, device}).flip(0)},
                {"swapped", swapped},
                {"none", zeros({0, 3}, {complex128, device})},
            };
            write_npz(file, arrays, compression);
            const bool stored = compression == Compression::stored;
            CHECK((fs::file_size(file) > 200'000) == stored);
            CHECK(fs::file_size(file) < (stored ? 205'000u : 100'000u));
            const std::map<std::string, Tensor> back = read_npz(file, {device});
            REQUIRE(back.size() == arrays.size());
            for (const auto &[name, tensor] : arrays) {
                REQUIRE(back.count(name) == 1);
                CHECK(back.at(name).device() == device);
                check_same(back.at(name), tensor);
            }
            check_same(read_npz(file, "größe", {device}), arrays.at("größe"));
            CHECK(read_npz(file, "größe", {float64, device}).dtype() == float64);
            const std::string once = content(file);
            write_npz(file, arrays, compression);
            CHECK(content(file) == once); // no dates
            const std::vector<char> exact(once.begin(), once.end());
            CHECK(read_npz(std::as_bytes(std::span(exact)), {device}).size() == arrays.size());
        }
    CHECK(npz_names(file) == std::vector<std::string>{"a.npy", "größe", "layer 1/weights", "none",
                                                      "swapped", "zeros"});
    CHECK(error_status([&] { read_npz(file, "no"); }) == Status::not_found);
    CHECK(support::contains(error_text([&] { read_npz(file, "no"); }), "'swapped'"));
    write_npz(file, {});
    CHECK(read_npz(file).empty());
    CHECK(support::contains(error_text([&] { read_npz(file, "no"); }), "none"));
    const Tensor t = zeros({2}, {float32, cpu()});
    const std::string before = content(file);
    for (const auto &[name, shown] :
         {std::pair<std::string, std::string>{"", "''"},
          {std::string("a\0b", 3), "'a\\x00b'"},
          {std::string(66'000, 'x'), "'" + std::string(200, 'x') + "'…"},
          {"\xff\xfe", "'\\xff\\xfe'"},
          {"\x1b[31m", "'\\x1b[31m'"}}) {
        CHECK(error_status([&] { write_npz(file, {{name, t}}); }) == Status::invalid_argument);
        const std::string text = error_text([&] { write_npz(file, {{name, t}}); });
        CHECK_MESSAGE(support::contains(text, shown), text);
    }
    // Cut before a character, not within.
    const std::string long_name = std::string(199, 'x') + "ß and more";
    CHECK(support::contains(error_text([&] { read_npz(file, long_name); }),
                            "'" + std::string(199, 'x') + "'…"));
    CHECK(content(file) == before);
    CHECK(entries_of(folder.path) == 1);
}

TEST_CASE("malformed archives are refused with what is wrong and where") {
    load_devices();
    const std::string array = npy(header("<i2", "(3,)"), data<std::int16_t>({1, 2, 3}));
    const Entry good("a.npy", array);
    const auto read = [](const std::string &archive) {
        const std::vector<char> exact(archive.begin(), archive.end());
        return read_npz(std::as_bytes(std::span(exact)));
    };
    CHECK(read(zip({good})).at("a").to_doubles() == std::vector<double>{1, 2, 3});
    CHECK(read(zip({good, Entry("folder/", "")})).size() == 1);
    CHECK(read(zip({})).empty());
    const auto spoiled = [&](auto &&spoil) {
        Entry entry = good;
        spoil(entry);
        return zip({Entry("before.npy", array), entry});
    };
    struct Case {
        std::string archive;
        Status status;
        const char *says;
    };
    const Status bad = Status::invalid_argument, no = Status::not_supported;
    const Case cases[] = {
        {"", bad, "empty"},
        {"PK\3\4, nearly", bad, "no .npz file"},
        {array, bad, "no .npz file"},
        {zip({good, good}), bad, "two arrays have the name 'a'"},
        {zip({good, Entry("a", array)}), bad, "the entry 'a' is no array"},
        {zip({Entry("read.me", "text")}), bad, "read.me"},
        {zip({Entry("a.npy", "text")}), bad, "array 'a'"},
        {zip({Entry("a.npy", array + "more")}), bad, "4 byte(s) follow"},
        {zip({Entry("a.npy", array.substr(0, array.size() - 2))}), bad, "truncated"},
        {spoiled([](Entry &e) { e.crc ^= 1; }), bad, "CRC"},
        {spoiled([](Entry &e) { e.packed.back() ^= 1; }), bad, "CRC"},
        {spoiled([](Entry &e) { e.flags = 1; }), no, "encrypted"},
        {spoiled([](Entry &e) { e.method = 12; }), no, "method 12"},
        {spoiled([](Entry &e) { e.method = 97; }), no, "method 97"},
        {spoiled([](Entry &e) { e.method = 8; }), bad, "array 'a'"}, // no deflate stream
        {spoiled([](Entry &e) { e.size += 100; }), bad, "claims to unpack"},
        {spoiled([](Entry &e) {
             e.method = 8;
             e.size = 4'000'000'000;
         }),
         bad, "claims to unpack"},
    };
    for (const Case &c : cases) {
        CAPTURE(std::string(c.says));
        try {
            read(c.archive);
            FAIL_CHECK("no error");
        } catch (const Error &error) {
            CHECK(error.status() == c.status);
            CHECK_MESSAGE(support::contains(error.what(), c.says), std::string(error.what()));
        }
    }
    // Entries that share their packed bytes: each is honest, together they are a bomb.
    const std::string large = npy(header("|u1", "(10000,)"), std::string(10'000, 'x'));
    const std::string one = zip({Entry("a.npy", large)}), two = zip({Entry("b.npy", large)});
    const std::size_t local = 30 + 5 + large.size(), central = 46 + 5;
    std::string shared = one.substr(0, local + central);
    shared += two.substr(local, central); // its place is 0 too
    shared += "PK\5\6" + little_endian(0, 4) + little_endian(2, 2) + little_endian(2, 2) +
              little_endian(2 * central, 4) + little_endian(local, 4) + little_endian(0, 2);
    CHECK(read(one).size() == 1);
    CHECK(support::contains(error_text([&] { read(shared); }), "packed bytes"));
    for (std::size_t cut = 0; cut < one.size(); ++cut)
        CHECK_THROWS_AS(read(one.substr(0, cut)), Error);
}
