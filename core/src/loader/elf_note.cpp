// The ELF reader behind elf_note.hpp. No number in the file is trusted: offsets and sizes are
// compared with the file's size before a byte is read, without sums that wrap.
#include "loader/elf_note.hpp"

#include "atoll/abi/note.h"
#include "base/printable.hpp"
#include "loader/refusal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <optional>
#include <vector>

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

constexpr std::string_view note_owner("Atoll", 6); // with its terminator
// Notes are a few dozen bytes. A segment beyond this is a forgery that only costs memory.
constexpr std::uint64_t max_note_segment = 1 << 20;

// The file is damaged, or for another machine.
template <class... Args>
[[noreturn]] void refuse_file(fmt::format_string<Args...> text, Args &&...args) {
    refuse(Status::incompatible, "{}; use a complete file that is built for this machine",
           fmt::format(text, std::forward<Args>(args)...));
}
// The file is complete and its note is wrong.
template <class... Args>
[[noreturn]] void refuse_note(fmt::format_string<Args...> text, Args &&...args) {
    refuse(Status::incompatible, "{}; report it to its vendor",
           fmt::format(text, std::forward<Args>(args)...));
}

// Reads only what lies within the file.
class File {
public:
    explicit File(std::istream &in) : in_(in) {
        in_.seekg(0, std::ios::end);
        size_ = static_cast<std::uint64_t>(in_.tellg());
    }
    std::uint64_t size() const { return size_; }
    void need(const char *what, std::uint64_t offset, std::uint64_t count) const {
        if (offset > size_ || count > size_ - offset)
            refuse_file("truncated: {} needs {} bytes at offset {}, the file has {}", what, count,
                        offset, size_);
    }
    template <class T>
    std::vector<T> read(const char *what, std::uint64_t offset, std::size_t count) const {
        need(what, offset, count * sizeof(T));
        std::vector<T> values(count);
        in_.seekg(static_cast<std::streamoff>(offset));
        in_.read(reinterpret_cast<char *>(values.data()),
                 static_cast<std::streamsize>(count * sizeof(T)));
        if (!in_) refuse_file("truncated: the file shrank while it was read");
        return values;
    }

private:
    std::istream &in_;
    std::uint64_t size_;
};

Elf64_Ehdr read_header(const File &file) {
    if (file.size() == 0) refuse_file("not an ELF file (it is empty)");
    const auto bytes = file.read<char>("the start", 0, std::min<std::uint64_t>(16, file.size()));
    const std::string_view start(bytes.data(), bytes.size());
    if (!start.starts_with(ELFMAG))
        refuse_file("not an ELF file (it starts with \"{}\")",
                    printable(start.substr(0, start.find_first_of("\r\n"))));
    const Elf64_Ehdr header = file.read<Elf64_Ehdr>("the ELF header", 0, 1).front();
    const int file_class = header.e_ident[EI_CLASS];
    if (file_class == ELFCLASS32) refuse_file("32-bit ELF, this host is 64-bit");
    if (file_class != ELFCLASS64) refuse_file("ELF of unknown class {}", file_class);
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        refuse_file("ELF of another byte order, this host is little-endian");
    if (header.e_machine != host_machine)
        refuse_file("ELF for another machine (e_machine {}, this host is {})", header.e_machine,
                    host_machine_name);
    if (header.e_type != ET_DYN)
        refuse_file("not a shared object (e_type {}, need {})", header.e_type, ET_DYN);
    return header;
}

std::vector<Elf64_Phdr> read_segments(const File &file) {
    const Elf64_Ehdr header = read_header(file);
    if (header.e_phnum == 0) refuse_file("ELF without program headers, so without a note");
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        refuse_file("ELF with program headers of {} bytes, need {}", header.e_phentsize,
                    sizeof(Elf64_Phdr));
    const auto segments =
        file.read<Elf64_Phdr>("the program header table", header.e_phoff, header.e_phnum);
    for (const Elf64_Phdr &segment : segments)
        if (segment.p_type == PT_LOAD) file.need("a segment", segment.p_offset, segment.p_filesz);
    // Linkers put the section headers last, so this finds nearly every truncated file.
    if (header.e_shoff != 0)
        file.need("the section header table", header.e_shoff,
                  std::uint64_t(header.e_shnum) * header.e_shentsize);
    return segments;
}

