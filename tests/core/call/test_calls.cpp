// Calls that plugins get keep what abi/call.h and the capabilities in abi/module.h promise, on
// random programs and on a fixed list of operations.
//
// ATOLL_CALL_DUMP=/path/file also writes all calls to that file, as text, so that two versions of
// the library can be compared with diff.
#include "../random/random_programs.hpp"
#include "call_grid.hpp"
#include "call_recorder.hpp"

#include <cstdio>
#include <memory>

#include <doctest/doctest.h>

using namespace interpreter;

namespace {

constexpr std::int64_t usual_operations = 4'000;
constexpr const char *device_types[] = {"cpu", "dummy", "dummy_min"};

// The file that is asked for, or null.
std::FILE *dump() {
    static const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
        [] {
            const char *path = std::getenv("ATOLL_CALL_DUMP");
            std::FILE *opened = path ? std::fopen(path, "w") : nullptr;
            REQUIRE_MESSAGE((!path || opened), "ATOLL_CALL_DUMP names no file that can be written");
            return opened;
        }(),
        [](std::FILE *opened) { return opened ? std::fclose(opened) : 0; });
    return file.get();
}
void write_text(calls::Recorder &recorder) {
    const std::string text = recorder.take_text();
    if (dump()) std::fwrite(text.data(), 1, text.size(), dump());
}

// Of the calls since the last time.
bool check_promises(calls::Recorder &recorder) {
    const std::vector<std::string> broken = recorder.take_broken();
    for (const std::string &what : broken) MESSAGE(what);
    CHECK(broken.empty());
    return broken.empty();
}

// Draws a program while it runs in the world, or runs one that is there. What is wrong with the
// results; empty: nothing.
std::string run(const World &world, Program &program, std::optional<std::uint64_t> seed,
                calls::Recorder &recorder) {
    Machine machine(world);
    std::function<Op()> draw;
    if (seed) draw = drawer(machine, *seed);
    for (std::size_t i = 0; i < (seed ? std::size_t{length} : program.size()); ++i) {
        if (seed) program.push_back(draw());
        recorder.begin_operation(static_cast<int>(i),
                                 [&] { return describe(program[i]).substr(0, 120); });
        if (!machine.run(program[i])) break;
    }
    if (machine.wrong().empty()) machine.finish();
    return machine.wrong();
}
// In the first world, then in the others.
void run_program(std::int64_t number, const std::vector<const World *> &worlds,
                 calls::Recorder &recorder) {
    Program program;
    for (const World *world : worlds) {
        recorder.begin_program("program " + std::to_string(number) + " on " + world->name);
        const bool first = world == worlds.front();
        const std::string wrong =
            run(*world, program, first ? std::optional(seed_of(number)) : std::nullopt, recorder);
        CHECK_MESSAGE(wrong.empty(), rerun(number), "\n", wrong);
    }
}

calls::Recorder make_recorder() {
    for (const char *type : device_types) Atoll::load_plugin(type);
    return calls::Recorder({std::begin(device_types), std::end(device_types)});
}

} // namespace

TEST_CASE("calls of random programs keep what the ABI promises") {
    calls::Recorder recorder = make_recorder();
    const World cpu = world_of("cpu", false), dummy = world_of("dummy", false),
                minimal = world_of("dummy_min", false);
    recorder.set_text(dump() != nullptr);
    const std::int64_t only = random_tests::only_case();
    const std::int64_t programs = random_tests::cases(dump() ? 20'000 : usual_operations) / length;
    for (std::int64_t i = only < 0 ? 0 : only; i < (only < 0 ? programs : only + 1); ++i) {
        run_program(i, {&cpu, &dummy, &minimal}, recorder);
        write_text(recorder);
        if (!check_promises(recorder)) break;
    }
    CHECK(recorder.call_count() > 0);
}

TEST_CASE("calls of every function on every layout keep what the ABI promises") {
    if (random_tests::only_case() >= 0) return;
    const AnyOutput any_output;
    for (const char *type : device_types) Atoll::load_plugin(type);
    Atoll::load_plugin("hello"); // before its implementations, so that its number is the first
    Atoll::load_plugin("hello_cpu");
    Atoll::load_plugin("hello_dummy");
    calls::Recorder recorder({std::begin(device_types), std::end(device_types)},
                             {{"hello", {{"cpu", "hello_cpu"}, {"dummy", "hello_dummy"}}}});
    recorder.set_text(dump() != nullptr);
    for (const char *type : device_types) {
        recorder.begin_program(std::string("every function on ") + type);
        int worked = 0, refused = 0;
        const calls::Grid grid(Atoll::device(type), [&](const std::string &name, const auto &body) {
            recorder.begin_operation(name);
            try {
                body();
                ++worked;
            } catch (const Atoll::Error &error) {
                recorder.remark(std::string("throws ") + std::string(Atoll::name(error.status())));
                ++refused;
            }
        });
        grid.every_function(dump() != nullptr);
        grid.axes();
        grid.products();
        grid.scalars();
        grid.moves();
        if (std::string(type) != "dummy_min") grid.third_party();
        CHECK(worked > 3 * refused);
        Atoll::device(type).synchronize();
        write_text(recorder);
        check_promises(recorder);
    }
}

TEST_CASE("the text of a program's calls is the same every time") {
    if (random_tests::only_case() >= 0) return;
    const auto text = [] {
        calls::Recorder recorder = make_recorder();
        const World cpu = world_of("cpu", false), dummy = world_of("dummy", false);
        recorder.set_text(true);
        for (std::int64_t i = 0; i < 3; ++i) run_program(i, {&cpu, &dummy}, recorder);
        return recorder.take_text();
    };
    const std::string first = text();
    CHECK(first.size() > 10'000);
    CHECK(first == text());
}

TEST_CASE("the text of a call says what a plugin gets") {
    using namespace Atoll;
    calls::Recorder recorder = make_recorder();
    recorder.set_text(true);
    const Device device = Atoll::device("dummy");
    Tensor a, b;
    int number = 0;
    const auto operation = [&](const auto &body) {
        recorder.begin_operation(number++, [] { return ""; });
        recorder.take_text();
        body();
        return recorder.take_text();
    };
    operation([&] { a = arange(0, 6, 1, {int32, device}).reshape({2, 3}); });
    operation([&] { b = full({2, 3}, 0.5, {float64, device}); });
    CHECK(operation([&] { b.slice(0, 1, 2).fill(-1); }) ==
          "dummy:0 core.fill float64 (3): float64 m1.0+8 (16) value=float64:-1,0\n");
    CHECK(operation([&] { add(a, b, b); }) ==
          "dummy:0 core.copy int32 (6): float64 m3.0 (8) = int32 m0.0 (4) for core.add, dtype\n"
          "dummy:0 core.add float64 (6): float64 m1.0 (8) = float64 m3.0 (8), float64 m1.0 (8)\n");
    CHECK(operation([&] { sum(a.T(), 0); }) ==
          "dummy:0 core.copy int32 (6): int64 m4.1 (8) = int32 m0.0 (4) for core.sum, dtype\n"
          "dummy:0 core.sum int64 (3|2): int64 m4.0 (0|8) = int64 m4.1 (16|8) skip_nan=bool:0\n");
    CHECK(operation([&] { matmul(b, b.T()); }) ==
          "dummy:0 core.matmul float64 (2;3;2|): float64 m5.0 (8;0;16|) = float64 m1.0 "
          "(8;16;0|), float64 m1.0 (0;16;8|), absent alpha=float64:1,0 beta=float64:0,0 "
          "conj_a=bool:0 conj_b=bool:0\n");
}
