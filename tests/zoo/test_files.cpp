// Beasts that are refused for what their file is, before any of their code runs, or by the system.
#include "zoo_tests.hpp"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <functional>
#include <random>
#include <sys/stat.h>

#include <fmt/format.h>

using namespace Atoll;
using namespace plugin_tests;

namespace {

std::string content(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A good plugin with its ELF header changed.
std::string patched(const std::function<void(Elf64_Ehdr &)> &change) {
    std::string bytes = content(zoo("tame"));
    Elf64_Ehdr header;
    REQUIRE(bytes.size() > sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

std::string random_bytes(std::size_t count, const std::string &start = "") {
    std::mt19937 generator(1);
    std::string bytes = start;
    while (bytes.size() < count) bytes += static_cast<char>(generator());
    return bytes;
}

} // namespace

TEST_CASE("files that are no plugin are refused before they run") {
    Folder folder;
    const auto check = [](const std::string &path, const char *cause) {
        const Refusal refusal = refused(path);
        CHECK_MESSAGE(contains(refusal.error.text, path), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.error.text, cause), refusal.error.text);
        CHECK_MESSAGE(contains(refusal.reason, cause), refusal.reason);
    };
    check(folder.file("text.so", "#!/bin/sh\necho hello\n"), "not an ELF file");
    check(folder.file("empty.so", ""), "it is empty");
    fs::create_directory(folder.path + "/folder.so");
    check(folder.path + "/folder.so", "a folder, not a file");
    check(test_plugin("other_major"), "built for plugin ABI 2.2, this host");
    check(
        fs::canonical(test_plugin("../note_module")),
        "needs a host of draft 7 of the plugin ABI or newer, this host has draft 2; update Atoll");
    check(test_plugin("no_query"), "does not export atoll_plugin_query_v0; link it with");

    // Cut off anywhere: the head, the middle, the last byte.
    std::ifstream in(test_plugin("odd"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(whole.size() > 4096);
    for (const std::size_t size : {std::size_t{20}, std::size_t{64}, std::size_t{1000},
                                   whole.size() / 2, whole.size() - 1}) {
        const std::string path =
            folder.file("cut" + std::to_string(size) + ".so", whole.substr(0, size));
        const Refusal refusal = refused(path);
        CHECK(contains(refusal.error.text, path));
        CHECK_MESSAGE(contains(refusal.error.text, "truncated"), size, refusal.error.text);
    }

    // Somebody else could have written it.
    const std::string open = folder.copy(test_plugin("odd"), "open.so");
    fs::permissions(open, fs::perms::others_write, fs::perm_options::add);
    check(open, "chmod o-w");
    fs::permissions(open, fs::perms::others_write, fs::perm_options::remove);
    fs::permissions(folder.path, fs::perms::others_write, fs::perm_options::add);
    check(open, "its folder");
    fs::permissions(folder.path, fs::perms::others_write, fs::perm_options::remove);
    load_plugin(open);
    // The same plugin from another file.
    const Caught twin = caught([] { load_plugin(test_plugin("odd")); });
    CHECK(contains(twin.text, open));
    CHECK(contains(twin.text, "retire it first"));
    retire_plugin("odd");
    check_cpu_works();
}

TEST_CASE("damaged and foreign files are refused before they run") {
    Folder folder;
    const auto with = [](auto change) { return patched(change); };
    struct Case {
        const char *kind;
        std::string bytes;
        const char *cause;
    };
    const Case cases[] = {
        {"random", random_bytes(10'000), "not an ELF file (it starts with"},
        {"random-elf", random_bytes(10'000, ELFMAG), "ELF"},
        {"class", with([](auto &h) { h.e_ident[EI_CLASS] = ELFCLASS32; }), "32-bit ELF"},
        {"no-class", with([](auto &h) { h.e_ident[EI_CLASS] = 9; }), "ELF of unknown class 9"},
        {"order", with([](auto &h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }), "another byte order"},
        {"machine", with([](auto &h) { h.e_machine = EM_S390; }), "ELF for another machine"},
        {"object", with([](auto &h) { h.e_type = ET_REL; }), "not a shared object (e_type 1"},
        {"executable", with([](auto &h) { h.e_type = ET_EXEC; }), "not a shared object (e_type 2"},
        {"segments", with([](auto &h) { h.e_phnum = 0; }), "so without a note"},
        {"beyond", with([](auto &h) { h.e_phoff = ~std::uint64_t{0}; }), "truncated"},
        {"sections", with([](auto &h) { h.e_shoff = std::uint64_t{1} << 60; }), "truncated"},
    };
    for (const Case &c : cases)
        check_refused(folder.file(fmt::format("{}.so", c.kind), c.bytes), c.cause,
                      "use a complete file that is built for this machine");
}

TEST_CASE("what is no file, or not an own one, is refused") {
    Folder folder;
    const std::string fifo = folder.path + "/fifo.so";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    check_refused(fifo, "not a regular file", "");
    check_refused("/dev/null", "not a regular file", "");
    const std::string loop = folder.path + "/loop.so";
    fs::create_symlink(loop, loop);
    const Caught endless = caught([&] { load_plugin(loop); });
    CHECK_MESSAGE(contains(endless.text, loop + ": cannot be found: Too many levels"),
                  endless.text);
    // A link from a safe folder into one that others write to.
    Folder open;
    fs::permissions(open.path, fs::perms::others_write, fs::perm_options::add);
    const std::string lure = folder.path + "/lure.so", real = open.copy(zoo("tame"), "tame.so");
    fs::create_symlink(real, lure);
    CHECK(contains(caught([&] { load_plugin(lure); }).text,
                   "its folder " + open.path + " is writable"));
    // Terabytes of nothing.
    const std::string sparse = folder.file("sparse.so", "");
    REQUIRE(::truncate(sparse.c_str(), std::int64_t{1} << 40) == 0);
    check_refused(sparse, "not an ELF file", "use a complete file");
    // A library that is no plugin.
    check_refused(fs::canonical(zoo("libzoo_absent")).string(),
                  "no Atoll note: not an Atoll plugin", "");
    if (::geteuid() != 0) return; // only root may give a file away
    const std::string foreign = folder.copy(zoo("tame"), "foreign.so");
    REQUIRE(::chown(foreign.c_str(), 12345, 12345) == 0);
    check_refused(foreign, "belongs to user 12345, need root or user", "chown");
}

TEST_CASE("what the note says of a file is judged before it runs") {
    check_refused(zoo("other_major"), "built for plugin ABI 2.2, this host", "get a build for it");
    check_refused(zoo("other_draft"), "built for draft 3 of the plugin ABI, this host has draft 2",
                  "rebuild the plugin against the headers of this Atoll");
    check_refused(zoo("newer_minor"), "needs a host of draft 7 of the plugin ABI or newer",
                  "update Atoll");
    check_refused(zoo("isa_level"), "built for x86-64-v9, this processor is x86-64-v",
                  "use a build for a lower level");
    check_refused(zoo("isa_garbage"), "built for x86-64-v4294967295", "use a build for a lower");
    check_refused(zoo("sanitizer"), "sanitizer", "build both alike");
    check_refused(zoo("executable_stack"), "requests executable stacks",
                  "link it with -Wl,-z,noexecstack");
    check_refused(zoo("two_notes"), "two Atoll notes in one file", "report it to its vendor");
    // The same beasts in a folder that is searched: left out and explained, the others load.
    Folder folder;
    for (const char *kind :
         {"other_major", "other_draft", "newer_minor", "isa_level", "sanitizer", "two_notes"})
        folder.copy(zoo(kind), fmt::format("{}.so", kind));
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    const Variable path("ATOLL_PLUGIN_PATH",
                        fmt::format("{}:{}", folder.path, std::getenv("ATOLL_PLUGIN_PATH")));
    CHECK(load_plugin("tame").path == tame);
    retire_plugin("tame");
    others_work();
}

TEST_CASE("what the system cannot open is refused with its words") {
    check_refused(zoo("absent_library"), "libzoo_gone.so.1: cannot open shared object file",
                  "check what it links (ldd ");
    Folder folder;
    check_refused(
        folder.file("osabi.so", patched([](auto &h) { h.e_ident[EI_OSABI] = ELFOSABI_FREEBSD; })),
        "ELF file OS ABI invalid", "check what it links (ldd ");
    check_refused(zoo("undefined_symbol"), "undefined symbol: zoo_nowhere",
                  "check what it links (ldd ");
}

TEST_CASE("child: constructor throws" * doctest::skip()) { load_plugin(zoo("constructor_throws")); }

TEST_CASE("an exception that leaves a constructor ends the process with words") {
    const ChildResult child = run_child("child: constructor throws", {});
    CHECK(child.status != 0);
    for (const char *part : {"constructor_throws.so: an exception left a constructor of this file "
                             "(constructor exploded)",
                             "the process ends here", "ATOLL_PROBE=1"})
        CHECK_MESSAGE(contains(child.output, part), child.output);
}

TEST_CASE("a file that changes while it is opened, or was replaced since, is refused") {
    Folder folder;
    const std::string writes = folder.copy(zoo("constructor_writes"), "writes.so");
    check_refused(writes, "the file changed while it was opened", "try again");
    const std::string tame = folder.copy(zoo("tame"), "tame.so");
    load_plugin(tame);
    retire_plugin("tame");
    fs::remove(tame);
    folder.copy(zoo("tame"), "tame.so");
    check_refused(tame, "has been replaced since this process opened it", "restart the process");
}

TEST_CASE("a file whose section headers were stripped is whole") {
    Folder folder;
    const std::string stripped = folder.file(
        "stripped.so", patched([](auto &h) { h.e_shoff = h.e_shnum = h.e_shstrndx = 0; }));
    CHECK(load_plugin(stripped).name == "tame");
    retire_plugin("tame");
}

TEST_CASE("a file that was written over is not opened under another name either") {
    Folder folder;
    const std::string first = folder.copy(zoo("tame"), "first.so");
    const std::string second = folder.path + "/second.so";
    const std::string third = folder.path + "/third.so";
    fs::create_hard_link(first, second);
    fs::create_hard_link(first, third);
    load_plugin(first);
    check_refused(second, "a plugin 'tame' is loaded already, from " + first, "retire it first");
    retire_plugin("tame");
    load_plugin(second); // the same file
    retire_plugin("tame");
    // In place, so that name, inode and size stay. What the process has mapped is the former code.
    REQUIRE(::utimensat(AT_FDCWD, first.c_str(), nullptr, 0) == 0);
    check_refused(third, "the file has been replaced since this process opened it",
                  "restart the process");
}
