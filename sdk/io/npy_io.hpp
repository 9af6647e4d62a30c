// What .npy and .npz share: bytes in and bytes out.
#pragma once

#include "atoll/error.hpp"
#include "atoll/npy.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Where the bytes of one array come from.
class NpySource {
public:
    // Up to `count` bytes, none only at the end. Throws Error.
    using Read = std::function<std::size_t(char *to, std::size_t count)>;
    NpySource(std::string source_name, std::optional<std::uint64_t> known_size,
              std::string_view caller, Read how)
        : name(std::move(source_name)), op(caller), left(known_size), read_(std::move(how)) {}
    // Up to `count` bytes; fewer only at the end. Throws Error.
    std::size_t read(char *to, std::size_t count);
    // `count` bytes. Throws Error where fewer are there; `part`: of the file, which has `total`
    // bytes and begins `before` earlier.
    void read_all(char *to, std::size_t count, std::string_view part, std::uint64_t before,
                  std::uint64_t total);
    std::string take(std::size_t count, std::string_view part);
    [[noreturn]] void refuse(Status status, std::string_view why) const;
    // Throws where it is known that fewer than `need` bytes come.
    void require(std::string_view part, std::uint64_t need) const;

    const std::string name;            // for messages
    const std::string_view op;         // the function that reads, likewise
    std::optional<std::uint64_t> left; // bytes to come, where known

private:
    [[noreturn]] void truncated(std::string_view part, std::uint64_t need, std::uint64_t got) const;

    Read read_;
};

Tensor read_array(NpySource &source, const Placement &where);
// The same where nothing may follow.
Tensor read_whole(NpySource &source, const Placement &where);

// The bytes of a .npy, piece by piece.
class NpyEncoder {
public:
    // Checks the dtype and makes the header, which says how the data will come.
    NpyEncoder(const Tensor &tensor, std::string_view op);
    std::uint64_t size() const { return header_.size() + static_cast<std::uint64_t>(bytes_); }
    // The next bytes, which stay until the next call; none at the end. Waits for the device.
    std::span<const char> next();

private:
    Tensor tensor_;
    std::string header_;
    std::int64_t bytes_; // of the data
    Tensor flat_;        // the data as bytes; defined once the header is given
    std::int64_t at_ = 0;
    std::vector<char> staged_; // a piece of a device's memory
};

} // namespace Atoll::detail
