// The probe: plugins that would end the process are found out in a child, and the verdict is kept.
#include "atoll/abi/note.h"
#include "zoo_tests.hpp"

#include <chrono>
#include <csignal>
#include <sys/stat.h>

#include <fmt/format.h>

using namespace Atoll;
using namespace plugin_tests;

namespace {

// The probe is on, with a cache of its own, while it lives.
struct Probing {
    explicit Probing(std::chrono::milliseconds deadline = std::chrono::seconds(60))
        : cache("XDG_CACHE_HOME", folder.path) {
        set_probe(true, deadline);
    }
    ~Probing() { set_probe(false); }
    std::string file() const { return folder.path + "/atoll/probed"; }
    std::string verdicts() const {
        std::ifstream in(file());
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write_verdicts(const std::string &text) const { std::ofstream(file()) << text; }
    Folder folder;
    Variable cache;
};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, text);
    return text.replace(at, from.size(), to);
}

bool is_logged(LogCapture &log, const std::string &words) {
    for (const std::string &line : log.take())
        if (contains(line, words)) return true;
    return false;
}

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
        {"constructor_exits", "ended the child, with status 7"},
        {"constructor_closes", "the child, with status 0"},
        {"query_crashes", plain ? "killed the child: Segmentation fault (signal 11)" : "child"},
        {"query_aborts", plain ? "killed the child: Aborted (signal 6)" : "child"},
        {"load_exits", "ended the child, with status 0"},
    };
    for (const Case &c : cases) {
        const std::string remedy = fmt::format("keep it out with ATOLL_PLUGINS_DISABLE={}", c.kind);
        check_refused(zoo(c.kind), c.cause, remedy);
        // From the cache, which says so.
        check_refused(zoo(c.kind), c.cause,
                      fmt::format("remove {} to probe it again", probing.file()));
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
    const std::string verdicts = probing.verdicts();
    CHECK_MESSAGE(contains(verdicts, folder.path + "/b.so"), verdicts);
    // What was only refused has not been through its start.
    CHECK_MESSAGE(!contains(verdicts, needs), verdicts);
    others_work();
}

TEST_CASE("a plugin that takes longer than the deadline is refused, and that is not kept") {
    const Probing probing(std::chrono::milliseconds(200));
    check_refused(zoo("load_hangs"), "did not end within 0.2 s", "ATOLL_PROBE_DEADLINE");
    CHECK_FALSE(contains(probing.verdicts(), "load_hangs"));
    CHECK(caught([] { set_probe(true, std::chrono::milliseconds(0)); }).status ==
          Status::invalid_argument);
}

TEST_CASE("a good plugin passes, and the verdict is kept for the user alone") {
    const Probing probing;
    Folder folder;
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    load_plugin(tame);
    retire_plugin("tame");
    const std::string survived = probing.verdicts();
    CHECK_MESSAGE(contains(survived, "survived\t"), survived);
    CHECK(contains(survived, tame));
    struct stat facts;
    REQUIRE(::stat(probing.file().c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == 0600);

    // Another file of the same bytes is another subject.
    const std::string other = folder.copy(zoo("tame"), "other.so");
    load_plugin(other);
    retire_plugin("tame");
    CHECK(contains(probing.verdicts(), other));
}

TEST_CASE("child: planted verdict" * doctest::skip()) {
    const char *file = std::getenv("TEST_FILE");
    REQUIRE(file);
    const Caught error = caught([&] { load_plugin(file); });
    CHECK_MESSAGE(contains(error.text, "in a child process first, as the probe does, was planted"),
                  error.text);
    ::chmod(file, 0600); // changes the file's identity, so it is probed again
    load_plugin(file);
    retire_plugin("tame");
}

TEST_CASE("a kept verdict is used, until the file changes") {
    Folder folder;
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    {
        const Probing probing;
        load_plugin(tame);
        retire_plugin("tame");
        std::string text = replaced(probing.verdicts(), "survived", "died");
        text.insert(text.size() - 1, "was planted");
        probing.write_verdicts(text);
        const ChildResult child =
            run_child("child: planted verdict", {"ATOLL_PROBE=1", "TEST_FILE=" + tame,
                                                 "XDG_CACHE_HOME=" + probing.folder.path});
        CHECK_MESSAGE(child.status == 0, child.output);
    }
}

TEST_CASE("a damaged or foreign cache is ignored with a remark, and written anew") {
    Folder folder;
    for (const auto &[name, damage] :
         {std::pair("nonsense", "does not begin as such a file does"),
          std::pair("cut", "line 2 is damaged"), std::pair("number", "line 2 is damaged"),
          std::pair("word", "line 2 is damaged"), std::pair("mode", "writable by everyone"),
          std::pair("huge", "larger than 1 MiB")}) {
        CAPTURE(name);
        const Probing probing;
        const std::string file = folder.copy(zoo("tame"), fmt::format("{}.so", name));
        const std::string other = folder.copy(zoo("tame"), fmt::format("{}-2.so", name));
        load_plugin(file);
        retire_plugin("tame");
        const std::string good = probing.verdicts(), kind = name;
        if (kind == "nonsense")
            probing.write_verdicts("\x7f"
                                   "ELF\n" +
                                   good);
        if (kind == "cut") probing.write_verdicts(good.substr(0, good.size() - 1));
        if (kind == "number") probing.write_verdicts(replaced(good, "survived\t", "survived\tx"));
        if (kind == "word") probing.write_verdicts(replaced(good, "survived", "thrived"));
        if (kind == "mode") REQUIRE(::chmod(probing.file().c_str(), 0666) == 0);
        if (kind == "huge") probing.write_verdicts(good + std::string(2 << 20, 'x'));
        LogCapture log;
        load_plugin(other);
        retire_plugin("tame");
        CHECK(is_logged(log, damage));
        const std::string anew = probing.verdicts();
        CHECK_MESSAGE(contains(anew, other), anew);
        CHECK_FALSE(contains(anew, file));
        struct stat facts;
        REQUIRE(::stat(probing.file().c_str(), &facts) == 0);
        CHECK((facts.st_mode & 07777) == 0600);
    }
}

TEST_CASE("a cache that cannot be written costs another probe and nothing else") {
    Folder folder;
    folder.file("file", "");
    const Variable cache("XDG_CACHE_HOME", folder.path + "/file");
    set_probe(true);
    load_plugin(folder.copy(zoo("tame"), "tame.so"));
    retire_plugin("tame");
    set_probe(false);
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
    Folder cache;
    const ChildResult child =
        run_child("child: probe by environment",
                  {"ATOLL_PROBE=1", "ATOLL_PROBE_DEADLINE=0.5", "XDG_CACHE_HOME=" + cache.path});
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
