// Settings: scopes nest and belong to a thread; what switching off casting or broadcasting forbids;
// unset defaults.
#include "../support.hpp"

#include <thread>

using namespace Atoll;
using namespace support;

namespace {
ScopedSettings with_dtype(DType dtype) {
    return ScopedSettings([=](Settings &s) { s.default_dtype = dtype; });
}
} // namespace

TEST_CASE("scopes nest, and end where they end") {
    load_devices();
    CHECK(zeros({1}).dtype() == float32);
    {
        const ScopedSettings outer = with_dtype(float64);
        CHECK(zeros({1}).dtype() == float64);
        {
            const ScopedSettings inner([](Settings &s) { s.auto_cast = false; });
            CHECK(settings().default_dtype == float64); // the rest is inherited
            CHECK(!settings().auto_cast);
            const ScopedSettings innermost = with_dtype(int8);
            CHECK(zeros({1}).dtype() == int8);
            CHECK(!settings().auto_cast);
        }
        CHECK(settings().auto_cast);
        CHECK(zeros({1}).dtype() == float64);
    }
    CHECK(zeros({1}).dtype() == float32);
}

TEST_CASE("a scope that ends out of order, or on another thread, is reported and harms no other") {
    load_devices();
    std::vector<std::string> said;
    set_log_handler([&](int, std::string_view text) { said.emplace_back(text); });
    auto outer = std::make_unique<ScopedSettings>([](Settings &s) { s.default_dtype = float64; });
    auto middle = std::make_unique<ScopedSettings>([](Settings &s) { s.default_dtype = int16; });
    auto inner = std::make_unique<ScopedSettings>([](Settings &s) { s.default_dtype = int8; });
    middle.reset();
    CHECK(said.size() == 1);
    CHECK(settings().default_dtype == int8);
    outer.reset();
    CHECK(said.size() == 2);
    CHECK(settings().default_dtype == int8);
    inner.reset();
    CHECK(said.size() == 2);
    CHECK(settings().default_dtype == float32);

    std::thread([&] {
        auto mine =
            std::make_unique<ScopedSettings>([](Settings &s) { s.default_dtype = float64; });
        std::thread([&] { mine.reset(); }).join();
        CHECK(said.size() == 3);
        CHECK(contains(said.back(), "another thread"));
        CHECK(settings().default_dtype == float64);
    }).join();
    set_log_handler({});
}

TEST_CASE("an exception ends the scopes it passes") {
    load_devices();
    try {
        const ScopedSettings scope = with_dtype(float64);
        zeros({-1});
    } catch (const Error &) {
    }
    CHECK(settings().default_dtype == float32);
}

TEST_CASE("scopes are the thread's own; the process default is everybody's") {
    load_devices();
    const Settings before = settings();
    const ScopedSettings scope = with_dtype(float64);
    std::thread([&] {
        CHECK(settings().default_dtype == before.default_dtype);
        const ScopedSettings own = with_dtype(int16);
        CHECK(zeros({1}).dtype() == int16);
    }).join();
    CHECK(zeros({1}).dtype() == float64);

    Settings changed = before;
    changed.default_dtype = complex64;
    set_settings(changed);
    CHECK(zeros({1}).dtype() == float64); // inside a scope the default does not count
    std::thread([] { CHECK(zeros({1}).dtype() == complex64); }).join();
    set_settings(before);
    std::thread([] { CHECK(zeros({1}).dtype() == float32); }).join();
}

TEST_CASE("the process default reaches threads that run already") {
    load_devices();
    const Settings before = settings();
    CHECK(zeros({1}).dtype() == float32); // this thread has its copy
    std::thread([&] {
        Settings changed = before;
        changed.default_dtype = float64;
        set_settings(changed);
    }).join();
    CHECK(zeros({1}).dtype() == float64);
    set_settings(before);
    CHECK(zeros({1}).dtype() == float32);
}

