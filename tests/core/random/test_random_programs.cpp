// Random programs give what a naive interpreter says: tensors of any dtype, shape and layout, on
// any stream, all functions, views, index objects, copies between devices, in place and over each
// other.
//
// A program that fails is cut down to the operations that matter and printed.
#include "atoll/abi/note.h"
#include "random_programs.hpp"

#include <mutex>
#include <thread>

#include <doctest/doctest.h>

using namespace interpreter;

namespace {

constexpr std::int64_t usual_operations = 20'000;

struct Failure {
    std::string what; // empty: none
    int at = 0;       // the operation
    std::string trace;
};

Failure replay(const World &world, const Program &program, bool tracing = false) {
    Machine machine(world, tracing);
    for (const Op &op : program)
        if (!machine.run(op)) break;
    if (machine.wrong().empty()) machine.finish();
    return {machine.wrong(), machine.wrong_at(), tracing ? machine.trace() : ""};
}

// The shortest program found that still fails: chunks are left out, then single operations.
Program shrink(const World &world, Program program) {
    // What depends on the moment may take several runs to fail.
    const auto fails = [&](const Program &candidate) {
        for (int tries = world.name == "cpu" ? 1 : 3; tries > 0; --tries)
            if (const Failure failure = replay(world, candidate); !failure.what.empty())
                return true;
        return false;
    };
    if (const Failure failure = replay(world, program); !failure.what.empty())
        program.resize(std::min(program.size(), static_cast<std::size_t>(failure.at) + 1));
    for (std::size_t chunk = program.size() / 2; chunk > 0;) {
        bool shorter = false;
        for (std::size_t at = program.size(); at > 0;) { // from the end: what is used comes before
            at -= std::min(at, chunk);
            Program candidate = program;
            const auto from = candidate.begin() + static_cast<std::ptrdiff_t>(at);
            candidate.erase(
                from, from + static_cast<std::ptrdiff_t>(std::min(chunk, candidate.size() - at)));
            if (!fails(candidate)) continue;
            program = std::move(candidate);
            shorter = true;
        }
        if (!shorter || chunk > 1) chunk = chunk == 1 ? 0 : chunk / 2;
    }
    return program;
}

struct Report {
    std::string text; // empty: nothing is wrong
    std::size_t shortest = 0;
};

Report report(const World &world, const Program &program, const Failure &failure) {
    const Program shortest = shrink(world, program);
    Failure last;
    for (int tries = 0; tries < 5 && last.what.empty(); ++tries)
        last = replay(world, shortest, true);
    std::ostringstream out;
    out << world.name << ", operation " << failure.at << ": " << failure.what << "\n"
        << program.size() << " operations, of which " << shortest.size() << " matter:\n"
        << last.trace << (last.what.empty() ? "(does not fail every time)" : last.what);
    return {out.str(), shortest.size()};
}

struct Counts {
    std::int64_t operations = 0, refused = 0, skipped = 0, failed = 0;
    std::vector<std::int64_t> worked = std::vector<std::int64_t>(ATOLL_FN_COUNT);
};

// Draws a program while it runs in the first world, and runs it again in the others.
Report run_program(std::uint64_t seed, int operations, const std::vector<const World *> &worlds,
                   Counts &counts) {
    Program program;
    Failure failure;
    {
        Machine machine(*worlds[0]);
        const auto draw = drawer(machine, seed);
        for (int i = 0; i < operations; ++i) {
            program.push_back(draw());
            if (!machine.run(program.back())) break;
        }
        if (machine.wrong().empty()) machine.finish();
        failure = {machine.wrong(), machine.wrong_at(), ""};
        counts.operations += static_cast<std::int64_t>(program.size());
        counts.refused += machine.refused();
        counts.skipped += machine.skipped();
        for (std::size_t f = 0; f < counts.worked.size(); ++f)
            counts.worked[f] += machine.worked()[f];
    }
    for (std::size_t w = 0; w < worlds.size(); ++w) {
        if (w > 0) failure = replay(*worlds[w], program);
        if (!failure.what.empty()) return report(*worlds[w], program, failure);
    }
    return {};
}

// Runs the programs that the environment asks for, each in the worlds that `worlds_of` its number
// gives; stops after three that fail.
template <class WorldsOf> Counts run_programs(const WorldsOf &worlds_of) {
    const std::int64_t only = random_tests::only_case();
    const std::int64_t end = only < 0 ? random_tests::cases(usual_operations) / length : only + 1;
    Counts counts;
    for (std::int64_t i = std::max<std::int64_t>(only, 0); i < end && counts.failed < 3; ++i) {
        const std::string wrong = run_program(seed_of(i), length, worlds_of(i), counts).text;
        CHECK_MESSAGE(wrong.empty(), rerun(i), "\n", wrong);
        counts.failed += !wrong.empty();
    }
    CHECK(counts.operations > 0);
    return counts;
}

} // namespace

