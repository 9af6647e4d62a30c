// Which files are trusted, search paths, listings, globs, the environment, the processor's level.
#include "atoll/isa_level.hpp"
#include "base/environment.hpp"
#include "loader/plugin_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

using namespace Atoll::detail;
namespace fs = std::filesystem;

namespace {

// A fresh folder of mode 0755, removed at the end.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "atoll-files-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()));
        path_ = fs::canonical(name);
        mode(path_, 0755);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    std::string file(const std::string &name, mode_t bits = 0644) const {
        const std::string path = path_ / name;
        std::ofstream(path) << "content";
        mode(path, bits);
        return path;
    }
    const fs::path &path() const { return path_; }
    static void mode(const fs::path &path, mode_t bits) {
        REQUIRE(::chmod(path.c_str(), bits) == 0);
    }

private:
    fs::path path_;
};

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("an ordinary file in an ordinary folder is trusted") {
    const Folder folder;
    const std::string file = folder.file("a.so");
    const CheckedPath checked = check_plugin_file(file);
    CHECK(checked.ok());
    CHECK(checked.path == file);
    CHECK(check_plugin_file(folder.file("executable.so", 0755)).ok());
    CHECK(check_plugin_file((folder.path() / "." / "a.so").string()).path == file);
}

TEST_CASE("what is no regular file is refused") {
    const Folder folder;
    CHECK(contains(check_plugin_file((folder.path() / "missing.so").string()).refusal,
                   "cannot be found: No such file"));
    CHECK(check_plugin_file(folder.path().string()).refusal == "a folder, not a file");
    CHECK(check_plugin_file("/dev/null").refusal == "not a regular file");
    CHECK(check_plugin_file("").refusal == "not a file name");
    CHECK(check_plugin_file(std::string("/bin/sh\0.so", 11)).refusal == "not a file name");
}

TEST_CASE("a file that others may write is refused") {
    const Folder folder;
    CHECK(contains(check_plugin_file(folder.file("a.so", 0646)).refusal,
                   "is writable by everyone (mode 0646)"));
}

TEST_CASE("a folder that others may write is refused, sticky or not") {
    const Folder folder;
    const std::string file = folder.file("a.so");
    for (const mode_t bits : {0757, 01777}) {
        Folder::mode(folder.path(), bits);
        CHECK(contains(check_plugin_file(file).refusal, "its folder"));
        CHECK(contains(check_plugin_file(file).refusal, "writable by everyone"));
    }
    Folder::mode(folder.path(), 0755);
    CHECK(check_plugin_file(file).ok());
}

TEST_CASE("group write counts unless the group is root's or the user's own") {
    const Folder folder;
    const std::string file = folder.file("a.so");
    REQUIRE(::chown(file.c_str(), static_cast<uid_t>(-1), ::getegid()) == 0);
    Folder::mode(file, 0664);
    CHECK(check_plugin_file(file).ok());
    if (::geteuid() != 0) return; // only root may give a file away
    REQUIRE(::chown(file.c_str(), 0, 12345) == 0);
    CHECK(contains(check_plugin_file(file).refusal, "is writable by group 12345"));
    Folder::mode(file, 0644);
    CHECK(check_plugin_file(file).ok());
    REQUIRE(::chown(folder.path().c_str(), 0, 12345) == 0);
    Folder::mode(folder.path(), 0775);
    CHECK(contains(check_plugin_file(file).refusal, "its folder"));
}

TEST_CASE("a file or folder of another user is refused") {
    if (::geteuid() != 0) {
        // Not root: root's files are trusted.
        CHECK(check_plugin_file(fs::canonical("/bin/sh").string()).ok());
        return;
    }
    const Folder folder;
    const std::string file = folder.file("a.so");
    REQUIRE(::chown(file.c_str(), 12345, 0) == 0);
    CHECK(contains(check_plugin_file(file).refusal, "belongs to user 12345"));
    REQUIRE(::chown(file.c_str(), 0, 0) == 0);
    REQUIRE(::chown(folder.path().c_str(), 12345, 0) == 0);
    CHECK(contains(check_plugin_file(file).refusal, "its folder"));
    CHECK(contains(check_plugin_file(file).refusal, "belongs to user 12345"));
}

TEST_CASE("a link is judged by the file and folder that it leads to") {
    const Folder open, closed;
    const std::string good = closed.file("good.so"), bad = closed.file("bad.so", 0666);
    Folder::mode(open.path(), 01777);
    const fs::path to_good = open.path() / "1.so", to_bad = open.path() / "2.so";
    fs::create_symlink(good, to_good);
    fs::create_symlink(bad, to_bad);
    CHECK(check_plugin_file(to_good.string()).ok());
    CHECK(check_plugin_file(to_good.string()).path == good);
    CHECK(contains(check_plugin_file(to_bad.string()).refusal, bad));
    const fs::path circle = closed.path() / "circle.so";
    fs::create_symlink(circle, circle);
    CHECK(contains(check_plugin_file(circle.string()).refusal, "cannot be found"));
}

