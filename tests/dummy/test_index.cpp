// Finding, gathering and scattering of the plugin `dummy`.
#include "device.hpp"

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {
using Positions = std::vector<std::int64_t>;
using Floats = std::vector<float>;
} // namespace

TEST_CASE("find gives column-major positions, along an axis of their own") {
    Dummy dummy;
    // 2 x 3, row-major: {0, 5, NaN}, {-0, 0, 7}
    const Floats values{0, 5, static_cast<float>(quiet_nan), -0.0F, 0, 7};
    char *in = dummy.upload(values), *out = dummy.upload(Positions(6, -1));
    dummy.compute(
        ATOLL_FN_find, ATOLL_DTYPE_FLOAT32, {2, 3, 3},
        {{out + 32, {0, 0, -16}, ATOLL_DTYPE_INT64}, {in, {12, 4, 0}, ATOLL_DTYPE_FLOAT32}},
        {.axes = {2, 1}});
    CHECK(dummy.download<std::int64_t>(out, 6) == Positions{5, -1, 4, -1, 2, -1});
    // bool, and a part of a complex number
    char *mask = dummy.upload(std::vector<std::uint8_t>{1, 0, 1});
    dummy.compute(ATOLL_FN_find, ATOLL_DTYPE_BOOL, {3, 2},
                  {{out, {0, 8}, ATOLL_DTYPE_INT64}, {mask, {1, 0}, ATOLL_DTYPE_BOOL}});
    CHECK(dummy.download<std::int64_t>(out, 2) == Positions{0, 2});
    char *complex = dummy.upload(std::vector<Complex64>{{0, 0}, {0, 1}});
    dummy.compute(ATOLL_FN_find, ATOLL_DTYPE_COMPLEX64, {2, 1},
                  {{out, {0, 8}, ATOLL_DTYPE_INT64}, {complex, {8, 0}, ATOLL_DTYPE_COMPLEX64}});
    CHECK(dummy.download<std::int64_t>(out, 1) == Positions{1});
}

TEST_CASE("gather adds offsets to the strided address") {
    Dummy dummy;
    const Floats values{0, 1, 2, 3, 4, 5, 6, 7};
    char *in = dummy.upload(values), *out = dummy.allocate(16);
    // Axis 0 is a view's (every element), axis 1 an index's: pairs at 4 and at 0.
    char *offsets = dummy.upload(Positions{16, 0});
    dummy.compute(ATOLL_FN_gather, ATOLL_DTYPE_FLOAT32, {2, 2},
                  {{out, {4, 8}, ATOLL_DTYPE_FLOAT32},
                   {in, {4, 0}, ATOLL_DTYPE_FLOAT32},
                   {offsets, {0, 8}, ATOLL_DTYPE_INT64}});
    CHECK(dummy.download<float>(out, 4) == Floats{4, 5, 0, 1});
    // Negative offsets from the last element; the other byte order stays what it is.
    char *back = dummy.upload(Positions{-28, 0});
    dummy.compute(ATOLL_FN_gather, ATOLL_DTYPE_FLOAT32, {2},
                  {{out, {4}, ATOLL_DTYPE_FLOAT32, ATOLL_OPERAND_SWAPPED},
                   {in + 28, {0}, ATOLL_DTYPE_FLOAT32, ATOLL_OPERAND_SWAPPED},
                   {back, {8}, ATOLL_DTYPE_INT64}});
    CHECK(dummy.download<float>(out, 2) == Floats{0, 7});
}

TEST_CASE("scatter writes in column-major order: the last of equal offsets stays") {
    Dummy dummy;
    char *out = dummy.upload(Floats(4, 0));
    char *in = dummy.upload(Floats{1, 2, 3, 4, 5, 6});
    // 2 x 3 with the second axis fastest in memory; column-major order is 1 4 2 5 3 6.
    char *offsets = dummy.upload(Positions{0, 4, 0, 0, 8, 4});
    dummy.compute(ATOLL_FN_scatter, ATOLL_DTYPE_FLOAT32, {2, 3},
                  {{out, {0, 0}, ATOLL_DTYPE_FLOAT32},
                   {in, {12, 4}, ATOLL_DTYPE_FLOAT32},
                   {offsets, {24, 8}, ATOLL_DTYPE_INT64}});
    CHECK(dummy.download<float>(out, 4) == Floats{3, 6, 5, 0});
}

TEST_CASE("offsets that leave the block fail, and nothing outside is touched") {
    Dummy dummy;
    char *out = dummy.upload(Floats(16, 0)), *neighbour = dummy.upload(Floats(16, 9));
    char *in = dummy.upload(Floats{1, 2});
    for (const std::int64_t bad : {neighbour - out, INT64_C(-4), INT64_C(61), INT64_MAX}) {
        char *offsets = dummy.upload(Positions{0, bad});
        const View element{out, {0}, ATOLL_DTYPE_FLOAT32}, line{in, {4}, ATOLL_DTYPE_FLOAT32},
            where{offsets, {8}, ATOLL_DTYPE_INT64};
        dummy.compute(ATOLL_FN_scatter, ATOLL_DTYPE_FLOAT32, {2}, {element, line, where});
        const Failed failed = failure([&] { dummy.synchronize(); });
        CHECK(failed.status == ATOLL_STATUS_OUT_OF_RANGE);
        CHECK(failed.function == "core.scatter");
        dummy.compute(ATOLL_FN_gather, ATOLL_DTYPE_FLOAT32, {2}, {line, element, where});
        CHECK(failure([&] { dummy.synchronize(); }).function == "core.gather");
    }
    CHECK(dummy.download<float>(out, 16) == Floats(16, 0));
    CHECK(dummy.download<float>(neighbour, 16) == Floats(16, 9));
}

TEST_CASE("every byte but 0 is a true bool, and 0 or 1 is written") {
    Dummy dummy;
    using Bytes = std::vector<std::uint8_t>;
    const Bytes bytes{2, 0, 255, 128}, zeros{0, 0, 0, 0}, truths{1, 0, 1, 1};
    const auto of = [&](std::uint16_t function) {
        return dummy.elementwise<std::uint8_t>(function, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL, bytes);
    };
    CHECK(of(ATOLL_FN_abs) == truths);
    CHECK(of(ATOLL_FN_logical_not) == Bytes{0, 1, 0, 0});
    CHECK(dummy.mapped<std::uint8_t>(
              ATOLL_FN_where, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL,
              {{ATOLL_DTYPE_BOOL, bytes}, {ATOLL_DTYPE_BOOL, bytes}, {ATOLL_DTYPE_BOOL, zeros}}) ==
          truths);
    char *in = dummy.upload(bytes), *out = dummy.upload(zeros);
    char *offsets = dummy.upload(std::vector<std::int64_t>{0, 1, 2, 3});
    for (const int function : {int{ATOLL_FN_gather}, int{ATOLL_FN_scatter}}) {
        const bool gathers = function == ATOLL_FN_gather;
        dummy.compute(static_cast<std::uint16_t>(function), ATOLL_DTYPE_BOOL, {4},
                      {{out, {gathers}, ATOLL_DTYPE_BOOL},
                       {in, {!gathers}, ATOLL_DTYPE_BOOL},
                       {offsets, {8}, ATOLL_DTYPE_INT64}});
        CHECK(dummy.download<std::uint8_t>(out, 4) == truths);
    }
}
