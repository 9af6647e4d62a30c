// Lock files: their format, what they hold for, and that a damaged one opens up nothing.
#include "loader/lock_file.hpp"
#include "loader/refusal.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace Atoll::detail;
namespace fs = std::filesystem;

namespace {

// Sums of "content" and of "other", as sha256sum(1) says.
constexpr const char *sum_of_content =
    "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
constexpr const char *sum_of_other =
    "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";

class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "atoll-lock-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()));
        path = fs::canonical(name).string();
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string file(const std::string &name, const std::string &content) const {
        const std::string full = path + "/" + name;
        std::ofstream(full, std::ios::binary | std::ios::trunc) << content;
        REQUIRE(::chmod(full.c_str(), 0644) == 0);
        return full;
    }
    std::string path;
};

// Why the locks refuse the file, "" if they do not.
std::string judged(const CheckedPath &file,
                   const std::optional<std::string> &environment_lock = std::nullopt) {
    REQUIRE(file.ok());
    try {
        require_unlocked(file, environment_lock);
        return "";
    } catch (const Atoll::Error &e) {
        CHECK(e.status() == Atoll::Status::refused);
        return reason_of(e);
    }
}
std::string judged(const std::string &path,
                   const std::optional<std::string> &environment_lock = std::nullopt) {
    return judged(check_plugin_file(path), environment_lock);
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

std::string line(const std::string &sum, const std::string &name) {
    return sum + "  " + name + "\n";
}

} // namespace

TEST_CASE("lines of sha256sum are understood, any other line is named") {
    std::string capitals(sum_of_content);
    for (char &c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto entries = parse_lock("# plugins of this machine\n\n" + line(sum_of_content, "a.so") +
                                    capitals + " */opt/b b.so\r\n" + sum_of_other + "  c.so");
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].path == "a.so");
    CHECK(entries[0].sum == sum_of_content);
    CHECK(entries[1].path == "/opt/b b.so");
    CHECK(entries[1].sum == sum_of_content);
    CHECK(entries[2].path == "c.so");
    for (const std::string &bad :
         {std::string("a.so"), std::string(sum_of_content), sum_of_content + std::string("  "),
          std::string(sum_of_content).substr(1) + "  a.so", std::string(64, 'g') + "  a.so",
          sum_of_content + std::string("a.so"), "\\" + line(sum_of_content, "a\\nb.so"),
          "SHA256 (a.so) = " + std::string(sum_of_content)}) {
        CAPTURE(bad);
        std::string refusal;
        try {
            parse_lock(line(sum_of_other, "x.so") + bad);
        } catch (const Atoll::Error &e) {
            refusal = e.what();
        }
        CHECK(contains(refusal, "line 2 is not in sha256sum format"));
    }
}

TEST_CASE("the lock of a folder holds for its files, and for no others") {
    const Folder locked, open;
    const std::string a = locked.file("a.so", "content"), b = locked.file("b.so", "content");
    CHECK(judged(a) == "");
    locked.file("atoll.lock", line(sum_of_content, "a.so"));
    CHECK(judged(a) == "");
    const std::string unlisted = judged(b);
    CHECK_MESSAGE(contains(unlisted, "not listed in the lock file " + locked.path + "/atoll.lock"),
                  unlisted);
    CHECK_MESSAGE(contains(unlisted, "cd " + locked.path + " && sha256sum *.so >atoll.lock"),
                  unlisted);
    CHECK(judged(open.file("b.so", "content")) == "");
    // Reached through a link: the folder where the file is counts.
    fs::create_symlink(b, open.path + "/link.so");
    CHECK(contains(judged(open.path + "/link.so"), "not listed"));
    // Written in other ways.
    for (const char *name : {"./b.so", "././b.so"}) {
        locked.file("atoll.lock", line(sum_of_content, name));
        CHECK(judged(b) == "");
    }
    locked.file("atoll.lock", line(sum_of_content, b));
    CHECK(judged(b) == "");
    locked.file("atoll.lock", "");
    CHECK(contains(judged(a), "not listed"));
}

