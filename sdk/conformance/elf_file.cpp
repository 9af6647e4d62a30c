// Reading symbols, dynamic section and note of a 64-bit ELF file.
#include "elf_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace Atoll::conformance {

namespace {

class Bytes {
public:
    explicit Bytes(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error("cannot be read");
        file.seekg(0, std::ios::end);
        bytes_.resize(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)));
        file.seekg(0);
        file.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
        if (!file) throw std::runtime_error("cannot be read as a whole");
    }
    // A copy of the T at an offset; files are not aligned.
    template <class T> T at(std::uint64_t offset) const {
        if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset)
            throw std::runtime_error("truncated: something lies outside the file");
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    std::string text(std::uint64_t offset) const {
        std::string text;
        for (; at<char>(offset) != '\0'; ++offset) text += at<char>(offset);
        return text;
    }

private:
    std::vector<char> bytes_;
};

void read_symbols(const Bytes &bytes, const Elf64_Shdr &symbols, const Elf64_Shdr &names,
                  ElfFile &file) {
    for (std::uint64_t i = 1; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
        const auto symbol = bytes.at<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
        const auto binding = ELF64_ST_BIND(symbol.st_info);
        const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        const std::string name = bytes.text(names.sh_offset + symbol.st_name);
        if (name.empty() || ELF64_ST_TYPE(symbol.st_info) == STT_SECTION) continue;
        if (symbol.st_shndx == SHN_UNDEF) {
            if (binding == STB_GLOBAL) file.undefined.push_back(name);
        } else if (binding != STB_LOCAL &&
                   (visibility == STV_DEFAULT || visibility == STV_PROTECTED) &&
                   symbol.st_shndx != SHN_ABS) { // version names are absolute
            file.exported.push_back(name);
        }
    }
}

void read_dynamic(const Bytes &bytes, const Elf64_Shdr &dynamic, const Elf64_Shdr &names,
                  ElfFile &file) {
    for (std::uint64_t i = 0; i < dynamic.sh_size / sizeof(Elf64_Dyn); ++i) {
        const auto entry = bytes.at<Elf64_Dyn>(dynamic.sh_offset + i * sizeof(Elf64_Dyn));
        const auto text = [&] { return bytes.text(names.sh_offset + entry.d_un.d_val); };
        if (entry.d_tag == DT_NULL) return;
        if (entry.d_tag == DT_NEEDED) file.needed.push_back(text());
        if (entry.d_tag == DT_TEXTREL) file.text_relocations = true;
        if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
            std::istringstream list(text());
            for (std::string folder; std::getline(list, folder, ':');)
                file.run_paths.push_back(folder);
        }
    }
}

void read_note(const Bytes &bytes, const Elf64_Shdr &note, ElfFile &file) {
    const auto header = bytes.at<Elf64_Nhdr>(note.sh_offset);
    if (header.n_namesz != 6 || header.n_descsz < sizeof file.note_words + 2 ||
        bytes.text(note.sh_offset + sizeof header) != "Atoll")
        return;
    const std::uint64_t words = note.sh_offset + sizeof header + 8;
    for (std::uint64_t i = 0; i < 6; ++i) file.note_words[i] = bytes.at<unsigned>(words + 4 * i);
    file.note_name = bytes.text(words + sizeof file.note_words);
}

} // namespace

ElfFile read_elf(const std::string &path) {
    const Bytes bytes(path);
    const auto header = bytes.at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        throw std::runtime_error("not an ELF file: give the shared object that the linker wrote");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        throw std::runtime_error("not a 64-bit little-endian ELF file: build it for this machine");
    ElfFile file;
    const auto section = [&](std::uint64_t index) {
        return bytes.at<Elf64_Shdr>(header.e_shoff + index * header.e_shentsize);
    };
    for (int i = 0; i < header.e_phnum; ++i) {
        const auto segment = bytes.at<Elf64_Phdr>(header.e_phoff + static_cast<std::uint64_t>(i) *
                                                                       header.e_phentsize);
        if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X))
            file.executable_stack = true;
    }
    if (header.e_shnum == 0) throw std::runtime_error("has no section table: do not strip it off");
    const Elf64_Shdr section_names = section(header.e_shstrndx);
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr own = section(i);
        if (own.sh_type == SHT_DYNSYM) read_symbols(bytes, own, section(own.sh_link), file);
        if (own.sh_type == SHT_DYNAMIC) read_dynamic(bytes, own, section(own.sh_link), file);
        if (own.sh_type == SHT_NOTE &&
            bytes.text(section_names.sh_offset + own.sh_name) == ".note.atoll")
            read_note(bytes, own, file);
    }
    return file;
}

} // namespace Atoll::conformance
