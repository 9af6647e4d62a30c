// The ELF reader behind elf_note.hpp. Every number in the file is hostile until checked: offsets
// and sizes are compared against the file's size before a byte is read, without sums that wrap.
#include "loader/elf_note.hpp"

#include "atoll/abi/note.h"
#include "loader/plugin_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half host_machine = EM_X86_64;
constexpr const char *host_machine_name = "x86-64";
#elif defined(__aarch64__)
constexpr Elf64_Half host_machine = EM_AARCH64;
constexpr const char *host_machine_name = "aarch64";
#else
#error "name this machine here"
#endif

constexpr std::string_view note_owner = "Atoll";
// Notes are a few dozen bytes. A segment beyond this is a forgery that only costs memory.
constexpr std::uint64_t max_note_segment = 1 << 20;

struct Refused {
    std::string why;
};
// The file is damaged, or for another machine.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args &&...args) {
    throw Refused{fmt::format("{}; get a whole one, built for this machine",
                              fmt::format(text, std::forward<Args>(args)...))};
}
// The file is whole and its note is wrong.
template <class... Args>
[[noreturn]] void refuse_note(fmt::format_string<Args...> text, Args &&...args) {
    throw Refused{
        fmt::format("{}; report it to its vendor", fmt::format(text, std::forward<Args>(args)...))};
}

// The bytes of a file, from memory or from disk.
struct File {
    std::uint64_t size;
    std::function<void(std::uint64_t offset, void *to, std::size_t count)> copy;

    bool holds(std::uint64_t offset, std::uint64_t count) const {
        return offset <= size && count <= size - offset;
    }
    void read(const char *what, std::uint64_t offset, void *to, std::size_t count) const {
        need(what, offset, count);
        if (count > 0) copy(offset, to, count);
    }
    void need(const char *what, std::uint64_t offset, std::uint64_t count) const {
        if (!holds(offset, count))
            refuse("truncated: {} needs {} bytes at offset {}, the file has {}", what, count,
                   offset, size);
    }
};

// The first bytes of something that is no ELF file, as a person can recognise it.
std::string beginning(const File &file) {
    char bytes[16];
    const std::size_t count = std::min<std::uint64_t>(sizeof bytes, file.size);
    file.read("the start", 0, bytes, count);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned char c = bytes[i];
        if (c == '\n' || c == '\r') break;
        text += c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c))
                                      : fmt::format("\\x{:02x}", c);
    }
    return text;
}

Elf64_Ehdr read_header(const File &file) {
    if (file.size == 0) refuse("not an ELF file (it is empty)");
    Elf64_Ehdr header{};
    unsigned char *ident = header.e_ident;
    if (file.size >= SELFMAG) file.read("the magic", 0, ident, SELFMAG);
    if (std::memcmp(ident, ELFMAG, SELFMAG) != 0)
        refuse("not an ELF file (it starts with \"{}\")", beginning(file));
    file.read("the ELF identification", 0, ident, EI_NIDENT);
    if (ident[EI_CLASS] == ELFCLASS32) refuse("32-bit ELF, this host is 64-bit");
    if (ident[EI_CLASS] != ELFCLASS64) refuse("ELF of unknown class {}", ident[EI_CLASS]);
    if (ident[EI_DATA] != ELFDATA2LSB)
        refuse("ELF of another byte order, this host is little-endian");
    file.read("the ELF header", 0, &header, sizeof header);
    if (header.e_machine != host_machine)
        refuse("ELF for another machine (e_machine {}, this host is {})", header.e_machine,
               host_machine_name);
    if (header.e_type != ET_DYN)
        refuse("not a shared object (e_type {}, need {})", header.e_type, ET_DYN);
    return header;
}

std::vector<Elf64_Phdr> read_segments(const File &file, const Elf64_Ehdr &header) {
    if (header.e_phnum == 0) refuse("ELF without program headers: no note can be in it");
    if (header.e_phnum == PN_XNUM) refuse("ELF with too many program headers");
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        refuse("ELF with program headers of {} bytes, need {}", header.e_phentsize,
               sizeof(Elf64_Phdr));
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    file.read("the program header table", header.e_phoff, segments.data(),
              segments.size() * sizeof(Elf64_Phdr));
    for (const Elf64_Phdr &segment : segments)
        if (segment.p_type == PT_LOAD) file.need("a segment", segment.p_offset, segment.p_filesz);
    // Linkers put the section headers last, so this finds nearly every file that is cut off.
    if (header.e_shoff != 0)
        file.need("the section header table", header.e_shoff,
                  std::uint64_t(header.e_shnum) * header.e_shentsize);
    return segments;
}

std::uint32_t word(const unsigned char *at) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

