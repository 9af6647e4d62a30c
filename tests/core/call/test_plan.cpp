// The plan of a call: what has to be done to each operand, by what the implementation takes.
// Devices and memory are made up; nothing is computed.
#include "call/domain.hpp"
#include "call/plan.hpp"
#include "made_function.hpp"
#include "objects/layout.hpp"

#include <doctest/doctest.h>

using namespace Atoll;
using namespace Atoll::detail;
using support::MadeFunction;

namespace {

constexpr std::uint64_t everything = ~std::uint64_t{0};

struct World {
    DeviceTypeRecord type;
    DeviceRecord here{&type, 0, 0, std::string("here")}, there{&type, 1, 0, std::string("there")};
    alignas(64) char memory[4096];
    std::int64_t used = 0;

    Tensor tensor(const Dims &shape, DType dtype, DeviceRecord *device = nullptr,
                  std::int64_t shift = 0) {
        auto *storage =
            new StorageImpl(device ? device : &here, 0, uint8, {}, [](RefCounted *object) noexcept {
                delete static_cast<StorageImpl *>(object);
            });
        storage->data = memory + used;
        used += 512;
        return make_view(Ref<StorageImpl>::adopt(storage), shift, shape,
                         dense_strides(shape, size_of(dtype), Order::F), dtype, 0);
    }
    static std::string plan(const MadeFunction &function, std::initializer_list<Operand> inputs,
                            std::uint64_t capabilities, const CallOptions &options = {},
                            bool exact = false) {
        const Checked checked = function.check(inputs, options);
        Plan made;
        make_plan(checked, {capabilities}, exact, made);
        return text(made);
    }
};

const char *const sum_of_two = "a (), b () -> c ()";

} // namespace

TEST_CASE_FIXTURE(World, "what is taken as it is needs nothing") {
    const MadeFunction add(sum_of_two);
    const Tensor a = tensor({4, 5}, int32), b = tensor({4}, float64);
    CHECK(plan(add, {a, b}, everything) == "made.function float64 on here, axes (4 5)\n"
                                           "  c: float64\n"
                                           "  a: int32\n"
                                           "  b: float64");
    CHECK(plan(add, {b, b}, 0) == "made.function float64 on here, axes (4)\n"
                                  "  c: float64\n"
                                  "  a: float64\n"
                                  "  b: float64");
    CHECK(plan(add, {b, 1.5}, ATOLL_CAP_SCALARS) == "made.function float64 on here, axes (4)\n"
                                                    "  c: float64\n"
                                                    "  a: float64\n"
                                                    "  b: float64");
}

TEST_CASE_FIXTURE(World, "each operand is copied for what is not taken") {
    const MadeFunction add(sum_of_two);
    const Tensor a = tensor({4}, int32), b = tensor({4}, float64),
                 far = tensor({4}, float64, &there), odd = tensor({4}, float64, nullptr, 4);
    const Tensor turned = tensor({4}, float32);
    turned.impl()->flags = tensor_swapped;
    CHECK(plan(add, {a, b}, 0) == "made.function float64 on here, axes (4)\n"
                                  "  c: float64\n"
                                  "  a: float64, copied for dtype\n"
                                  "  b: float64");
    CHECK(plan(add, {b, 1.5}, 0) == "made.function float64 on here, axes (4)\n"
                                    "  c: float64\n"
                                    "  a: float64\n"
                                    "  b: float64, copied for number");
    CHECK(plan(add, {turned, odd}, 0) == "made.function float64 on here, axes (4)\n"
                                         "  c: float64\n"
                                         "  a: float64, copied for dtype, byte order\n"
                                         "  b: float64, copied for alignment");
    CHECK(plan(add, {a, far}, everything) == "made.function float64 on here, axes (4)\n"
                                             "  c: float64\n"
                                             "  a: int32\n"
                                             "  b: float64, copied for another device");
}

TEST_CASE_FIXTURE(World, "outputs are replaced for what is not taken") {
    const MadeFunction add(sum_of_two);
    const Tensor b = tensor({4}, float64);
    const Tensor narrow = tensor({4}, float32), far = tensor({4}, float64, &there);
    CHECK(plan(add, {b, b}, 0, {.out = {narrow}}) == "made.function float64 on here, axes (4)\n"
                                                     "  c: float64, copied for output dtype\n"
                                                     "  a: float64\n"
                                                     "  b: float64");
    CHECK(plan(add, {b, b}, ATOLL_CAP_MIXED_OUTPUTS, {.out = {narrow}}) ==
          "made.function float64 on here, axes (4)\n"
          "  c: float32\n"
          "  a: float64\n"
          "  b: float64");
    CHECK(plan(add, {b, b}, everything, {.out = {far}}) ==
          "made.function float64 on here, axes (4)\n"
          "  c: float64, copied for another device\n"
          "  a: float64\n"
          "  b: float64");
}

