// Rows that are long enough for CUB's radix sort, beside the same on the processor, bit by bit.
#include "../random_tests.hpp"
#include "gpu.hpp"
#include "runtime.hpp"
#include "stall.hpp"

#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Atoll::DType;
using Atoll::Tensor;

constexpr std::int64_t bound = 1 << 18; // long_row of sort.cu

const DType dtypes[] = {
    Atoll::bool_,   Atoll::int32,    Atoll::int64,     Atoll::uint64,
    Atoll::float16, Atoll::float32,  Atoll::float64,   Atoll::complex64,
#if !defined(ATOLL_CUDA_DTYPES)
    Atoll::int8,    Atoll::int16,    Atoll::uint8,     Atoll::uint16,
    Atoll::uint32,  Atoll::bfloat16, Atoll::complex32,
#endif
};

Atoll::Device cpu() {
    (void)gpu(); // loads both
    return Atoll::device("cpu");
}

// The bits of numbers of this dtype: the limits of integers; both zeros, infinities and some NaN.
std::vector<std::uint64_t> words(DType dtype, std::mt19937_64 &random) {
    if (dtype == Atoll::bool_) return {0, 1};
    const auto bits = 8 * size_of(dtype);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1), all = sign | (sign - 1);
    std::vector<std::uint64_t> some = {0, sign, all, sign - 1, 1, sign + 1};
    const std::uint64_t infinity = dtype == Atoll::float16    ? 0x7c00
                                   : dtype == Atoll::bfloat16 ? 0x7f80
                                   : dtype == Atoll::float32  ? 0x7f800000
                                                              : 0x7ff0000000000000;
    const std::uint64_t quiet = infinity >> 1 & ~infinity;
    const bool is_float = dtype == Atoll::float16 || dtype == Atoll::bfloat16 ||
                          dtype == Atoll::float32 || dtype == Atoll::float64;
    if (is_float) some = {0, sign, 1, sign | 1, infinity, sign | infinity};
    for (int k = 0; k < 300; ++k) {
        std::uint64_t word = random() & all;
        if (is_float && (word & infinity) == infinity) word ^= quiet << 1;
        some.push_back(word);
    }
    // Few, so that equal ones come from everywhere.
    if (is_float)
        for (const std::uint64_t payload : {0, 1, 5}) {
            some.push_back(infinity | quiet | payload);
            some.push_back(sign | infinity | quiet | payload);
        }
    return some;
}

enum class With { everything, no_nan, no_negative_zero };

// On the processor, dense.
Tensor numbers(DType dtype, const Atoll::Dims &shape, With with = With::everything) {
    std::mt19937_64 random(7);
    const Tensor result = Atoll::zeros(shape, {dtype, cpu()});
    const bool pairs = dtype == Atoll::complex64 || dtype == Atoll::complex32;
    const DType part = dtype == Atoll::complex64   ? Atoll::float32
                       : dtype == Atoll::complex32 ? Atoll::float16
                                                   : dtype;
    std::vector<std::uint64_t> some = words(part, random);
    if (with == With::no_nan) some.resize(some.size() - 6);
    if (with == With::no_negative_zero) some[1] = 0;
    const auto size = static_cast<std::size_t>(size_of(part));
    auto *to = static_cast<char *>(result.data());
    for (std::int64_t k = 0; k < result.size() * (pairs ? 2 : 1); ++k, to += size)
        std::memcpy(to, &some[random() % some.size()], size);
    return result;
}

std::vector<std::uint8_t> bytes_of(const Tensor &t) {
    const Tensor here = t.to(cpu()).replicate();
    return Tensor(here.storage(), 0, {here.bytes()}, {1}, Atoll::uint8).to_vector<std::uint8_t>();
}

using Sort = Tensor (*)(const Tensor &, std::optional<int>, const Atoll::SortOptions &, Atoll::Out);

// `there` has the numbers of `here`; CUB sorts so many rows. In both directions, below the usual
// scale of tests in one of them.
void check_sort(Sort sort, const Tensor &here, const Tensor &there, int axis, long rows) {
    static std::mt19937 random(1);
    const bool first = random() % 2;
    for (const bool descending : {first, !first}) {
        if (descending != first && random_tests::one_of() > 1) break;
        CAPTURE(descending);
        const long before = emulated_radix_sorts();
        const Tensor sorted = sort(there, axis, {.descending = descending}, {});
        CHECK(emulated_radix_sorts() - before == rows);
        CHECK(bytes_of(sorted) == bytes_of(sort(here, axis, {.descending = descending}, {})));
    }
}
void check_sorts(const Tensor &here, const Tensor &there, int axis, long rows) {
    check_sort(&Atoll::sort, here, there, axis, rows);
    check_sort(&Atoll::argsort, here, there, axis, rows);
}

} // namespace

