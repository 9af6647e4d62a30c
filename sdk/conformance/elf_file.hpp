// Contents of an ELF file, read without loading it.
#pragma once

#include <string>
#include <vector>

namespace Atoll::conformance {

struct ElfFile {
    std::vector<std::string> exported;  // names of defined dynamic symbols, weak ones too
    std::vector<std::string> undefined; // names that must come from elsewhere, weak ones left out
    std::vector<std::string> needed;    // DT_NEEDED
    std::vector<std::string> run_paths; // DT_RPATH and DT_RUNPATH, one entry each
    bool executable_stack = false;
    bool text_relocations = false;

    // The descriptor of the note "Atoll": six words, then a name. Empty name: there is none.
    unsigned note_words[6] = {};
    std::string note_name;
};

// Throws std::runtime_error with a description of the problem. Does not trust the file.
ElfFile read_elf(const std::string &path);

} // namespace Atoll::conformance
