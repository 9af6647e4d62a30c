// Dims: what is inside stays while it grows, from the inline elements to the heap and on.
#include "atoll/dims.hpp"

#include <vector>

#include <doctest/doctest.h>

using Atoll::Dims;

TEST_CASE("a Dims keeps its elements while it grows, by one or at a place") {
    for (int initial = 0; initial <= 24; ++initial) {
        CAPTURE(initial);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(initial), -3);
        Dims appended = Dims::filled(initial, -3), inserted = appended;
        for (std::int64_t value = 0; value < 70; ++value) {
            appended.push_back(value);
            expected.push_back(value);
            inserted.insert(initial, 69 - value);
            REQUIRE(std::vector(appended.begin(), appended.end()) == expected);
            REQUIRE(appended.back() == value);
            REQUIRE(inserted.size() == appended.size());
        }
        CHECK(inserted == appended);
        const Dims copied = appended;
        appended.pop_back();
        appended.push_back(7);
        CHECK(std::vector(copied.begin(), copied.end()) == expected);
        CHECK_FALSE(appended == copied);
    }
}