TEST_CASE("a search path is split in order and never means the working directory") {
    CHECK(split_search_path("").empty());
    const auto folders = split_search_path("/b:/a:relative:/b:.");
    REQUIRE(folders.size() == 4);
    CHECK(folders[0].path == "/b");
    CHECK(folders[0].ok());
    CHECK(folders[1].path == "/a");
    CHECK(folders[1].ok());
    CHECK(folders[2].path == "relative");
    CHECK(contains(folders[2].refusal, "relative folder"));
    CHECK(folders[3].path == ".");
    CHECK(!folders[3].ok());
    for (const char *list : {":/a", "/a:", "/a::/b", ":"}) {
        const auto parts = split_search_path(list);
        CHECK(std::count_if(parts.begin(), parts.end(), [](const CheckedPath &part) {
                  return part.path.empty() && contains(part.refusal, "working directory");
              }) == 1);
    }
}

TEST_CASE("a folder is listed in sorted order, shared objects only") {
    const Folder folder;
    for (const char *name : {"b.so", "a.so", "B.so", "c.so.1", "readme.txt", ".hidden.so", "so"})
        folder.file(name);
    const FolderListing listing = list_plugin_files(folder.path().string());
    CHECK(listing.refusal.empty());
    const std::string base = folder.path().string() + "/";
    REQUIRE(listing.files.size() == 3);
    CHECK(listing.files[0].path == base + "B.so");
    CHECK(listing.files[1].path == base + "a.so");
    CHECK(listing.files[2].path == base + "b.so");
    for (const CheckedPath &file : listing.files) CHECK(file.identity == *file_identity(file.path));
    CHECK(list_plugin_files(base).files.size() == 3);
    CHECK(contains(list_plugin_files(base + "missing").refusal, "No such file"));
    CHECK(contains(list_plugin_files(base + "a.so").refusal, "Not a directory"));
}

TEST_CASE("names split at commas and globs match whole names") {
    CHECK(split_names("").empty());
    CHECK(split_names(" , ,").empty());
    CHECK(split_names("cpu, dummy*,, x ") == std::vector<std::string>{"cpu", "dummy*", "x"});
    const std::vector<std::string> globs{"cu*", "dum?y", "[xy]z"};
    REQUIRE(matching_glob("cuda", globs));
    CHECK(*matching_glob("cuda", globs) == "cu*");
    CHECK(*matching_glob("dummy", globs) == "dum?y");
    CHECK(*matching_glob("yz", globs) == "[xy]z");
    CHECK(matching_glob("cpu", globs) == nullptr);
    CHECK(matching_glob("dummy2", globs) == nullptr);
    CHECK(matching_glob("cuda", {}) == nullptr);
}

TEST_CASE("the environment is read, and unset differs from empty") {
    REQUIRE(::setenv("ATOLL_TEST_VARIABLE", "value", 1) == 0);
    CHECK(secure_environment("ATOLL_TEST_VARIABLE") == "value");
    REQUIRE(::setenv("ATOLL_TEST_VARIABLE", "", 1) == 0);
    CHECK(secure_environment("ATOLL_TEST_VARIABLE") == "");
    REQUIRE(::unsetenv("ATOLL_TEST_VARIABLE") == 0);
    CHECK(!secure_environment("ATOLL_TEST_VARIABLE"));
}

TEST_CASE("AArch64 processors have levels of their own") {
    constexpr unsigned long half = 1ul << 9 | 1ul << 10, dots = 1ul << 20, sve = 1ul << 22;
    CHECK(Atoll::sdk::arm_level(0, 0) == 1);
    CHECK(Atoll::sdk::arm_level(half | sve, 1ul << 1) == 1); // a level has all of those below
    CHECK(Atoll::sdk::arm_level(half | dots, 1ul << 1) == 2);
    CHECK(Atoll::sdk::arm_level(half | dots | sve, 0) == 3);
    CHECK(Atoll::sdk::arm_level(half | dots | sve, 1ul << 1) == 4);
}

TEST_CASE("the level of this processor agrees with the compiler's own detection") {
#if defined(__x86_64__)
    const int level = Atoll::sdk::isa_level();
    CHECK((level >= 2) == bool(__builtin_cpu_supports("sse4.2")));
    CHECK((level >= 3) == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi2")));
    CHECK((level >= 4) ==
          (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq")));
#elif !defined(__aarch64__)
    CHECK(Atoll::sdk::isa_level() == 0);
#endif
}
