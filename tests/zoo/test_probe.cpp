// The probe: plugins that would end the process are found out in a child process.
#include "atoll/abi/note.h"
#include "zoo_tests.hpp"

#include <chrono>
#include <csignal>
#include <sys/stat.h>

#include <fmt/format.h>

using namespace Atoll;
using namespace plugin_tests;

namespace {

// The probe is on while it lives.
struct Probing {
    explicit Probing(std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
        set_probe(true, deadline);
    }
    ~Probing() { set_probe(false); }
};

} // namespace

TEST_CASE("plugins that end the process are refused by the probe, and the process lives") {
    const Probing probing;
    struct Case {
        const char *kind, *cause;
    };
    // A sanitizer catches signals and exits.
    const bool plain = !ATOLL_SANITIZERS;
    const Case cases[] = {
        {"constructor_crashes",
         plain ? "killed the child: Segmentation fault (signal 11)" : "child"},
        {"constructor_throws", plain ? "(signal 6)" : "child"},
        {"constructor_exits", "ended the child, with status 7"},
        {"constructor_floods", "ended the child, with status 9"},
        {"constructor_closes", "the child, with status 0"},
        {"query_crashes", plain ? "killed the child: Segmentation fault (signal 11)" : "child"},
        {"query_aborts", plain ? "killed the child: Aborted (signal 6)" : "child"},
        {"load_exits", "ended the child, with status 0"},
    };
    for (const Case &c : cases) {
        const std::string remedy = fmt::format("keep it out with ATOLL_PLUGINS_DISABLE={}", c.kind);
        check_refused(zoo(c.kind), c.cause, remedy);
        check_refused(zoo(c.kind), c.cause, remedy); // as at the first time
    }
}

TEST_CASE("the probe blames the plugin that crashes, not the one that depends on it") {
    Folder folder;
    folder.copy(zoo("query_crashes"), "b.so");
    const std::string needs = folder.copy(zoo("needs_crasher"), "a.so");
    const Variable path("ATOLL_PLUGIN_PATH",
                        fmt::format("{}:{}", folder.path, std::getenv("ATOLL_PLUGIN_PATH")));
    const Probing probing;
    const Caught error = caught([&] { load_plugin(needs); });
    CHECK_MESSAGE(contains(error.text, needs), error.text);
    CHECK_MESSAGE(contains(error.text, "ATOLL_PLUGINS_DISABLE=query_crashes"), error.text);
    const auto reports = load_report();
    CHECK(contains(find_report(reports, folder.path + "/b.so")->reason, "child"));
    others_work();
}

TEST_CASE("a plugin that takes longer than the deadline is refused, and tried again") {
    for (const int milliseconds : {200, 100}) {
        const Probing probing{std::chrono::milliseconds(milliseconds)};
        check_refused(zoo("load_hangs"),
                      fmt::format("did not end within 0.{} s", milliseconds / 100),
                      "ATOLL_PROBE_DEADLINE");
    }
    CHECK(caught([] { set_probe(true, std::chrono::milliseconds(0)); }).status ==
          Status::invalid_argument);
}

TEST_CASE("what killed a child is not tried again until the file changes") {
    const Probing probing;
    Folder folder;
    // It counts its starts in a file of its name with ".starts" added.
    const std::string file = folder.copy(zoo("constructor_counts"), "counts.so");
    const auto starts = [&] { return fs::file_size(file + ".starts"); };
    check_refused(file, "ended the child, with status 9", "keep it out");
    CHECK(starts() == 1);
    check_refused(file, "ended the child, with status 9", "keep it out");
    CHECK(starts() == 1);
    ::chmod(file.c_str(), 0600); // changes the file's identity
    check_refused(file, "ended the child, with status 9", "keep it out");
    CHECK(starts() == 2);
}

