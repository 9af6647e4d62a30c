// Gathering and scattering beyond the memory of the plugin `dummy`.
#include "device.hpp"

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {
using Positions = std::vector<std::int64_t>;
using Floats = std::vector<float>;
} // namespace

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
