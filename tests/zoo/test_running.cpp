// Beasts that load, and then break their contract while they run or stop.
#include "zoo_tests.hpp"

#include <chrono>
#include <csignal>
#include <dlfcn.h>
#include <link.h>
#include <numeric>

using namespace Atoll;
using namespace plugin_tests;

namespace {

std::string all_of(const std::vector<std::string> &lines) {
    return fmt::format("{}", fmt::join(lines, "\n"));
}

// The number that a beast's function gives.
double answer(const std::string &module) {
    return Function(module + ".answer")({}, {.device = device("cpu")})[0].item().to_double();
}

} // namespace

TEST_CASE("a plugin that fails to stop is retired all the same") {
    for (const auto &[mode, words] :
         {std::pair("unload_fails", "something is left"), std::pair("unload_throws", "exploded")}) {
        LogCapture log;
        const Variable odd("ODD", mode);
        load_plugin(test_plugin("odd"));
        CHECK(caught([] { retire_plugin("odd"); }).status == Status::ok);
        std::string all;
        for (const std::string &line : log.take()) all += line + "\n";
        CHECK_MESSAGE(contains(all, words), all);
        CHECK(caught([] { device("odd"); }).status == Status::not_found);
    }
    // unload is called, with an error buffer, also where the start failed half-way.
    LogCapture log;
    const Variable odd("ODD", "open_fails");
    CHECK(caught([] { load_plugin(test_plugin("odd")); }).status == Status::refused);
    CHECK(log.take() == std::vector<std::string>{"odd: loaded", "odd: unloaded"});
}