TEST_CASE("the probe gets the plugin's settings as the application has configured them") {
    const Probing probing;
    Folder folder;
    const std::string copy = folder.copy(load_plugin("dummy").path.string(), "copy.so");
    retire_plugin("dummy");
    configure("dummy", "devices", "3");
    CHECK(load_plugin(copy).devices.size() == 3);
    retire_plugin("dummy");
    configure("dummy", "devices", "");
    configure("does_as_told", "order", "die");
    check_refused(zoo("does_as_told"), "child", "ATOLL_PLUGINS_DISABLE=does_as_told");
    configure("does_as_told", "order", "");
    // Refused by the helper is not dead: this process tries it, and says why in its own words.
    configure("own_openblas", "library", "/no/such/library.so");
    check_refused(zoo("own_openblas"), "/no/such/library.so", "could not start");
    configure("own_openblas", "library", "");
}

TEST_CASE("an application that ignores the end of its children can probe") {
    const Probing probing;
    Folder folder;
    const auto former = std::signal(SIGCHLD, SIG_IGN);
    load_plugin(folder.copy(zoo("tame"), "tame.so"));
    retire_plugin("tame");
    check_refused(folder.copy(zoo("query_aborts"), "aborts.so"), "child", "");
    std::signal(SIGCHLD, former);
}

TEST_CASE("child: probe by environment" * doctest::skip()) {
    check_refused(zoo("load_exits"), "ended the child, with status 0",
                  "ATOLL_PLUGINS_DISABLE=load_exits");
    check_refused(zoo("load_hangs"), "did not end within 0.5 s", "ATOLL_PROBE_DEADLINE");
}

TEST_CASE("ATOLL_PROBE switches the probe on, ATOLL_PROBE_DEADLINE is in seconds") {
    const ChildResult child =
        run_child("child: probe by environment", {"ATOLL_PROBE=1", "ATOLL_PROBE_DEADLINE=0.5"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: probe misconfigured" * doctest::skip()) {
    const Caught error = caught([] { load_plugin(zoo("tame")); });
    CHECK(error.status == Status::invalid_argument);
    CHECK_MESSAGE(contains(error.text, "ATOLL_PROBE_DEADLINE is 'soon', need a number of seconds"),
                  error.text);
    set_probe(false); // the application wins
    load_plugin(zoo("tame"));
}

TEST_CASE("a deadline that is no number is an error") {
    const ChildResult child =
        run_child("child: probe misconfigured", {"ATOLL_PROBE=1", "ATOLL_PROBE_DEADLINE=soon"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: no helper" * doctest::skip()) {
    const Caught error = caught([] { load_plugin(zoo("tame")); });
    CHECK(error.status == Status::refused);
    CHECK_MESSAGE(contains(error.text, "its helper is neither"), error.text);
    CHECK(contains(error.text, "install it, or switch the probe off (ATOLL_PROBE"));
}

TEST_CASE("child: open helper" * doctest::skip()) {
    const Caught error = caught([] { load_plugin(zoo("tame")); });
    CHECK_MESSAGE(contains(error.text, "cannot be trusted"), error.text);
    CHECK_MESSAGE(contains(error.text, "writable by everyone"), error.text);
}

TEST_CASE("a missing helper, or one that others can write, is a clear error") {
    // A copy of the library without its helper.
    Folder folder;
    const std::string original = copy_library(folder);
    const std::vector<std::string> variables{"ATOLL_PROBE=1", "LD_LIBRARY_PATH=" + folder.path};
    ChildResult child = run_child("child: no helper", variables);
    CHECK_MESSAGE(child.status == 0, child.output);
    fs::create_directory(folder.path + "/atoll");
    fs::copy_file(original + "/atoll-probe", folder.path + "/atoll/atoll-probe");
    REQUIRE(::chmod((folder.path + "/atoll/atoll-probe").c_str(), 0777) == 0);
    child = run_child("child: open helper", variables);
    CHECK_MESSAGE(child.status == 0, child.output);
}
