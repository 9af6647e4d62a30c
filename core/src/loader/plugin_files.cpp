// File trust, discovery and processor facts: see plugin_files.hpp.
#include "loader/plugin_files.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Why Note [Trusted files] refuses a file or folder; "" if it does not. `what`: "the file" ….
std::string distrust(const char *what, const std::string &path, const struct stat &facts) {
    const uid_t user = ::geteuid();
    if (facts.st_uid != 0 && facts.st_uid != user)
        return fmt::format("{} {} belongs to user {}, need root or user {}; chown it", what, path,
                           facts.st_uid, user);
    if (facts.st_mode & S_IWOTH)
        return fmt::format("{} {} is writable by everyone (mode {:04o}); chmod o-w it", what, path,
                           facts.st_mode & 07777u);
    if ((facts.st_mode & S_IWGRP) && facts.st_gid != 0 && facts.st_gid != ::getegid())
        return fmt::format("{} {} is writable by group {} (mode {:04o}); chmod g-w it", what, path,
                           facts.st_gid, facts.st_mode & 07777u);
    return "";
}

FileIdentity identity_of(const struct stat &facts) {
    const auto nanoseconds = [](const timespec &time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    return {facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
            nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim)};
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Calls `use` for every part of `list` between separators, empty ones included; not at all for "".
template <class Use> void for_each_part(std::string_view list, char separator, Use use) {
    while (!list.empty()) {
        const std::size_t end = list.find(separator);
        use(list.substr(0, end));
        if (end == std::string_view::npos) return;
        list.remove_prefix(end + 1);
        if (list.empty()) use(list);
    }
}

} // namespace

std::optional<FileIdentity> file_identity(const std::string &path) {
    struct stat facts;
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    return identity_of(facts);
}

// O_NONBLOCK: opening a FIFO must not wait for a writer.
OpenFile::OpenFile(const std::string &path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat facts;
    if (descriptor_ < 0 || ::fstat(descriptor_, &facts) != 0) return;
    regular_ = S_ISREG(facts.st_mode);
    if (!regular_) errno = EINVAL;
}

OpenFile::~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

FileIdentity OpenFile::identity() const {
    struct stat facts;
    return ::fstat(descriptor_, &facts) == 0 ? identity_of(facts) : FileIdentity{};
}

long OpenFile::read(std::uint64_t offset, void *to, std::size_t count) const {
    for (;;) {
        const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
        if (got >= 0 || errno != EINTR) return got;
    }
}

CheckedPath check_plugin_file(const std::string &path) {
    // A path with a NUL would be checked under another name than it shows.
    if (path.empty() || path.find('\0') != std::string::npos) return {"", "not a file name"};
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (!real) return {"", fmt::format("cannot be found: {}", std::strerror(errno))};
    const std::string file = real.get();
    struct stat facts;
    if (::stat(file.c_str(), &facts) != 0)
        return {"", fmt::format("cannot be read: {}", std::strerror(errno))};
    if (S_ISDIR(facts.st_mode)) return {file, "a folder, not a file"};
    if (!S_ISREG(facts.st_mode)) return {file, "not a regular file"};
    const FileIdentity identity = identity_of(facts);
    std::string refusal = distrust("the file", file, facts);
    if (refusal.empty()) {
        const std::string folder = folder_of(file);
        if (::stat(folder.c_str(), &facts) != 0)
            refusal = fmt::format("its folder cannot be read: {}", std::strerror(errno));
        else
            refusal = distrust("its folder", folder, facts);
    }
    return {file, std::move(refusal), identity};
}

