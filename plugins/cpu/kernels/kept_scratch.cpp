// The list of buffers that are not in use.
#include "kept_scratch.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <numeric>
#include <sys/mman.h>
#include <vector>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t huge_page = 2 << 20;
// From so many bytes on in huge pages: what products pack is read again and again, panel by panel,
// each on pages of its own.
constexpr std::int64_t least_huge = 512 << 10;
// What products and tiles need, and sorting some million elements; larger ones go back at once.
constexpr std::int64_t largest_kept = 64 << 20;

struct Buffer {
    char *data = nullptr;
    std::int64_t size = 0;
};

class Unused {
public:
    ~Unused() {
        for (const Buffer &buffer : buffers_) std::free(buffer.data);
    }
    // The smallest that suffices; if none does, any one, which the caller replaces.
    Buffer take(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        if (buffers_.empty()) return {};
        Buffer *best = &buffers_.back();
        for (Buffer &buffer : buffers_)
            if (buffer.size >= bytes && (best->size < bytes || buffer.size < best->size))
                best = &buffer;
        const Buffer taken = *best;
        *best = buffers_.back();
        buffers_.pop_back();
        return taken;
    }
    void give(const Buffer &buffer) {
        try {
            const std::lock_guard lock(mutex_);
            buffers_.push_back(buffer);
        } catch (const std::bad_alloc &) {
            std::free(buffer.data);
        }
    }
    std::int64_t bytes() {
        const std::lock_guard lock(mutex_);
        return std::accumulate(
            buffers_.begin(), buffers_.end(), std::int64_t{0},
            [](std::int64_t sum, const Buffer &buffer) { return sum + buffer.size; });
    }

private:
    std::mutex mutex_;
    std::vector<Buffer> buffers_;
};

// Not a variable of the file: code that runs when a library is opened would do so for every level
// in it, also for those that the processor does not have.
Unused &unused() {
    static Unused buffers;
    return buffers;
}

} // namespace

KeptScratch::KeptScratch(std::int64_t bytes) {
    const Buffer buffer = unused().take(bytes);
    data_ = buffer.data;
    size_ = buffer.size;
    if (size_ >= bytes) return;
    std::free(data_);
    const std::int64_t page = bytes >= least_huge ? huge_page : 64;
    size_ = (bytes + page - 1) / page * page;
    const auto whole = static_cast<std::size_t>(size_);
    data_ = static_cast<char *>(std::aligned_alloc(static_cast<std::size_t>(page), whole));
    if (data_ && page == huge_page) madvise(data_, whole, MADV_HUGEPAGE); // a hint
}

KeptScratch::~KeptScratch() {
    if (data_ && size_ <= largest_kept)
        unused().give({data_, size_});
    else
        std::free(data_);
}

std::int64_t kept_scratch_bytes() { return unused().bytes(); }

} // namespace Atoll::kernels
