// Functions of a third party's module, called by their signatures: sdk/examples/linalg.
#include "../support.hpp"
#include "atoll/module.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace Atoll;
using namespace support;

namespace {

bool load_module() {
    load_plugin("cpu");
    static const bool once = (load_plugin(std::string(LINALG)), true);
    return once;
}

struct Linalg {
    bool loaded = load_module(); // before the functions below are looked up
    Function solve{"linalg.solve"}, qr{"linalg.qr"}, dct{"linalg.dct"}, smooth{"linalg.smooth"};
    Tensor a = vector({2., 1., 0., 1., 3., 1., 0., 1., 4.}, {cpu()}).reshape({3, 3});
    Tensor b = vector({1., 2., 3.}, {cpu()});
};

bool near(const Tensor &x, const Tensor &y) {
    return x.shape() == y.shape() && static_cast<bool>(all_lt(abs(x - y), 1e-12));
}
Tensor diagonal(double x, double y) { return tensor({{x, 0.0}, {0.0, y}}, {cpu()}); }

} // namespace

TEST_CASE(
    "a function by signature takes stacks, other dtypes and layouts, and results that are given") {
    Linalg m;
    const auto plain = m.solve({m.a, m.b});
    REQUIRE(plain.size() == 2);
    CHECK(near(matmul(m.a, plain[0]), m.b));
    CHECK(plain[1].dtype() == int32);
    CHECK(plain[1].rank() == 0);
    CHECK(plain[1].item().to_int() == 0);

    // A stack of matrices with one right-hand side: results are a stack of vectors.
    const Tensor stacked = stack({m.a, 2 * m.a}, 2);
    const auto two = m.solve({stacked, m.b});
    CHECK(two[0].shape() == Dims{3, 2});
    CHECK(two[1].shape() == Dims{2});
    CHECK(near(two[0](all_, 1), plain[0] / 2));
    // Several right-hand sides: the last axis is there.
    const Tensor sides = stack({m.b, 3 * m.b}, 1);
    CHECK(m.solve({m.a, sides})[0].shape() == Dims{3, 2});
    CHECK(m.solve({stacked, sides.reshape({3, 2, 1})})[0].shape() == Dims{3, 2, 2});

    // Another dtype, byte order and layout; in place; overlapping.
    CHECK(near(m.solve({m.a.cast(int32), m.b.cast(float32)})[0], plain[0]));
    Tensor swapped = m.b.clone();
    swapped.byteswap();
    CHECK(near(m.solve({m.a.T(), swapped})[0], m.solve({m.a.T().clone(), m.b})[0]));
    const Tensor x = m.b.clone();
    m.solve({m.a, x}, {.out = {x}});
    CHECK(near(x, plain[0]));
    const Tensor wide = zeros({2, 3}, {float32, cpu()});
    m.solve({m.a, m.b}, {.out = {wide(0, all_)}});
    CHECK(static_cast<bool>(all_lt(abs(wide(0, all_) - plain[0]), 1e-6)));
    CHECK(!any(wide(1, all_)));

    // A matrix without an inverse fails alone.
    const Tensor some = stack({diagonal(1, 2), diagonal(1, 0)}, 2);
    const auto info = m.solve({some, ones({2}, {float64, cpu()})})[1];
    CHECK(info(0).item().to_int() == 0);
    CHECK(info(1).item().to_int() == 2);
}

TEST_CASE("results have extents that the function infers, and may be left out") {
    Linalg m;
    const Tensor tall = m.a.slice(1, 0, 2);
    const auto reduced = m.qr({tall}),
               complete = m.qr({tall}, {.attributes = {{"mode", "complete"}}});
    CHECK(reduced[0].shape() == Dims{3, 2});
    CHECK(reduced[1].shape() == Dims{2, 2});
    CHECK(complete[0].shape() == Dims{3, 3});
    CHECK(complete[1].shape() == Dims{3, 2});
    CHECK(near(matmul(reduced[0], reduced[1]), tall));
    CHECK(near(matmul(complete[0], complete[1]), tall));
    CHECK(near(matmul(complete[0].T(), complete[0]), eye(3, 3, 0, {float64, cpu()})));
    const auto only_r = m.qr({tall}, {.without = {"q"}});
    CHECK(!only_r[0].is_defined());
    CHECK(near(only_r[1], reduced[1]));
}

TEST_CASE("axes are named, attributes have defaults") {
    Linalg m;
    const Tensor rows = m.smooth({m.a}, {.axes = 0})[0], columns = m.smooth({m.a}, {.axes = 1})[0];
    CHECK(near(rows, m.smooth({m.a.T()}, {.axes = 1})[0].T()));
    CHECK(near(rows(0, all_), m.a(0, all_)));
    CHECK(near(columns(all_, 0), m.a(all_, 0)));
    CHECK(near(m.smooth({m.b}, {.attributes = {{"rate", Scalar(1)}}})[0], cumsum(m.b)));
    CHECK(near(m.smooth({m.b})[0], vector({1., 2.5, 4.25}, {cpu()})));
    const Tensor x = m.b.clone();
    m.smooth({x}, {.out = {x}});
    CHECK(near(x, vector({1., 2.5, 4.25}, {cpu()})));
    CHECK(m.dct({m.a}, {.attributes = {{"length", Scalar(2)}}, .axes = 1})[0].shape() ==
          Dims{3, 2});
    CHECK(near(m.dct({ones({4}, {float64, cpu()})})[0], vector({4., 0., 0., 0.}, {cpu()})));
    CHECK(m.smooth({zeros({3, 0}, {float64, cpu()})}, {.axes = 1})[0].shape() == Dims{3, 0});
}

