// What .npy and .npz share: bytes in and bytes out.
#pragma once

#include "atoll/error.hpp"
#include "atoll/npy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// Where the bytes of one array come from.
class NpySource {
public:
    NpySource(std::string source_name, std::optional<std::uint64_t> known_size,
              std::string_view caller)
        : name(std::move(source_name)), op(caller), left(known_size) {}
    virtual ~NpySource() = default;
    // Up to `count` bytes; fewer only at the end. Throws Error.
    std::size_t read(void *to, std::size_t count);
    [[noreturn]] void refuse(Status status, std::string_view why) const;
    // `part`: of the file.
    [[noreturn]] void truncated(std::string_view part, std::uint64_t need, std::uint64_t got) const;

    const std::string name;            // for messages
    const std::string_view op;         // the function that reads, likewise
    std::optional<std::uint64_t> left; // bytes to come, where known

protected:
    virtual std::size_t read_some(void *to, std::size_t count) = 0;
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

} // namespace Atoll::detail