TEST_CASE("kernels that break their contract are contained") {
    load_plugin("cpu");
    load_plugin(test_plugin("odd"));
    const Device odd = device("odd");
    {
        const Tensor t = full({3}, 16.0, {float64, odd});
        struct Case {
            const char *mode, *cause;
            Status status;
        };
        const Case cases[] = {
            {"throw", "an exception crossed the plugin's border (kernel exploded)",
             Status::plugin_fault},
            {"throw_int", "an exception crossed the plugin's border (of unknown type)",
             Status::plugin_fault},
            {"garbage", "returned status -123456, which does not exist", Status::plugin_fault},
            {"garbage_text", "returned status 9999, which does not exist: some words",
             Status::plugin_fault},
            {"silent", "kernel failed (the plugin gave no details)", Status::kernel_failed},
            {"unterminated", "zzz", Status::kernel_failed},
            {"buffer_replaced", "kernel failed", Status::kernel_failed},
        };
        for (const Case &c : cases) {
            CAPTURE(c.mode);
            configure("odd", "kernel", c.mode);
            const Caught error = caught([&] { sqrt(t); });
            CHECK(error.status == c.status);
            CHECK_MESSAGE(contains(error.text, c.cause), error.text);
            CHECK(error.device == "odd");
            CHECK(error.plugin == "odd");
            CHECK(error.text.size() < 1200);
            if (c.mode != std::string("unterminated")) CHECK(error.function == "core.sqrt");
            others_work();
        }
        configure("odd", "kernel", "error_but_ok"); // the status counts
        CHECK(sqrt(t).to_vector<double>() == std::vector<double>(3, 4.0));
        configure("odd", "kernel", "");

        const auto allocate = [&] { return empty({3}, {float64, odd}); };
        configure("odd", "allocate", "null");
        Caught error = caught(allocate);
        CHECK(error.status == Status::plugin_fault);
        CHECK(contains(error.text, "returned NULL for 24 bytes without an error"));
        configure("odd", "allocate", "misaligned");
        error = caught(allocate);
        CHECK(error.status == Status::plugin_fault);
        CHECK_MESSAGE(
            contains(error.text, "need a multiple of 64 bytes; report it to the plugin's"),
            error.text);
        CHECK(error.plugin == "odd");
        configure("odd", "allocate", "throw");
        CHECK(caught(allocate).status == Status::plugin_fault);
        configure("odd", "allocate", "fail");
        error = caught(allocate);
        CHECK(error.status == Status::out_of_memory);
        CHECK(error.native_code == 12);
        CHECK(contains(error.text, "full"));
        configure("odd", "allocate", "throw_in_free");
        std::string warned;
        set_warning_handler([&](const Warning &warning) { warned = warning.text; });
        { const Tensor gone = allocate(); }
        set_warning_handler({});
        CHECK_MESSAGE(contains(warned, "crossed the plugin's border (cannot free)"), warned);
        configure("odd", "allocate", "");
        CHECK(odd.properties().name == std::string(127, 'y'));

        const std::pair<const char *, const char *> wrong_facts[] = {
            {"null_name", "gave fact 1 the name NULL"},
            {"null_value", "gave the fact second the value NULL"},
            {"no_name", "the name \"\", need [a-z][a-z0-9_]*, at most 63 bytes"},
            {"bad_name", "the name \"\\x1b[31mred\""},
            {"long_name", "the name \"nnnn"},
            {"twice", "gave the fact first twice"},
            {"empty", "a value that is empty, need 1 to 255 bytes"},
            {"long", "a value that is longer, need 1 to 255 bytes"},
            {"control", "the value \"a\\x1b[2Jb\", need UTF-8 without control characters"},
            {"lines", "need UTF-8 without control characters"},
            {"not_utf8", "need UTF-8 without control characters"},
            {"many", "gave more than 256 facts"},
            {"throws", "no facts"}};
        for (const auto &[fault, text] : wrong_facts) {
            configure("odd", "facts", fault);
            error = caught([&] { odd.facts(); });
            CAPTURE(fault);
            CHECK(error.status == Status::plugin_fault);
            CHECK(error.plugin == "odd");
            CHECK_MESSAGE(contains(error.text, text), error.text);
        }
        configure("odd", "facts", "fails");
        CHECK(caught([&] { odd.facts(); }).status == Status::device_lost);
        configure("odd", "facts", "none");
        CHECK(odd.facts().size() == 1);
        configure("odd", "facts", "");
        const std::vector<DeviceFact> facts = odd.facts();
        REQUIRE(facts.size() == 2);
        CHECK(facts[0].name == "first");
        CHECK(facts[0].value == "1");
        CHECK(facts[1].name == std::string(63, 'n'));
        CHECK(facts[1].value == std::string(255, 'v'));
    }
    // Not one of the failures above has left something counted.
    retire_plugin("odd");
    others_work();
}

TEST_CASE("interposers that break their contract are contained") {
    load_plugin("cpu");
    load_plugin(test_plugin("odd"));
    const auto push = [] { push_interposer("core.sqrt", "odd_wrap"); };
    const auto with = [&](const char *mode) {
        configure("odd", "interposer", mode);
        return caught(push);
    };
    Caught error = with("create_fails");
    CHECK(error.status == Status::not_supported);
    CHECK(contains(error.text, "'odd_wrap' could not start: not today"));
    error = with("create_garbage");
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "4711"));
    error = with("create_throws");
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "create exploded"));
    CHECK(with("create_throws_int").status == Status::plugin_fault);
    CHECK(interposers().empty());
    configure("odd", "interposer", "report_throws");
    const InterposerHandle handle = push_interposer("core.sqrt", "odd_wrap");
    error = caught([&] { interposer_report(handle); });
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "report exploded"));
    configure("odd", "interposer", "destroy_throws");
    LogCapture log;
    CHECK(caught([&] { pop_interposer(handle); }).status == Status::ok);
    bool told = false;
    for (const std::string &line : log.take()) told = told || contains(line, "destroy exploded");
    CHECK(told);
    configure("odd", "interposer", "");
    CHECK(interposers().empty());
    retire_plugin("odd");
    others_work();
}

