// Which files could be loaded: the search, the checks before a file is opened, and what became of
// every file that was looked at.
#pragma once

#include "atoll/plugins.hpp"
#include "loader/elf_note.hpp"
#include "loader/plugin_files.hpp"

#include <map>
#include <string>
#include <vector>

namespace Atoll::detail {

// The folder of this library; "" if it cannot be told.
std::string library_folder();

struct Candidate {
    CheckedPath file;
    PluginNote note;
};

// Under the registry's mutex.
class Candidates {
public:
    // The folders that are searched, in their order.
    std::vector<std::string> search_path();
    // The best candidates that the search finds: one for each name, sorted by file.
    std::vector<Candidate> search();
    // The file as a candidate; throws Error with the reason.
    Candidate examine(const std::string &path);
    // Notes why a file is not loaded, unless it is.
    void explain(const std::string &path, const std::string &name, const std::string &reason,
                 bool superseded = false);

    std::map<std::string, PluginReport> reports; // by path
};

} // namespace Atoll::detail