TEST_CASE("with automatic casting off every mismatch of dtype or device is an error") {
    for (const Device device : all_devices()) {
        const ScopedSettings scope([](Settings &s) { s.auto_cast = false; });
        Tensor f = ones({2}, {float32, device}), d = ones({2}, {float64, device});
        const Tensor elsewhere = ones({2}, {float32, Atoll::device("dummy:1")});
        const auto refused = [](auto &&body) {
            return error_status(body) == Status::invalid_argument;
        };
        CHECK(refused([&] { f + d; }));
        CHECK(refused([&] { f + elsewhere; }));
        CHECK(refused([&] { f += d; }));
        CHECK(refused([&] { add(f, f, d); }));
        CHECK(refused([&] { add(f, f, elsewhere); }));
        CHECK(refused([&] { f.assign(d); }));
        CHECK(refused([&] { f.assign(elsewhere); }));
        CHECK(refused([&] { f(0) = d(0); }));
        CHECK(refused([&] { matmul(f.T(), d); }));
        CHECK(refused([&] { matmul(f.T(), f, zeros({1}, {float64, device})); }));
        CHECK(refused([&] { gemm(1, f.T(), Op::N, f, Op::N, 0, zeros({1}, {float64, device})); }));
        CHECK(refused([&] { sum(f, 0, {}, zeros({}, {float64, device})); }));
        const Tensor number = zeros({}, {float32, device}), wide = zeros({}, {float64, device}),
                     number_elsewhere = zeros({}, {float32, elsewhere.device()});
        CHECK(refused([&] { einsum("i,i", {f, elsewhere}); }));
        CHECK(refused([&] { einsum("i,i,i", {f, f, elsewhere}); }));
        CHECK(refused([&] { einsum("i,i", {f, f}, number_elsewhere); }));
        CHECK(refused([&] { contract(f, "i", elsewhere, "j", "ij"); }));
        CHECK(refused([&] { contract(0, f, "i", elsewhere, "i", 0, number, ""); }));
        CHECK(refused([&] { contract(1, f, "i", f, "i", 1, number_elsewhere, ""); }));
        CHECK(refused([&] { tensordot(f, elsewhere, 1); }));
        CHECK(refused([&] { vdot(f, elsewhere); }));
        CHECK(refused([&] { inner(f, wide); }));
        CHECK(refused([&] { inner(f, number, d); }));
        CHECK(refused([&] { kron(f, d); }));
        CHECK(refused([&] { outer(f, d); }));
        CHECK(refused([&] { kron(f, elsewhere); }));
        const Contraction plan({f, "i"}, {f, "i"}, {number, ""}),
            mixed({f, "i"}, {f, "i"}, {wide, ""}, {wide, ""});
        CHECK(refused([&] { plan.run(f, elsewhere, number); }));
        CHECK(refused([&] { mixed.run(f, f, wide); }));
        CHECK(contains(error_text([&] { plan.run(f, f, number_elsewhere); }), "for d (float32 on"));
        CHECK(refused([&] { f + Scalar(1, float64); }));
        const Tensor both[] = {f, d};
        CHECK(refused([&] { concatenate(both, 0); }));
        const std::string text = error_text([&] { f + d; });
        CHECK(contains(text, "float32"));
        CHECK(contains(text, "float64"));
        CHECK(contains(text, "auto_cast"));
        CHECK(contains(error_text([&] { f + elsewhere; }), "dummy:1"));
        // Weak scalars that fit, equal operands and explicit casts are no mismatch.
        CHECK((f + 1).dtype() == float32);
        CHECK((f + 1.5).dtype() == float32);
        CHECK((f + f).dtype() == float32);
        plan.run(f, f, number);
        CHECK(number.item<float>() == 2);
        CHECK(f.cast(float64).dtype() == float64);
        CHECK(equal(f, f).dtype() == bool_);
        CHECK(f.to_doubles() == std::vector<double>{1, 1});
        CHECK(d.to_doubles() == std::vector<double>{1, 1});
    }
}

TEST_CASE("with automatic casting off a weak scalar must not change the dtype") {
    const ScopedSettings scope([](Settings &s) { s.auto_cast = false; });
    Tensor i = ones({2}, {int32, cpu()});
    CHECK((i + 1).dtype() == int32);
    CHECK(error_status([&] { i + 1.5; }) == Status::invalid_argument);
    CHECK(error_status([&] { i += 1.5; }) == Status::invalid_argument);
    CHECK(error_status([&] {
              ones({2}, {float32, cpu()}) + std::complex<double>(0, 1);
          }) == Status::invalid_argument);
    CHECK(i.to_doubles() == std::vector<double>{1, 1});
}