TEST_CASE(
    "a pool that a failing plugin has offered is withdrawn, and the one before serves again") {
    load_plugin("cpu"); // offers one too
    load_plugin(zoo("pool"));
    CHECK(answer("pool") == 1);
    // The beast's own would end the process.
    check_refused(zoo("pool_and_failure"), "second thoughts", "could not start");
    const double before = answer("pool");
    CHECK(answer("pool") == before + 1);
    retire_plugin("pool");
    const Tensor big = ones({1'000'000}, {float64, device("cpu")});
    CHECK(sum(big).to_vector<double>() == std::vector<double>{1e6});
}

TEST_CASE("an implementation whose device cannot be opened is left out, its interface is not") {
    load_plugin("cpu");
    for (const auto &[kind, words] :
         {std::pair("power_cut", "no power"), std::pair("power_spike", "exception crossed")}) {
        CAPTURE(kind);
        load_plugin(zoo(kind)); // waits for the module
        LogCapture log;
        CHECK(load_plugin(zoo("tame")).modules == std::vector<std::string>{"tame"});
        CHECK(answer("tame") == 0); // its own implementation serves
        const std::string said = all_of(log.take());
        CHECK_MESSAGE(
            contains(said, fmt::format("plugin {} could not open cpu:0 for module tame", kind)),
            said);
        CHECK(contains(said, words));
        CHECK(contains(said, "plugin tame is loaded without it"));
        const auto reports = load_report();
        const PluginReport *report = find_report(reports, zoo(kind));
        REQUIRE(report);
        CHECK(report->loaded);
        CHECK_MESSAGE(contains(report->implements.at(0), "(refused: "), report->implements.at(0));
        CHECK(contains(report->implements.at(0), words));
        // Not tried again for a plugin that has nothing to do with it.
        load_plugin("hello");
        CHECK(log.take().empty());
        retire_plugin("hello");
        retire_plugin("tame");
        retire_plugin(kind);
    }
    // Alone it is the plugin being loaded that is at fault.
    load_plugin(zoo("tame"));
    check_refused(zoo("power_cut"), "could not open cpu:0 for module tame: no power", "power_cut");
    CHECK(answer("tame") == 0);
    retire_plugin("tame");
}

TEST_CASE("a plugin that fails to shut down is gone all the same") {
    LogCapture log;
    load_plugin(zoo("unload_fails"));
    retire_plugin("unload_fails");
    const std::string said = all_of(log.take());
    CHECK_MESSAGE(contains(said, "plugin unload_fails did not shut down: still busy"), said);
    others_work();
}

TEST_CASE("an exception whose text is NULL is contained") {
    check_refused(zoo("speechless"), "an exception crossed the plugin's border (without text)",
                  "must catch it");
}

TEST_CASE("host services survive what a C plugin may pass by a slip") {
    LogCapture log;
    load_plugin(zoo("misuses_services"));
    CHECK(log.take().size() == 1); // "nobody" is below the level
    retire_plugin("misuses_services");
    others_work();
}

TEST_CASE("child: forged" * doctest::skip()) { load_plugin(zoo("forger")); }

TEST_CASE("what a plugin says can neither steer a terminal nor forge a record of the log") {
    load_plugin("cpu");
    LogCapture log;
    const PluginReport report = load_plugin(zoo("forger"));
    const std::string shown = "\\x1b[31m red \\xff\n[atoll error] forged";
    CHECK(report.description == shown);
    CHECK(report.version == shown);
    CHECK(Function("forger.answer").doc() == shown);
    CHECK(log.take() == std::vector<std::string>{"forger: " + shown});
    const Caught error = caught([] { answer("forger"); });
    CHECK(error.status == Status::kernel_failed);
    CHECK_MESSAGE(contains(error.text, shown), error.text);
    retire_plugin("forger");
    // On the terminal a line that goes on is indented.
    const ChildResult child = run_child("child: forged", {});
    CHECK(child.status == 0);
    CHECK_MESSAGE(contains(child.output, "[atoll warning] forger: \\x1b[31m"), child.output);
    CHECK_MESSAGE(contains(child.output, "\n    [atoll error] forged"), child.output);
}

