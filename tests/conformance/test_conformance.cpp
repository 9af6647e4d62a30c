// The kit on plugins that conform, and the kit itself: names, filters, reports.
#include "kit.hpp"

#include <algorithm>
#include <atoll/atoll.hpp>
#include <set>

using namespace kit;

namespace {

void check_conforms(const conf::Report &report) {
    CHECK_MESSAGE(report.failed() == 0, conf::summary(report));
    CHECK(report.passed() > 0);
}

} // namespace

TEST_CASE("a full device plugin passes at least 1500 checks, none skipped") {
    const conf::Report report = conf::run({.plugin = cpu_plugin()});
    check_conforms(report);
    CHECK(report.passed() >= 1500);
    CHECK(report.skipped() == 0);
    CHECK_FALSE(report.reference.empty());
    CHECK(report.reference.find(report.name) == std::string::npos);
    for (const char *group : {"file", "load", "device", "streams", "functions", "structs",
                              "interposed", "threads", "memory", "lifecycle"})
        CHECK_MESSAGE(count_in(report, group, conf::Outcome::passed) > 0, group);
    // One name, one check.
    std::set<std::string> names;
    for (const conf::Result &result : report.results) names.insert(result.name());
    CHECK(names.size() == report.results.size());
}

TEST_CASE("modules, their implementations, a replaced function and interposers pass") {
    for (const std::string &path :
         {on_path("atoll-hello.so"), on_path("atoll-hello-cpu"), on_path("atoll-hello-dummy"),
          on_path("atoll-trace"), broken("fast_sqrt"), broken("override-conforms"),
          broken("toy-conforms"), broken("counter-conforms")}) {
        CAPTURE(path);
        check_conforms(conf::run({.plugin = path}));
    }
}

TEST_CASE("a device that lacks most functions is checked for saying so") {
    const conf::Report report = conf::run({.plugin = broken("toy-conforms")});
    CHECK(count_in(report, "undeclared", conf::Outcome::passed) > 1000);
    CHECK(count_in(report, "device", conf::Outcome::passed) > 50);
    CHECK(count_in(report, "streams", conf::Outcome::passed) > 10);
    // Without `copy` the host cannot convert what `add` does not accept; such checks are skipped.
    CHECK(count_in(report, "functions", conf::Outcome::skipped) > 0);
    for (const conf::Result &result : report.results)
        if (result.outcome == conf::Outcome::skipped)
            CHECK(contains(result.message, "for which the device has no core."));
}

TEST_CASE("a plugin that finds no device on this machine is not failed for it") {
    ::setenv("ATOLL_DUMMY_DEVICES", "0", 1);
    const conf::Report report = conf::run({.plugin = on_path("atoll-dummy.so")});
    ::unsetenv("ATOLL_DUMMY_DEVICES");
    check_conforms(report);
    CHECK(report.skipped() == 1);
    CHECK(contains(conf::summary(report), "the setting devices is 0"));
}

TEST_CASE("a filter runs some of the checks, under the names that list gives") {
    const std::string path = cpu_plugin();
    const auto all = conf::list({.plugin = path});
    CHECK(all.size() >= 1500);
    const conf::Report some =
        conf::run({.plugin = path, .filter = "functions/core.add@cpu:float32/*"});
    CHECK(some.results.size() > 5);
    for (const conf::Result &result : some.results) {
        CHECK(result.subject == "core.add@cpu");
        CHECK(result.dtype == "float32");
        CHECK(std::find(all.begin(), all.end(), result.name()) != all.end());
    }
    CHECK_THROWS_AS(conf::run({.plugin = path, .filter = "nothing/*"}), Atoll::Error);
}

TEST_CASE("a function's checks follow from its signature") {
    const auto all = conf::list({.plugin = broken("override-conforms")});
    const auto has = [&](const std::string &name) {
        return std::find(all.begin(), all.end(), "functions/core." + name) != all.end();
    };
    // Every attribute, every optional operand, groups and loops of several axes; nothing else.
    for (const char *setting : {"with c", "alpha = 2", "beta = 2", "conj_a", "conj_b"})
        CHECK(has(std::string("matmul@cpu:float64/strided, ") + setting));
    CHECK(has("matmul@cpu:float64/strided"));
    CHECK(has("matmul@cpu:float64/no loop in one input"));
    CHECK(has("matmul@cpu:float64/in place, beta = 2"));
    CHECK_FALSE(has("matmul@cpu:float64/in place"));
    CHECK(has("sort@cpu:float64/descending"));
    CHECK(has("sort@cpu:float64/axes apart, descending"));
    CHECK(has("sort@cpu:float64/in place"));
    CHECK(has("sum@cpu:float64/axes apart"));
    CHECK(has("sum@cpu:float64/no loop"));
    CHECK_FALSE(has("sum@cpu:float64/in place"));
    CHECK_FALSE(has("add@cpu:int32/no loop"));
}

