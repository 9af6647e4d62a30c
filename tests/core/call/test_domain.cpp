// Compute modes: what happens to elements outside a function's domain, and warnings about it.
#include "../support.hpp"

#include <cmath>
#include <thread>

using namespace Atoll;
using namespace support;

namespace {

// Collects warnings while it lives.
struct Listener {
    std::vector<std::string> heard;
    ScopedSettings always{[](Settings &s) { s.warning_mode = WarningMode::always; }};
    Listener() {
        set_warning_handler([this](const Warning &warning) {
            heard.push_back(std::string(warning.function) + ": " + std::string(warning.text));
        });
    }
    ~Listener() { set_warning_handler({}); }
};

struct Case {
    const char *name;
    Tensor (*call)(const Operand &, Out, Mode);
    double inside, edge, outside;
};
const Case cases[] = {
    {"sqrt", sqrt, 4, 0, -1},     {"log", log, 2, 0, -1e-300},   {"log2", log2, 2, 0, -3},
    {"log10", log10, 2, 0, -3},   {"log1p", log1p, 2, -1, -1.5}, {"asin", asin, 0.5, -1, 1.5},
    {"acos", acos, 0.5, 1, -1.5}, {"atanh", atanh, 0.5, 1, 2},   {"acosh", acosh, 2, 1, 0.5}};

} // namespace

TEST_CASE("error mode refuses elements outside the domain and leaves the destination alone") {
    for (const Device device : all_devices())
        for (const Case &c : cases) {
            CAPTURE(device.name());
            CAPTURE(std::string(c.name));
            const Tensor good = vector({c.inside, c.edge, double(NAN)}, {device});
            const Tensor bad = vector({c.inside, c.outside, double(NAN)}, {device});
            const Tensor out = full({3}, 7.0, {float64, device});
            CHECK(c.call(good, {}, ComputeMode::error).dtype() == float64);
            CHECK(error_status([&] { c.call(bad, out, ComputeMode::error); }) == Status::domain);
            CHECK(contains(error_text([&] { c.call(bad, out, ComputeMode::error); }),
                           std::string("core.") + c.name));
            CHECK(out.to_doubles() == std::vector<double>{7, 7, 7});
            CHECK(std::isnan(c.call(bad, out, ComputeMode::standard).to_doubles()[1]));
            // Complex numbers are never outside.
            CHECK(c.call(bad.cast(complex128), {}, ComputeMode::error).dtype() == complex128);
        }
}

TEST_CASE("warning mode computes and says so through the handler") {
    for (const Device device : all_devices()) {
        Listener listener;
        for (const Case &c : cases) {
            CAPTURE(std::string(c.name));
            listener.heard.clear();
            c.call(vector({c.inside, c.edge}, {device}), {}, ComputeMode::warning);
            CHECK(listener.heard.empty());
            const Tensor result =
                c.call(vector({c.inside, c.outside}, {device}), {}, ComputeMode::warning);
            REQUIRE(listener.heard.size() == 1);
            CHECK(contains(listener.heard[0], std::string("core.") + c.name));
            CHECK(std::isnan(result.to_doubles()[1]));
        }
        listener.heard.clear();
        {
            const ScopedSettings off([](Settings &s) { s.warning_mode = WarningMode::off; });
            sqrt(vector({-1.0}, {device}), {}, ComputeMode::warning);
        }
        CHECK(listener.heard.empty());
    }
}

TEST_CASE("a warning is raised once per function unless all are asked for") {
    Listener listener;
    const ScopedSettings once([](Settings &s) {
        s.warning_mode = WarningMode::once;
        s.compute_mode = ComputeMode::warning;
    });
    // In a fresh process; other tests ask for all warnings, which are not counted here.
    for (int i = 0; i < 3; ++i) reciprocal(vector({0.0}, {cpu()}));
    CHECK(listener.heard.size() == 1);
}

TEST_CASE("complex mode gives complex numbers only where they are needed") {
    for (const Device device : all_devices())
        for (const Case &c : cases)
            for (DType dtype : {float16, bfloat16, float32, float64, int32}) {
                CAPTURE(std::string(c.name));
                CAPTURE(name(dtype));
                const Tensor good = vector({c.inside, c.edge}, {device}).cast(dtype);
                Tensor bad = vector({c.inside, c.outside}, {device}).cast(dtype);
                const DType real = is_floating(dtype) ? dtype : float64;
                CHECK(c.call(good, {}, ComputeMode::complex).dtype() == real);
                const bool outside = bad.to_doubles()[1] == c.outside || is_floating(dtype);
                if (!outside || bad.to_doubles()[1] == 0) continue;
                const Tensor result = c.call(bad, {}, ComputeMode::complex);
                CHECK(result.dtype() == promote(real, complex32));
                const Tensor want = c.call(bad.cast(promote(real, complex32)), {}, {});
                CHECK(all(equal(result, want)));
            }
    CHECK(error_status([] {
              sqrt(vector({-1.0}, {cpu()}), zeros({1}, {float64, cpu()}), ComputeMode::complex);
          }) == Status::domain);
}

