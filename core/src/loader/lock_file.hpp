// Lock files: which plugin files may be opened, by their SHA-256 sums.
#pragma once

#include "loader/plugin_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace Atoll::detail {

// Note [Lock files]
// A lock lists the files that may be opened, in the format of sha256sum(1): an administrator writes
// one with `cd FOLDER && sha256sum *.so >atoll.lock`. A file must be listed in each of these two
// that exists:
//   - `atoll.lock` in the folder of the plugin's file, for every file of that folder;
//   - the file that ATOLL_PLUGINS_LOCK names, by an absolute path, for every plugin.
// Names in a lock are absolute, or relative to its folder; of two lines for one file the last
// counts. A lock is itself subject to Note [Trusted files]. One that cannot be read or trusted, or
// contains an invalid line, refuses every file that it applies to: a lock never opens up by
// accident.

struct LockEntry {
    std::string path; // as written
    std::string sum;  // 64 hexadecimal digits in lower case
};
// The lines of a lock; throws Error that names an invalid one.
std::vector<LockEntry> parse_lock(const std::string &text);

// Throws Error (refused) unless the locks allow a file that check_plugin_file has accepted. The sum
// is that of the file that was checked. `environment_lock`: the value of ATOLL_PLUGINS_LOCK.
void require_unlocked(const CheckedPath &file, const std::optional<std::string> &environment_lock);

} // namespace Atoll::detail