PluginNote decode(std::uint32_t type, std::span<const unsigned char> descriptor) {
    constexpr std::size_t words = 6 * sizeof(std::uint32_t);
    if (type != ATOLL_NOTE_TYPE)
        refuse_note("Atoll note of unknown type {}, need {}", type, ATOLL_NOTE_TYPE);
    if (descriptor.size() < words + 2)
        refuse_note("Atoll note too short ({} bytes, need at least {})", descriptor.size(),
                    words + 2);
    const unsigned char *at = descriptor.data();
    if (word(at) != ATOLL_MAGIC)
        refuse_note("Atoll note of unknown magic {:#010x}, need {:#010x}", word(at), ATOLL_MAGIC);
    const auto tail = descriptor.subspan(words);
    const auto end = std::find(tail.begin(), tail.end(), '\0');
    if (end == tail.end()) refuse_note("Atoll note whose name is not terminated");
    PluginNote note{static_cast<std::uint16_t>(word(at + 4) >> 16),
                    static_cast<std::uint16_t>(word(at + 4) & 0xffff),
                    word(at + 8),
                    word(at + 12),
                    word(at + 16),
                    word(at + 20),
                    std::string(tail.begin(), end)};
    if (!valid_name(note.name))
        refuse_note(
            "Atoll note with a bad plugin name: need [a-z][a-z0-9_-]*, at most {} characters",
            max_plugin_name);
    return note;
}

// Walks the notes of one segment; true and `found` set if Atoll's is among them.
bool find_note(std::span<const unsigned char> bytes, std::uint64_t alignment, PluginNote &found) {
    // Name and descriptor are padded to 4 bytes, in a segment aligned to 8 (gABI for 64-bit
    // objects; GNU property notes) to 8.
    const std::uint64_t unit = alignment == 8 ? 8 : 4;
    const auto padded = [unit](std::uint64_t size) { return (size + unit - 1) / unit * unit; };
    bool any = false;
    while (bytes.size() >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        std::memcpy(&header, bytes.data(), sizeof header);
        // Sizes are 32-bit, so these 64-bit sums cannot wrap.
        const std::uint64_t descriptor = padded(sizeof header + std::uint64_t(header.n_namesz));
        const std::uint64_t end = descriptor + header.n_descsz;
        if (end > bytes.size())
            refuse("truncated: a note needs {} bytes, its segment has {} left", end, bytes.size());
        const std::string_view owner(reinterpret_cast<const char *>(bytes.data()) + sizeof header,
                                     header.n_namesz);
        if (owner == std::string_view(note_owner.data(), note_owner.size() + 1)) {
            if (any) refuse_note("two Atoll notes in one file");
            any = true;
            found = decode(header.n_type, bytes.subspan(descriptor, header.n_descsz));
        }
        bytes = bytes.subspan(std::min<std::uint64_t>(padded(end), bytes.size()));
    }
    return any;
}

PluginNote parse(const File &file) {
    const Elf64_Ehdr header = read_header(file);
    PluginNote note{};
    bool any = false, executable_stack = false;
    std::vector<unsigned char> bytes;
    for (const Elf64_Phdr &segment : read_segments(file, header)) {
        if (segment.p_type == PT_GNU_STACK) executable_stack = segment.p_flags & PF_X;
        if (segment.p_type != PT_NOTE) continue;
        file.need("a note segment", segment.p_offset, segment.p_filesz);
        if (segment.p_filesz > max_note_segment)
            refuse("note segment of {} bytes, at most {} make sense", segment.p_filesz,
                   max_note_segment);
        bytes.resize(segment.p_filesz);
        file.read("a note segment", segment.p_offset, bytes.data(), bytes.size());
        if (find_note(bytes, segment.p_align, note)) {
            if (any) refuse_note("two Atoll notes in one file");
            any = true;
        }
    }
    if (!any)
        throw Refused{"no Atoll note: not an Atoll plugin; keep other files out of the folders of "
                      "plugins"};
    if (executable_stack)
        refuse_note("asks for executable stacks, which every thread of the process would get: link "
                    "it with -Wl,-z,noexecstack");
    return note;
}

std::optional<PluginNote> parse_or_say(const File &file, std::string &refusal) {
    try {
        refusal.clear();
        return parse(file);
    } catch (Refused &refused) {
        refusal = std::move(refused.why);
        return std::nullopt;
    }
}

} // namespace

bool valid_name(std::string_view name) {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && name.size() <= max_plugin_name && is_lower(name[0]) &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return is_lower(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
           });
}

std::optional<PluginNote> parse_plugin_note(std::span<const unsigned char> file,
                                            std::string &refusal) {
    return parse_or_say(
        {file.size(), [&](std::uint64_t offset, void *to,
                          std::size_t count) { std::memcpy(to, file.data() + offset, count); }},
        refusal);
}

std::optional<PluginNote> read_plugin_note(const std::string &path, std::string &refusal) {
    errno = 0;
    const OpenFile file(path);
    if (!file) {
        refusal = errno == EINVAL ? "not a regular file"
                                  : fmt::format("cannot be read: {}", std::strerror(errno));
        return std::nullopt;
    }
    const auto copy = [&](std::uint64_t offset, void *to, std::size_t count) {
        auto *at = static_cast<unsigned char *>(to);
        while (count > 0) {
            const long got = file.read(offset, at, count);
            if (got < 0) throw Refused{fmt::format("cannot be read: {}", std::strerror(errno))};
            if (got == 0) refuse("truncated: the file shrank while it was read");
            at += got;
            offset += static_cast<std::uint64_t>(got);
            count -= static_cast<std::size_t>(got);
        }
    };
    return parse_or_say({file.identity().size, copy}, refusal);
}

} // namespace Atoll::detail
