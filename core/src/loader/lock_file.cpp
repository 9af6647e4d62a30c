// Reading lock files and taking sums: see lock_file.hpp.
#include "loader/lock_file.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <fmt/format.h>

namespace Atoll::detail {
namespace {

constexpr std::size_t max_lock_bytes = 1 << 20;
constexpr std::size_t sum_digits = 2 * SHA256_DIGEST_SIZE;

struct Unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Calls use(bytes, count) for one part of the file after the other. Throws Unreadable where it is
// not the file that was checked.
template <class Use> void read_checked(const CheckedPath &file, Use use) {
    std::ifstream in(file.path, std::ios::binary);
    std::vector<char> part(256 * 1024);
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
        use(part.data(), static_cast<std::size_t>(in.gcount()));
    if (!in.eof()) throw Unreadable(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (file_identity(file.path) != file.identity)
        throw Unreadable("was replaced while it was examined; try again");
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

// What the lock at `lock` says of the file; "" if it lets the file pass.
std::string judged_by(const std::string &lock, const CheckedPath &file) {
    const CheckedPath checked = check_plugin_file(lock);
    const auto unusable = [&](const std::string &why) {
        return fmt::format("the lock file {} cannot be used: {}; until it is mended no plugin that "
                           "it holds for is opened",
                           lock, why);
    };
    if (!checked.ok()) return unusable(checked.refusal);
    std::string text, refusal;
    try {
        read_checked(checked, [&](const char *bytes, std::size_t count) {
            if (text.size() + count > max_lock_bytes) throw Unreadable("it is larger than 1 MiB");
            text.append(bytes, count);
        });
    } catch (const Unreadable &e) {
        return unusable(e.what());
    }
    const std::vector<LockEntry> entries = parse_lock(text, refusal);
    if (!refusal.empty()) return unusable(refusal);
    const std::string folder = folder_of(checked.path);
    const std::string remedy =
        fmt::format("if the file is what it should be, write the lock anew: cd {} && sha256sum "
                    "*.so >{}",
                    folder, std::filesystem::path(checked.path).filename().string());
    const auto is_file = [&](const LockEntry &entry) {
        return (std::filesystem::path(folder) / entry.path).lexically_normal() == file.path;
    };
    const auto entry = std::find_if(entries.rbegin(), entries.rend(), is_file);
    if (entry == entries.rend())
        return fmt::format("it is not listed in the lock file {}; {}", lock,
                           folder == folder_of(file.path)
                               ? remedy
                               : fmt::format("if the file is what it should be, add it: sha256sum "
                                             "{} >>{}",
                                             file.path, checked.path));
    try {
        const std::string sum = sha256_of(file);
        if (sum != entry->sum)
            return fmt::format("its SHA-256 sum is {}, the lock file {} says {}; {}", sum, lock,
                               entry->sum, remedy);
    } catch (const Unreadable &e) {
        return e.what();
    }
    return "";
}

} // namespace

std::vector<LockEntry> parse_lock(const std::string &text, std::string &refusal) {
    std::vector<LockEntry> entries;
    refusal.clear();
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        // 64 digits, a blank, a blank or an asterisk, the name.
        std::string sum = boost::to_lower_copy(line.substr(0, sum_digits));
        const bool digits = sum.find_first_not_of("0123456789abcdef") == std::string::npos;
        if (line.size() < sum_digits + 3 || !digits || line[sum_digits] != ' ' ||
            (line[sum_digits + 1] != ' ' && line[sum_digits + 1] != '*')) {
            refusal = fmt::format("line {} is no line of sha256sum: \"{}\"", number,
                                  printable(line.substr(0, 100)));
            return {};
        }
        entries.push_back({line.substr(sum_digits + 2), std::move(sum)});
    }
    return entries;
}

std::string locked_out(const CheckedPath &file,
                       const std::optional<std::string> &environment_lock) {
    struct stat facts;
    const std::string beside = std::filesystem::path(file.path).replace_filename("atoll.lock");
    // A link that leads nowhere is a lock too.
    if (::lstat(beside.c_str(), &facts) == 0 || errno != ENOENT)
        if (std::string refusal = judged_by(beside, file); !refusal.empty()) return refusal;
    if (!environment_lock || environment_lock->empty()) return "";
    if (environment_lock->front() != '/')
        return fmt::format("ATOLL_PLUGINS_LOCK is '{}', need an absolute path; until it is mended "
                           "no plugin is opened",
                           *environment_lock);
    return judged_by(*environment_lock, file);
}

} // namespace Atoll::detail
