// Which files may be opened as plugins: trust, search path, listing, the lists in the environment,
// and the processor's level. Nothing here opens a plugin; refusals are sentences for load_report().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Note [Trusted files]
// Opening a library runs its code, so a file is opened only if nobody but root and the effective
// user could have written it. Symbolic links are resolved first; what counts is the file and the
// folder that they lead to. Both must
//   - be a regular file, and a folder;
//   - belong to root or to the effective user;
//   - not be writable by everyone, a sticky folder such as /tmp included: others can put files of
//     theirs there;
//   - not be writable by their group, unless that group is root's or the user's own primary group:
//     with one private group per user (Debian's default) a umask of 002 makes every build so.
// Folders further up, and access control lists, are the administrator's business.

// Note [The file that was checked]
// Between the check of a file and its opening by name it could be replaced: by an update, for
// nobody but root and the user can write where it lies. So its identity is noted at the check,
// compared wherever it is read, and compared again when it is open: any write or rename changes the
// time of the last status change, which programs cannot set.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified = 0, changed = 0; // nanoseconds: mtime, ctime
    friend bool operator==(const FileIdentity &, const FileIdentity &) = default;
};
// Of what lies at the path now; nothing if that cannot be said.
std::optional<FileIdentity> file_identity(const std::string &path);

// An answer, or why not.
struct CheckedPath {
    std::string path;           // absolute, without links; "" if there is none
    std::string refusal;        // "" if the path may be used
    FileIdentity identity = {}; // of a file that may be used
    bool ok() const { return refusal.empty(); }
};

// Resolves a path and applies Note [Trusted files]. The result is what must be opened, not what
// was given: a link may be changed in between.
CheckedPath check_plugin_file(const std::string &path);

// A colon-separated search path in its order. Empty and relative entries come back refused: they
// would mean the working directory. Entries that occur again are dropped. Folders are not touched.
std::vector<CheckedPath> split_search_path(std::string_view list);

// Of an absolute path.
std::string folder_of(const std::string &path);

// The candidates in a folder: the names that end in ".so" and do not begin with a dot, as full
// paths sorted by byte value, so that every run and every file system gives the same order. Not
// recursive. The files themselves are not checked.
struct FolderListing {
    std::vector<std::string> files;
    std::string refusal; // "" if the folder could be listed
};
FolderListing list_plugin_files(const std::string &folder);

// A comma-separated list of names or globs: blanks around entries and empty entries are dropped.
std::vector<std::string> split_names(std::string_view list);

// The first glob (fnmatch: * ? […]) that matches the plugin's name, or NULL.
const std::string *matching_glob(const std::string &name, const std::vector<std::string> &globs);

// The x86-64 level of this processor, 1 to 4, as the psABI defines it: a level needs all of its
// features, and the operating system must save the registers. 0 on other machines.
int isa_level();
// The same for AArch64, from what the kernel tells of the processor (AT_HWCAP, AT_HWCAP2).
int arm_level(unsigned long hwcap, unsigned long hwcap2);
// A level of the machine that this is compiled for, for messages: "x86-64-v3", "AArch64 with SVE".
std::string level_name(std::uint32_t level);

} // namespace Atoll::detail