TEST_CASE("another sum is refused with both sums and the remedy") {
    const Folder folder;
    const std::string a = folder.file("a.so", "other");
    folder.file("atoll.lock", line(sum_of_content, "a.so"));
    const std::string refusal = judged(a);
    CHECK_MESSAGE(contains(refusal, sum_of_other), refusal);
    CHECK(contains(refusal, std::string("says ") + sum_of_content));
    CHECK(contains(refusal, "write the lock anew: cd " + folder.path));
    // The last of two lines counts.
    folder.file("atoll.lock", line(sum_of_content, "a.so") + line(sum_of_other, "a.so"));
    CHECK(judged(a) == "");
    // The sum of a file longer than one part.
    folder.file("a.so", std::string(1'000'000, 'x'));
    CHECK(contains(judged(a), "SHA-256 sum is "));
    const std::string command = "cd '" + folder.path + "' && sha256sum *.so >atoll.lock";
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK(judged(a) == "");
}

TEST_CASE("the lock of the environment holds for every plugin, besides that of the folder") {
    const Folder folder, etc;
    const std::string a = folder.file("a.so", "content");
    const std::string lock = etc.file("machine.lock", line(sum_of_content, a));
    CHECK(judged(a, lock) == "");
    CHECK(judged(a, "") == "");
    CHECK(contains(judged(folder.file("b.so", "content"), lock),
                   "add it: sha256sum " + folder.path + "/b.so >>" + lock));
    folder.file("atoll.lock", line(sum_of_other, "a.so"));
    CHECK(contains(judged(a, lock), "atoll.lock says"));
    fs::remove(folder.path + "/atoll.lock");
    etc.file("machine.lock", line(sum_of_other, a));
    CHECK(contains(judged(a, lock), "machine.lock says"));
    CHECK(contains(judged(a, "machine.lock"), "need an absolute path"));
    CHECK(contains(judged(a, etc.path + "/missing"), "cannot be found"));
}

TEST_CASE("a lock that cannot be trusted or read refuses all that it holds for") {
    const Folder folder;
    const std::string a = folder.file("a.so", "content");
    const std::string good = line(sum_of_content, "a.so");
    const std::string lock = folder.file("atoll.lock", good);
    CHECK(judged(a) == "");
    REQUIRE(::chmod(lock.c_str(), 0646) == 0);
    CHECK(contains(judged(a), "writable by everyone"));
    CHECK(contains(judged(a), "until it is repaired, no plugin that it applies to is opened"));
    folder.file("atoll.lock", good + "nonsense\n");
    CHECK(contains(judged(a), "line 2 is not in sha256sum format: \"nonsense\""));
    folder.file("atoll.lock", std::string(2 << 20, '#'));
    CHECK(contains(judged(a), "larger than 1 MiB"));
    fs::remove(lock);
    fs::create_symlink(folder.path + "/nowhere", lock);
    CHECK(contains(judged(a), "cannot be found"));
    fs::remove(lock);
    fs::create_directory(lock);
    CHECK(contains(judged(a), "a folder, not a file"));
    fs::remove(lock);
    if (::geteuid() == 0) { // only root may give a file away
        folder.file("atoll.lock", good);
        REQUIRE(::chown(lock.c_str(), 12345, 0) == 0);
        CHECK(contains(judged(a), "belongs to user 12345"));
    }
}

TEST_CASE("the sum is that of the file that was checked") {
    const Folder folder;
    const std::string a = folder.file("a.so", "content");
    folder.file("atoll.lock", line(sum_of_content, "a.so"));
    const CheckedPath checked = check_plugin_file(a);
    CHECK(judged(checked) == "");
    // The same bytes in another file of the same name.
    fs::rename(folder.file("b.so", "content"), a);
    CHECK(contains(judged(checked), "was replaced while it was examined"));
    CHECK(judged(a) == "");
}