TEST_CASE("progress counts every check to the total") {
    std::size_t calls = 0, last = 0, total = 0;
    conf::Options options{.plugin = on_path("atoll-trace")};
    options.progress = [&](const conf::Result &, std::size_t done, std::size_t of) {
        ++calls;
        CHECK(done == last + 1);
        last = done;
        total = of;
    };
    const conf::Report report = conf::run(options);
    CHECK(calls == report.results.size());
    CHECK(last == total);
}

TEST_CASE("what cannot be checked is a failure, not a pass") {
    // Nothing to compare with, and no device to run on.
    const char *path = std::getenv("ATOLL_PLUGIN_PATH");
    const std::string before = path ? path : "";
    const std::string cpu = cpu_plugin(), trace = on_path("atoll-trace");
    ::setenv("ATOLL_PLUGIN_PATH", "", 1);
    const conf::Report alone = conf::run({.plugin = cpu, .filter = "load/*"});
    const conf::Report no_device = conf::run({.plugin = broken("override-conforms")});
    const conf::Report nothing_to_wrap = conf::run({.plugin = trace});
    ::setenv("ATOLL_PLUGIN_PATH", before.c_str(), 1);
    CHECK(alone.failed() == 1);
    CHECK(contains(conf::summary(alone), "no other device to compare results with"));
    CHECK(no_device.failed() > 0);
    CHECK(contains(conf::summary(no_device), "there is no such device"));
    CHECK(nothing_to_wrap.failed() > 0);
}

TEST_CASE("other plugins can be named for what the search path lacks") {
    const std::string before = std::getenv("ATOLL_PLUGIN_PATH");
    const std::string cpu = cpu_plugin(), dummy = on_path("atoll-dummy.so");
    ::setenv("ATOLL_PLUGIN_PATH", "", 1);
    conf::Options options{.plugin = broken("override-conforms"), .with = {cpu, dummy}};
    const conf::Report report = conf::run(options);
    ::setenv("ATOLL_PLUGIN_PATH", before.c_str(), 1);
    CHECK(report.failed() == 0);
    CHECK(report.reference == "dummy:0");
}

TEST_CASE("the support matrix shows functions by dtype, and where something failed") {
    const conf::Report report = conf::run({.plugin = broken("override-wrong_int32")});
    const std::string text = conf::support_matrix(report);
    CHECK(contains(text, "# override_add 1.0"));
    CHECK(contains(text, "## On cpu"));
    CHECK(contains(text, "| function | int32 | float64 |"));
    CHECK(contains(text, "| core.add | ✗ | ✓ |"));
    CHECK(contains(text, "| core.sum |  | ✓ |"));
}

TEST_CASE("JUnit counts agree and hostile text is escaped") {
    conf::Report report;
    report.name = "a<b>&\"";
    report.results = {
        {"functions", "core.add@x", "int8", "strided", conf::Outcome::passed, "", 0.5},
        {"functions", "core.add@x", "int8", "swapped", conf::Outcome::failed,
         "got <1> & \"2\"\nneed\x01", 0.25},
        {"file", "note", "", "is there", conf::Outcome::skipped, "why", 0}};
    const std::string xml = conf::junit(report);
    CHECK(contains(xml, "tests=\"3\" failures=\"1\" skipped=\"1\""));
    CHECK(contains(xml, "message=\"got &lt;1&gt; &amp; &quot;2&quot;&#10;need\\x01\""));
    CHECK(contains(xml, "name=\"a&lt;b&gt;&amp;&quot;\""));
}

// Last: it loads a plugin into this process.
TEST_CASE("isolation is refused where this process has plugins loaded") {
    const std::string path = on_path("atoll-trace");
    CHECK_THROWS_AS(conf::run({.plugin = "/nowhere/atoll-mine.so"}), Atoll::Error);
    Atoll::load_plugin("cpu");
    try {
        conf::run({.plugin = path});
        FAIL("no error");
    } catch (const Atoll::Error &e) {
        CHECK(e.status() == Atoll::Status::busy);
        CHECK(contains(e.what(), "before anything is loaded"));
    }
    conf::Options here{.plugin = path, .isolate = false};
    CHECK(conf::run(here).failed() == 0);
    Atoll::retire_plugin("cpu");
}
