// Files by their paths: see files.hpp.
#include "files.hpp"

#include "atoll/error.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace Atoll::detail {

std::string in_quotes(std::string_view text) {
    constexpr std::size_t most = 200;
    std::size_t end = std::min(text.size(), most);
    // Not within a character, which has at most four bytes.
    for (int i = 0; i < 3 && end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80; ++i) --end;
    std::string shown = printable(text.substr(0, end));
    for (std::size_t at = 0; (at = shown.find_first_of("\n\t", at)) != shown.npos;)
        shown.replace(at, 1, shown[at] == '\n' ? "\\n" : "\\t");
    return fmt::format("'{}'{}", shown, end < text.size() ? "…" : "");
}

void refuse_file(const std::filesystem::path &path, const char *done, int code,
                 std::string_view op) {
    throw Error(
        code == ENOENT ? Status::not_found : Status::refused, op,
        fmt::format("{} cannot be {}: {}", in_quotes(path.native()), done, std::strerror(code)), {},
        {}, code);
}

std::filesystem::path writable_target(const std::filesystem::path &path, std::string_view op) {
    namespace fs = std::filesystem;
    if (path.empty())
        throw Error(Status::refused, op, "the path of the file to write is empty", {}, {}, ENOENT);
    std::error_code error;
    fs::path target = path;
    // A link may point to what is not there yet; 40 as in the kernel.
    for (int i = 0; i < 40 && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
        const fs::path next = fs::read_symlink(target, error);
        if (error) break;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    const fs::file_status status = fs::symlink_status(target, error);
    if (status.type() != fs::file_type::not_found && status.type() != fs::file_type::regular)
        throw Error(Status::refused, op,
                    fmt::format("{} cannot be written: {}", in_quotes(path.native()),
                                error ? error.message()
                                      : "it is there and no regular file; write to a stream"),
                    {}, {}, error.value());
    return target;
}

NewFile::NewFile(const std::filesystem::path &path, std::string_view op)
    : target_(writable_target(path, op)), op_(op) {
    static std::atomic<unsigned> counter{0};
    for (int tries = 0; file_ < 0; ++tries) {
        // In the same folder, so that rename() is one step; short, whatever the name.
        temporary_ = target_.parent_path() / fmt::format(".atoll-{}-{}.tmp", ::getpid(), counter++);
        file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ < 0 && (errno != EEXIST || tries > 100))
            refuse_file(target_, "created", errno, op_);
    }
    struct stat old;
    if (::stat(target_.c_str(), &old) == 0) (void)!::fchmod(file_, old.st_mode & 07777);
}

NewFile::~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::write(const void *data, std::size_t bytes) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(file_, from, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) refuse_file(target_, "written", errno, op_);
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

void NewFile::commit() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0)
        refuse_file(target_, "written", errno,
                    op_); // file systems may say only now that they are full
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
        refuse_file(target_, "renamed into place", errno, op_);
    temporary_.clear();
}

} // namespace Atoll::detail
