// Errors: bad input of every kind says what was got, where, and what to do, and writes nothing.
#include "../support.hpp"

#include <limits>

using namespace Atoll;
using namespace support;

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

struct BadCall {
    const char *what;
    std::function<void()> call;
    Status status;
    std::vector<std::string> parts; // of the text
};

} // namespace

TEST_CASE("an Error carries its parts and reads them in one line") {
    const Error error(Status::out_of_memory, "core.add", "no 8 bytes", "dummy:0", "dummy", 42);
    CHECK(std::string(error.what()) == "[core.add] on dummy:0 (plugin dummy): no 8 bytes");
    CHECK(error.status() == Status::out_of_memory);
    CHECK(error.function() == "core.add");
    CHECK(error.device() == "dummy:0");
    CHECK(error.plugin() == "dummy");
    CHECK(error.native_code() == 42);
    CHECK(name(Status::out_of_memory) == "out of memory");
    CHECK(std::string(Error(Status::internal, "load", "x").what()) == "[load] x");
    CHECK(!name(static_cast<Status>(999)).empty());
}

TEST_CASE("bad input says what, where and what to do, and nothing is written") {
    for (const Device device : all_devices()) {
        const Placement f32{float32, device};
        Tensor a = counting({2, 3}, float32, device), b = counting({4}, float32, device);
        Tensor z = ones({2}, {complex64, device}), i = ones({2, 3}, {int8, device});
        Tensor frozen = counting({2, 3}, float32, device);
        frozen.set_read_only();
        Tensor folded = empty_strided({2, 3}, {4, 0}, f32);
        folded.fill(1);
        const std::vector<double> before_a = a.to_doubles(), before_frozen = frozen.to_doubles(),
                                  before_folded = folded.to_doubles();
        const std::string where = device.name();
        const BadCall calls[] = {
            // shapes
            {"shapes",
             [&] { a + b; },
             Status::invalid_argument,
             {"core.add", "a (2, 3)", "b (4,)", "equal or 1"}},
            {"rank",
             [&] {
                 a += ones({2, 3, 2}, f32);
             },
             Status::invalid_argument,
             {"b (2, 3, 2)", "c (2, 3)", "never broadcast"}},
            {"destination",
             [&] { add(a, 1, b); },
             Status::invalid_argument,
             {"a (2, 3)", "c (4,)"}},
            {"assign", [&] { a.assign(b); }, Status::invalid_argument, {"core.copy", "out (2, 3)"}},
            {"matmul",
             [&] { matmul(a, a); },
             Status::invalid_argument,
             {"core.matmul", "b (2, 3)", "k = 3 rows"}},
            {"matmul out",
             [&] { matmul(a, ones({3}, f32), b); },
             Status::invalid_argument,
             {"d (4,)", "shape (2,)"}},
            {"gemm",
             [&] { gemm(1, a, Op::N, a, Op::N, 0, a); },
             Status::invalid_argument,
             {"k = 3 rows"}},
            {"reshape", [&] { (void)a.reshape({4}); }, Status::invalid_argument, {"6 elements"}},
            {"negative",
             [&] {
                 empty({2, -3}, f32);
             },
             Status::invalid_argument,
             {"(2, -3)"}},
            // dtypes
            {"order of complex",
             [&] { less(z, z); },
             Status::invalid_argument,
             {"core.less", "complex64", "float64"}},
            {"min of complex",
             [&] { min(z); },
             Status::invalid_argument,
             {"core.min", "complex64"}},
            {"bool minus",
             [&] {
                 negative(ones({2}, {bool_, device}));
             },
             Status::invalid_argument,
             {"core.negative", "bool", "int8"}},
            {"integer", [&] { i + 1000; }, Status::out_of_range, {"1000", "int8", "Scalar"}},
            {"fill", [&] { i.fill(-129); }, Status::out_of_range, {"core.fill", "int8"}},
            {"view_as", [&] { (void)a.view_as(int8); }, Status::invalid_argument, {"same size"}},
            // axes and indices
            {"axis", [&] { sum(a, 2); }, Status::out_of_range, {"core.sum", "axis 2", "-2 to 1"}},
            {"twice",
             [&] {
                 sum(a, {0, -2});
             },
             Status::invalid_argument,
             {"twice"}},
            {"index", [&] { (void)a(2); }, Status::out_of_range, {"index 2", "axis 0", "(2, 3)"}},
            {"indices",
             [&] { (void)a(0, 0, 0); },
             Status::invalid_argument,
             {"3 indices", "(2, 3)"}},
            {"slice", [&] { (void)a.slice(1, 2, 9); }, Status::out_of_range, {"9", "extent 3"}},
            {"split",
             [&] { (void)a.split(1, 2); },
             Status::invalid_argument,
             {"2 parts", "extent 3"}},
            {"diag", [&] { (void)b.diag(); }, Status::invalid_argument, {"rank 2"}},
            {"diagonal", [&] { (void)a.diag(7); }, Status::out_of_range, {"diagonal 7", "-2 to 3"}},
            // sizes
            {"bytes",
             [&] {
                 empty({huge, 2}, f32);
             },
             Status::overflow,
             {"63 bits"}},
            {"memory", [&] { empty({huge / 4}, f32); }, Status::out_of_memory, {where}},
            // what must not be written
            {"read-only", [&] { frozen += 1; }, Status::read_only, {"core.add", where, "clone"}},
            {"read-only fill", [&] { frozen.fill(0); }, Status::read_only, {"core.fill", "clone"}},
            {"read-only sum",
             [&] { sum(a, {}, {.keepdims = true}, frozen(range(0, 1), range(0, 1))); },
             Status::read_only,
             {"core.sum"}},
            {"read-only matmul",
             [&] {
                 matmul(a, ones({3, 3}, f32), frozen);
             },
             Status::read_only,
             {"core.matmul"}},
            {"folded",
             [&] { folded += 1; },
             Status::invalid_argument,
             {"overlaps itself", "replicate"}},
            {"nothing",
             [&] { min(zeros({0}, f32)); },
             Status::invalid_argument,
             {"core.min", "at least one"}},
            {"item", [&] { (void)a.item(); }, Status::invalid_argument, {"(2, 3)", "one element"}},
            {"undefined", [&] { Tensor() + a; }, Status::invalid_argument, {"undefined"}},
        };
        for (const BadCall &bad : calls) {
            CAPTURE(where);
            CAPTURE(std::string(bad.what));
            CHECK(error_status(bad.call) == bad.status);
            const std::string text = error_text(bad.call);
            CAPTURE(text);
            for (const std::string &part : bad.parts) {
                CAPTURE(part);
                CHECK(contains(text, part));
            }
        }
        CHECK(a.to_doubles() == before_a);
        CHECK(frozen.to_doubles() == before_frozen);
        CHECK(folded.to_doubles() == before_folded);
        CHECK(i.to_doubles() == std::vector<double>(6, 1.0));
    }
}

