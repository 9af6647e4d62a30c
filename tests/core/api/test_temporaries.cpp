// Results of operators in the memory of temporary operands: where, and where not.
#include "../support.hpp"

#include <functional>

using namespace Atoll;
using namespace support;

namespace {

// Whether the operator's result has the temporary's memory.
bool takes_over(Tensor temporary, const std::function<Tensor(Tensor &&)> &operation) {
    const void *const memory = temporary.data();
    return operation(std::move(temporary)).data() == memory;
}
Tensor plus_one(Tensor &&t) { return std::move(t) + 1; }

} // namespace

TEST_CASE("the result of an operator takes over a temporary that looks like it") {
    for (const Device device : all_devices()) {
        const Placement where{float32, device};
        const Tensor a = ones({3, 4}, where), row = ones({1, 4}, where);
        CHECK(takes_over(a.clone(), plus_one));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return std::move(t) - a; }));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return a / std::move(t); }));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return std::move(t) / row; }));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return 2 * std::move(t); }));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return std::move(t) + t; }));
        CHECK(takes_over(a.clone(), [&](Tensor &&t) { return (std::move(t) + a) * 2 - 1; }));
        CHECK(takes_over(a.cast(int32), [](Tensor &&t) { return std::move(t) << 1; }));
    }
}

TEST_CASE("memory that somebody else sees, or of another kind, is left alone") {
    const Tensor a = ones({3, 4}, {float32, cpu()});
    Tensor other;
    const auto stays = [&](const std::function<Tensor(Tensor &&)> &operation) {
        Tensor t = a.clone();
        const void *const memory = t.data();
        return operation(std::move(t)).data() != memory;
    };
    CHECK(stays([&](Tensor &&t) { return other = t, std::move(t) + 1; }));
    CHECK(all(other == 1).item<bool>());
    CHECK(stays([&](Tensor &&t) { return other = t(0), std::move(t) + 1; }));
    CHECK(all(other == 1).item<bool>());
    CHECK(stays([&](Tensor &&t) { return t + 1; }));
    CHECK(stays([&](Tensor &&t) { return std::move(t) < 1; }));                     // bool
    CHECK(stays([&](Tensor &&t) { return std::move(t) + ones({3, 4, 2}); }));       // shape
    CHECK(stays([&](Tensor &&t) { return std::move(t) + ones({3, 4}, float64); })); // dtype
    CHECK(stays([&](Tensor &&t) { return std::move(t) * ones({4, 3}); }));          // a product
    // A view's memory is its tensor's.
    CHECK(!takes_over(a.clone().T().T(), plus_one));
    CHECK(!takes_over(ones({4, 3}).T(), plus_one));
    // The caller's memory.
    float memory[2] = {1, 2};
    CHECK(!takes_over(from_memory(memory, {2}, {4}, float32, cpu()), plus_one));
    CHECK(memory[0] == 1);
    Tensor swapped = a.clone();
    swapped.byteswap();
    CHECK(!takes_over(std::move(swapped), plus_one));
}

TEST_CASE("an operator that throws leaves its operands as they were") {
    Tensor t = ones({3, 4}, {float32, cpu()});
    CHECK_THROWS_AS(std::move(t) + ones({5}), Error);
    REQUIRE(t.is_defined());
    CHECK(all(t == 1).item<bool>());
}