TEST_CASE("random programs give what the interpreter says on cpu, dummy and dummy_min") {
    Atoll::load_plugin("cpu");
    {
        const World cpu = world_of("cpu", false), dummy = world_of("dummy", true),
                    minimal = world_of("dummy_min", false);
        const Counts counts = run_programs([&](std::int64_t i) {
            std::vector<const World *> worlds{&cpu, &dummy};
            if (i % 5 == 0) worlds.push_back(&minimal);
            return worlds;
        });
        Atoll::configure("dummy", "fault", "");
        // Most operations are no errors, else this tests little.
        if (random_tests::only_case() < 0 && counts.failed == 0) {
            CHECK(counts.refused * 5 < counts.operations);
            CHECK(counts.skipped * 5 < counts.operations);
            // Every function has its turn.
            for (std::size_t f = 0; f < counts.worked.size() && counts.operations > 15'000; ++f) {
                CAPTURE(std::string(functions[f].name));
                CHECK(counts.worked[f] > 0);
            }
        }
    }
    // Nothing is left behind.
    CHECK_NOTHROW(Atoll::retire_plugin("dummy"));
    CHECK_NOTHROW(Atoll::retire_plugin("dummy_min"));
}

// ATOLL_TEST_GPU is the file of a plugin with the device type cuda and all dtypes.
TEST_CASE("random programs give what the interpreter says on a GPU") {
    const char *const plugin = std::getenv("ATOLL_TEST_GPU");
    if (!plugin) return;
    Atoll::load_plugin("cpu");
    const World cpu = world_of("cpu", false), gpu = world_of("cuda", false, plugin);
    run_programs([&](std::int64_t) { return std::vector<const World *>{&cpu, &gpu}; });
}

TEST_CASE("a program that fails is cut down to the operations that matter") {
    if (random_tests::only_case() >= 0) return;
    Atoll::load_plugin("cpu");
    const World cpu = world_of("cpu", false);
    // One function goes wrong for one dtype: the lowest bit of its first result.
    const auto wrong = [](const atoll_link *self, atoll_call *call) -> std::int32_t {
        const std::int32_t status = self->next->fn(self->next, call);
        if (status == ATOLL_STATUS_OK) *static_cast<char *>(call->operands[0].data) ^= 1;
        return status;
    };
    const Atoll::InterposerHandle handle =
        Atoll::push_interposer("core.floor_divide@cpu:int16", wrong, nullptr);
    Report found;
    Counts counts;
    for (std::int64_t i = 0; i < 5'000 && found.text.empty(); ++i)
        found = run_program(seed_of((std::int64_t{1} << 33) + i), length, {&cpu}, counts);
    Atoll::pop_interposer(handle);
    CAPTURE(found.text);
    CHECK(found.text.find("floor_divide(") != std::string::npos);
    CHECK(found.shortest > 1);
    CHECK(found.shortest < 8);
    if (std::getenv("ATOLL_TEST_VERBOSE")) MESSAGE(found.text);
}

TEST_CASE("random programs in four threads at once give what the interpreter says") {
    if (random_tests::only_case() >= 0) return; // one program, alone
    Atoll::load_plugin("cpu");
    Atoll::load_plugin("dummy");
    std::mutex mutex;
    std::vector<std::string> wrong;
    {
        constexpr int thread_count = 4;
        constexpr std::int64_t base = std::int64_t{1} << 32; // programs of their own
        const std::int64_t programs = random_tests::cases(usual_operations) / length;
        std::vector<std::thread> threads;
        for (int t = 0; t < thread_count; ++t)
            threads.emplace_back([&, t] {
                try {
                    const World cpu = world_of("cpu", false), dummy = world_of("dummy", false);
                    Counts counts;
                    for (std::int64_t i = t; i < programs; i += thread_count) {
                        // Each device draws in turn, so that threads meet on both.
                        std::vector<const World *> worlds{&cpu, &dummy};
                        if (i / thread_count % 2) std::swap(worlds[0], worlds[1]);
                        const std::string text =
                            run_program(seed_of(base + i), length, worlds, counts).text;
                        if (text.empty()) continue;
                        const std::lock_guard lock(mutex);
                        wrong.push_back("in thread " + std::to_string(t) +
                                        "; alone: " + rerun(base + i) + "\n" + text);
                        return;
                    }
                } catch (const std::exception &e) {
                    const std::lock_guard lock(mutex);
                    wrong.push_back(std::string("a thread threw: ") + e.what());
                }
            });
        for (std::thread &thread : threads) thread.join();
    }
    for (const std::string &text : wrong) MESSAGE(text);
    CHECK(wrong.empty());
    CHECK_NOTHROW(Atoll::retire_plugin("dummy"));
}