TEST_CASE("what does not exist is named beside what there is") {
    load_devices();
    const std::string text = error_text([] { (void)device("gpu:0"); });
    CHECK(contains(text, "gpu:0"));
    CHECK(contains(text, "cpu"));
    CHECK(contains(text, "dummy:1"));
    CHECK(error_status([] { (void)device("dummy:7"); }) == Status::not_found);
    CHECK_THROWS_AS((void)device("dummy:x"), Error);
    CHECK_THROWS_AS((void)device("dummy:-1"), Error);
    CHECK_THROWS_AS((void)device("dummy:99999999999999999999"), Error);
    CHECK_THROWS_AS((void)device(""), Error);
    CHECK(contains(error_text([] { load_plugin("no_such_plugin"); }), "no_such_plugin"));
    CHECK_THROWS_AS(zeros({2}, {float32, cpu()}).to(Device()), Error);
}

TEST_CASE("a failed call leaves the library as it was") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({3}, float32, device);
        for (int n = 0; n < 50; ++n) CHECK_THROWS_AS(add(t, ones({2}, {float32, device})), Error);
        CHECK((t + 1).to_doubles() == std::vector<double>{1, 2, 3});
        // Memory that could not be had is not missed.
        CHECK_THROWS_AS(empty({huge / 8}, {float32, device}), Error);
        CHECK(zeros({1000}, {float32, device}).size() == 1000);
    }
}

TEST_CASE("an impossible result of two views is refused before memory is asked for") {
    const Tensor one = zeros({}, {int8, cpu()});
    const Tensor wide = one.broadcast_to({huge / 2}), tall = one.broadcast_to({1, huge / 2});
    CHECK(error_status([&] { add(wide, tall); }) == Status::overflow);
    CHECK(error_status([&] { multiply(wide, tall); }) == Status::overflow);
    CHECK(error_status([&] { matmul(wide, tall); }) == Status::overflow);
    CHECK(error_status([&] { (void)wide.replicate(); }) == Status::out_of_memory);
    CHECK(error_status([&] { (void)wide.broadcast_to({huge / 2, 4}); }) == Status::overflow);
    CHECK(error_status([&] {
              (void)wide.unsqueeze(0).broadcast_to({3, huge / 2});
          }) == Status::overflow);
}

TEST_CASE("a pool of the application that throws fails the call it served") {
    const Tensor ones_ = ones({1'000'000}, {float64, cpu()});
    set_parallel_for([](auto &&...) { throw std::runtime_error("no threads today"); });
    set_log_level("off");
    bool failed = false;
    try {
        sum(ones_);
    } catch (const Error &e) {
        failed = true;
        CHECK(e.status() == Status::kernel_failed);
        CHECK(e.function() == "core.sum");
        CHECK(std::string(e.what()).find("parallel_for") != std::string::npos);
    }
    set_parallel_for(nullptr);
    set_log_level("warn");
    CHECK(failed);
    CHECK(sum(ones_).item().to_double() == 1e6);
}

TEST_CASE("an unknown log level is refused, and a throwing log handler harms nothing") {
    CHECK_THROWS_AS(set_log_level("loud"), Error);
    set_log_handler([](int, std::string_view) { throw 5; });
    CHECK_NOTHROW(configure("cpu", "threads", ""));
    const Tensor t = ones({1'000'000}, {float64, cpu()});
    set_parallel_for([](auto &&...) { throw 5; }); // makes the core log
    CHECK_THROWS_AS(sum(t), Error);
    set_parallel_for(nullptr);
    set_log_handler(nullptr);
}