// A note's descriptor: six words, then the name.
PluginNote decode(std::uint32_t type, std::string_view descriptor) {
    std::array<std::uint32_t, 6> words;
    if (type != ATOLL_NOTE_TYPE)
        refuse_note("Atoll note of unknown type {}, need {}", type, ATOLL_NOTE_TYPE);
    if (descriptor.size() < sizeof words + 2)
        refuse_note("Atoll note too short ({} bytes, need at least {})", descriptor.size(),
                    sizeof words + 2);
    std::memcpy(words.data(), descriptor.data(), sizeof words);
    const auto [magic, abi, min_host_minor, kinds, isa_level, sanitizers] = words;
    if (magic != ATOLL_MAGIC)
        refuse_note("Atoll note of unknown magic {:#010x}, need {:#010x}", magic, ATOLL_MAGIC);
    std::string_view name = descriptor.substr(sizeof words);
    const std::size_t end = name.find('\0');
    if (end == name.npos) refuse_note("Atoll note whose name is not terminated");
    name = name.substr(0, end);
    if (!valid_name(name))
        refuse_note("Atoll note with the invalid plugin name '{}': need [a-z][a-z0-9_-]*, at most "
                    "31 characters",
                    printable(name.substr(0, 40)));
    return {static_cast<std::uint16_t>(abi >> 16),
            static_cast<std::uint16_t>(abi & 0xffff),
            min_host_minor,
            isa_level,
            sanitizers,
            std::string(name)};
}

// Walks the notes of one segment; sets `found` if Atoll's is among them.
void find_note(std::string_view bytes, std::uint64_t alignment, std::optional<PluginNote> &found) {
    // Name and descriptor are padded to 4 bytes, in a segment aligned to 8 (gABI for 64-bit
    // objects; GNU property notes) to 8.
    const std::uint64_t unit = alignment == 8 ? 8 : 4;
    const auto padded = [unit](std::uint64_t size) { return (size + unit - 1) / unit * unit; };
    Elf64_Nhdr header;
    while (bytes.size() >= sizeof header) {
        std::memcpy(&header, bytes.data(), sizeof header);
        // Sizes are 32-bit, so these 64-bit sums cannot wrap.
        const std::uint64_t descriptor = padded(sizeof header + std::uint64_t(header.n_namesz));
        const std::uint64_t end = descriptor + header.n_descsz;
        if (end > bytes.size())
            refuse_file("truncated: a note needs {} bytes, its segment has {} left", end,
                        bytes.size());
        if (bytes.substr(sizeof header, header.n_namesz) == note_owner) {
            if (found) refuse_note("two Atoll notes in one file");
            found = decode(header.n_type, bytes.substr(descriptor, header.n_descsz));
        }
        bytes.remove_prefix(std::min<std::uint64_t>(padded(end), bytes.size()));
    }
}

} // namespace

bool valid_name(std::string_view name) {
    return !name.empty() && name.size() <= 31 && name[0] >= 'a' && name[0] <= 'z' &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == name.npos;
}

PluginNote parse_plugin_note(std::istream &in) {
    const File file(in);
    std::optional<PluginNote> note;
    bool executable_stack = false;
    for (const Elf64_Phdr &segment : read_segments(file)) {
        if (segment.p_type == PT_GNU_STACK) executable_stack = segment.p_flags & PF_X;
        if (segment.p_type != PT_NOTE) continue;
        if (segment.p_filesz > max_note_segment)
            refuse_file("note segment of {} bytes, need at most {}", segment.p_filesz,
                        max_note_segment);
        const auto bytes = file.read<char>("a note segment", segment.p_offset, segment.p_filesz);
        find_note({bytes.data(), bytes.size()}, segment.p_align, note);
    }
    if (!note)
        refuse(Status::incompatible, "no Atoll note: not an Atoll plugin; keep other files out of "
                                     "plugin folders");
    if (executable_stack)
        refuse_note("requests executable stacks, which every thread of the process would get: link "
                    "it with -Wl,-z,noexecstack");
    return std::move(*note);
}

PluginNote read_plugin_note(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(Status::incompatible, "cannot be read: {}", std::strerror(errno));
    return parse_plugin_note(file);
}

} // namespace Atoll::detail
