// Files and search lists: see plugin_files.hpp.
#include "loader/plugin_files.hpp"

#include "loader/trust.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fnmatch.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace Atoll::detail {
namespace {

FileIdentity identity_of(const struct stat &facts) {
    const auto nanoseconds = [](const timespec &time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    return {facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
            nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim)};
}

// The parts of a list, including empty ones; none of "".
std::vector<std::string> parts_of(std::string_view list, char separator) {
    std::vector<std::string> parts;
    if (list.empty()) return parts;
    std::istringstream rest(std::string(list) + separator);
    for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
    return parts;
}

std::string distrust_folder(const std::string &folder) {
    struct stat facts;
    return ::stat(folder.c_str(), &facts) == 0
               ? distrust("its folder", folder, facts)
               : fmt::format("its folder cannot be read: {}", std::strerror(errno));
}

// Of a path without links, in a folder that may not be trusted itself.
CheckedPath check_resolved(const std::string &file, const std::string &folder_refusal) {
    struct stat facts;
    if (::lstat(file.c_str(), &facts) != 0)
        return {"", fmt::format("cannot be read: {}", std::strerror(errno))};
    if (S_ISDIR(facts.st_mode)) return {file, "a folder, not a file"};
    if (!S_ISREG(facts.st_mode)) return {file, "not a regular file"};
    const std::string refusal = distrust("the file", file, facts);
    return {file, refusal.empty() ? folder_refusal : refusal, identity_of(facts)};
}

} // namespace

std::string canonical_path(const std::string &path, std::error_code &error) {
    // The kernel knows the path of what is open: two calls, where a walk takes one for each folder.
    if (const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC); file >= 0) {
        char resolved[PATH_MAX];
        const std::string link = fmt::format("/proc/self/fd/{}", file);
        const ssize_t size = ::readlink(link.c_str(), resolved, sizeof resolved);
        ::close(file);
        if (size > 0 && resolved[0] == '/' && static_cast<std::size_t>(size) < sizeof resolved)
            return {resolved, static_cast<std::size_t>(size)};
    }
    return std::filesystem::canonical(path, error);
}

std::optional<FileIdentity> file_identity(const std::string &path) {
    struct stat facts;
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    return identity_of(facts);
}

CheckedPath check_plugin_file(const std::string &path) {
    // A path with a NUL would be checked under another name than it shows.
    if (path.empty() || path.find('\0') != std::string::npos) return {"", "not a file name"};
    std::error_code error;
    const std::string file = canonical_path(path, error);
    if (error) return {"", fmt::format("cannot be found: {}", error.message())};
    return check_resolved(file, distrust_folder(folder_of(file)));
}

std::string folder_of(const std::string &path) { return std::filesystem::path(path).parent_path(); }

std::vector<CheckedPath> split_search_path(std::string_view list) {
    std::vector<CheckedPath> folders;
    for (const std::string &part : parts_of(list, ':')) {
        if (std::any_of(folders.begin(), folders.end(),
                        [&](const CheckedPath &other) { return other.path == part; }))
            continue;
        const char *refusal =
            part.empty()
                ? "an empty entry would mean the working directory, which is never searched"
            : part.front() != '/'
                ? "a relative folder depends on the working directory; give an absolute one"
                : "";
        folders.push_back({part, refusal});
    }
    return folders;
}

FolderListing list_plugin_files(const std::string &folder) {
    using Entry = std::filesystem::directory_entry;
    FolderListing listing;
    std::error_code error;
    std::vector<Entry> entries;
    const std::string resolved = canonical_path(folder, error);
    for (auto entry = std::filesystem::directory_iterator(error ? folder : resolved, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.front() != '.' && name.ends_with(".so")) entries.push_back(*entry);
    }
    if (error) listing.refusal = fmt::format("cannot be listed: {}", error.message());
    if (entries.empty()) return listing;
    std::sort(entries.begin(), entries.end());
    const std::string refusal = distrust_folder(resolved);
    for (const Entry &entry : entries) {
        const std::string path = entry.path();
        CheckedPath file =
            entry.is_symlink(error) ? check_plugin_file(path) : check_resolved(path, refusal);
        if (file.path.empty()) file.path = path;
        listing.files.push_back(std::move(file));
    }
    return listing;
}

std::vector<std::string> split_names(std::string_view list) {
    constexpr const char *blanks = " \t\n";
    std::vector<std::string> names;
    for (const std::string &part : parts_of(list, ','))
        if (const std::size_t begin = part.find_first_not_of(blanks); begin != part.npos)
            names.push_back(part.substr(begin, part.find_last_not_of(blanks) + 1 - begin));
    return names;
}

const std::string *matching_glob(const std::string &name, const std::vector<std::string> &globs) {
    for (const std::string &glob : globs)
        if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) return &glob;
    return nullptr;
}

} // namespace Atoll::detail
