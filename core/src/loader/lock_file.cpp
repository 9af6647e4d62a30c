// Reading lock files and computing sums: see lock_file.hpp.
#include "loader/lock_file.hpp"

#include "base/printable.hpp"
#include "loader/refusal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <sstream>

namespace Atoll::detail {
namespace {

constexpr std::size_t max_lock_bytes = 1 << 20;
constexpr std::size_t sum_digits = 2 * SHA256_DIGEST_SIZE;

// Calls use(bytes, count) for each part of the file. Throws Error unless it is the file that was
// checked.
template <class Use> void read_checked(const CheckedPath &file, Use use) {
    std::ifstream in(file.path, std::ios::binary);
    std::vector<char> part(256 * 1024);
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
        use(part.data(), static_cast<std::size_t>(in.gcount()));
    if (!in.eof()) refuse(Status::refused, "cannot be read: {}", std::strerror(errno));
    if (file_identity(file.path) != file.identity)
        refuse(Status::refused, "was replaced while it was examined; try again");
}

std::string sha256_of(const CheckedPath &file) {
    sha256_ctx context;
    sha256_init(&context);
    read_checked(file, [&](const char *bytes, std::size_t count) {
        sha256_update(&context, count, reinterpret_cast<const std::uint8_t *>(bytes));
    });
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(&context, digest.data());
#else
    sha256_digest(&context, digest.size(), digest.data());
#endif
    std::string text;
    for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

std::vector<LockEntry> read_lock(const CheckedPath &lock, const std::string &name) {
    try {
        if (!lock.ok()) refuse(Status::refused, "{}", lock.refusal);
        std::string text;
        read_checked(lock, [&](const char *bytes, std::size_t count) {
            if (text.size() + count > max_lock_bytes)
                refuse(Status::refused, "it is larger than 1 MiB");
            text.append(bytes, count);
        });
        return parse_lock(text);
    } catch (const Error &e) {
        refuse(Status::refused,
               "the lock file {} cannot be used: {}; until it is repaired, no plugin that it "
               "applies to is opened",
               name, reason_of(e));
    }
}

// Throws Error unless the lock at `name` lists the file with its sum.
void require_listed(const std::string &name, const CheckedPath &file) {
    const CheckedPath lock = check_plugin_file(name);
    const std::vector<LockEntry> entries = read_lock(lock, name);
    const std::string folder = folder_of(lock.path);
    const auto entry = std::find_if(entries.rbegin(), entries.rend(), [&](const LockEntry &e) {
        return (std::filesystem::path(folder) / e.path).lexically_normal() == file.path;
    });
    const std::string rewrite =
        fmt::format("if the file is the expected one, write the lock anew: cd {} && sha256sum *.so "
                    ">{}",
                    folder, std::filesystem::path(lock.path).filename().string());
    if (entry == entries.rend())
        refuse(Status::refused, "it is not listed in the lock file {}; {}", name,
               folder == folder_of(file.path)
                   ? rewrite
                   : fmt::format("if the file is the expected one, add it: sha256sum {} >>{}",
                                 file.path, lock.path));
    if (const std::string sum = sha256_of(file); sum != entry->sum)
        refuse(Status::refused, "its SHA-256 sum is {}, the lock file {} says {}; {}", sum, name,
               entry->sum, rewrite);
}

} // namespace

std::vector<LockEntry> parse_lock(const std::string &text) {
    std::vector<LockEntry> entries;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        // 64 digits, a blank, a blank or an asterisk, the name.
        std::string sum = line.substr(0, sum_digits);
        std::transform(sum.begin(), sum.end(), sum.begin(),
                       [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
        if (line.size() < sum_digits + 3 || sum.find_first_not_of("0123456789abcdef") != sum.npos ||
            line[sum_digits] != ' ' || (line[sum_digits + 1] != ' ' && line[sum_digits + 1] != '*'))
            refuse(Status::refused, "line {} is not in sha256sum format: \"{}\"", number,
                   printable(line.substr(0, 100)));
        entries.push_back({line.substr(sum_digits + 2), std::move(sum)});
    }
    return entries;
}

void require_unlocked(const CheckedPath &file, const std::optional<std::string> &environment_lock) {
    const std::string beside = folder_of(file.path) + "/atoll.lock";
    // A link that leads nowhere is a lock too, and so is a path that cannot be examined.
    std::error_code error;
    if (std::filesystem::symlink_status(beside, error).type() !=
        std::filesystem::file_type::not_found)
        require_listed(beside, file);
    if (!environment_lock || environment_lock->empty()) return;
    if (environment_lock->front() != '/')
        refuse(Status::refused,
               "ATOLL_PLUGINS_LOCK is '{}', need an absolute path; until it is repaired, no plugin "
               "is opened",
               *environment_lock);
    require_listed(*environment_lock, file);
}

} // namespace Atoll::detail
