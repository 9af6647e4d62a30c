// The ELF note reader on a real shared object, on every kind of wrong file, and under a fuzzer.
// ATOLL_TEST_NOTE_MODULE: path of the object built from note_module.c.
#include "atoll/abi/note.h"
#include "loader/elf_note.hpp"
#include "loader/refusal.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace Atoll::detail;

namespace {

using Bytes = std::vector<unsigned char>;

Bytes read_all(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE(in);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

std::string note_module() {
    const char *path = std::getenv("ATOLL_TEST_NOTE_MODULE");
    REQUIRE_MESSAGE(path, "ATOLL_TEST_NOTE_MODULE must name the object with a note");
    return path;
}

const Bytes &module_bytes() {
    static const Bytes bytes = read_all(note_module());
    return bytes;
}

std::string refusal(const Bytes &bytes) {
    std::istringstream file(std::string(bytes.begin(), bytes.end()));
    try {
        parse_plugin_note(file);
        return "";
    } catch (const Atoll::Error &e) {
        CHECK(e.status() == Atoll::Status::incompatible);
        return reason_of(e);
    }
}

bool starts(const std::string &text, const char *with) { return text.rfind(with, 0) == 0; }

Bytes text_bytes(const std::string &text) { return Bytes(text.begin(), text.end()); }

// Where the module's Atoll note begins: its header, then "Atoll\0" padded to 8, then the words.
std::size_t note_offset(const Bytes &bytes) {
    const unsigned char owner[] = "Atoll";
    const auto at = std::search(bytes.begin(), bytes.end(), std::begin(owner), std::end(owner));
    REQUIRE(at != bytes.end());
    return static_cast<std::size_t>(at - bytes.begin()) - sizeof(Elf64_Nhdr);
}
constexpr std::size_t words_in_note = sizeof(Elf64_Nhdr) + 8;

template <class T> Bytes patched(Bytes bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
}

} // namespace

TEST_CASE("reads the facts of a real shared object") {
    const PluginNote note = read_plugin_note(note_module());
    CHECK(note.abi_major == ATOLL_ABI_MAJOR);
    CHECK(note.abi_minor == ATOLL_ABI_MINOR);
    CHECK(note.min_host_minor == 7);
    CHECK(note.isa_level == ATOLL_ISA_LEVEL); // compiled with the same flags as this test
    CHECK(note.sanitizers == ATOLL_SANITIZERS);
    CHECK(note.name == "note-module_1");
}

TEST_CASE("files that are no ELF say what they begin with") {
    CHECK(starts(refusal({}), "not an ELF file (it is empty)"));
    CHECK(starts(refusal(text_bytes("#!/bin/sh\necho hello\n")),
                 "not an ELF file (it starts with \"#!/bin/sh\")"));
    CHECK(starts(refusal(text_bytes("abc")), "not an ELF file (it starts with \"abc\")"));
    CHECK(
        starts(refusal(text_bytes("\x1b[31m")), "not an ELF file (it starts with \"\\x1b[31m\")"));
}

TEST_CASE("other machines, classes, byte orders and types are named") {
    const Bytes &good = module_bytes();
    const auto with_machine = [&](Elf64_Half machine) {
        return refusal(patched(good, offsetof(Elf64_Ehdr, e_machine), machine));
    };
#if defined(__x86_64__)
    CHECK(with_machine(EM_AARCH64) == "ELF for another machine (e_machine 183, this host is "
                                      "x86-64); use a complete file that is built for this "
                                      "machine");
#endif
    CHECK(starts(with_machine(EM_RISCV), "ELF for another machine (e_machine 243"));
    CHECK(starts(refusal(patched(good, EI_CLASS, char(ELFCLASS32))), "32-bit ELF"));
    CHECK(starts(refusal(patched(good, EI_CLASS, char(9))), "ELF of unknown class 9"));
    CHECK(starts(refusal(patched(good, EI_DATA, char(ELFDATA2MSB))), "ELF of another byte order"));
    CHECK(starts(refusal(patched(good, offsetof(Elf64_Ehdr, e_type), Elf64_Half(ET_REL))),
                 "not a shared object"));
}

TEST_CASE("a shared object without the note is no plugin") {
    const Bytes &good = module_bytes();
    const std::size_t at = note_offset(good);
    CHECK(starts(refusal(patched(good, at + sizeof(Elf64_Nhdr), 'B')),
                 "no Atoll note: not an Atoll plugin"));
    CHECK_THROWS_AS(read_plugin_note("/proc/self/exe"), Atoll::Error);
}

TEST_CASE("a broken note says what is wrong with it") {
    const Bytes &good = module_bytes();
    const std::size_t at = note_offset(good), words = at + words_in_note;
    const auto with_word = [&](std::size_t index, std::uint32_t value) {
        return refusal(patched(good, words + 4 * index, value));
    };
    CHECK(starts(with_word(0, 0x12345678), "Atoll note of unknown magic 0x12345678"));
    CHECK(starts(refusal(patched(good, at + offsetof(Elf64_Nhdr, n_type), 2u)),
                 "Atoll note of unknown type 2"));
    const auto size_at = at + offsetof(Elf64_Nhdr, n_descsz);
    CHECK(starts(refusal(patched(good, size_at, 8u)), "Atoll note too short (8 bytes"));
    CHECK(starts(refusal(patched(good, size_at, 28u)), "Atoll note whose name is not terminated"));
    CHECK(starts(refusal(patched(good, size_at, 0xffffffffu)), "truncated: a note needs"));
    CHECK(starts(refusal(patched(good, at + offsetof(Elf64_Nhdr, n_namesz), 0xfffffff0u)),
                 "truncated: a note needs"));
    CHECK(starts(refusal(patched(good, words + 24, 'N')),
                 "Atoll note with the invalid plugin name '"));
    CHECK(starts(refusal(patched(good, words + 24, '\0')),
                 "Atoll note with the invalid plugin name '"));
    CHECK(starts(refusal(patched(good, words + 26, '/')),
                 "Atoll note with the invalid plugin name '"));
    // Another major is the loader's to judge: it is read, not refused.
    CHECK(with_word(1, 2u << 16 | 3) == "");
}

TEST_CASE("two notes in one file are refused") {
    // Points a segment that is not needed at the note once more.
    Bytes bytes = module_bytes();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::size_t at = note_offset(bytes);
    bool found = false;
    for (int i = 0; i < header.e_phnum && !found; ++i) {
        const std::size_t offset = header.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;
        std::memcpy(&segment, bytes.data() + offset, sizeof segment);
        if (segment.p_type == PT_LOAD || segment.p_type == PT_NOTE) continue;
        segment.p_type = PT_NOTE;
        segment.p_offset = at;
        segment.p_filesz = words_in_note + 24 + 16;
        segment.p_align = 4;
        bytes = patched(bytes, offset, segment);
        found = true;
    }
    REQUIRE(found);
    CHECK(starts(refusal(bytes), "two Atoll notes in one file"));
}

TEST_CASE("a file that is cut off anywhere is refused") {
    const Bytes &good = module_bytes();
    REQUIRE(refusal(good) == "");
    for (std::size_t size = 0; size < good.size(); ++size) {
        const std::string why = refusal(Bytes(good.begin(), good.begin() + size));
        const bool said =
            size < SELFMAG ? starts(why, "not an ELF file") : starts(why, "truncated: ");
        if (!said) {
            CAPTURE(size);
            CAPTURE(why);
            REQUIRE(said);
        }
    }
}

TEST_CASE("flipped bytes never crash the reader") {
    const Bytes &good = module_bytes();
    Elf64_Ehdr header;
    std::memcpy(&header, good.data(), sizeof header);
    // Where the reader looks: the ELF header, the program headers, the note. One byte at a time,
    // with the values that break sizes, then many at once and anywhere.
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < sizeof header; ++i) places.push_back(i);
    for (std::size_t i = 0; i < header.e_phnum * sizeof(Elf64_Phdr); ++i)
        places.push_back(header.e_phoff + i);
    for (std::size_t i = 0; i < 64; ++i) places.push_back(note_offset(good) + i);
    int accepted = 0, refused = 0;
    const auto feed = [&](const Bytes &bytes) { ++(refusal(bytes).empty() ? accepted : refused); };
    for (const std::size_t place : places)
        for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff, good[place] ^ 1, good[place] ^ 0x40})
            feed(patched(good, place, static_cast<unsigned char>(value)));
    std::mt19937 random(20240607);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    for (int round = 0; round < 5000; ++round) {
        Bytes bytes = good;
        for (std::size_t flips = 1 + below(6); flips > 0; --flips) {
            const std::size_t place = below(4) ? places[below(places.size())] : below(bytes.size());
            bytes[place] = static_cast<unsigned char>(random());
        }
        if (below(4) == 0) bytes.resize(below(bytes.size()) + 1);
        feed(bytes);
    }
    CHECK(accepted > 100);
    CHECK(refused > 1000);
}

TEST_CASE("a file that cannot be read is an error") {
    CHECK_THROWS_WITH_AS(read_plugin_note("/nonexistent/x.so"),
                         "[load_plugin] cannot be read: No such file or directory", Atoll::Error);
}
