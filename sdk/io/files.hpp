// Files by their paths: what goes wrong, and files that appear only when they are whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace Atoll::detail {

// "'/folder/name.npy'": with escapes for what is not printable, and without what is beyond 200
// bytes.
std::string in_quotes(std::string_view text);
// Throws Error: the file cannot be `done`, with the system's words for `code`.
[[noreturn]] void refuse_file(const std::filesystem::path &path, const char *done, int code,
                              std::string_view op);

// Where a file that is to be written really goes: symbolic links resolved. Throws unless it is a
// regular file, or nothing yet.
std::filesystem::path writable_target(const std::filesystem::path &path, std::string_view op);

// A file that gets its name at commit(). The destructor removes what was not committed.
class NewFile {
public:
    NewFile(const std::filesystem::path &path, std::string_view op);
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;
    void write(const void *data, std::size_t bytes);
    void commit();

private:
    std::filesystem::path target_, temporary_;
    std::string_view op_;
    int file_ = -1;
};

} // namespace Atoll::detail
