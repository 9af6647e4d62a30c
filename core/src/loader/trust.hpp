// Whose files may be opened as plugins.
#pragma once

#include <string>
#include <sys/stat.h>

namespace Atoll::detail {

// Note [Trusted files]
// Opening a library runs its code, so a file is opened only if nobody could have written it who
// does not control the process anyway. After symbolic links are resolved, the file must be regular.
// The file and its folder must
//   - belong to root, to the effective user, to the owner of libatoll.so (if they are on its file
//     system), or to an owner in /etc/atoll/trust.conf; or lie on a file system that root mounted
//     read-only, whoever the owner is;
//   - not be writable by everyone, not even in a sticky folder such as /tmp, where others can
//     create files;
//   - not be writable by their group, unless it is root's, the user's primary group (with one
//     private group per user, Debian's default, a umask of 002 makes every build group-writable), a
//     group in /etc/atoll/trust.conf, or one that can write libatoll.so too.
// A privileged process (set-user-ID and the like) trusts root, the effective user and their primary
// groups alone. Folders further up, and access control lists, are the administrator's
// responsibility.
//
// /etc/atoll/trust.conf has lines `owner NAME` and `group NAME`, where a number may stand for a
// name, and comments from `#`. It must belong to root and be writable by root alone. If it is not,
// or has another line, none of it holds, and refusals say so.

// Why the note refuses a file or folder, and what would help; "" if it does not. `what`: "the
// file", "its folder".
std::string distrust(const char *what, const std::string &path, const struct stat &facts);

// libatoll.so's own file, without links; "" if it cannot be found.
const std::string &library_file();

} // namespace Atoll::detail
