// Memory for the time of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace Atoll::kernels {

// Aligned to 64 bytes; for none nothing is allocated.
class Scratch {
public:
    // Throws std::bad_alloc: on the calling thread only, where an entry point catches it.
    explicit Scratch(std::int64_t bytes) : Scratch(bytes, std::nothrow) {
        if (!is_there()) throw std::bad_alloc();
    }
    // Without memory is_there() is false: for the threads of the pool.
    Scratch(std::int64_t bytes, std::nothrow_t)
        : data_(bytes ? static_cast<char *>(std::aligned_alloc(
                            64, static_cast<std::size_t>(bytes + 63) & ~std::size_t{63}))
                      : nullptr),
          is_there_(data_ || bytes == 0) {}
    ~Scratch() { std::free(data_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    bool is_there() const { return is_there_; }
    char *data() const { return data_; }

private:
    char *data_;
    bool is_there_;
};

} // namespace Atoll::kernels
