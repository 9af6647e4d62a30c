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
    // As offsets in bytes; then as positions, where the last one comes back to 0 in 64 bits.
    const struct {
        std::int64_t offset, unit;
    } list[] = {{neighbour - out, 1}, {-4, 1}, {61, 1}, {INT64_MAX, 1}, {16, 4}, {-1, 4},
                {INT64_C(1) << 62, 4}};
    for (const auto &[bad, unit] : list) {
        const CallOptions options{.attributes = {scalar(ATOLL_DTYPE_INT64, unit)}};
        char *offsets = dummy.upload(Positions{0, bad});
        const View element{out, {0}, ATOLL_DTYPE_FLOAT32}, line{in, {4}, ATOLL_DTYPE_FLOAT32},
            where{offsets, {8}, ATOLL_DTYPE_INT64};
        dummy.compute(ATOLL_FN_scatter, ATOLL_DTYPE_FLOAT32, {2}, {element, line, where}, options);
        const Failed failed = failure([&] { dummy.synchronize(); });
        CHECK(failed.status == ATOLL_STATUS_OUT_OF_RANGE);
        CHECK(failed.function == "core.scatter");
        dummy.compute(ATOLL_FN_gather, ATOLL_DTYPE_FLOAT32, {2}, {line, element, where}, options);
        CHECK(failure([&] { dummy.synchronize(); }).function == "core.gather");
    }
    CHECK(dummy.download<float>(out, 16) == Floats(16, 0));
    CHECK(dummy.download<float>(neighbour, 16) == Floats(16, 9));
}