TEST_CASE("a declaration of another version of the module is refused") {
    using detail::operand;
    Linalg m;
    Tensor results[2];
    const std::span one(results, 1), two(results, 2);
    const auto status = [&](const Function &f, std::initializer_list<const Operand *> inputs,
                            const detail::CallDetails &details, std::span<Tensor> made) {
        return error_status([&] { detail::call_function(f, inputs, details, made); });
    };
    const Operand a(m.a), b(m.b);
    CHECK(status(m.solve, {&a, &b}, {}, one) == Status::invalid_argument);
    CHECK(status(m.solve, {&a}, {}, two) == Status::invalid_argument);
    CHECK(status(m.solve, {&a, &b, &b}, {}, two) == Status::invalid_argument);
    CHECK(status(m.solve, {&a, &b}, {.attributes = {1}}, two) == Status::invalid_argument);
    CHECK(status(m.solve, {&a, &b}, {.extents = {3}}, two) == Status::invalid_argument);
    CHECK(status(m.solve, {&a, &b}, {.axes = Axes(1)}, two) == Status::invalid_argument);
    const Tensor out;
    CHECK(status(m.solve, {&a, &b}, {.out = {out, out, out}}, two) == Status::invalid_argument);
    const Function uniform("linalg.uniform");
    const Object state = Function("linalg.generator").make({}, {.device = cpu()});
    const Operand object(state);
    for (const std::int64_t extent : {-4, -1})
        CHECK(error_text([&] {
                  detail::call_function(uniform, {&object}, {.extents = {extent}, .dtype = float64},
                                        one);
              }) == fmt::format("[linalg.uniform] got n = {}, need 0 or more", extent));
    detail::call_function(m.solve, {&a, &b}, {}, two);
    CHECK(near(results[0], m.solve({m.a, m.b})[0]));
}

TEST_CASE("over no elements outputs are empty, a status is 0, and sums are what they are without") {
    load_module();
    const auto none = [](Dims shape) { return zeros(shape, {float64, cpu()}); };
    const Function solve("linalg.solve"), qr("linalg.qr");
    auto results = solve({none({0, 0}), none({0})});
    CHECK(results[0].shape() == Dims{0});
    CHECK(results[1].shape() == Dims{});
    CHECK(results[1].item().to_int() == 0);
    // Right-hand sides, and a stack of such systems.
    results = solve({none({0, 0, 4}), none({0, 2})});
    CHECK(results[0].shape() == Dims{0, 2, 4});
    CHECK(results[1].shape() == Dims{4});
    CHECK(!any(results[1]));
    results = solve({none({3, 3, 0}), none({3})});
    CHECK(results[0].shape() == Dims{3, 0});
    CHECK(results[1].shape() == Dims{0});
    results = solve({eye(3, 3, 0, {float64, cpu()}), none({3, 0})});
    CHECK(results[0].shape() == Dims{3, 0});
    CHECK(results[1].item().to_int() == 0);
    const Tensor info = full({}, 7, {int32, cpu()});
    solve({none({0, 0}), none({0})}, {.out = {Tensor(), info}});
    CHECK(info.item().to_int() == 0);

    results = qr({none({0, 3})});
    CHECK(results[0].shape() == Dims{0, 0});
    CHECK(results[1].shape() == Dims{0, 3});
    // An orthonormal basis of three axes has elements, and linalg does not say which.
    const CallOptions complete{.attributes = {{"mode", "complete"}}};
    CHECK_THROWS_AS(qr({none({3, 0})}, complete), Error);
    CHECK(qr({none({3, 0})}, {.attributes = complete.attributes, .without = {"q"}})[1].shape() ==
          Dims{3, 0});

    // A product of nothing is 0, and what is added to it remains.
    const Function product("core.matmul");
    const Tensor c = ones({2, 3}, {float64, cpu()});
    const CallOptions twice{.attributes = {{"beta", 2}}};
    CHECK(!any(product({none({2, 0}), none({0, 3})})[0]));
    CHECK(near(product({none({2, 0}), none({0, 3}), c}, twice)[0], 2 * c));
    product({none({2, 0}), none({0, 3}), c}, {.attributes = twice.attributes, .out = {c}});
    CHECK(near(c, full({2, 3}, 2.0, {float64, cpu()})));
    CHECK(product({none({0, 2}), none({2, 3})})[0].shape() == Dims{0, 3});
}