TEST_CASE("divisors that are zero are found, whatever the dtype") {
    Tensor (*const divisions[])(const Operand &, const Operand &, Out,
                                Mode) = {divide, floor_divide, trunc_divide, remainder, fmod};
    for (const Device device : all_devices())
        for (auto division : divisions)
            for (DType dtype : {int8, uint64, float16, float64}) {
                const Tensor a = ones({3}, {dtype, device});
                const Tensor good = vector({1, 2, 3}, {device}).cast(dtype);
                const Tensor bad = vector({1, 0, 3}, {device}).cast(dtype);
                CHECK(division(a, good, {}, ComputeMode::error).size() == 3);
                CHECK(error_status([&] { division(a, bad, {}, ComputeMode::error); }) ==
                      Status::domain);
                CHECK(error_status([&] { division(a, 0, {}, ComputeMode::error); }) ==
                      Status::domain);
                CHECK(division(a, bad, {}, ComputeMode::complex).dtype() ==
                      division(a, bad, {}, {}).dtype());
                Listener listener;
                division(a, bad, {}, ComputeMode::warning);
                CHECK(listener.heard.size() == 1);
            }
    CHECK(error_status([] {
              reciprocal(zeros({2}, {float32, cpu()}), {}, ComputeMode::error);
          }) == Status::domain);
}

TEST_CASE("powers of negative numbers are outside unless the exponent is an integer") {
    for (const Device device : all_devices()) {
        const Tensor base = vector({-8.0, 8.0}, {device});
        const auto status = [&](const Operand &b) {
            return error_status([&] { pow(base, b, {}, ComputeMode::error); });
        };
        CHECK(status(2) == Status::ok);
        CHECK(status(3.0) == Status::ok);
        CHECK(status(0.5) == Status::domain);
        CHECK(status(vector({3.0, 0.5}, {device})) == Status::ok);
        CHECK(status(vector({0.5, 3.0}, {device})) == Status::domain);
        CHECK(status(vector({0.5}, {device}).T()) == Status::domain);
        CHECK(error_status([&] { pow(-8.0, vector({0.5}, {device}), {}, ComputeMode::error); }) ==
              Status::domain);
        const Tensor root = pow(base, 1.0 / 3, {}, ComputeMode::complex);
        CHECK(root.dtype() == complex128);
        CHECK(root(0).item().to_complex().imag() == doctest::Approx(std::sqrt(3.0)));
        CHECK(pow(abs(base), 0.5, {}, ComputeMode::complex).dtype() == float64);
    }
}

TEST_CASE("the mode of a scope holds on its thread only, and a call's own mode goes first") {
    const Tensor bad = vector({-1.0}, {cpu()});
    const ScopedSettings scope([](Settings &s) { s.compute_mode = ComputeMode::error; });
    CHECK(error_status([&] { sqrt(bad); }) == Status::domain);
    CHECK(error_status([&] { bad / 0.0; }) == Status::domain);
    CHECK(error_status([&] { bad(0) /= 0.0; }) == Status::domain);
    CHECK(bad.item().to_double() == -1);
    CHECK(std::isnan(sqrt(bad, {}, ComputeMode::standard).item().to_double()));
    CHECK(error_status([&] { Function("core.sqrt")({bad}); }) == Status::domain);
    Status elsewhere = Status::internal;
    std::thread([&] { elsewhere = error_status([&] { sqrt(bad); }); }).join();
    CHECK(elsewhere == Status::ok);
}

TEST_CASE("negative exponents and shift counts of integers are errors in every mode") {
    for (const Device device : all_devices()) {
        const Tensor a = vector({2, 3}, {device}), out = full({2}, 9, {int32, device});
        const Tensor counts = vector({1, -1}, {device});
        Tensor (*const functions[])(const Operand &, const Operand &, Out, Mode) = {pow, left_shift,
                                                                                    right_shift};
        for (auto function : functions) {
            CHECK(error_status([&] { function(a, counts, out, {}); }) == Status::domain);
            CHECK(error_status([&] { function(a, -1, out, {}); }) == Status::domain);
            CHECK(out.to_doubles() == std::vector<double>{9, 9});
            CHECK(function(a, vector<std::uint8_t>({1, 2}, {device}), {}, {}).size() == 2);
        }
        CHECK(pow(a.cast(float64), counts).to_doubles()[1] == doctest::Approx(1.0 / 3));
    }
}
