// Lock files: which plugin files may be opened, by their SHA-256 sums.
#pragma once

#include "loader/plugin_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace Atoll::detail {

// Note [Lock files]
// A lock lists the files that may be opened, in the format of sha256sum(1), so that an
// administrator writes one with `cd FOLDER && sha256sum *.so >atoll.lock`. There are two, and a
// file must satisfy each that exists:
//   - `atoll.lock` in the folder of the plugin's file holds for every file of that folder;
//   - the file that ATOLL_PLUGINS_LOCK names, by an absolute path, holds for every plugin.
// Names in a lock are relative to its folder, or absolute; of two lines for one file the last
// counts. A lock is itself subject to Note [Trusted files]. One that cannot be read or trusted, or
// that has a line which is no entry, refuses everything that it holds for: a lock never opens up by
// accident.

struct LockEntry {
    std::string path; // as written
    std::string sum;  // 64 hexadecimal digits in lower case
};
// The lines of a lock; `refusal` says which of them is no entry, "" if all are.
std::vector<LockEntry> parse_lock(const std::string &text, std::string &refusal);

// Why the locks refuse a file that check_plugin_file has accepted; "" if they do not. The sum is
// taken of the very file that was checked. `environment_lock`: what ATOLL_PLUGINS_LOCK says, if it
// counts.
std::string locked_out(const CheckedPath &file, const std::optional<std::string> &environment_lock);

} // namespace Atoll::detail
