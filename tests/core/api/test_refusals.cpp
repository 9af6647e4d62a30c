// Values that enumerations do not have, and what is kept where a call throws.
#include "../support.hpp"
#include "atoll/module.hpp"

using namespace Atoll;
using namespace support;

namespace {

std::string text(const std::function<void()> &call) { return error_text(call); }

} // namespace

TEST_CASE("a dtype that does not exist is refused wherever one is given") {
    load_devices();
    const auto wrong = static_cast<DType>(99);
    const Tensor t = ones({2}, {float32, cpu()});
    float memory[2] = {1, 2};
    bool freed = false;
    const std::string no_dtype = "got dtype 99, which does not exist";
    const std::pair<const char *, std::function<void()>> calls[] = {
        {"zeros",
         [&] {
             zeros({2}, {wrong, cpu()});
         }},
        {"tensor",
         [&] {
             tensor({1, 2}, {wrong, cpu()});
         }},
        {"cast", [&] { t.cast(wrong); }},
        {"ensure", [&] { t.ensure(wrong); }},
        {"view_as", [&] { t.view_as(wrong); }},
        {"scalar", [&] { Scalar(1).cast(wrong); }},
        {"strong scalar", [&] { Scalar(1, wrong); }},
        {"read", [&] { t.read(memory, wrong); }},
        {"storage", [&] { Storage(8, cpu(), wrong); }},
        {"set_dtype", [&] { t.storage().set_dtype(wrong); }},
        {"of a storage", [&] { Tensor(t.storage(), 0, {2}, {4}, wrong); }},
        {"from_memory",
         [&] { from_memory(memory, {2}, {4}, wrong, cpu(), [&] { freed = true; }); }},
        {"T of a call",
         [&] {
             Function("core.add")({t, t}, {.dtype = wrong});
         }},
        {"default", [&] { ScopedSettings([&](Settings &s) { s.default_dtype = wrong; }); }},
    };
    for (const auto &[name, call] : calls) {
        CAPTURE(std::string(name));
        CHECK(contains(text(call), no_dtype));
    }
    CHECK(!freed);
    CHECK(settings().default_dtype == float32);
}

TEST_CASE("other values that do not exist, or have no meaning there, are refused") {
    load_devices();
    const Tensor a = ones({2, 2}, {float64, cpu()}), c = zeros({2, 2}, {float64, cpu()});
    CHECK(text([&] { gemm(1, a, static_cast<Op>('x'), a, Op::N, 0, c); }) ==
          "[core.matmul] got op 'x', need N, T or C");
    CHECK(text([&] { a.as_contiguous(Order::K); }) ==
          "[tensor.as_contiguous] got order 'K', need F or C");
    CHECK(text([&] { a.is_contiguous(Order::R); }) ==
          "[tensor.is_contiguous] got order 'R', need F or C");
    CHECK(text([&] { a.flatten(static_cast<Order>(1)); }) ==
          "[tensor.flatten] got order 1, need F, C, R, K or A");
    CHECK(text([&] {
              empty({2, 2}, {float64, cpu()}, Order::A);
          }) == "[empty] got order 'A', need F, C or R");
    CHECK(text([&] { sqrt(a, {}, static_cast<ComputeMode>(7)); }) ==
          "[core.sqrt] got compute mode 7, need standard, warning, error or complex");
    CHECK(text([&] {
              ScopedSettings([](Settings &s) { s.compute_mode = static_cast<ComputeMode>(7); });
          }) == "[settings] got compute mode 7, need standard, warning, error or complex");
    CHECK(text([&] {
              Settings changed = settings();
              changed.warning_mode = static_cast<WarningMode>(3);
              set_settings(changed);
          }) == "[set_settings] got warning mode 3, need off, once or always");
}

TEST_CASE("memory that is refused remains the caller's; memory that is taken is given back once") {
    load_devices();
    float memory[4] = {};
    int freed = 0;
    const auto deleter = [&] { ++freed; };
    CHECK_THROWS_AS(from_memory(memory, {4}, {4, 4}, float32, cpu(), deleter), Error);
    CHECK_THROWS_AS(from_memory(memory, {-1}, {4}, float32, cpu(), deleter), Error);
    CHECK_THROWS_AS(from_memory(nullptr, {4}, {4}, float32, cpu(), deleter), Error);
    CHECK_THROWS_AS(
        from_memory(memory, {1 << 20, 3}, {4, std::int64_t{1} << 62}, float32, cpu(), deleter),
        Error);
    CHECK_THROWS_AS(Storage::borrow(memory, -1, cpu(), float32, deleter), Error);
    CHECK(freed == 0);
    {
        const Tensor t = from_memory(memory, {4}, {4}, float32, cpu(), deleter);
        const Tensor view = t.reshape({2, 2});
        CHECK(freed == 0);
    }
    CHECK(freed == 1);
}

TEST_CASE("what needs no copy is a view with flags of its own") {
    load_devices();
    Tensor t = ones({2, 3}, {float32, cpu()});
    for (Tensor same :
         {t.as_contiguous(), t.ensure(float32), t.to(cpu()), t.ensure(float32, cpu())}) {
        CHECK(same.data() == t.data());
        same.set_read_only();
        CHECK(!t.is_read_only());
        same.dealloc();
        CHECK(t.shape() == Dims{2, 3});
    }
    t.fill(2);
    CHECK(t.to_doubles() == std::vector<double>(6, 2.0));
}

TEST_CASE("only elements are outside of a domain, so that nothing is not") {
    load_devices();
    const Tensor none = zeros({0}, {float64, cpu()}), integers = zeros({0}, {int64, cpu()});
    for (const ComputeMode mode :
         {ComputeMode::standard, ComputeMode::warning, ComputeMode::error, ComputeMode::complex}) {
        CHECK(divide(none, 0, {}, mode).size() == 0);
        CHECK(divide(none, zeros({1}, {float64, cpu()}), {}, mode).size() == 0);
        CHECK(floor_divide(integers, 0, {}, mode).size() == 0);
        CHECK(pow(none, 0.5, {}, mode).size() == 0);
        CHECK(pow(-1.0, none, {}, mode).size() == 0);
        CHECK(pow(integers, -1, {}, mode).size() == 0);
        CHECK(left_shift(integers, -1, {}, mode).size() == 0);
        CHECK(right_shift(integers, vector({-1}, {int64, cpu()}), {}, mode).size() == 0);
    }
    const Tensor some = ones({1}, {int64, cpu()});
    CHECK_THROWS_AS(left_shift(some, -1), Error);
    CHECK_THROWS_AS(divide(ones({1}, {float64, cpu()}), 0, {}, ComputeMode::error), Error);
}
