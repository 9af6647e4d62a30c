// What .npy and .npz share: bytes in, bytes out, files that appear only when whole.
#pragma once

#include "atoll/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Where the bytes of one array come from.
class NpySource {
public:
    NpySource(std::string source_name, std::optional<std::uint64_t> known_size)
        : name(std::move(source_name)), left(known_size) {}
    virtual ~NpySource() = default;
    // Up to `count` bytes; fewer only at the end. Throws Error.
    std::size_t read(void *to, std::size_t count);
    // The rest is garbage; throws unless there is none.
    void require_end(std::string_view op);

    const std::string name;            // for messages
    std::optional<std::uint64_t> left; // bytes to come, where known

protected:
    virtual std::size_t read_some(void *to, std::size_t count) = 0;
};

Tensor read_array(NpySource &source, const Placement &where, std::string_view op);

// The bytes of a .npy, piece by piece.
class NpyEncoder {
public:
    // Checks the dtype and makes the header, which says how the data will come.
    NpyEncoder(const Tensor &tensor, std::string_view op);
    std::uint64_t size() const { return header_.size() + static_cast<std::uint64_t>(bytes_); }
    // The next bytes; fewer than `count` only at the end. Waits for the device.
    std::size_t read(void *to, std::size_t count);

private:
    void start_data();
    std::size_t read_data(char *to, std::size_t count);

    Tensor tensor_;
    std::string header_;
    bool dense_; // the tensor's memory is what goes into the file
    std::int64_t bytes_;
    Tensor flat_; // the data as bytes; defined once they are asked for
    const char *host_ = nullptr;
    std::vector<char> staged_; // a piece of a device's memory
    std::int64_t staged_begin_ = 0;
    std::uint64_t at_ = 0; // in header and data
};

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
    [[noreturn]] void fail(const char *doing, int code) const;
    std::filesystem::path target_, temporary_;
    std::string_view op_;
    int file_ = -1;
};

// "'/folder/name.npy'"
std::string quoted(const std::filesystem::path &path);

} // namespace Atoll::detail