TEST_CASE("long rows are sorted as on the processor, equal elements in their order") {
    for (std::size_t k = 0; k < std::size(dtypes); k += random_tests::one_of()) {
        const DType dtype = dtypes[k];
        CAPTURE(name(dtype));
        const Tensor here = numbers(dtype, {bound + 12'345});
        check_sorts(here, here.to(gpu()), 0, 1);
    }
}

TEST_CASE("rows have the same order on both sides of the length from which on CUB sorts them") {
    for (const bool is_long : {false, true}) {
        const Tensor here = numbers(Atoll::float32, {is_long ? bound : bound - 1});
        check_sorts(here, here.to(gpu()), 0, is_long);
    }
}

TEST_CASE("long rows without NaN or without -0 are sorted as those with them") {
    for (const With with : {With::no_nan, With::no_negative_zero}) {
        const Tensor here = numbers(Atoll::float32, {bound}, with);
        check_sort(&Atoll::sort, here, here.to(gpu()), 0, 1);
    }
    const Tensor nan = Atoll::full({bound}, std::nan(""), {Atoll::float32, gpu()});
    CHECK(bytes_of(Atoll::sort(nan, 0)) == bytes_of(nan));
    const Tensor zeros = Atoll::full({bound}, -0.0, {Atoll::float64, gpu()});
    CHECK(bytes_of(Atoll::sort(zeros, 0)) == bytes_of(zeros));
}

TEST_CASE("several long rows, with steps between elements and in the other byte order") {
    const DType some[] = {Atoll::complex64, Atoll::int32, Atoll::float16, Atoll::bool_};
    for (std::size_t k = 0; k < std::size(some); k += random_tests::one_of()) {
        const DType dtype = some[k];
        CAPTURE(name(dtype));
        const Tensor columns = numbers(dtype, {bound, 2}), rows = numbers(dtype, {2, bound});
        check_sorts(rows, rows.to(gpu()), 1, 2);
        Tensor swapped = columns.to(gpu()).clone();
        swapped.byteswap();
        check_sorts(columns, swapped, 0, 2);
    }
}

TEST_CASE("a long row is sorted in its own place and into one of another layout") {
    for (const DType dtype : {Atoll::int64, Atoll::float32, Atoll::complex64}) {
        CAPTURE(name(dtype));
        const Tensor here = numbers(dtype, {bound});
        const auto want = bytes_of(Atoll::sort(here, 0));
        Tensor there = here.to(gpu()).clone();
        Atoll::sort(there, 0, {}, there);
        CHECK(bytes_of(there) == want);
        Tensor wide = Atoll::zeros({2, bound}, {dtype, gpu()});
        wide.byteswap();
        const Tensor row = wide(1, Atoll::all_);
        Atoll::sort(here.to(gpu()), 0, {}, row);
        CHECK(bytes_of(row) == want);
    }
    Tensor places = numbers(Atoll::int64, {bound});
    const auto want = bytes_of(Atoll::argsort(places, 0));
    places = places.to(gpu());
    Atoll::argsort(places, 0, {}, places);
    CHECK(bytes_of(places) == want);
}

TEST_CASE("a long row is sorted on the stream of its operand") {
    const Atoll::Stream stream = gpu().new_stream();
    const Tensor here = numbers(Atoll::int32, {bound});
    const Tensor there = Atoll::zeros({bound}, {Atoll::int32, gpu(), stream});
    Stall stall(stream);
    there(Atoll::all_) = here;
    const Tensor sorted = Atoll::sort(there, 0), places = Atoll::argsort(there, 0);
    gpu().synchronize(); // the device's own stream has no work left
    stall.end();
    CHECK(bytes_of(sorted) == bytes_of(Atoll::sort(here, 0)));
    CHECK(bytes_of(places) == bytes_of(Atoll::argsort(here, 0)));
}

TEST_CASE("whichever call of the runtime fails in a sort of a long row, the error says so") {
    const Tensor here = Atoll::arange(0.0, double{bound}, 1.0, {Atoll::float64, cpu()}),
                 there = here.to(gpu());
    const auto want = bytes_of(Atoll::sort(here, 0, {.descending = true}));
    const auto sorted = [&] { return bytes_of(Atoll::sort(there, 0, {.descending = true})); };
    (void)sorted();
    gpu().synchronize(); // what frees memory, too
    const long memory = emulated_live_allocations(), before = emulated_calls();
    (void)sorted();
    const long calls = emulated_calls() - before;
    REQUIRE(calls > 8);
    int errors = 0, tried = 0;
    for (long number = 1; number <= calls;
         number += static_cast<long>(random_tests::one_of()), ++tried) {
        CAPTURE(number);
        emulated_fail_call(nullptr, number, cudaErrorUnknown);
        try {
            (void)sorted();
        } catch (const Atoll::Error &error) {
            ++errors;
            CHECK(std::string(error.what()).find("cudaErrorUnknown") != std::string::npos);
        }
        emulated_fail_call(nullptr, 0, 0);
        CHECK(sorted() == want); // CUB does not take a failed free for its own error
        gpu().synchronize();
        CHECK(emulated_live_allocations() == memory);
    }
    CHECK(errors > tried / 2);
}