std::string folder_of(const std::string &path) {
    return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

std::vector<CheckedPath> split_search_path(std::string_view list) {
    std::vector<CheckedPath> folders;
    for_each_part(list, ':', [&](std::string_view part) {
        CheckedPath folder{std::string(part), ""};
        if (part.empty())
            folder.refusal =
                "an empty entry would mean the working directory, which is never searched";
        else if (part.front() != '/')
            folder.refusal =
                "a relative folder depends on the working directory; give an absolute one";
        const bool again =
            std::any_of(folders.begin(), folders.end(),
                        [&](const CheckedPath &other) { return other.path == folder.path; });
        if (!again) folders.push_back(std::move(folder));
    });
    return folders;
}

FolderListing list_plugin_files(const std::string &folder) {
    const std::unique_ptr<DIR, int (*)(DIR *)> entries(::opendir(folder.c_str()), &::closedir);
    if (!entries) return {{}, fmt::format("cannot be listed: {}", std::strerror(errno))};
    FolderListing listing;
    errno = 0;
    while (const dirent *entry = ::readdir(entries.get())) {
        const std::string_view name = entry->d_name;
        if (name.front() != '.' && name.ends_with(".so"))
            listing.files.push_back(folder.ends_with('/') ? fmt::format("{}{}", folder, name)
                                                          : fmt::format("{}/{}", folder, name));
        errno = 0;
    }
    if (errno != 0) listing.refusal = fmt::format("cannot be listed: {}", std::strerror(errno));
    std::sort(listing.files.begin(), listing.files.end());
    return listing;
}

std::vector<std::string> split_names(std::string_view list) {
    std::vector<std::string> names;
    for_each_part(list, ',', [&](std::string_view part) {
        if (!trimmed(part).empty()) names.emplace_back(trimmed(part));
    });
    return names;
}

const std::string *matching_glob(const std::string &name, const std::vector<std::string> &globs) {
    for (const std::string &glob : globs)
        if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) return &glob;
    return nullptr;
}

int isa_level(const ProcessorFacts &facts) {
    // Bits from the Intel and AMD manuals (CPUID); levels from the x86-64 psABI, section 3.1.1.
    constexpr unsigned sse3 = 1u << 0, ssse3 = 1u << 9, fma = 1u << 12, cx16 = 1u << 13,
                       sse41 = 1u << 19, sse42 = 1u << 20, movbe = 1u << 22, popcnt = 1u << 23,
                       osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    constexpr unsigned bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8, avx512f = 1u << 16,
                       avx512dq = 1u << 17, avx512cd = 1u << 28, avx512bw = 1u << 30,
                       avx512vl = 1u << 31;
    constexpr unsigned lahf = 1u << 0, lzcnt = 1u << 5;
    constexpr unsigned save_avx = 0x06, save_avx512 = 0xe6;
    const auto has = [](unsigned bits, unsigned needed) { return (bits & needed) == needed; };
    if (!has(facts.leaf1_ecx, sse3 | ssse3 | cx16 | sse41 | sse42 | popcnt) ||
        !has(facts.extended1_ecx, lahf))
        return 1;
    if (!has(facts.leaf1_ecx, fma | movbe | osxsave | avx | f16c) ||
        !has(facts.leaf7_ebx, bmi1 | avx2 | bmi2) || !has(facts.extended1_ecx, lzcnt) ||
        !has(facts.xcr0, save_avx))
        return 2;
    if (!has(facts.leaf7_ebx, avx512f | avx512dq | avx512cd | avx512bw | avx512vl) ||
        !has(facts.xcr0, save_avx512))
        return 3;
    return 4;
}

int isa_level() {
#if defined(__x86_64__)
    static const int level = [] {
        ProcessorFacts facts;
        unsigned eax, ebx, ecx, edx;
        if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) facts.leaf1_ecx = ecx;
        if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) facts.leaf7_ebx = ebx;
        if (__get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx)) facts.extended1_ecx = ecx;
        // XGETBV faults unless the operating system has set OSXSAVE. As assembly, because the
        // intrinsic needs -mxsave for the whole file.
        if (facts.leaf1_ecx & (1u << 27))
            __asm__ volatile("xgetbv" : "=a"(facts.xcr0), "=d"(edx) : "c"(0));
        return isa_level(facts);
    }();
    return level;
#elif defined(__aarch64__)
    static const int level = arm_level(::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2));
    return level;
#else
    return 0;
#endif
}

int arm_level(unsigned long hwcap, unsigned long hwcap2) {
    // Bits from Linux, arch/arm64/include/uapi/asm/hwcap.h.
    constexpr unsigned long half = 1ul << 9 | 1ul << 10, dot_product = 1ul << 20, sve = 1ul << 22,
                            sve2 = 1ul << 1;
    if ((hwcap & (half | dot_product)) != (half | dot_product)) return 1;
    if (!(hwcap & sve)) return 2;
    return hwcap2 & sve2 ? 4 : 3;
}

std::string level_name(std::uint32_t level) {
#if defined(__aarch64__)
    static constexpr const char *names[] = {"AArch64", "AArch64",
                                            "AArch64 with half precision and dot products",
                                            "AArch64 with SVE", "AArch64 with SVE2"};
    if (level < std::size(names)) return names[level];
    return "AArch64 of level " + std::to_string(level);
#else
    return "x86-64-v" + std::to_string(level);
#endif
}

} // namespace Atoll::detail
