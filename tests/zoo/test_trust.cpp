// Whom the loader trusts: locks, the working directory, the environment of a privileged process.
#include "zoo_tests.hpp"

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <fmt/format.h>

using namespace Atoll;
using namespace plugin_tests;

namespace {

std::string output_of(const std::string &command) {
    std::string output;
    std::FILE *pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe);
    char buffer[4096];
    for (std::size_t size; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        output.append(buffer, size);
    CHECK_MESSAGE(::pclose(pipe) == 0, command, output);
    return output;
}

} // namespace

TEST_CASE("a locked folder opens what is listed with its sum, and nothing else") {
    Folder folder;
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    output_of(fmt::format("cd '{}' && sha256sum *.so >atoll.lock", folder.path));
    const std::string later = folder.copy(zoo("clash_a"), "later.so");
    check_refused(later, "not listed in the lock file " + folder.path + "/atoll.lock",
                  "sha256sum *.so >atoll.lock");
    std::ofstream(tame, std::ios::app) << '\0'; // an ELF file does not mind
    check_refused(tame, "its SHA-256 sum is ", "says ");
    output_of(fmt::format("cd '{}' && sha256sum *.so >atoll.lock", folder.path));
    load_plugin(tame);
    load_plugin(later);
    retire_plugin("tame");
    retire_plugin("clash_a");
}

TEST_CASE("child: locked by environment" * doctest::skip()) {
    others_work();
    check_refused(zoo("tame"), "not listed in the lock file", "add it: sha256sum");
    // Also in what the search finds.
    load_all_plugins();
    const auto reports = load_report();
    CHECK(contains(find_report(reports, "atoll-hello.so")->reason, "not listed in the lock file"));
    CHECK(find_report(reports, "atoll-dummy.so")->loaded);
}

