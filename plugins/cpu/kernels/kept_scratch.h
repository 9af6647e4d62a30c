// Scratch that outlives the call: products, sorting and tiles of large operands need megabytes,
// whose pages cost as much as small calls.
#pragma once

#include <cstdint>

namespace Atoll::kernels {

// A buffer aligned to 64 bytes, one that an earlier call left where there is one. As many stay as
// were in use at once; they go when the library is unloaded. Very large ones do not stay.
class KeptScratch {
public:
    explicit KeptScratch(std::int64_t bytes);
    ~KeptScratch();
    KeptScratch(const KeptScratch &) = delete;
    KeptScratch &operator=(const KeptScratch &) = delete;

    bool is_there() const { return data_; }
    char *data() const { return data_; }

private:
    char *data_;
    std::int64_t size_;
};

// Bytes of all buffers that stay and are not in use.
std::int64_t kept_scratch_bytes();

} // namespace Atoll::kernels
