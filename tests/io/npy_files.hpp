// .npy and .npz files made byte by byte, for tests of their readers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npy_files {

inline std::string little_endian(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
    return text;
}

// A file with this dictionary, not padded.
inline std::string npy(std::string_view header, std::string_view data, int major = 1,
                       int minor = 0) {
    return "\x93NUMPY" + std::string{static_cast<char>(major), static_cast<char>(minor)} +
           little_endian(header.size(), major == 1 ? 2 : 4) + std::string(header) +
           std::string(data);
}
inline std::string header(std::string_view descr, std::string_view shape,
                          std::string_view fortran_order = "False") {
    return "{'descr': '" + std::string(descr) +
           "', 'fortran_order': " + std::string(fortran_order) +
           ", 'shape': " + std::string(shape) + ", }";
}

template <class T> std::string data(std::initializer_list<T> values) {
    return std::string(reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(T));
}

inline std::uint32_t crc32(std::string_view text) {
    std::uint32_t crc = ~0u;
    for (const char c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

// One entry of an archive, with all that may be wrong about it.
struct Entry {
    std::string name, packed;
    std::uint32_t crc, size;
    int method = 0, flags = 0;

    // Stored.
    Entry(std::string entry_name, std::string content)
        : name(std::move(entry_name)), packed(std::move(content)), crc(crc32(packed)),
          size(static_cast<std::uint32_t>(packed.size())) {}
};

inline std::string zip(const std::vector<Entry> &entries) {
    std::string archive, directory;
    for (const Entry &entry : entries) {
        const std::string facts =
            little_endian(20, 2) + little_endian(static_cast<std::uint64_t>(entry.flags), 2) +
            little_endian(static_cast<std::uint64_t>(entry.method), 2) + little_endian(0, 4) +
            little_endian(entry.crc, 4) + little_endian(entry.packed.size(), 4) +
            little_endian(entry.size, 4) + little_endian(entry.name.size(), 2) +
            little_endian(0, 2);
        directory += "PK\1\2" + little_endian(20, 2) + facts + little_endian(0, 10) +
                     little_endian(archive.size(), 4) + entry.name;
        archive += "PK\3\4" + facts + entry.name + entry.packed;
    }
    const std::string count = little_endian(entries.size(), 2);
    return archive + directory + "PK\5\6" + little_endian(0, 4) + count + count +
           little_endian(directory.size(), 4) + little_endian(archive.size(), 4) +
           little_endian(0, 2);
}

inline std::span<const std::byte> bytes(const std::string &text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace npy_files