TEST_CASE("a plugin that changes how the thread calculates does so for its own load only") {
    volatile double small = 1e-308;
    REQUIRE(small / 2 > 0); // denormal
    LogCapture log;
    load_plugin(zoo("fast_math"));
    CHECK(small / 2 > 0);
#if defined(__x86_64__)
    const std::string said = all_of(log.take());
    CHECK_MESSAGE(contains(said, "plugin fast_math changed the rounding or denormal mode"), said);
    CHECK(contains(said, "-ffast-math"));
#endif
    retire_plugin("fast_math");
}

TEST_CASE("loading from inside a load is refused, whoever tries") {
    load_plugin(zoo("clash_a"));
    std::vector<Caught> attempts;
    set_log_level("info");
    set_log_handler([&](int, std::string_view) {
        attempts.push_back(caught([] { load_plugin(zoo("tame")); }));
        attempts.push_back(caught([] { load_all_plugins(); }));
        attempts.push_back(caught([] { retire_plugin("clash_a"); }));
        attempts.push_back(caught([] { push_interposer("*", "trace"); }));
        attempts.push_back(caught([] { pop_interposer(1); }));
        CHECK_FALSE(load_report().empty()); // to look is allowed
    });
    load_plugin(zoo("talks_in_load"));
    set_log_handler({});
    set_log_level("warn");
    REQUIRE(attempts.size() == 5);
    for (const Caught &attempt : attempts) {
        CHECK(attempt.status == Status::busy);
        CHECK_MESSAGE(contains(attempt.text, "do it after that has returned"), attempt.text);
    }
    // Nothing is held or lost.
    retire_plugin("talks_in_load");
    retire_plugin("clash_a");
    load_plugin(zoo("tame"));
    retire_plugin("tame");
    others_work();
}

TEST_CASE("an interposer is what was declared, whatever becomes of the declaration") {
    load_plugin("cpu");
    const Variable odd("ODD", "interposer_forgotten");
    load_plugin(test_plugin("odd"));
    const InterposerHandle handle = push_interposer("core.sqrt", "odd_wrap");
    CHECK(interposer_report(handle) == "odd report");
    check_cpu_works();
    pop_interposer(handle);
    retire_plugin("odd");
}

TEST_CASE("unload is called once for each load") {
    // The beast aborts at a second unload, and at a second load without one.
    LogCapture log;
    for (int round = 0; round < 3; ++round) {
        load_plugin(zoo("tame"));
        load_plugin(zoo("tame"));
        retire_plugin("tame");
        const Caught again = caught([] { retire_plugin("tame"); });
        CHECK(again.status == Status::not_found);
        CHECK(contains(again.text, "no plugin 'tame' is loaded"));
    }
    CHECK(log.take() == std::vector<std::string>(3, "tame: unload"));
}

TEST_CASE("a second copy of a plugin is refused, whatever its file is called") {
    Folder folder;
    const std::string copy = folder.copy(zoo("tame"), "copy.so");
    const std::string link = folder.path + "/link.so";
    fs::create_symlink(zoo("tame"), link);
    load_plugin(zoo("tame"));
    CHECK(load_plugin(link).path == zoo("tame")); // the same file
    check_refused(copy, "a plugin 'tame' is loaded already, from " + zoo("tame"),
                  "retire it first");
    retire_plugin("tame");
    // Another version of what it brings, under another name.
    load_plugin(test_plugin("base"));
    check_refused(test_plugin("base_newer"), "module 'base' comes from plugin base already",
                  "retire that plugin first");
    retire_plugin("base");
}