TEST_CASE("ATOLL_PLUGINS_LOCK holds for every plugin") {
    Folder folder;
    const std::string lock = folder.path + "/machine.lock";
    output_of(fmt::format("sha256sum '{}' '{}' >'{}'", load_plugin("cpu").path.string(),
                          load_plugin("dummy").path.string(), lock));
    const ChildResult child =
        run_child("child: locked by environment", {"ATOLL_PLUGINS_LOCK=" + lock});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: nothing refused" * doctest::skip()) { others_work(); }

TEST_CASE("a lock that is missing opens nothing") {
    // Others cannot work here: nothing loads.
    const ChildResult child =
        run_child("child: nothing refused", {"ATOLL_PLUGINS_LOCK=/no/such/lock"});
    CHECK(child.status != 0);
    CHECK_MESSAGE(contains(child.output, "the lock file /no/such/lock cannot be used: cannot be "
                                         "found: No such file or directory; until it is repaired, "
                                         "no plugin that it applies to is opened"),
                  child.output);
}

TEST_CASE("child: search order" * doctest::skip()) {
    const std::string first = std::getenv("TEST_FIRST"), second = std::getenv("TEST_SECOND");
    const PluginReport tame = load_plugin("tame");
    CHECK(tame.path == first + "/b.so");
    const auto reports = load_report();
    CHECK(find_report(reports, second + "/a.so")->reason ==
          first + "/b.so comes earlier in the search path");
    CHECK(find_report(reports, second + "/a.so")->superseded);
    // The file's name says nothing, the note's does; the order within a folder is that of bytes.
    CHECK(load_plugin("clash_a").path == second + "/B.so");
}

TEST_CASE("folders are searched in their order, files in that of their bytes") {
    Folder first, second;
    first.copy(zoo("tame"), "b.so");
    second.copy(zoo("tame"), "a.so");
    second.copy(zoo("clash_a"), "c.so");
    second.copy(zoo("clash_a"), "B.so");
    const ChildResult child = run_child(
        "child: search order", {"TEST_FIRST=" + first.path, "TEST_SECOND=" + second.path,
                                fmt::format("ATOLL_PLUGIN_PATH={}:{}", first.path, second.path)});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: beside the library" * doctest::skip()) {
    const std::string folder = std::getenv("TEST_FOLDER");
    CHECK(load_plugin("tame").path == folder + "/atoll/tame.so");
    // Nothing of the working directory, which has a good plugin.
    CHECK(caught([] { load_plugin("clash_a"); }).status == Status::not_found);
}

TEST_CASE("the folder `atoll` beside the library is searched, the working directory is not") {
    Folder folder, working;
    copy_library(folder);
    fs::create_directory(folder.path + "/atoll");
    folder.copy(zoo("tame"), "atoll/tame.so");
    working.copy(zoo("clash_a"), "clash_a.so");
    fs::create_directory(working.path + "/atoll");
    working.copy(zoo("clash_a"), "atoll/clash_a.so");
    const ChildResult child = run_child(
        "child: beside the library",
        {"ATOLL_PLUGIN_PATH=", "TEST_FOLDER=" + folder.path, "LD_LIBRARY_PATH=" + folder.path},
        working.path);
    CHECK_MESSAGE(child.status == 0, child.output);
}

namespace {

// Hides /etc from this process behind a folder of its own, so that a test can write there, and
// keeps mounts from spreading; false where the machine allows no mounts.
bool with_own_mounts() {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", "/etc", "tmpfs", 0, nullptr) == 0 && fs::create_directory("/etc/atoll");
}

void trust(const std::string &lines) { std::ofstream("/etc/atoll/trust.conf") << lines; }

void give(const std::string &path, uid_t user, gid_t group, mode_t mode) {
    REQUIRE(::chown(path.c_str(), user, group) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

void check_loads(const std::string &path) {
    CHECK_NOTHROW(load_plugin(path));
    retire_plugin("tame");
}

} // namespace

TEST_CASE("child: trust.conf" * doctest::skip()) {
    if (!with_own_mounts()) {
        MESSAGE("left out: this machine allows no mounts");
        return;
    }
    Folder folder;
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    give(tame, 12345, 0, 0755);
    check_refused(tame, "belongs to user 12345",
                  "or have root write `owner 12345` to /etc/atoll/trust.conf");
    trust("# who installs here\n\nowner nobody-of-this-name\nowner 12345 # a service\n");
    check_loads(tame);
    trust("owner 12346\n");
    check_refused(tame, "belongs to user 12345", "trust.conf");
    trust("group 12345\n");
    check_refused(tame, "belongs to user 12345", "trust.conf");
    trust("owner 12345\nowners 12345\n");
    check_refused(tame, "belongs to user 12345", "is ignored: line 2 is neither `owner NAME` nor");
    trust("owner 12345\n");
    give("/etc/atoll/trust.conf", 0, 0, 0646);
    check_refused(tame, "belongs to user 12345", "is ignored: others than root can write it");
    give("/etc/atoll/trust.conf", 12345, 0, 0644);
    check_refused(tame, "belongs to user 12345", "is ignored: others than root can write it");
    give("/etc/atoll/trust.conf", 0, 23456, 0664);
    check_refused(tame, "belongs to user 12345", "is ignored: others than root can write it");
    give("/etc/atoll/trust.conf", 0, 0, 0664);
    check_loads(tame);
    give("/etc/atoll/trust.conf", 0, 0, 0644);
    check_loads(tame);
    // Everyone may write: nothing helps but the mode.
    give(tame, 12345, 0, 0757);
    check_refused(tame, "writable by everyone", "chmod o-w it");
    // Groups.
    give(tame, 12345, 23456, 0775);
    check_refused(tame, "writable by group 23456", "have root write `group 23456` to");
    trust("owner 12345\ngroup 23456\n");
    check_loads(tame);
}

TEST_CASE("child: read-only mount" * doctest::skip()) {
    if (!with_own_mounts()) {
        MESSAGE("left out: this machine allows no mounts");
        return;
    }
    Folder folder;
    const char *const mounted = folder.path.c_str();
    REQUIRE(::mount("none", mounted, "tmpfs", 0, "mode=0755") == 0);
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    give(tame, 12345, 0, 0755);
    check_refused(tame, "belongs to user 12345", "mount it read-only");
    REQUIRE(::mount("none", mounted, "tmpfs", MS_REMOUNT | MS_RDONLY, "mode=0755") == 0);
    check_loads(tame);
    REQUIRE(::umount2(mounted, MNT_DETACH) == 0);
}

TEST_CASE("owners and groups that root names, and file systems mounted read-only, are trusted") {
    for (const char *name : {"child: trust.conf", "child: read-only mount"}) {
        const ChildResult child = run_child(name, {});
        CHECK_MESSAGE(child.status == 0, child.output);
        if (contains(child.output, "left out")) MESSAGE("left out: this machine allows no mounts");
    }
}

TEST_CASE("child: foreign" * doctest::skip()) {
    const std::string folder = std::getenv("TEST_FOLDER"), tame = folder + "/atoll/tame.so";
    const auto refusal = [&] { return caught([&] { load_plugin(tame); }).text; };
    check_loads("tame");
    // Of a third person.
    give(tame, 12346, 0, 0755);
    CHECK(contains(refusal(), "belongs to user 12346, need root or user 0 or the owner of "
                              "libatoll.so, 12345; chown it"));
    give(tame, 12345, 23456, 0775);
    CHECK(contains(refusal(), "writable by group 23456 (mode 0775); chmod g-w it"));
    give(folder + "/libatoll.so.0.1", 12345, 23456, 0775);
    check_loads(tame);
}

TEST_CASE("the plugins of an installation that a service account made load for everyone") {
    if (::geteuid() != 0) {
        MESSAGE("left out: only root can give files away");
        return;
    }
    Folder folder;
    copy_library(folder);
    fs::create_directory(folder.path + "/atoll");
    folder.copy(zoo("tame"), "atoll/tame.so");
    for (const auto &entry : fs::recursive_directory_iterator(folder.path))
        if (!entry.is_symlink()) give(entry.path(), 12345, 0, 0755);
    const ChildResult child =
        run_child("child: foreign", {"ATOLL_PLUGIN_PATH=", "TEST_FOLDER=" + folder.path,
                                     "LD_LIBRARY_PATH=" + folder.path});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: variants" * doctest::skip()) {
    const std::string folder = std::getenv("ATOLL_PLUGIN_PATH");
    CHECK(load_plugin("variant").path == folder + "/variant_2.so");
    const auto reports = load_report();
    CHECK(find_report(reports, "variant_1.so")->reason ==
          folder + "/variant_2.so is built for a higher level of this processor");
    CHECK(find_report(reports, "variant_1.so")->superseded);
    CHECK(contains(find_report(reports, "variant_9.so")->reason, "built for x86-64-v9"));
    CHECK_FALSE(find_report(reports, "variant_9.so")->superseded); // refused
    CHECK(find_report(reports, "variant_twin.so")->reason ==
          folder + "/variant_2.so is the same plugin and comes first by its file's name");
    CHECK(find_report(reports, "variant_twin.so")->superseded);
    CHECK_FALSE(find_report(reports, "variant_2.so")->superseded);
}

TEST_CASE("of several builds the best for this processor is opened, the others are not") {
    Folder folder;
    for (const char *name : {"variant_1.so", "variant_2.so", "variant_9.so"})
        folder.copy(zoo(fs::path(name).stem().string()), name);
    folder.copy(zoo("variant_2"), "variant_twin.so");
    const ChildResult child = run_child("child: variants", {"ATOLL_PLUGIN_PATH=" + folder.path});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: safe mode" * doctest::skip()) {
    const Caught error = caught([] { load_plugin(zoo("tame")); });
    CHECK(error.status == Status::refused);
    CHECK_MESSAGE(contains(error.text, "the lock file /no/such/lock cannot be used"), error.text);
}

TEST_CASE("safe mode ignores what adds, not what restricts") {
    const ChildResult child =
        run_child("child: safe mode", {"ATOLL_SAFE_MODE=1", "ATOLL_PLUGINS_LOCK=/no/such/lock"});
    CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("a privileged process ignores the environment and trusts files as others do") {
    // Set-group-ID to a group that this process does not run as.
    Folder folder;
    const std::string program = folder.copy(std::getenv("ATOLL_PRIVILEGED"), "privileged");
    gid_t group = 12345;
    if (::geteuid() != 0) {
        gid_t groups[64];
        const int count = ::getgroups(64, groups);
        for (int i = 0; i < count; ++i)
            if (groups[i] != ::getegid()) group = groups[i];
    }
    REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
    if (::chown(program.c_str(), static_cast<uid_t>(-1), group) != 0 ||
        ::chmod(program.c_str(), 02755) != 0) {
        MESSAGE("left out: this user has no second group to make a program privileged with");
        return;
    }
    const std::string cpu = load_plugin("cpu").path, dummy = load_plugin("dummy").path;
    const std::string output = output_of(fmt::format(
        "ATOLL_PLUGINS_DISABLE='*' ATOLL_PLUGINS_LOCK=/no/such/lock ATOLL_INTERPOSERS=trace "
        "ATOLL_DUMMY_DEVICES=5 ATOLL_PROBE=1 ATOLL_PROBE_DEADLINE=bad '{}' '{}' '{}' 2>&1",
        program, cpu, dummy));
    CAPTURE(output);
    if (contains(output, "secure: 0")) {
        MESSAGE("left out: the system makes no program privileged here (nosuid, no_new_privs)");
        return;
    }
    CHECK(contains(output, "secure: 1\n"));
    CHECK(contains(output, "by name: [load_plugin] there is no usable plugin 'dummy'"));
    CHECK_FALSE(contains(output, fs::path(dummy).parent_path().string() + " "));
    CHECK(contains(output, "cpu: cpu\n"));
    CHECK(contains(output, "dummy devices: 2\n"));
    CHECK(contains(output, "interposers: 0\n"));
    // The same program without the privilege takes all of it to heart.
    REQUIRE(::chmod(program.c_str(), 0755) == 0);
    const std::string plain = output_of(
        fmt::format("ATOLL_DUMMY_DEVICES=5 ATOLL_INTERPOSERS=trace '{}' '{}' '{}' 2>/dev/null",
                    program, cpu, dummy));
    CHECK_MESSAGE(contains(plain, "secure: 0\n"), plain);
    CHECK_MESSAGE(contains(plain, "dummy devices: 5\n"), plain);
    CHECK_MESSAGE(contains(plain, "interposers: 1\n"), plain);
}
