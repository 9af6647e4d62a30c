// Mutated .npy and .npz files: each is read right or refused with an Error, and no byte outside of
// it is read. Every file lies on the heap in a block of exactly its size, for the sanitizers.
#include "../core/plugin_tests.hpp"
#include "../core/support.hpp"
#include "../core/views.hpp"
#include "../random_tests.hpp"
#include "atoll/npy.hpp"
#include "npy_files.hpp"

#include <fstream>
#include <numeric>

using namespace Atoll;
using namespace npy_files;
using support::cpu;
using support::Random;
using views::below;
using views::chance;

namespace {

std::vector<std::string> npy_seeds() {
    std::string numbers(96, '\0');
    std::iota(numbers.begin(), numbers.end(), '\0');
    std::vector<std::string> seeds;
    for (const char *descr : {"<f8", ">c16", "<i2", ">u4", "|b1", "<f2"})
        for (const char *order : {"True", "False"}) {
            const int size = std::atoi(descr + 2);
            const std::string shape = "(2, 3, " + std::to_string(16 / size) + ")";
            for (int major = 1; major <= 3; ++major)
                seeds.push_back(npy(header(descr, shape, order) + "       \n", numbers, major));
        }
    seeds.push_back(npy(header("<i8", "(12L,)"), numbers));
    seeds.push_back(npy(header("<i8", "()"), numbers.substr(0, 8)));
    seeds.push_back(npy(header("<i8", "(0, 5)"), ""));
    return seeds;
}

std::vector<std::string> npz_seeds() {
    const plugin_tests::Folder folder;
    const std::vector<std::string> arrays = npy_seeds();
    std::vector<std::string> seeds{
        zip({}), zip({Entry("a.npy", arrays[0])}),
        zip({Entry("a.npy", arrays[4]), Entry("dir/", ""), Entry("dir/b.npy", arrays[9])})};
    const std::string path = folder.path + "/a.npz";
    for (const Compression compression : {Compression::stored, Compression::deflate}) {
        write_npz(path,
                  {{"x", arange(50, {int32, cpu()})}, {"y", zeros({20, 30}, {float64, cpu()})}},
                  compression);
        std::ifstream file(path, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return seeds;
}

void mutate(std::string &file, Random &random, const std::vector<std::string> &seeds) {
    static const std::vector<std::string> tokens{"{",
                                                 "}",
                                                 "(",
                                                 ")",
                                                 ",",
                                                 ":",
                                                 "'",
                                                 "\"",
                                                 "[",
                                                 "L",
                                                 "-1",
                                                 "True",
                                                 "0",
                                                 "False",
                                                 "9223372036854775807",
                                                 "4294967296",
                                                 "1000000000",
                                                 "'shape'",
                                                 "'descr'",
                                                 "<",
                                                 ">",
                                                 "|O",
                                                 "\\",
                                                 "\n",
                                                 " ",
                                                 "V2",
                                                 "(1,)*9",
                                                 "\x93NUMPY",
                                                 "PK\1\2",
                                                 "PK\3\4",
                                                 "PK\5\6",
                                                 "PK\6\6",
                                                 "PK\6\7",
                                                 std::string(8, '\xff'),
                                                 std::string(4, '\0')};
    const auto place = [&] {
        return static_cast<std::size_t>(below(random, static_cast<std::int64_t>(file.size()) + 1));
    };
    // A place to overwrite; most of what matters stands at one of the ends.
    const auto spot = [&]() -> std::size_t {
        const std::size_t at = place();
        const std::size_t end = std::min<std::size_t>(file.size(), 120);
        if (file.empty() || chance(random, 40)) return at < file.size() ? at : 0;
        return chance(random, 60) ? at % end : file.size() - 1 - at % end;
    };
    switch (below(random, 9)) {
    case 0: file.resize(place()); break;
    case 1:
        if (!file.empty()) file[spot()] ^= static_cast<char>(1 << below(random, 8));
        break;
    case 2:
        if (!file.empty()) file[spot()] = static_cast<char>(random());
        break;
    case 3: file.insert(place(), tokens[random() % tokens.size()]); break;
    case 4: file.erase(spot(), static_cast<std::size_t>(below(random, 20) + 1)); break;
    case 5: {
        const std::string &token = tokens[random() % tokens.size()];
        file.replace(spot(), token.size(), token);
        break;
    }
    case 6: { // a number of another size
        const std::string number = little_endian(
            chance(random, 50) ? random() : ~std::uint64_t{0} >> below(random, 64), 8);
        const auto size = static_cast<std::size_t>(1) << below(random, 4);
        file.replace(spot(), size, number.substr(0, size));
        break;
    }
    case 7: { // the end of another file
        const std::string &other = seeds[random() % seeds.size()];
        file = file.substr(0, place()) + other.substr(static_cast<std::size_t>(below(
                                             random, static_cast<std::int64_t>(other.size()) + 1)));
        break;
    }
    case 8: { // a digit, where one stands
        const std::size_t at = file.find_first_of("0123456789", spot());
        if (at != file.npos) file[at] = static_cast<char>('0' + below(random, 10));
        break;
    }
    }
}

struct Counts {
    std::int64_t run = 0, read = 0, refused = 0;
};

// Bytes of the elements; looks at each.
std::int64_t used_bytes(const Tensor &t) {
    const std::vector<char> bytes = support::bytes_of(t);
    CHECK(std::ssize(bytes) == t.bytes());
    CHECK(t.size() * size_of(t.dtype()) == t.bytes());
    if (t.dtype() == bool_)
        for (const char byte : bytes) CHECK((byte == 0 || byte == 1));
    return t.bytes();
}

template <class Read>
Counts run_cases(const std::vector<std::string> &seeds, std::int64_t count, Read &&read) {
    const auto seed = random_tests::seed();
    const std::int64_t only = random_tests::only_case();
    count = random_tests::cases(count);
    Counts counts;
    for (std::int64_t i = only < 0 ? 0 : only; i < (only < 0 ? count : only + 1); ++i) {
        Random random((seed << 40) + static_cast<std::uint64_t>(i));
        std::string file = seeds[random() % seeds.size()];
        for (std::int64_t n = chance(random, 60) ? 1 : below(random, 6) + 1; n > 0; --n)
            mutate(file, random, seeds);
        const std::vector<char> exact(file.begin(), file.end());
        const std::span<const std::byte> bytes = std::as_bytes(std::span(exact));
        INFO("seed ", seed, ", case ", i);
        ++counts.run;
        try {
            read(bytes);
            ++counts.read;
        } catch (const Error &error) {
            ++counts.refused;
            const bool expected = error.status() == Status::invalid_argument ||
                                  error.status() == Status::not_supported ||
                                  error.status() == Status::overflow;
            CHECK_MESSAGE(expected, std::string(error.what()));
        }
    }
    return counts;
}

} // namespace

TEST_CASE("mutated .npy files are read or refused, and never read past their end") {
    support::load_devices();
    const std::vector<std::string> seeds = npy_seeds();
    for (const std::string &seed : seeds) CHECK_NOTHROW(read_npy(bytes(seed)));
    const Counts counts = run_cases(seeds, 20'000, [](std::span<const std::byte> file) {
        const Tensor t = read_npy(file);
        CHECK(used_bytes(t) + 10 < std::ssize(file));
    });
    if (counts.run < 1000) return;
    CHECK(counts.read * 10 > counts.run);
    CHECK(counts.refused * 3 > counts.run);
}

TEST_CASE("mutated .npz files are read or refused, and never read past their end") {
    support::load_devices();
    const std::vector<std::string> seeds = npz_seeds();
    for (const std::string &seed : seeds) CHECK_NOTHROW(read_npz(bytes(seed)));
    const Counts counts = run_cases(seeds, 10'000, [](std::span<const std::byte> file) {
        std::int64_t total = 0;
        for (const auto &[name, t] : read_npz(file)) total += used_bytes(t);
        CHECK(total <= 1032 * std::ssize(file));
    });
    if (counts.run < 1000) return;
    CHECK(counts.read * 20 > counts.run);
    CHECK(counts.refused * 3 > counts.run);
}