TEST_CASE("plugins that export the same symbol do not meet") {
    load_plugin("cpu");
    load_plugin(zoo("clash_a"));
    load_plugin(zoo("clash_b"));
    CHECK(answer("clash_a") == 1);
    CHECK(answer("clash_b") == 2);
    others_work();
    retire_plugin("clash_b");
    CHECK(answer("clash_a") == 1);
    retire_plugin("clash_a");
}

TEST_CASE("a plugin may bring another copy of a library that a plugin uses") {
    void *system = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    REQUIRE(system);
    const link_map *map = nullptr;
    REQUIRE(dlinfo(system, RTLD_DI_LINKMAP, &map) == 0);
    Folder folder;
    const std::string copy = folder.copy(fs::canonical(map->l_name), "libopenblas-own.so");
    configure("own_openblas", "library", copy);
    load_plugin("cpu");
    load_plugin(zoo("own_openblas"));
    std::vector<double> numbers(200 * 200);
    std::iota(numbers.begin(), numbers.end(), 0.0);
    const Tensor eye200 = eye(200, 200, 0, {float64, device("cpu")});
    const Tensor a = arange(200 * 200, {float64, device("cpu")}).reshape({200, 200});
    for (int round = 0; round < 3; ++round) {
        CHECK(answer("own_openblas") == 46); // 2·7 + 4·8
        CHECK((a * eye200).reshape({-1}).to_vector<double>() == numbers);
    }
    retire_plugin("own_openblas");
    CHECK((a * eye200).reshape({-1}).to_vector<double>() == numbers);
    configure("own_openblas", "library", "");
}

TEST_CASE("work that never ends is given up at the deadline, and can be waited for again") {
    load_plugin(zoo("stuck"));
    const Device stuck = device("stuck");
    const auto check = [](auto &&wait) {
        const Caught error = caught(wait);
        CHECK(error.status == Status::not_ready);
        CHECK_MESSAGE(contains(error.text, "did not finish within 0.05 s "
                                           "(Settings::synchronize_deadline)"),
                      error.text);
        CHECK(contains(error.text, "wait again, or end the process"));
        CHECK(error.device == "stuck");
        CHECK(error.plugin == "stuck");
    };
    {
        const ScopedSettings scope(
            [](Settings &s) { s.synchronize_deadline = std::chrono::milliseconds(50); });
        const Tensor t = full({5}, 2.0, {float64, stuck});
        const Stream stream = stuck.new_stream();
        const Event event = stream.record();
        check([&] { stuck.synchronize(); });
        check([&] { stream.synchronize(); });
        check([&] { event.synchronize(); });
        CHECK_FALSE(event.done());
        others_work();
    }
    {
        const ScopedSettings scope(
            [](Settings &s) { s.synchronize_deadline = std::chrono::milliseconds(50); });
        const Caught busy = caught([] { retire_plugin("stuck"); });
        CHECK(busy.status == Status::busy);
        CHECK_MESSAGE(contains(busy.text, "plugin stuck cannot be retired"), busy.text);
        CHECK(contains(busy.text, "did not finish within 0.05 s"));
        // It is still there, and when the work does end, all is well.
        configure("stuck", "release", "1");
        stuck.synchronize();
        stuck.new_stream().record().synchronize();
        retire_plugin("stuck");
    }
    configure("stuck", "release", "");
    others_work();
}

TEST_CASE("a kernel that claims what it cannot do spoils its own results only") {
    load_plugin("cpu");
    const Variable odd("ODD", "lies");
    load_plugin(test_plugin("odd"));
    {
        // Every second element, through a kernel that declares strides and ignores them.
        const Tensor whole = full({6}, 16.0, {float64, device("odd")});
        const Tensor result = empty({3}, {float64, device("odd")});
        sqrt(whole(range(0, 6, 2)), result);
        CHECK(result.to_vector<double>().size() == 3);
    }
    retire_plugin("odd");
    others_work();
}