TEST_CASE_FIXTURE(World, "of an output and inputs that overlap the least is copied") {
    const MadeFunction add(sum_of_two);
    const Tensor whole = tensor({9}, float64), low = whole.slice(0, 0, 8),
                 high = whole.slice(0, 1, 9);
    const Tensor apart = tensor({8}, float64);
    // Element by element the very elements do no harm.
    CHECK(plan(add, {low, apart}, everything, {.out = {low}}) ==
          "made.function float64 on here, axes (8)\n"
          "  c: float64\n"
          "  a: float64\n"
          "  b: float64");
    CHECK(plan(add, {low, apart}, everything, {.out = {high}}) ==
          "made.function float64 on here, axes (8)\n"
          "  c: float64\n"
          "  a: float64, copied for overlap\n"
          "  b: float64");
    const MadeFunction twice("a (n), b (n) -> c (n)");
    CHECK(plan(twice, {low, high}, everything, {.out = {high}}) ==
          "made.function float64 on here, axes (8)\n"
          "  c: float64, copied for overlap\n"
          "  a: float64\n"
          "  b: float64");
    const MadeFunction in_place("a (n), b (n) -> c (n)", "in place b");
    CHECK(plan(in_place, {apart, high}, everything, {.out = {high}}) ==
          "made.function float64 on here, axes (8)\n"
          "  c: float64\n"
          "  a: float64\n"
          "  b: float64");
}

TEST_CASE_FIXTURE(World, "a replaced output keeps its dtype where the function takes any") {
    const MadeFunction any("a (n): any, b (n) -> c (n): any");
    const Tensor whole = tensor({9}, int16), low = whole.slice(0, 0, 8),
                 high = whole.slice(0, 1, 9);
    CHECK(plan(any, {low, high}, everything, {.out = {high}}) ==
          "made.function int16 on here, axes (8)\n"
          "  c: int16, copied for overlap\n"
          "  a: int16\n"
          "  b: int16");
}

TEST_CASE_FIXTURE(World, "the values of operands that are left out are not looked at") {
    const Tensor counts = tensor({4}, int32);
    const Operand a(counts);
    const Operand *const one[] = {&a, nullptr};
    for (const Inputs inputs : {Inputs(one), Inputs(one).first(1)}) {
        const MadeFunction divide("a (), b ()? -> c ()", "domain divisor");
        CHECK(dtype_for_domain(divide.record(), inputs, nullptr, ComputeMode::error, {}) ==
              DType::none);
        const MadeFunction shift("a (), b ()? -> c ()", "counts b");
        CHECK_NOTHROW(require_counts(shift.record(), inputs, DType::int32, {}));
    }
}

TEST_CASE_FIXTURE(World, "core axes come before the loop, and operands may be absent") {
    const MadeFunction sum("a (n*) -> s ()", "axes all"),
        solve("a (n, n), b (n, k?), c (n)? -> x (n, k?), info (): int32");
    const Tensor t = tensor({2, 3, 4}, float32), a = tensor({3, 3, 5}, float32),
                 b = tensor({3}, float32);
    CHECK(plan(sum, {t}, 0, {.axes = {0, 2}}) == "made.function float32 on here, axes (2 4 | 3)\n"
                                                 "  s: float32\n"
                                                 "  a: float32");
    CHECK(plan(solve, {a, b, Tensor()}, 0) == "made.function float32 on here, axes (3 3 1 | 5)\n"
                                              "  x: float32\n"
                                              "  info: int32\n"
                                              "  a: float32\n"
                                              "  b: float32\n"
                                              "  c: absent");
}

TEST_CASE_FIXTURE(World, "numbers keep their dtype where true values are compared") {
    const MadeFunction less("a (), b () -> c (): bool", "exact");
    const Tensor a = tensor({4}, float64);
    CHECK(plan(less, {a, 1}, everything, {}, true) == "made.function float64 on here, axes (4)\n"
                                                      "  c: bool\n"
                                                      "  a: float64\n"
                                                      "  b: int64");
}

TEST_CASE_FIXTURE(World, "results have their core axes where the named ones are") {
    const Tensor a = tensor({2, 3, 4}, float64);
    const auto shape = [&](const char *signature, const Axes &axes) {
        return MadeFunction(signature, "axes named").check({a}, {.axes = axes}).output_shape(0);
    };
    CHECK(shape("a (m, n) -> b (m, n)", {0, 2}) == Dims{2, 3, 4});
    CHECK(shape("a (m, n) -> b (m, n)", {2, 0}) == Dims{2, 3, 4});
    CHECK(shape("a (m, n) -> b (n, m)", {2, 0}) == Dims{2, 3, 4});
    CHECK(shape("a (m, n) -> b (m)", {2, 0}) == Dims{3, 4});
    CHECK(shape("a (m, n) -> b (n)", {2, 0}) == Dims{2, 3});
}

TEST_CASE_FIXTURE(World, "an axis that stands twice has one extent") {
    const Tensor a = tensor({3, 2}, float64);
    CHECK(MadeFunction("a (m, n) -> g (n, n)").check({a}).output_shape(0) == Dims{2, 2});
    CHECK(MadeFunction("a (3, n) -> b (3), c (n, n)").check({a}).output_shape(1) == Dims{2, 2});
}
