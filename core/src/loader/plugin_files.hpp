// Which files may be opened as plugins: search path, listing, the lists in the environment, and the
// processor's level. Opens no plugin; refusals are sentences for load_report().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace Atoll::detail {

// Note [The file that was checked]
// Between its check and its opening by name, an update may replace a file. Its identity is
// therefore recorded at the check, and compared wherever it is read and once it is open: any write
// or rename changes the time of the last status change, which programs cannot set.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified = 0, changed = 0; // nanoseconds: mtime, ctime
    friend bool operator==(const FileIdentity &, const FileIdentity &) = default;
};
// Of the file that is at the path now; empty on an error.
std::optional<FileIdentity> file_identity(const std::string &path);

struct CheckedPath {
    std::string path;           // absolute, without links; "" if there is none
    std::string refusal;        // why the path may not be used; "" if it may
    FileIdentity identity = {}; // of a file that may be used
    bool ok() const { return refusal.empty(); }
};

// Resolves a path and applies Note [Trusted files] of trust.hpp. Open the resulting path, not the
// given one: a link may change in between.
CheckedPath check_plugin_file(const std::string &path);

// The entries of a colon-separated search path, each once. Empty and relative ones are refused:
// they would mean the working directory. Folders are not accessed.
std::vector<CheckedPath> split_search_path(std::string_view list);

// Of an absolute path.
std::string folder_of(const std::string &path);

// The absolute path without links. On an error it is "", and `error` is set.
std::string canonical_path(const std::string &path, std::error_code &error);

// The files in a folder whose names end in ".so" and do not begin with a dot, checked as by
// check_plugin_file (what cannot be resolved keeps its path here), sorted by the bytes of their
// names, so that all runs and file systems give the same order. Not recursive.
struct FolderListing {
    std::vector<CheckedPath> files;
    std::string refusal; // "" if the folder could be listed
};
FolderListing list_plugin_files(const std::string &folder);

// The names or globs of a comma-separated list, without empty ones and the blanks around them.
std::vector<std::string> split_names(std::string_view list);

// The first glob (fnmatch: * ? […]) that matches the plugin's name, or NULL.
const std::string *matching_glob(const std::string &name, const std::vector<std::string> &globs);

} // namespace Atoll::detail