TEST_CASE("outputs hold the kind of the result, as NumPy's outputs do") {
    int cells = 0;
    const auto refuses = [&](DType from, DType to) {
        ++cells;
        const Tensor one = ones({2}, {from, cpu()});
        Tensor out = zeros({2}, {to, cpu()});
        const Status status = error_status([&] { multiply(one, one, out); });
        CHECK((status == Status::ok || status == Status::invalid_argument));
        CHECK(all(out == (status == Status::ok ? 1 : 0)));
        out.assign(one); // always converts
        CHECK(all(out == 1));
        return status == Status::invalid_argument;
    };
#define PROMOTE(from, to, promoted, same_kind)                                                     \
    CHECK_MESSAGE(refuses(from, to) == !same_kind, #from " to " #to);
#include "../../golden/promotion.inc"
    CHECK(cells == 14 * 14);
    CHECK(refuses(bfloat16, int64));
    CHECK(refuses(complex32, bfloat16));
    CHECK(!refuses(float64, bfloat16));
    CHECK(!refuses(complex128, complex32));
}

TEST_CASE("Settings::lossy says what happens to a result that loses its kind") {
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        const auto with = [](Lossy lossy) {
            return ScopedSettings([=](Settings &s) {
                s.lossy = lossy;
                s.warning_mode = WarningMode::always;
            });
        };
        const Tensor half = full({2}, 1.5, {float64, device});
        Tensor i = tensor({1, 2}, {int32, device});
        std::vector<std::string> warnings;
        set_warning_handler([&](const Warning &warning) {
            warnings.push_back(std::string(warning.function) + ": " + std::string(warning.text));
        });
        CHECK(error_text([&] { i += half; }) ==
              "[core.add] c is int32, the result float64, whose fractions would be lost; assign "
              "the result to c to convert it, or set Settings::lossy");
        CHECK(error_text([&] { i(tensor({0})) *= 0.5; }).find("fractions") != std::string::npos);
        CHECK(error_text([&] { sum(half, {}, {}, i(0)); }).find("fractions") != std::string::npos);
        CHECK(error_text([&] {
                  gemm(1, half.reshape({1, 2}), Op::N, half.reshape({2, 1}), Op::N, 0,
                       i.slice(0, 0, 1).reshape({1, 1}));
              }).find("[core.matmul] c is int32") == 0);
        CHECK(error_text([&] { inner(i, half(0), i); }).find("fractions") != std::string::npos);
        const Tensor z = tensor({1, 2}, {complex64, device});
        CHECK(error_text([&] { multiply(z, 2, half); }).find("imaginary") != std::string::npos);
        CHECK(i.to_doubles() == std::vector<double>{1, 2});
        CHECK(warnings.empty());
        {
            const auto scope = with(Lossy::warn);
            i += half;
            CHECK(i.to_doubles() == std::vector<double>{2, 3});
            REQUIRE(warnings.size() == 1);
            CHECK(warnings[0] == "core.add: c is int32, the result float64: fractions are lost");
        }
        {
            const auto scope = with(Lossy::allow);
            i += half;
            i(tensor({0})) *= 0.5;
            CHECK(i.to_doubles() == std::vector<double>{1, 4});
        }
        CHECK(warnings.size() == 1);
        // Fewer digits, or more kinds, are no loss; nor is what the library computes on the way.
        Tensor f = ones({2}, {float32, device});
        f += half;
        f += i;
        CHECK(f.to_doubles() == std::vector<double>{3.5, 6.5});
        CHECK(mean(i).item<double>() == 2.5);
        set_warning_handler({});
    }
    CHECK(error_status([] {
              const ScopedSettings scope([](Settings &s) { s.lossy = static_cast<Lossy>(9); });
          }) == Status::invalid_argument);
}

TEST_CASE("with automatic broadcasting off shapes must be equal") {
    for (const Device device : all_devices()) {
        const ScopedSettings scope([](Settings &s) { s.auto_broadcast = false; });
        Tensor m = ones({2, 3}, {device}), v = ones({2}, {device});
        const auto refused = [](auto &&body) {
            return error_status(body) == Status::invalid_argument;
        };
        CHECK(refused([&] { m + v; }));
        CHECK(refused([&] { v + m; }));
        CHECK(refused([&] { m += v; }));
        CHECK(refused([&] { add(v, 1, m); }));
        CHECK(refused([&] { m.assign(v); }));
        CHECK(refused([&] { m(all_, 0) = ones({1}, {device}); }));
        CHECK(refused([&] { ones({2, 1}, {device}) + m; }));
        CHECK(refused([&] { matmul(ones({2, 3, 2}, {device}), ones({3, 2}, {device})); }));
        CHECK(refused([&] { inner(m, ones({}, {device})); }));
        CHECK_NOTHROW(matmul(m, ones({3, 2}, {device})));
        CHECK_NOTHROW(kron(m, v));
        CHECK_NOTHROW(outer(m, v));
        CHECK(contains(error_text([&] { m + v; }), "(2, 3)"));
        CHECK(contains(error_text([&] { m + v; }), "broadcasting off"));
        // Scalars have no shape; asking for a broadcast is not automatic.
        CHECK_NOTHROW(m + 1);
        CHECK_NOTHROW(m.fill(2));
        CHECK_NOTHROW(m + v.broadcast_to({2, 3}));
        CHECK(m.to_doubles() == std::vector<double>(6, 2.0));
    }
}

TEST_CASE("an unset default dtype is named by the functions that need one") {
    load_devices();
    const ScopedSettings scope = with_dtype(DType::none);
    for (const std::string &text : {error_text([] { zeros({2}); }), error_text([] { ones({2}); }),
                                    error_text([] { empty({2}); }), error_text([] { eye(2); })})
        CHECK(contains(text, "default_dtype"));
    CHECK(arange(3).dtype() == int32);
    CHECK(linspace(0, 1, 3).dtype() == float64);
    CHECK(full({2}, true).dtype() == bool_);
    CHECK(zeros({2}, {int8}).dtype() == int8);
    CHECK(vector({1.5}).dtype() == float64);
}

TEST_CASE("the default device is the setting's, else the first with host memory") {
    load_devices();
    CHECK(zeros({1}).device() == device("cpu"));
    {
        const ScopedSettings scope([](Settings &s) { s.default_device = "dummy:1"; });
        CHECK(zeros({1}).device() == device("dummy:1"));
        CHECK(arange(3).device() == device("dummy:1"));
        CHECK(add(1, 2).device() == device("dummy:1"));
        CHECK(default_device() == device("dummy:1"));
    }
    const ScopedSettings scope([](Settings &s) { s.default_device = "gpu"; });
    const std::string text = error_text([] { zeros({1}); });
    CHECK(contains(text, "gpu"));
    CHECK(contains(text, "dummy:0")); // what there is
}
