// Whose files may be opened: Note [Trusted files].
#include "loader/trust.hpp"

#include "base/environment.hpp"
#include "loader/plugin_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <pwd.h>
#include <sstream>
#include <unistd.h>
#include <vector>

#include <fmt/core.h>

namespace Atoll::detail {
namespace {

constexpr const char *trust_file = "/etc/atoll/trust.conf";

// What the administrator trusts besides root.
struct Trust {
    std::vector<uid_t> owners;
    std::vector<gid_t> groups;
    std::string problem; // why the file does not hold: " (… is ignored: …)"

    void ignore(const std::string &why) {
        *this = {};
        problem = fmt::format(" ({} is ignored: {})", trust_file, why);
    }
};

template <class Id> bool holds(const std::vector<Id> &list, Id id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

// The number of a user or group; false if this machine does not know the name, as one node of many.
template <class Id, class Entry>
bool number_of(const std::string &name, Id &number,
               int (*find)(const char *, Entry *, char *, std::size_t, Entry **),
               Id Entry::*number_in) {
    const char *const end = name.data() + name.size();
    if (const auto [rest, code] = std::from_chars(name.data(), end, number);
        code == std::errc() && rest == end)
        return true;
    Entry entry, *found = nullptr;
    std::vector<char> texts(1 << 16);
    if (find(name.c_str(), &entry, texts.data(), texts.size(), &found) != 0 || !found) return false;
    number = entry.*number_in;
    return true;
}

Trust read_trust() {
    Trust trust;
    struct stat facts;
    if (::stat(trust_file, &facts) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) trust.ignore("it cannot be read");
        return trust;
    }
    if (facts.st_uid != 0 || (facts.st_mode & S_IWOTH) ||
        ((facts.st_mode & S_IWGRP) && facts.st_gid != 0)) {
        trust.ignore("others than root can write it");
        return trust;
    }
    std::ifstream file(trust_file);
    if (!file) trust.ignore("it cannot be read");
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        std::istringstream words(line.substr(0, line.find('#')));
        std::string kind, name, more;
        if (!(words >> kind)) continue;
        if (!(words >> name) || words >> more || (kind != "owner" && kind != "group")) {
            trust.ignore(fmt::format("line {} is neither `owner NAME` nor `group NAME`", number));
            return trust;
        }
        if (uid_t owner; kind == "owner") {
            if (number_of(name, owner, ::getpwnam_r, &passwd::pw_uid))
                trust.owners.push_back(owner);
        } else if (gid_t group; number_of(name, group, ::getgrnam_r, &::group::gr_gid))
            trust.groups.push_back(group);
    }
    return trust;
}

bool has_option(const std::string &options, const std::string &option) {
    return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

// Whether the path lies on a file system that root mounted read-only. A user can mount with FUSE,
// which then names that user.
bool on_read_only_mount(const std::string &path) {
#ifdef STATX_MNT_ID
    struct statx facts;
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &facts) != 0 ||
        !(facts.stx_mask & STATX_MNT_ID))
        return false;
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::uint64_t id = 0;
        std::string parent, device, root, point, options, word, type, source, super;
        if (!(words >> id) || id != facts.stx_mnt_id) continue;
        words >> parent >> device >> root >> point >> options;
        while (words >> word && word != "-") {
        }
        words >> type >> source >> super;
        const bool of_user = type.starts_with("fuse") && !has_option(super, "user_id=0");
        return words && !of_user && (has_option(options, "ro") || has_option(super, "ro"));
    }
#else
    (void)path;
#endif
    return false;
}

} // namespace

const std::string &library_file() {
    static const std::string file = []() -> std::string {
        Dl_info self;
        static const char anchor = 0;
        if (!dladdr(&anchor, &self) || !self.dli_fname) return "";
        std::error_code error;
        return canonical_path(self.dli_fname, error); // "" on an error
    }();
    return file;
}

std::string distrust(const char *what, const std::string &path, const struct stat &facts) {
    if (facts.st_mode & S_IWOTH)
        return fmt::format("{} {} is writable by everyone (mode {:04o}); chmod o-w it", what, path,
                           facts.st_mode & 07777u);
    const uid_t user = ::geteuid();
    const bool foreign = facts.st_uid != 0 && facts.st_uid != user;
    const bool shared =
        (facts.st_mode & S_IWGRP) && facts.st_gid != 0 && facts.st_gid != ::getegid();
    if (!foreign && !shared) return "";

    const bool privileged = !environment_trusted();
    struct stat library {};
    const std::string &own = library_file();
    const bool beside = !privileged && !own.empty() && ::stat(own.c_str(), &library) == 0 &&
                        library.st_dev == facts.st_dev;
    const Trust trust = privileged ? Trust() : read_trust();
    if (foreign && !(beside && library.st_uid == facts.st_uid) &&
        !holds(trust.owners, facts.st_uid) && (privileged || !on_read_only_mount(path)))
        return fmt::format("{} {} belongs to user {}, need root or user {}{}; chown it{}{}", what,
                           path, facts.st_uid, user,
                           privileged ? " in a privileged process"
                           : beside
                               ? fmt::format(" or the owner of libatoll.so, {}", library.st_uid)
                               : "",
                           privileged ? ""
                                      : fmt::format(", mount it read-only, or have root write "
                                                    "`owner {}` to {}",
                                                    facts.st_uid, trust_file),
                           trust.problem);
    const bool writes_library =
        beside && (library.st_mode & S_IWGRP) && library.st_gid == facts.st_gid;
    if (shared && !writes_library && !holds(trust.groups, facts.st_gid))
        return fmt::format("{} {} is writable by group {} (mode {:04o}); chmod g-w it{}{}", what,
                           path, facts.st_gid, facts.st_mode & 07777u,
                           privileged ? ""
                                      : fmt::format(", or have root write `group {}` to {}",
                                                    facts.st_gid, trust_file),
                           trust.problem);
    return "";
}

} // namespace Atoll::detail
