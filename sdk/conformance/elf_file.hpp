// What an ELF file says about itself, read without opening it as a library.
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

// Throws std::runtime_error that says what is wrong with the file. Nothing in it is trusted.
ElfFile read_elf(const std::string &path);

} // namespace Atoll::conformance
