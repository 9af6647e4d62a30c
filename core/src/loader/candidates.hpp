// Which files could be loaded: the search, the checks before a file is opened, and the report on
// every file that was examined. Hold the registry's mutex.
#pragma once

#include "atoll/plugins.hpp"
#include "loader/elf_note.hpp"
#include "loader/plugin_files.hpp"

#include <map>
#include <string>
#include <vector>

namespace Atoll::detail {

struct Candidate {
    CheckedPath file;
    PluginNote note;
};

// The folder of this library; "" if unknown.
std::string library_folder();
// The folders that are searched, in their order.
std::vector<std::string> searched_folders();
// The best candidate for each plugin name, sorted by folder and file name.
std::vector<Candidate> find_candidates();
// The file as a candidate; throws Error with the reason.
Candidate examine(const std::string &path, CheckedPath file);

// On every file that was examined, by path.
std::map<std::string, PluginReport> &reports();
// Reports why a file is not loaded, unless it is.
void explain(const std::string &path, const std::string &name, const std::string &reason,
             bool superseded = false);

} // namespace Atoll::detail
